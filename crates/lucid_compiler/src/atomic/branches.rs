// SPDX-License-Identifier: Apache-2.0
//! Branch tables become static match rules of the statements behind them (Lucid §6.2, "Inlining branch
//! operations"; Figure 6(2)): each statement asks for what is necessary for its own execution, and the
//! branch tables go. The order of statements stays.

use super::formula::{Formula, Formulas};
use super::program::{AtomicProgram, Operation, Statement, StatementId, Variable, VariableKind};
use super::rules::rules;
use super::tree::{AtomicGraph, Branch, Node};
use pisa::{Condition, Guard, GuardRule, VariableId};
use source::Span;
use std::collections::BTreeMap;

/// Most rules of a guard; conditions that would take more are computed in parts before.
pub(super) const MAX_RULES: usize = 128;

/// The program without branch tables.
pub fn branches(graph: &AtomicGraph) -> AtomicProgram {
    let mut program = graph.program.clone();
    program.statements.clear();
    let mut inliner = Inliner { graph, program, formulas: Formulas::default() };
    for body in &graph.bodies {
        inliner.nodes(body, Formula::ALWAYS);
    }
    inliner.program
}

struct Inliner<'a> {
    graph: &'a AtomicGraph,
    program: AtomicProgram,
    formulas: Formulas,
}

impl Inliner<'_> {
    fn nodes(&mut self, nodes: &[Node], path: Formula) {
        for node in nodes {
            match node {
                Node::Statement(id) => self.statement(*id, path),
                Node::Branch(branch) => {
                    stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.branch(branch, path));
                }
            }
        }
    }

    fn statement(&mut self, id: StatementId, path: Formula) {
        let original = &self.graph.program.statements[id.0 as usize];
        let guard = self.guard(original, path);
        self.program.statements.push(Statement { guard, ..original.clone() });
    }

    /// The statement's own guard (its event) and the path's condition.
    fn guard(&mut self, original: &Statement, path: Formula) -> Guard {
        let mut path = path;
        loop {
            if let Some(found) = rules(&mut self.formulas, path, MAX_RULES) {
                let rules = found.into_iter().map(|(conditions, runs)| {
                    let named = conditions.into_iter().map(|(id, of)| (VariableId(id), of));
                    (named.collect(), runs)
                });
                return within(&original.guard, rules);
            }
            path = self.with_part(original, path);
        }
    }

    /// The formula with one side of its first test as a bit that is computed before.
    fn with_part(&mut self, original: &Statement, path: Formula) -> Formula {
        let Some((test, low, high)) = self.formulas.root(path) else { return path };
        let part = if self.formulas.root(high).is_some() { high } else { low };
        let bit = new_bit(&mut self.program, original.span);
        let guard = self.guard(original, part);
        self.program.statements.push(Statement {
            guard,
            operation: Operation::Move { to: bit, from: super::program::Operand::Constant(1) },
            ..original.clone()
        });
        let named = self.formulas.ternary((bit.0, 1), 1, 1);
        let (low, high) = if part == high { (low, named) } else { (named, high) };
        let condition = super::translate::same_test(&mut self.formulas, test, test.subject);
        self.formulas.choose(condition, high, low)
    }

    fn branch(&mut self, branch: &Branch, path: Formula) {
        let arms = arm_formulas(&mut self.formulas, branch, &mut |formulas, id, condition| {
            let width = self.graph.program.variable(id).width_bits;
            condition_formula(formulas, (id.0, width), condition)
        });
        for (arm, formula) in branch.arms.iter().zip(arms) {
            let formula = self.formulas.and(path, formula);
            self.nodes(arm, formula);
        }
    }
}

/// A temporary for a part of a condition.
pub(super) fn new_bit(program: &mut AtomicProgram, span: Span) -> VariableId {
    let id = VariableId(program.variables.len() as u32);
    let name = format!("condition{}", id.0).into();
    let kind = VariableKind::Temporary;
    program.variables.push(Variable { name, width_bits: 1, kind, span });
    id
}

/// When each arm of a branch runs, by the order of its rules.
pub(super) fn arm_formulas(
    formulas: &mut Formulas,
    branch: &Branch,
    of: &mut dyn FnMut(&mut Formulas, VariableId, Condition) -> Formula,
) -> Vec<Formula> {
    let mut arms = vec![Formula::NEVER; branch.arms.len()];
    let mut open = Formula::ALWAYS;
    for (conditions, arm) in &branch.rules {
        let mut matches = open;
        for (id, condition) in conditions {
            let one = of(formulas, *id, *condition);
            matches = formulas.and(matches, one);
        }
        if let Some(arm) = arms.get_mut(*arm) {
            *arm = formulas.or(*arm, matches);
        }
        let not = formulas.not(matches);
        open = formulas.and(open, not);
    }
    arms
}

/// The formula of a condition on a subject and its width.
pub(super) fn condition_formula(
    formulas: &mut Formulas,
    subject: (u32, u32),
    condition: Condition,
) -> Formula {
    match condition {
        Condition::Ternary { value, mask } => formulas.ternary(subject, value, mask),
        Condition::Range { low, high } => {
            let at_most = formulas.at_most(subject, high);
            match low {
                0 => at_most,
                _ => {
                    let below = formulas.at_most(subject, low - 1);
                    let not = formulas.not(below);
                    formulas.and(at_most, not)
                }
            }
        }
    }
}

/// Rules inside a guard of one rule: each of them asks for what that rule asks.
pub(super) fn within(
    outer: &Guard,
    rules: impl Iterator<Item = (BTreeMap<VariableId, Condition>, bool)>,
) -> Guard {
    let outer = outer.rules.first().map(|rule| rule.conditions.clone()).unwrap_or_default();
    let rules = rules.map(|(conditions, runs)| {
        let mut all = outer.clone();
        all.extend(conditions);
        GuardRule { conditions: all, runs }
    });
    Guard { rules: rules.collect() }
}

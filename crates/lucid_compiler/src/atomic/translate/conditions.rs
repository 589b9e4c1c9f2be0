// SPDX-License-Identifier: Apache-2.0
//! Boolean expressions as tests of variables against constants, and branch tables from them (Lucid
//! §6.1, "Branch table").
//!
//! Comparisons of two variables, right for all unsigned values: `a == b` is `a ^ b` and a test of all
//! bits for zero; `a < b` is `b |-| a`, which is zero exactly if `b <= a`. Wider than an ALU they go by
//! pieces from the top.

use super::super::codes;
use super::super::formula::{Formula, Formulas};
use super::super::program::{AluOperator, Operand, Operation};
use super::super::rules::rules;
use super::super::tree::{Branch, Node};
use super::builder::{Translator, width_of};
use super::expressions::ALU_BITS;
use lucid::core::arithmetic::mask;
use lucid::core::{Constant, Expression, ExpressionKind, Type};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use pisa::{Condition, VariableId};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Most rules that a branch table may have before its condition is computed in parts.
const MAX_RULES: usize = 64;

impl Translator<'_> {
    /// The condition over variables that have their values now.
    pub(super) fn condition(&mut self, expression: &Expression) -> Formula {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.condition_deep(expression))
    }

    fn condition_deep(&mut self, expression: &Expression) -> Formula {
        use BinaryOperator as B;
        match &expression.kind {
            ExpressionKind::Constant(Constant::Bool(true)) => Formula::ALWAYS,
            ExpressionKind::Constant(Constant::Bool(false)) => Formula::NEVER,
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                let inner = self.condition(inner);
                self.formulas.not(inner)
            }
            ExpressionKind::Binary(operator @ (B::And | B::Or), left, right) => {
                let left = self.condition(left);
                let right = self.condition(right);
                match operator {
                    B::And => self.formulas.and(left, right),
                    _ => self.formulas.or(left, right),
                }
            }
            ExpressionKind::Binary(operator, left, right) if left.ty == Type::Bool => {
                let left = self.condition(left);
                let right = self.condition(right);
                let not = self.formulas.not(right);
                match operator {
                    B::Equal => self.formulas.choose(left, right, not),
                    _ => self.formulas.choose(left, not, right),
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.comparison(*operator, left, right)
            }
            _ => match self.operand(expression) {
                Operand::Constant(0) => Formula::NEVER,
                Operand::Constant(_) => Formula::ALWAYS,
                Operand::Variable(id) => self.formulas.ternary((id.0, 1), 1, 1),
            },
        }
    }

    fn comparison(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Formula {
        use BinaryOperator as B;
        let width = width_of(left.ty).unwrap_or(1);
        let left = self.operand(left);
        let right = self.operand(right);
        let (negated, formula) = match operator {
            B::Equal => (false, self.equal(left, right, width)),
            B::NotEqual => (true, self.equal(left, right, width)),
            B::Less => (false, self.less(left, right, width)),
            B::Greater => (false, self.less(right, left, width)),
            B::LessOrEqual => (true, self.less(right, left, width)),
            _ => (true, self.less(left, right, width)),
        };
        if negated { self.formulas.not(formula) } else { formula }
    }

    fn equal(&mut self, left: Operand, right: Operand, width: u32) -> Formula {
        match (left, right) {
            (Operand::Constant(left), Operand::Constant(right)) => always_if(left == right),
            (Operand::Variable(id), Operand::Constant(value))
            | (Operand::Constant(value), Operand::Variable(id)) => self.equals(id, value),
            (Operand::Variable(_), Operand::Variable(_)) => {
                let difference = self.temporary("difference", width);
                self.compute(difference, AluOperator::Xor, left, right);
                self.equals(difference, 0)
            }
        }
    }

    fn equals(&mut self, id: VariableId, value: u128) -> Formula {
        let width = self.graph.program.variable(id).width_bits;
        if value > mask(width) {
            return Formula::NEVER;
        }
        self.formulas.ternary((id.0, width), value, mask(width))
    }

    fn less(&mut self, left: Operand, right: Operand, width: u32) -> Formula {
        match (left, right) {
            (Operand::Constant(left), Operand::Constant(right)) => always_if(left < right),
            (Operand::Variable(id), Operand::Constant(value)) => self.below(id, value),
            (Operand::Constant(value), Operand::Variable(id)) => match value.checked_add(1) {
                Some(next) => {
                    let at_most = self.below(id, next);
                    self.formulas.not(at_most)
                }
                None => Formula::NEVER,
            },
            (Operand::Variable(_), Operand::Variable(_)) if width <= ALU_BITS => {
                let excess = self.temporary("excess", width);
                self.compute(excess, AluOperator::SaturatingSubtract, right, left);
                let none = self.equals(excess, 0);
                self.formulas.not(none)
            }
            (Operand::Variable(left), Operand::Variable(right)) => {
                let lower = width - ALU_BITS;
                let upper = [left, right].map(|side| self.piece(side, lower, ALU_BITS));
                let above = self.less(upper[0], upper[1], ALU_BITS);
                let same = self.equal(upper[0], upper[1], ALU_BITS);
                let lower = [left, right].map(|side| self.piece(side, 0, lower));
                let below = self.less(lower[0], lower[1], width - ALU_BITS);
                let below = self.formulas.and(same, below);
                self.formulas.or(above, below)
            }
        }
    }

    fn piece(&mut self, from: VariableId, low: u32, width_bits: u32) -> Operand {
        let to = self.temporary("part", width_bits);
        self.emit(Operation::Slice { to, from, low, width_bits });
        Operand::Variable(to)
    }

    fn below(&mut self, id: VariableId, value: u128) -> Formula {
        let width = self.graph.program.variable(id).width_bits;
        match value {
            0 => Formula::NEVER,
            _ => self.formulas.at_most((id.0, width), value - 1),
        }
    }

    /// `to` becomes 1 or 0.
    pub(super) fn assign_condition(&mut self, to: VariableId, expression: &Expression) {
        let span = expression.span;
        let formula = self.condition(expression);
        self.assign_formula(to, formula, span);
    }

    fn assign_formula(&mut self, to: VariableId, formula: Formula, span: Span) {
        let constant = |value: u128| Operation::Move { to, from: Operand::Constant(value) };
        match formula {
            Formula::ALWAYS => return self.emit(constant(1)),
            Formula::NEVER => return self.emit(constant(0)),
            _ => {}
        }
        if let Some((test, Formula::NEVER, Formula::ALWAYS)) = self.formulas.root(formula)
            && test.width_bits == 1
        {
            let from = Operand::Variable(VariableId(test.subject));
            return self.emit(Operation::Move { to, from });
        }
        let arms = [1, 0].map(|value| self.arm(|translator| translator.emit(constant(value))));
        self.branch(formula, arms.into(), &BTreeSet::from([to]), span);
    }

    /// A branch table: the first arm if the formula holds, else the second. `written` is what the arms
    /// write; where the condition reads it, it is copied before.
    pub(super) fn branch(
        &mut self,
        formula: Formula,
        mut arms: Vec<Vec<Node>>,
        written: &BTreeSet<VariableId>,
        span: Span,
    ) {
        let formula = self.with_copies(formula, written);
        let (formula, rules) = self.few_rules(formula, span);
        let rules = rules.into_iter().map(|(conditions, runs)| {
            let conditions =
                conditions.into_iter().map(|(id, condition)| (VariableId(id), condition));
            (conditions.collect(), usize::from(!runs))
        });
        let mut rules: Vec<(BTreeMap<VariableId, Condition>, usize)> = rules.collect();
        match formula {
            Formula::NEVER => {
                return arms.swap_remove(1).into_iter().for_each(|node| self.push(node));
            }
            Formula::ALWAYS => {
                return arms.swap_remove(0).into_iter().for_each(|node| self.push(node));
            }
            _ => {}
        }
        if arms[1].is_empty() {
            arms.truncate(1);
            // What goes to no arm still has to keep later rules from matching.
        }
        if rules.last().is_none_or(|(conditions, _)| !conditions.is_empty()) {
            rules.push((BTreeMap::new(), 1));
        }
        if arms.len() == 1 {
            while rules.last().is_some_and(|(_, arm)| *arm == 1) {
                rules.pop();
            }
        }
        self.push(Node::Branch(Branch { rules, arms, span }));
    }

    /// With copies of the variables in `written` for subjects.
    fn with_copies(&mut self, formula: Formula, written: &BTreeSet<VariableId>) -> Formula {
        let mut copies: BTreeMap<u32, u32> = BTreeMap::new();
        for test in self.formulas.tests_of(formula) {
            if written.contains(&VariableId(test.subject)) {
                let copy = self.copy(VariableId(test.subject), &mut copies);
                copies.insert(test.subject, copy.0);
            }
        }
        if copies.is_empty() {
            return formula;
        }
        self.formulas.replace(formula, &mut |formulas: &mut Formulas, test| {
            let subject = copies.get(&test.subject).copied().unwrap_or(test.subject);
            same_test(formulas, test, subject)
        })
    }

    fn copy(&mut self, of: VariableId, known: &mut BTreeMap<u32, u32>) -> VariableId {
        if let Some(copy) = known.get(&of.0) {
            return VariableId(*copy);
        }
        let (name, width) = {
            let variable = self.graph.program.variable(of);
            (variable.name.clone(), variable.width_bits)
        };
        let to = self.temporary(&format!("{name}.before"), width);
        self.emit(Operation::Move { to, from: Operand::Variable(of) });
        to
    }

    /// A variable for a subject of a `match` whose branches write it.
    pub(super) fn subject(&mut self, of: VariableId, written: &BTreeSet<VariableId>) -> VariableId {
        if written.contains(&of) { self.copy(of, &mut BTreeMap::new()) } else { of }
    }

    /// The rules of a formula; parts of it are computed before if they are too many.
    fn few_rules(
        &mut self,
        formula: Formula,
        span: Span,
    ) -> (Formula, Vec<super::super::rules::Rule>) {
        let mut formula = formula;
        for _ in 0..MAX_RULES {
            if let Some(found) = rules(&mut self.formulas, formula, MAX_RULES) {
                return (formula, found);
            }
            // The first test becomes a bit of its own.
            let Some((test, low, high)) = self.formulas.root(formula) else { break };
            let [low, high] = [low, high].map(|side| {
                if self.formulas.root(side).is_none() {
                    return side;
                }
                let bit = self.temporary("part", 1);
                self.assign_formula(bit, side, span);
                self.formulas.ternary((bit.0, 1), 1, 1)
            });
            let condition = same_test(&mut self.formulas, test, test.subject);
            formula = self.formulas.choose(condition, high, low);
        }
        self.error(codes::CONDITION, span, "this condition takes too many match rules");
        (Formula::NEVER, Vec::new())
    }
}

/// The formula of a test on a subject of the same width.
pub(in super::super) fn same_test(
    formulas: &mut Formulas,
    test: super::super::formula::Test,
    subject: u32,
) -> Formula {
    match test.condition {
        Condition::Ternary { value, mask } => {
            formulas.ternary((subject, test.width_bits), value, mask)
        }
        Condition::Range { high, .. } => formulas.at_most((subject, test.width_bits), high),
    }
}

fn always_if(holds: bool) -> Formula {
    if holds { Formula::ALWAYS } else { Formula::NEVER }
}

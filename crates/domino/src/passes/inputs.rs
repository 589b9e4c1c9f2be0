// SPDX-License-Identifier: Apache-2.0
//! Which inputs of a codelet follow from others. A condition and its negation are two variables; an atom that gets both as
//! if they were independent would have to serve values that no packet has. [`Definitions::determined`] chooses the
//! definitions that leave the fewest independent values.

use crate::core::{Core, Expression, StatementKind, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Definitions that are considered together.
const MAX_TOGETHER: usize = 3;

/// With more variables than these, definitions are considered one by one.
const MAX_VARIABLES_TOGETHER: usize = 32;

/// What a variable is assigned, and the variables on which its value depends.
type Definition<'c> = (&'c Expression, BTreeSet<Variable>);

/// Where variables get their values in a program after the last pass: each in one statement.
pub(super) struct Definitions<'c> {
    core: &'c Core,
    statements: BTreeMap<Variable, usize>,
    /// The definitions whose operands have the same values wherever the variable is read.
    kept: BTreeMap<Variable, Definition<'c>>,
}

impl<'c> Definitions<'c> {
    pub(super) fn of(core: &'c Core) -> Definitions<'c> {
        let statements = core.body.iter().enumerate();
        let targets = statements.filter_map(|(at, one)| Some((one.kind.target()?, at)));
        let statements: BTreeMap<Variable, usize> = targets.collect();
        let mut found = Definitions { core, statements, kept: BTreeMap::new() };
        let all = found.statements.iter();
        found.kept = all.filter_map(|(one, at)| Some((*one, found.kept(*at)?))).collect();
        found
    }

    /// Whether a variable has no value yet at a statement, so that it is 0: no field, and defined there or behind.
    pub(super) fn is_zero(&self, variable: Variable, at: usize) -> bool {
        variable.index() >= self.core.fields.len()
            && self.statements.get(&variable).is_none_or(|defined| *defined >= at)
    }

    /// Whether a variable has no value yet where another one is defined.
    pub(super) fn is_zero_in(&self, variable: Variable, defined: Variable) -> bool {
        self.statements.get(&defined).is_some_and(|at| self.is_zero(variable, *at))
    }

    /// Returns the definition by a statement, if its operands have their values in front of it.
    fn kept(&self, at: usize) -> Option<Definition<'c>> {
        let StatementKind::Assign(_, value) = &self.core.body[at].kind else { return None };
        let mut operands = BTreeSet::new();
        value.each_variable(&mut |operand| operands.extend([operand]));
        operands.retain(|operand| !self.is_zero(*operand, at));
        let is_kept = |operand: &Variable| self.statements.get(operand).is_none_or(|one| *one < at);
        operands.iter().all(is_kept).then_some((value, operands))
    }

    /// Returns the variables that are left of some when these definitions take the places of their variables.
    fn independent(
        &self,
        variables: &BTreeSet<Variable>,
        chosen: &BTreeSet<Variable>,
    ) -> BTreeSet<Variable> {
        let mut left = BTreeSet::new();
        let mut open: Vec<Variable> = variables.iter().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(variable) = open.pop() {
            if !seen.insert(variable) {
                continue;
            }
            match self.kept.get(&variable).filter(|_| chosen.contains(&variable)) {
                Some((_, operands)) => open.extend(operands.iter().copied()),
                None => drop(left.insert(variable)),
            }
        }
        left
    }

    /// Returns definitions by which some variables follow from fewer ones; none if there are no such definitions.
    pub(super) fn determined(
        &self,
        variables: &BTreeSet<Variable>,
    ) -> BTreeMap<Variable, &'c Expression> {
        let mut chosen = BTreeSet::new();
        let together = if variables.len() > MAX_VARIABLES_TOGETHER { 1 } else { MAX_TOGETHER };
        while let Some(better) = self.better(variables, &chosen, together) {
            chosen = better;
        }
        let definitions = chosen.into_iter();
        definitions.filter_map(|one| Some((one, self.kept.get(&one)?.0))).collect()
    }

    /// Adds up to `more` definitions that lower the number of independent variables, the fewest first.
    fn better(
        &self,
        variables: &BTreeSet<Variable>,
        chosen: &BTreeSet<Variable>,
        more: usize,
    ) -> Option<BTreeSet<Variable>> {
        let count = self.independent(variables, chosen).len();
        (1..=more).find_map(|depth| self.lowered(variables, chosen, depth, count))
    }

    fn lowered(
        &self,
        variables: &BTreeSet<Variable>,
        chosen: &BTreeSet<Variable>,
        depth: usize,
        count: usize,
    ) -> Option<BTreeSet<Variable>> {
        let left = self.independent(variables, chosen);
        if depth == 0 {
            return (left.len() < count).then(|| chosen.clone());
        }
        left.iter().filter(|one| self.kept.contains_key(*one)).find_map(|one| {
            let mut chosen = chosen.clone();
            chosen.insert(*one);
            self.lowered(variables, &chosen, depth - 1, count)
        })
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Which variables statements read and write, and statements with other variables in their places.

use super::program::{
    AtomicProgram, Hash, Index, Operand, Operation, Statement, Variable, VariableKind,
};
use crate::names::Unique;
use pisa::{Guard, GuardRule, VariableId};
use std::collections::BTreeSet;

impl Operation {
    /// Operands in order, those of a register action not included.
    fn own_operands(&self) -> Vec<Operand> {
        let hashed = |hash: &Hash| hash.arguments.iter().map(|it| it.0).collect::<Vec<_>>();
        match self {
            Operation::Move { from, .. } => vec![*from],
            Operation::Compute { left, right, .. } => vec![*left, *right],
            Operation::Slice { from, .. } => vec![Operand::Variable(*from)],
            Operation::Concatenate { left, right, .. } => vec![left.0, right.0],
            Operation::Hash { hash, .. } => hashed(hash),
            Operation::Checksum { arguments, .. } => arguments.iter().map(|it| it.0).collect(),
            Operation::Random { .. } | Operation::Generate { .. } => Vec::new(),
            Operation::Memory { index, .. } => match index {
                Index::Operand(operand) => vec![*operand],
                Index::Hash(hash) => hashed(hash),
            },
            Operation::Lookup { key, arguments, .. } => {
                key.iter().chain(arguments).copied().collect()
            }
        }
    }

    /// The variables it writes.
    pub fn writes(&self) -> Vec<VariableId> {
        match self {
            Operation::Move { to, .. }
            | Operation::Compute { to, .. }
            | Operation::Slice { to, .. }
            | Operation::Concatenate { to, .. }
            | Operation::Hash { to, .. }
            | Operation::Checksum { to, .. }
            | Operation::Random { to } => vec![*to],
            Operation::Memory { result, .. } => result.iter().copied().collect(),
            Operation::Lookup { results, .. } => results.iter().flatten().copied().collect(),
            Operation::Generate { .. } => Vec::new(),
        }
    }

    /// The same on other variables.
    fn map(&self, of: &mut dyn FnMut(VariableId) -> VariableId) -> Operation {
        let operand = |operand: Operand, of: &mut dyn FnMut(VariableId) -> VariableId| match operand
        {
            Operand::Variable(id) => Operand::Variable(of(id)),
            constant => constant,
        };
        let hashed = |hash: &Hash, of: &mut dyn FnMut(VariableId) -> VariableId| Hash {
            arguments: hash.arguments.iter().map(|it| (operand(it.0, of), it.1)).collect(),
            ..hash.clone()
        };
        let mut mapped = self.clone();
        match &mut mapped {
            Operation::Move { to, from } => {
                (*to, *from) = (of(*to), operand(*from, of));
            }
            Operation::Compute { to, left, right, .. } => {
                *to = of(*to);
                (*left, *right) = (operand(*left, of), operand(*right, of));
            }
            Operation::Slice { to, from, .. } => (*to, *from) = (of(*to), of(*from)),
            Operation::Concatenate { to, left, right } => {
                *to = of(*to);
                (left.0, right.0) = (operand(left.0, of), operand(right.0, of));
            }
            Operation::Hash { to, hash } => {
                *to = of(*to);
                *hash = hashed(hash, of);
            }
            Operation::Checksum { to, arguments } => {
                *to = of(*to);
                arguments.iter_mut().for_each(|it| it.0 = operand(it.0, of));
            }
            Operation::Random { to } => *to = of(*to),
            Operation::Memory { index, result, .. } => {
                *index = match &*index {
                    Index::Operand(it) => Index::Operand(operand(*it, of)),
                    Index::Hash(hash) => Index::Hash(hashed(hash, of)),
                };
                *result = result.map(&mut *of);
            }
            Operation::Lookup { key, arguments, results, .. } => {
                key.iter_mut().chain(arguments).for_each(|it| *it = operand(*it, of));
                results.iter_mut().flatten().for_each(|it| *it = of(*it));
            }
            Operation::Generate { .. } => {}
        }
        mapped
    }
}

impl AtomicProgram {
    /// The variables that a statement's operation reads, those of its register action included.
    pub fn reads(&self, statement: &Statement) -> BTreeSet<VariableId> {
        let mut operands = statement.operation.own_operands();
        if let Operation::Memory { array, register_action, .. } = &statement.operation {
            let array = &self.arrays[array.0 as usize];
            let action = &array.register_actions[*register_action as usize];
            operands.extend(action.access.operands());
        }
        operands.into_iter().filter_map(Operand::variable).collect()
    }

    /// Without variables that no statement names, and with a name of its own for each variable.
    pub(super) fn without_unused_variables(self) -> AtomicProgram {
        let mut used: BTreeSet<VariableId> = BTreeSet::new();
        for statement in &self.statements {
            used.extend(statement.guard.rules.iter().flat_map(|rule| rule.conditions.keys()));
            used.extend(self.reads(statement));
            used.extend(statement.operation.writes());
        }
        let mut kept = Vec::new();
        let mut numbers = vec![None; self.variables.len()];
        for (at, variable) in self.variables.iter().enumerate() {
            let id = VariableId(at as u32);
            let stays = matches!(variable.kind, VariableKind::Dispatched(_));
            if stays || used.contains(&id) {
                numbers[at] = Some(VariableId(kept.len() as u32));
                kept.push(variable.clone());
            }
        }
        name_apart(&mut kept);
        let mut number = |id: VariableId| numbers[id.0 as usize].unwrap_or(id);
        let mut arrays = self.arrays;
        for action in arrays.iter_mut().flat_map(|array| &mut array.register_actions) {
            action.access = action.access.map(&mut |operand| match operand {
                Operand::Variable(id) => Operand::Variable(number(id)),
                constant => constant,
            });
        }
        let statements = (self.statements.into_iter())
            .map(|statement| Statement {
                guard: renamed(&statement.guard, &mut number),
                operation: statement.operation.map(&mut number),
                ..statement
            })
            .collect();
        AtomicProgram { variables: kept, arrays, statements, ..self }
    }
}

/// Gives variables of one name numbers. Only temporaries share names.
fn name_apart(variables: &mut [Variable]) {
    let mut names: Unique = variables
        .iter()
        .filter(|variable| variable.kind != VariableKind::Temporary)
        .map(|variable| variable.name.clone())
        .collect();
    for variable in variables {
        if variable.kind != VariableKind::Temporary {
            continue;
        }
        variable.name = names.fresh(&variable.name, '~', |_| true);
    }
}

fn renamed(guard: &Guard, number: &mut dyn FnMut(VariableId) -> VariableId) -> Guard {
    let rule = |rule: &GuardRule| GuardRule {
        conditions: rule.conditions.iter().map(|(id, of)| (number(*id), *of)).collect(),
        runs: rule.runs,
    };
    Guard { rules: guard.rules.iter().map(rule).collect() }
}

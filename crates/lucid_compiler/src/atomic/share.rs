// SPDX-License-Identifier: Apache-2.0
//! Arrays with more kinds of access than a stateful ALU has programs and its table has hash
//! units for: accesses of one shape get common variables for what they are given, and hashes are
//! computed before. That takes a stage more, so it is done only where there are too many.

use super::program::{
    ArrayId, AtomicProgram, Index, MemoryAccess, Operand, Operation, RegisterAction, Statement,
    Variable, VariableKind,
};
use pisa::VariableId;
use std::collections::BTreeMap;

/// Programs of a stateful ALU (public TNA documents: 4 register actions a register).
const MAX_REGISTER_ACTIONS: usize = 4;

/// Hashes that may be computed for an array (Lucid's compiler: 2 hash units a table).
const MAX_HASHES: usize = 2;

/// The program with no array that has too many kinds of access, as far as accesses can be made equal.
pub(super) fn share(mut program: AtomicProgram) -> AtomicProgram {
    for array in (0..program.arrays.len() as u32).map(ArrayId) {
        if hashes(&program, array).len() > MAX_HASHES {
            program = hash_before(program, array);
        }
        let count =
            |program: &AtomicProgram| program.arrays[array.0 as usize].register_actions.len();
        if count(&program) > MAX_REGISTER_ACTIONS {
            return_always(&mut program, array);
        }
        if count(&program) > MAX_REGISTER_ACTIONS {
            program = common_operands(program, array);
        }
    }
    program
}

/// The different hashes that are indices of an array, and how often each is.
fn hashes(program: &AtomicProgram, array: ArrayId) -> Vec<(Index, usize)> {
    let mut found: Vec<(Index, usize)> = Vec::new();
    for statement in &program.statements {
        let Operation::Memory { array: of, index: index @ Index::Hash(_), .. } =
            &statement.operation
        else {
            continue;
        };
        if *of != array {
            continue;
        }
        match found.iter_mut().find(|(known, _)| known == index) {
            Some((_, count)) => *count += 1,
            None => found.push((index.clone(), 1)),
        }
    }
    found
}

fn temporary(
    program: &mut AtomicProgram,
    name: &str,
    width_bits: u32,
    like: &Statement,
) -> VariableId {
    let id = VariableId(program.variables.len() as u32);
    program.variables.push(Variable {
        name: name.into(),
        width_bits,
        kind: VariableKind::Temporary,
        span: like.span,
    });
    id
}

/// Hashes of an array in variables, but for those that are used most.
fn hash_before(mut program: AtomicProgram, array: ArrayId) -> AtomicProgram {
    let mut all = hashes(&program, array);
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let moved: Vec<Index> = all.into_iter().skip(MAX_HASHES).map(|(index, _)| index).collect();
    let mut statements = Vec::new();
    for mut statement in std::mem::take(&mut program.statements) {
        if let Operation::Memory { array: of, index, .. } = &mut statement.operation
            && *of == array
            && moved.contains(index)
            && let Index::Hash(hash) = index.clone()
        {
            // Under the access's own guard it would wait for what the guard waits for.
            let like = &statement;
            let to = VariableId(program.variables.len() as u32);
            let before = Statement {
                guard: event_only(like, &program),
                operation: Operation::Hash { to, hash: hash.clone() },
                ..like.clone()
            };
            let to = temporary(&mut program, "index", hash.width_bits, like);
            statements.push(before);
            if let Operation::Memory { index, .. } = &mut statement.operation {
                *index = Index::Operand(Operand::Variable(to));
            }
        }
        statements.push(statement);
    }
    AtomicProgram { statements, ..program }
}

/// What a guard asks of the event.
fn event_only(statement: &Statement, program: &AtomicProgram) -> pisa::Guard {
    let is_event =
        |id: &VariableId| matches!(program.variable(*id).kind, VariableKind::Dispatched(_));
    let mut rule = statement.guard.rules.first().cloned().unwrap_or_default();
    rule.conditions.retain(|id, _| is_event(id));
    rule.runs = true;
    pisa::Guard { rules: vec![rule] }
}

/// Actions that differ only in whether they return something become one that does.
fn return_always(program: &mut AtomicProgram, array: ArrayId) {
    replace_actions(program, array, |actions| {
        let mut kept: Vec<RegisterAction> = Vec::new();
        let numbers = actions
            .iter()
            .map(|action| match kept.iter_mut().position(|it| it.access == action.access) {
                Some(at) => {
                    kept[at].returns |= action.returns;
                    at as u32
                }
                None => {
                    kept.push(action.clone());
                    kept.len() as u32 - 1
                }
            })
            .collect();
        (kept, numbers)
    });
}

fn replace_actions(
    program: &mut AtomicProgram,
    array: ArrayId,
    change: impl FnOnce(&[RegisterAction]) -> (Vec<RegisterAction>, Vec<u32>),
) {
    let of = &mut program.arrays[array.0 as usize];
    let (kept, numbers) = change(&of.register_actions);
    of.register_actions = kept;
    for statement in &mut program.statements {
        if let Operation::Memory { array: of, register_action, .. } = &mut statement.operation
            && *of == array
        {
            *register_action = numbers[*register_action as usize];
        }
    }
}

/// The access without its operands: what tells shapes apart.
fn shape(access: &MemoryAccess) -> MemoryAccess {
    access.map(&mut |_| Operand::Constant(0))
}

/// Accesses of one shape get their operands in common variables, the shape with the most actions first,
/// until there are few enough.
fn common_operands(mut program: AtomicProgram, array: ArrayId) -> AtomicProgram {
    loop {
        let actions = program.arrays[array.0 as usize].register_actions.clone();
        if actions.len() <= MAX_REGISTER_ACTIONS {
            return program;
        }
        let mut shapes: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (at, action) in actions.iter().enumerate() {
            let key = format!("{:?}", shape(&action.access));
            shapes.entry(key).or_default().push(at as u32);
        }
        let Some(group) = shapes.into_values().max_by_key(Vec::len).filter(|it| it.len() > 1)
        else {
            return program;
        };
        program = one_action(program, array, &actions, &group);
    }
}

/// One action in the place of several of one shape.
fn one_action(
    mut program: AtomicProgram,
    array: ArrayId,
    actions: &[RegisterAction],
    group: &[u32],
) -> AtomicProgram {
    let operands: Vec<Vec<Operand>> =
        group.iter().map(|at| actions[*at as usize].access.operands()).collect();
    let Some(like) = program.statements.iter().find(|it| is_access(it, array)).cloned() else {
        return program;
    };
    let width = |program: &AtomicProgram, operand: Operand| match operand {
        Operand::Variable(id) => program.variable(id).width_bits,
        Operand::Constant(value) => (128 - value.leading_zeros()).max(1),
    };
    // Where all give the same, nothing is moved.
    let count = operands.first().map_or(0, Vec::len);
    let mut common = Vec::new();
    for at in 0..count {
        let first = operands[0][at];
        if operands.iter().all(|list| list[at] == first) {
            common.push(first);
            continue;
        }
        let widest = operands.iter().map(|list| width(&program, list[at])).max().unwrap_or(1);
        let to = temporary(&mut program, "given", widest, &like);
        common.push(Operand::Variable(to));
    }
    let mut next = common.iter();
    let access =
        actions[group[0] as usize].access.map(&mut |old| next.next().copied().unwrap_or(old));
    let returns = group.iter().any(|at| actions[*at as usize].returns);
    let mut statements = Vec::new();
    for statement in std::mem::take(&mut program.statements) {
        if let Operation::Memory { array: of, register_action, .. } = &statement.operation
            && *of == array
            && let Some(at) = group.iter().position(|one| one == register_action)
        {
            for (from, to) in operands[at].iter().zip(&common) {
                if let Operand::Variable(to) = to
                    && from != &Operand::Variable(*to)
                {
                    statements.push(Statement {
                        operation: Operation::Move { to: *to, from: *from },
                        ..statement.clone()
                    });
                }
            }
        }
        statements.push(statement);
    }
    program.statements = statements;
    replace_actions(&mut program, array, |actions| {
        let mut kept = Vec::new();
        let mut numbers = vec![0; actions.len()];
        for (at, action) in actions.iter().enumerate() {
            if group[1..].contains(&(at as u32)) {
                continue;
            }
            numbers[at] = kept.len() as u32;
            let joined = RegisterAction { access: access.clone(), returns, ..action.clone() };
            kept.push(if group[0] == at as u32 { joined } else { action.clone() });
        }
        for at in &group[1..] {
            numbers[*at as usize] = numbers[group[0] as usize];
        }
        (kept, numbers)
    });
    program
}

fn is_access(statement: &Statement, array: ArrayId) -> bool {
    matches!(statement.operation, Operation::Memory { array: of, .. } if of == array)
}

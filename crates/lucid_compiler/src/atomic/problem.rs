// SPDX-License-Identifier: Apache-2.0
//! An atomic program as a layout problem: a unit a statement, in order; what each takes of its stage;
//! and what has to wait for what ([`super::dependencies`]). The scheduler's tables are added by the back
//! end that has them.

use super::dependencies::dependencies;
use super::program::{AtomicProgram, Index, Operand, Operation, Statement};
use lucid::core::{GlobalId, GlobalKind, Program, Type};
use pisa::{
    Array, ArrayId, MatchKind, Problem, ProgramKey, ProgramTable, Resource, Unit, Variable,
};
use std::collections::{BTreeMap, HashSet};

/// Widest container, in bits: what one instruction writes.
const CONTAINER_BITS: u32 = 32;

/// What one hash unit gives, in bits.
const HASH_UNIT_BITS: u32 = 32;

/// What one hash unit gives to containers, in bits: a table gives them 32.
const CROSSING_UNIT_BITS: u32 = 16;

/// The layout problem of a program: unit n is statement n, variables and arrays have their numbers.
pub fn problem(core: &Program, program: &AtomicProgram, name: &str) -> Problem {
    let variables = (program.variables.iter())
        .map(|variable| Variable { name: variable.name.clone(), width_bits: variable.width_bits })
        .collect();
    let arrays = program.arrays.iter().map(|array| self::array(core, array.global)).collect();
    let mut seen = HashSet::new();
    let units = (program.statements.iter())
        .map(|statement| Unit {
            name: super::operation_text(core, program, statement).into(),
            span: statement.span,
            gress: statement.gress,
            guard: statement.guard.clone(),
            mergeable: !matches!(statement.operation, Operation::Lookup { .. }),
            table: program_table(core, program, &statement.operation),
            array: match statement.operation {
                Operation::Memory { array, .. } => Some(ArrayId(array.0)),
                _ => None,
            },
            register_action: match statement.operation {
                Operation::Memory { register_action, .. } => register_action,
                _ => 0,
            },
            demand: demand(program, statement, &mut seen),
        })
        .collect();
    let dependencies = dependencies(program);
    Problem { name: name.into(), variables, arrays, units, dependencies }
}

fn array(core: &Program, global: GlobalId) -> Array {
    let global = &core.globals[global.0 as usize];
    let (cell_bits, length) = match &global.kind {
        GlobalKind::Array { width_bits, length } => (*width_bits, *length),
        GlobalKind::PairArray { width_bits, length } => (2 * width_bits, *length),
        GlobalKind::Counter { width_bits, .. } => (*width_bits, 1),
        GlobalKind::Table(_) => (0, 0),
    };
    Array { name: global.name.clone(), cell_bits, length, span: global.span }
}

/// What a statement takes of its stage. An array's hash is counted with the first of its accesses
/// that has this index: all of them sit in one stage, and use it in turns.
fn demand(
    program: &AtomicProgram,
    statement: &Statement,
    seen: &mut HashSet<(u32, Index)>,
) -> BTreeMap<Resource, u64> {
    let mut demand = BTreeMap::new();
    let written: u64 = (statement.operation.writes().iter())
        .map(|id| u64::from(program.variable(*id).width_bits.div_ceil(CONTAINER_BITS)))
        .sum();
    let hash = |width: u32| {
        let units = u64::from(width.div_ceil(HASH_UNIT_BITS));
        [(Resource::HashUnits, units), (Resource::HashBits, u64::from(width))]
    };
    if statement.crosses {
        let bits: u32 =
            statement.operation.writes().iter().map(|id| program.variable(*id).width_bits).sum();
        let units = u64::from(bits.div_ceil(CROSSING_UNIT_BITS));
        demand.extend([(Resource::HashUnits, units), (Resource::HashBits, u64::from(bits))]);
    }
    match &statement.operation {
        // The deparser does it.
        Operation::Checksum { .. } => return demand,
        Operation::Hash { hash: it, .. } => demand.extend(hash(it.width_bits)),
        Operation::Memory { array, index, .. } => {
            if let Index::Hash(it) = index
                && seen.insert((array.0, index.clone()))
            {
                demand.extend(hash(it.width_bits));
            }
        }
        _ => {}
    }
    // A header's validity and the event's number.
    let instructions = match statement.operation {
        Operation::Generate { .. } => 2,
        _ => written.max(1),
    };
    demand.insert(Resource::Instructions, instructions);
    demand.insert(Resource::Statements, 1);
    demand
}

fn program_table(
    core: &Program,
    program: &AtomicProgram,
    operation: &Operation,
) -> Option<ProgramTable> {
    let Operation::Lookup { table, key, .. } = operation else { return None };
    let GlobalKind::Table(table) = &core.globals.get(table.0 as usize)?.kind else { return None };
    let keys = key.iter().filter_map(|part| match part {
        Operand::Variable(variable) => Some(ProgramKey {
            variable: *variable,
            kind: MatchKind::Ternary,
            width_bits: program.variable(*variable).width_bits,
        }),
        Operand::Constant(_) => None,
    });
    let action_data_bits = (table.actions.iter())
        .filter_map(|id| core.actions.get(id.0 as usize))
        .map(|action| {
            let installed = action.parameters.iter().take(action.install_count as usize);
            installed.map(|parameter| bits(parameter.ty)).sum()
        })
        .max();
    Some(ProgramTable {
        keys: keys.collect(),
        entries: table.capacity,
        actions: table.actions.len() as u32,
        action_data_bits: action_data_bits.unwrap_or(0),
    })
}

fn bits(ty: Type) -> u32 {
    match ty {
        Type::Int(width) => width,
        Type::Bool => 1,
        Type::Event | Type::Group | Type::Payload => 0,
    }
}

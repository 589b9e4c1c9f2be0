// SPDX-License-Identifier: Apache-2.0
//! Indexes of arrays that the ingress parser puts into one place. All memory operations of a table of Tofino have one
//! index, so handlers of several events that use a parameter each would need a table each, and a stage has room for
//! few that share a register.

use crate::atomic::program::{ArrayId, AtomicProgram, Index, Operand, Operation, VariableKind};
use crate::expressions::wire_bits;
use crate::names::{self, Names};
use crate::options::Options;
use lucid::core::{EventId, Program};
use pisa::Gress;
use std::collections::BTreeMap;

/// The index of an array, as the parser sets it.
#[derive(Clone, Debug)]
pub(super) struct ParserIndex {
    /// The field of metadata.
    pub(super) field: String,
    pub(super) width_bits: u32,
    /// The parameter of each event that it is.
    pub(super) parameters: BTreeMap<EventId, u32>,
}

/// Arrays whose index handlers take from parameters of different events. A parser copies whole bytes, and what the
/// user's P4 in front of the handlers replaces, it does not know.
pub(super) fn of(
    program: &Program,
    atomic: &AtomicProgram,
    options: &Options,
    metadata: &mut Names,
) -> BTreeMap<ArrayId, ParserIndex> {
    let mut found = BTreeMap::new();
    if options.before.is_some() {
        return found;
    }
    for (at, array) in (0..).zip(&atomic.arrays) {
        let id = ArrayId(at);
        let mut width_bits = None;
        let mut parameters: BTreeMap<EventId, u32> = BTreeMap::new();
        let mut is_one = true;
        for statement in &atomic.statements {
            let Operation::Memory {
                array, index: Index::Operand(Operand::Variable(index)), ..
            } = &statement.operation
            else {
                continue;
            };
            let variable = atomic.variable(*index);
            let VariableKind::Parameter { event, parameter } = variable.kind else { continue };
            if *array != id || statement.gress != Gress::Ingress {
                continue;
            }
            let same_width = *width_bits.get_or_insert(variable.width_bits) == variable.width_bits;
            is_one &= same_width && is_bytes(program, event, parameter);
            is_one &= *parameters.entry(event).or_insert(parameter) == parameter;
        }
        if let (true, Some(width_bits), 2..) = (is_one, width_bits, parameters.len()) {
            let global = &program.globals[array.global.0 as usize].name;
            let field = metadata.fresh(&format!("index_of_{}", names::identifier(global)));
            found.insert(id, ParserIndex { field, width_bits, parameters });
        }
    }
    found
}

/// Whether a parameter is whole bytes of a header.
fn is_bytes(program: &Program, event: EventId, parameter: u32) -> bool {
    let parameters = &program.events[event.0 as usize].parameters;
    let bits = |count: u32| -> u32 {
        parameters.iter().take(count as usize).map(|one| wire_bits(one.ty)).sum()
    };
    bits(parameter).is_multiple_of(8) && bits(parameter + 1).is_multiple_of(8)
}

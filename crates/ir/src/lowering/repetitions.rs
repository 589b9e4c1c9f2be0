// SPDX-License-Identifier: Apache-2.0
//! Numbers accesses of state that lowering made of one node in one call, as in an unrolled loop: each gets an
//! origin of its own with its number ([`crate::Origin::repetition`]) before any pass moves or removes one.

use crate::effects::Location;
use crate::{Operation, OriginId, Program};
use std::collections::HashMap;

/// Numbers the accesses of a program that has just been lowered.
pub(super) fn number(program: &mut Program) {
    let mut counts: HashMap<(OriginId, Location), u32> = HashMap::new();
    let Program { regions, origins, .. } = program;
    let blocks = regions.iter_mut().flat_map(|region| &mut region.blocks);
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        let object = match &instruction.operation {
            Operation::RegisterAccess { register, .. } => Location::Register(*register),
            Operation::Count { counter, .. } | Operation::CountDirect { counter } => {
                Location::Counter(*counter)
            }
            Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
                Location::Meter(*meter)
            }
            Operation::CallExtern { target, .. } => Location::Extern(*target),
            _ => continue,
        };
        let count = counts.entry((instruction.origin, object)).or_default();
        if *count > 0 {
            let mut origin = origins[instruction.origin.index()].clone();
            origin.repetition = *count;
            instruction.origin = OriginId(origins.len() as u32);
            origins.push(origin);
        }
        *count += 1;
    }
}

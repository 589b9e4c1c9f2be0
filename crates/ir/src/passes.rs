// SPDX-License-Identifier: Apache-2.0
//! Passes that make a program smaller and keep its meaning: what is stored in observable slots, state,
//! packets, requests and the log stays the same. Each pass takes a verified program and leaves one.
//! Recognising register transactions is a pass too, but has its own place in `transactions`.

mod constant_folding;
mod dead_code;
mod jump_threading;
mod value_numbering;

pub(crate) use constant_folding::fold_block;
pub use constant_folding::fold_constants;
pub use dead_code::remove_dead_code;
pub(crate) use dead_code::{only_defines, remove_unused_in_block};
pub use jump_threading::thread_jumps;
pub(crate) use jump_threading::{join_chains, remove_unreachable_blocks};
pub(crate) use value_numbering::number_block;
pub use value_numbering::number_values;

use crate::{Instruction, Operand, Operation, Program, Region, RegionKind, Temp};
use std::collections::HashMap;

/// How often [`simplify`] repeats its passes at most; two rounds are usual.
const ROUNDS: usize = 8;

/// Runs all passes of this module until nothing changes.
pub fn simplify(program: &mut Program) {
    for _ in 0..ROUNDS {
        let before = program.regions.clone();
        number_values(program);
        fold_constants(program);
        thread_jumps(program);
        remove_dead_code(program);
        if program.regions == before {
            break;
        }
    }
}

/// Gives every region to `change` together with the program; the region is missing there meanwhile.
pub(crate) fn for_each_region(
    program: &mut Program,
    mut change: impl FnMut(&Program, &mut Region),
) {
    for at in 0..program.regions.len() {
        let placeholder = Region {
            name: program.regions[at].name.clone(),
            kind: RegionKind::Action,
            temps: Vec::new(),
            blocks: Vec::new(),
        };
        let mut region = std::mem::replace(&mut program.regions[at], placeholder);
        change(program, &mut region);
        program.regions[at] = region;
    }
}

/// Replacements of temporaries that the pass removes.
#[derive(Default)]
pub(crate) struct Substitution {
    map: HashMap<Temp, Operand>,
}

impl Substitution {
    pub(crate) fn insert(&mut self, temp: Temp, operand: Operand) {
        self.map.insert(temp, operand);
    }

    pub(crate) fn operand(&self, operand: &mut Operand) {
        if let Operand::Temp(temp) = operand
            && let Some(replacement) = self.map.get(temp)
        {
            *operand = replacement.clone();
        }
    }

    pub(crate) fn operation(&self, operation: &mut Operation) {
        if self.map.is_empty() {
            return;
        }
        for operand in operation.operands_mut() {
            self.operand(operand);
        }
    }
}

/// Numbers the temporaries of a region in the order of their definitions and forgets unused ones.
pub(crate) fn renumber_temps(region: &mut Region) {
    fn definitions(instructions: &mut [Instruction], visit: &mut dyn FnMut(&mut Temp)) {
        for instruction in instructions {
            for temp in instruction.operation.results_mut() {
                visit(temp);
            }
            if let Operation::RegisterAccess { update: Some(update), .. } =
                &mut instruction.operation
            {
                definitions(&mut update.body, visit);
            }
        }
    }
    let mut numbers: HashMap<Temp, Temp> = HashMap::new();
    let mut temps = Vec::new();
    for block in &mut region.blocks {
        definitions(&mut block.instructions, &mut |temp| {
            let number = Temp(temps.len() as u32);
            temps.push(region.temps[temp.index()]);
            numbers.insert(*temp, number);
            *temp = number;
        });
    }
    let renumber = |operand: &mut Operand| {
        if let Operand::Temp(temp) = operand
            && let Some(number) = numbers.get(temp)
        {
            *temp = *number;
        }
    };
    for block in &mut region.blocks {
        for instruction in &mut block.instructions {
            instruction.operation.operands_mut().into_iter().for_each(renumber);
        }
        block.terminator.operand_mut().into_iter().for_each(renumber);
    }
    region.temps = temps;
}

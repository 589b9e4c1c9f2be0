// SPDX-License-Identifier: Apache-2.0
//! The shape of one region: which basic block can come after which, which branches decide whether a
//! block runs, and what temporaries are defined by and how often they are used. Nothing about tables
//! or stages.

use ir::control_flow::{control_dependences, reverse_postorder};
use ir::effects::{self, Location};
use ir::{Instruction, Operand, Program, Region, Temp};
use std::collections::{BTreeSet, HashMap};

/// Facts about a region.
pub(super) struct Flow<'a> {
    /// The region.
    pub region: &'a Region,
    /// Reachable blocks, each before its successors.
    pub order: Vec<usize>,
    /// For each block its number in `order`.
    pub rank: Vec<usize>,
    /// For each block, the branching blocks that decide whether it runs; loops left out.
    pub dependences: Vec<Vec<usize>>,
    /// For each block, what its instructions may write.
    pub writes: Vec<BTreeSet<Location>>,
    /// Whether some block can come again: then there is no layout of it.
    pub has_loop: bool,
    reach: Vec<Vec<u64>>,
    definitions: HashMap<Temp, (usize, usize)>,
    uses: HashMap<Temp, u32>,
}

impl<'a> Flow<'a> {
    /// Looks at a region.
    pub fn new(program: &Program, region: &'a Region) -> Flow<'a> {
        let count = region.blocks.len();
        let order = reverse_postorder(region);
        let mut rank = vec![usize::MAX; count];
        for (number, &block) in order.iter().enumerate() {
            rank[block] = number;
        }
        let words = count.div_ceil(64);
        let mut reach = vec![vec![0u64; words]; count];
        let mut has_loop = false;
        for &block in order.iter().rev() {
            for successor in region.blocks[block].terminator.successors() {
                let successor = successor.index();
                if successor >= count {
                    continue;
                }
                if rank[successor] <= rank[block] {
                    has_loop = true;
                    continue;
                }
                let further = reach[successor].clone();
                for (word, more) in reach[block].iter_mut().zip(further) {
                    *word |= more;
                }
                reach[block][successor / 64] |= 1 << (successor % 64);
            }
        }
        let mut dependences = control_dependences(region);
        for (block, list) in dependences.iter_mut().enumerate() {
            list.retain(|&head| rank[head] < rank[block]);
        }
        let (mut definitions, mut uses) = (HashMap::new(), HashMap::new());
        let mut writes = vec![BTreeSet::new(); count];
        for &block in &order {
            for (at, instruction) in region.blocks[block].instructions.iter().enumerate() {
                for result in instruction.operation.results() {
                    definitions.insert(result, (block, at));
                }
                for operand in instruction.operation.operands() {
                    count_use(operand, &mut uses);
                }
                writes[block].extend(effects::of_operation(program, &instruction.operation).writes);
            }
            if let Some(operand) = region.blocks[block].terminator.operand() {
                count_use(operand, &mut uses);
            }
        }
        Flow { region, order, rank, dependences, writes, has_loop, reach, definitions, uses }
    }

    /// Whether one block can come after another.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reach[from][to / 64] >> (to % 64) & 1 == 1
    }

    /// Which instruction of its block defines a temporary.
    pub fn definition(&self, temp: Temp) -> Option<(usize, &'a Instruction)> {
        let (block, at) = *self.definitions.get(&temp)?;
        Some((at, &self.region.blocks[block].instructions[at]))
    }

    /// The block that a temporary lives in.
    pub fn block_of(&self, temp: Temp) -> Option<usize> {
        self.definitions.get(&temp).map(|(block, _)| *block)
    }

    /// How often a temporary is used.
    pub fn uses(&self, temp: Temp) -> u32 {
        self.uses.get(&temp).copied().unwrap_or(0)
    }
}

fn count_use(operand: &Operand, uses: &mut HashMap<Temp, u32>) {
    if let Operand::Temp(temp) = operand {
        *uses.entry(*temp).or_default() += 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
//! [`RegionFacts`]: the control flow of one region and what its instructions may do, computed once:
//! which basic block comes before which, which decisions guard a block, where temporaries are defined and how
//! often they are used, what each instruction reads and writes. Tables with their actions are answered by
//! [`TableEffects`]; flow between regions is in `frames` and `liveness`.

use crate::control_flow::{Decision, control_decisions, reverse_postorder};
use crate::effects::{self, Effects, Location};
use crate::{Instruction, Operand, Operation, Program, Region, RegionId, TableId, Temp};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

/// Effects of the application of each table, computed at the first use.
#[derive(Debug)]
pub(super) struct TableEffects<'p> {
    program: &'p Program,
    known: Vec<OnceCell<Effects>>,
}

impl<'p> TableEffects<'p> {
    pub(super) fn new(program: &'p Program) -> TableEffects<'p> {
        TableEffects { program, known: program.tables.iter().map(|_| OnceCell::new()).collect() }
    }

    fn of(&self, table: TableId) -> &Effects {
        self.known[table.index()].get_or_init(|| {
            let mut effects = Effects::default();
            effects::of_table(self.program, table, &mut effects);
            effects
        })
    }

    /// Effects of any operation.
    pub(super) fn of_operation(&self, operation: &Operation) -> Effects {
        match operation {
            Operation::Apply { table, .. } if table.index() < self.known.len() => {
                self.of(*table).clone()
            }
            operation => effects::of_operation(self.program, operation),
        }
    }
}

/// Facts about one region of a program.
#[derive(Debug)]
pub struct RegionFacts<'p> {
    /// Which region.
    pub id: RegionId,
    /// The region.
    pub region: &'p Region,
    /// Reachable blocks in reverse postorder.
    pub order: Vec<usize>,
    /// For each block its number in `order`; `usize::MAX` for a block that is not reached.
    pub rank: Vec<usize>,
    /// For each block, the decisions on which it depends whether it runs.
    pub decisions: Vec<Vec<Decision>>,
    /// Whether a block can run again.
    pub has_loop: bool,
    effects: Vec<Vec<Effects>>,
    writes: Vec<BTreeSet<Location>>,
    reach: Vec<Vec<u64>>,
    definitions: HashMap<Temp, (usize, usize)>,
    uses: HashMap<Temp, u32>,
}

impl<'p> RegionFacts<'p> {
    /// Looks at a region of the program.
    pub(super) fn new(
        program: &'p Program,
        tables: &TableEffects<'_>,
        id: RegionId,
    ) -> RegionFacts<'p> {
        let region = &program.regions[id.index()];
        let count = region.blocks.len();
        let order = reverse_postorder(region);
        let mut rank = vec![usize::MAX; count];
        for (number, &block) in order.iter().enumerate() {
            rank[block] = number;
        }
        let mut facts = RegionFacts {
            id,
            region,
            decisions: control_decisions(region),
            has_loop: false,
            effects: vec![Vec::new(); count],
            writes: vec![BTreeSet::new(); count],
            reach: vec![vec![0; count.div_ceil(64)]; count],
            definitions: HashMap::new(),
            uses: HashMap::new(),
            order,
            rank,
        };
        facts.find_reach();
        facts.look_at_instructions(tables);
        facts
    }

    /// Which blocks can follow which, without back edges.
    fn find_reach(&mut self) {
        for &block in self.order.iter().rev() {
            for successor in self.region.blocks[block].terminator.successors() {
                let successor = successor.index();
                if successor >= self.rank.len() {
                    continue;
                }
                if self.rank[successor] <= self.rank[block] {
                    self.has_loop = true;
                    continue;
                }
                let further = self.reach[successor].clone();
                for (word, more) in self.reach[block].iter_mut().zip(further) {
                    *word |= more;
                }
                self.reach[block][successor / 64] |= 1 << (successor % 64);
            }
        }
    }

    fn look_at_instructions(&mut self, tables: &TableEffects<'_>) {
        let count_use = |uses: &mut HashMap<Temp, u32>, operand: &Operand| {
            if let Operand::Temp(temp) = operand {
                *uses.entry(*temp).or_default() += 1;
            }
        };
        for &block in &self.order {
            let code = &self.region.blocks[block];
            for (at, Instruction { operation, .. }) in code.instructions.iter().enumerate() {
                for result in operation.results() {
                    self.definitions.insert(result, (block, at));
                }
                for operand in operation.operands() {
                    count_use(&mut self.uses, operand);
                }
                let effects = tables.of_operation(operation);
                self.writes[block].extend(&effects.writes);
                self.effects[block].push(effects);
            }
            if let Some(operand) = code.terminator.operand() {
                count_use(&mut self.uses, operand);
            }
        }
    }

    /// Whether one block can follow another without a back edge.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reach[from][to / 64] >> (to % 64) & 1 == 1
    }

    /// The branching blocks before a block that decide whether it runs.
    pub fn deciders(&self, block: usize) -> Vec<usize> {
        let mut deciders = Vec::new();
        for decision in &self.decisions[block] {
            if self.rank[decision.block] < self.rank[block] && !deciders.contains(&decision.block) {
                deciders.push(decision.block);
            }
        }
        deciders
    }

    /// Which instruction of its block defines a temporary.
    pub fn definition(&self, temp: Temp) -> Option<(usize, &'p Instruction)> {
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

    /// What an instruction of a reachable block may do.
    ///
    /// # Panics
    ///
    /// When the block is not reachable or has no such instruction.
    pub fn effects(&self, block: usize, instruction: usize) -> &Effects {
        &self.effects[block][instruction]
    }

    /// What a block's instructions may write; nothing for a block that is not reached.
    pub fn writes(&self, block: usize) -> &BTreeSet<Location> {
        &self.writes[block]
    }

    /// Whether an instruction of the block from `from` to before `to` may write the location.
    pub fn is_written_between(
        &self,
        block: usize,
        location: Location,
        (from, to): (usize, usize),
    ) -> bool {
        let between = self.effects[block].get(from..to).unwrap_or_default();
        between.iter().any(|effects| effects.writes.contains(&location))
    }

    /// The first instruction of a block that may write the location.
    pub fn first_write(&self, block: usize, location: Location) -> Option<usize> {
        self.effects[block].iter().position(|effects| effects.writes.contains(&location))
    }
}

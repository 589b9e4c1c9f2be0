// SPDX-License-Identifier: Apache-2.0
//! The state of one walk through the code of a control or an action, from which atoms are made. An atom is what one
//! stage can do at once: one operation of an ALU on values that are there, one access of a register array, one
//! table, one condition. Moving bits about (slices, extensions, concatenations) is free, as in a deposit-field
//! instruction. A nested expression becomes several atoms, each waiting for the values of the one before, unlike in
//! the source. The walk itself is in `statements`.

use super::atom::{Atom, AtomId, AtomKind, Base, Cell, Position};
use super::variables::Variables;
use crate::guard::Guard;
use crate::problem::Resource;
use ir::analysis::{Analysis, Point, RegionFacts};
use ir::{Operand, Operation, OriginId, Program, RegionId, RegisterId, SlotId, Temp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// How a branch is decided.
#[derive(Clone, Debug)]
pub(super) enum Branch {
    /// By a guard for each successor, in their order: the first that runs is taken.
    Static(Vec<(usize, Guard)>),
    /// By results that are known in the stage, but are no match on variables.
    Dynamic(BTreeSet<AtomId>),
}

/// What is known of a condition.
#[derive(Clone, Debug)]
pub(super) enum Truth {
    /// A match on variables.
    Static(Guard),
    /// Decided by a gateway that compares these cells, and by results of tables.
    Dynamic {
        /// What is compared, and at which instruction it is read.
        matches: BTreeMap<Cell, usize>,
        /// Tables.
        after: BTreeSet<AtomId>,
    },
}

/// When a block runs: the gate, where its guard starts to count, and from which instruction on some
/// variable of the guard may have changed.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub after: BTreeSet<AtomId>,
    pub root: usize,
    pub guard: Option<Guard>,
    pub stale_from: usize,
}

/// One walk through a region.
pub(super) struct Walk<'a, 'v> {
    /// The program.
    pub program: &'a Program,
    /// Which region.
    pub region_id: RegionId,
    /// What is known of the program's code.
    pub analysis: &'a Analysis<'a>,
    /// What is known of the region's.
    pub flow: &'a RegionFacts<'a>,
    /// Which programmable block it is, in the order in which they run.
    pub control: usize,
    /// Whether statements see what was there before all of them, as in an action (its instructions run
    /// at once); otherwise a value that is overwritten before its use is copied.
    pub is_parallel: bool,
    /// Slots that only this code sees, and those of the action data.
    pub private: BTreeSet<SlotId>,
    /// Variables of the problem.
    pub variables: &'v mut Variables,
    /// How many statements and tables access each register array.
    pub sites: Rc<BTreeMap<RegisterId, usize>>,
    /// What was found.
    pub atoms: Vec<Atom>,
    /// Branches by their blocks.
    pub branches: HashMap<usize, Branch>,
    /// Atoms of computed values.
    pub computed: HashMap<Temp, AtomId>,
    /// Where a computed value was stored at once, and by which instruction of its block.
    pub stored: HashMap<Temp, (SlotId, usize)>,
    /// Tables whose result a temporary is.
    pub results: HashMap<Temp, AtomId>,
    /// When each block runs, as far as it has been walked.
    pub gates: HashMap<usize, Start>,
    /// Gateways of static branches whose variables change later, by their blocks.
    pub gateways: HashMap<usize, BTreeSet<AtomId>>,
    parts: HashMap<(usize, usize), usize>,
}

impl<'a, 'v> Walk<'a, 'v> {
    /// Prepares a walk.
    pub fn new(
        analysis: &'a Analysis<'a>,
        region_id: RegionId,
        control: usize,
        private: BTreeSet<SlotId>,
        is_parallel: bool,
        variables: &'v mut Variables,
    ) -> Walk<'a, 'v> {
        Walk {
            program: analysis.program(),
            analysis,
            region_id,
            flow: analysis.region(region_id),
            control,
            is_parallel,
            private,
            variables,
            sites: Rc::default(),
            atoms: Vec::new(),
            branches: HashMap::new(),
            computed: HashMap::new(),
            stored: HashMap::new(),
            results: HashMap::new(),
            gates: HashMap::new(),
            gateways: HashMap::new(),
            parts: HashMap::new(),
        }
    }

    /// Adds an atom at an instruction.
    pub fn add(
        &mut self,
        kind: AtomKind,
        name: String,
        (block, instruction): (usize, usize),
        origin: OriginId,
    ) -> AtomId {
        let part = self.parts.entry((block, instruction)).or_default();
        let position = Position { control: self.control, block, instruction, part: *part };
        *part += 1;
        let mut atom = Atom::new(name, origin, position, kind);
        if instruction < self.flow.region.blocks[block].instructions.len() {
            atom.code.insert(Point::new(self.region_id, block, instruction));
        }
        atom.gate = self.gate_at(block, instruction);
        self.atoms.push(atom);
        AtomId(self.atoms.len() - 1)
    }

    /// The atom.
    pub fn atom(&mut self, id: AtomId) -> &mut Atom {
        &mut self.atoms[id.0]
    }

    /// Adds a gateway unless the results of tables decide alone.
    pub fn gateway(
        &mut self,
        place: (usize, usize),
        matches: BTreeMap<Cell, usize>,
        after: BTreeSet<AtomId>,
        origin: OriginId,
    ) -> BTreeSet<AtomId> {
        if matches.is_empty() {
            return after;
        }
        let id = self.add(AtomKind::Gateway, "if".to_string(), place, origin);
        let atom = self.atom(id);
        atom.matches = matches;
        atom.gate.after.extend(after);
        atom.take(Resource::Gateways, 1);
        BTreeSet::from([id])
    }

    /// Reads the operand's value in an atom.
    pub fn read(&mut self, id: AtomId, operand: &Operand, block: usize, at: usize) {
        for base in self.bases(block, operand, at) {
            match base {
                Base::Cell(cell, at) => {
                    self.atom(id).reads.insert(cell, at);
                }
                Base::Result(table) => {
                    self.atom(id).gate.after.insert(table);
                }
            }
        }
    }
    /// Width of an operand.
    pub fn width_bits(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::Constant(bits) => bits.width_bits(),
            Operand::Temp(temp) => {
                self.flow.region.temps.get(temp.index()).map_or(0, |ty| ty.width_bits())
            }
        }
    }

    /// What defines a temporary.
    pub fn operation(&self, operand: &Operand) -> Option<(Temp, usize, &'a Operation)> {
        let Operand::Temp(temp) = operand else { return None };
        let (at, instruction) = self.flow.definition(*temp)?;
        Some((*temp, at, &instruction.operation))
    }
}

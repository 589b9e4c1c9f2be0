// SPDX-License-Identifier: Apache-2.0
//! From the code of a control or an action to atoms. An atom is what one stage can do at once: one
//! operation of an ALU on values that are there, one access of a register array, one table, one
//! condition. Moving bits about (slices, extensions, concatenations) is free, as in a deposit-field
//! instruction. A nested expression becomes several atoms, each waiting for the values of the one
//! before, unlike in the source. How conditions are read is in `condition`, when code runs in `gate`,
//! values in `value`, tables in `table`.

use super::atom::{Atom, AtomId, AtomKind, Cell, Position};
use super::condition::Truth;
use super::describe;
use super::gate::Start;
use super::value::Base;
use super::variables::Variables;
use crate::guard::Guard;
use crate::problem::Resource;
use ir::analysis::{Analysis, RegionFacts};
use ir::effects::{self, Location};
use ir::{Operand, Operation, OriginId, Program, RegionId, RegisterId, SlotId, Temp, Terminator};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// How a branch decides.
#[derive(Clone, Debug)]
pub(super) enum Branch {
    /// By a guard for each way out, in the order of successors: the first that runs is taken.
    Static(Vec<(usize, Guard)>),
    /// By results that are known in the stage, but are no match on variables.
    Dynamic(BTreeSet<AtomId>),
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
    /// Slots that nobody outside sees, and those that action data come in.
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
    /// Ready to walk.
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

    /// Walks all blocks.
    pub fn run(&mut self) {
        for block in self.flow.order.clone() {
            let start = self.start_of(block);
            self.gates.insert(block, start);
            let region = self.flow.region;
            for (at, instruction) in region.blocks[block].instructions.iter().enumerate() {
                self.instruction(block, at, &instruction.operation, instruction.origin);
            }
            self.terminator(block);
        }
    }

    /// A new atom at an instruction.
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
        atom.gate = self.gate_at(block, instruction);
        self.atoms.push(atom);
        AtomId(self.atoms.len() - 1)
    }

    /// The atom.
    pub fn atom(&mut self, id: AtomId) -> &mut Atom {
        &mut self.atoms[id.0]
    }

    fn instruction(&mut self, block: usize, at: usize, operation: &'a Operation, origin: OriginId) {
        let place = (block, at);
        match operation {
            // Looked at where their results are wanted.
            _ if operation.is_pure() => {}
            Operation::Load { .. }
            | Operation::Hash { .. }
            | Operation::Random { .. }
            | Operation::PacketLength { .. } => {}
            // For people who debug; a switch does nothing about it.
            Operation::Log { .. } | Operation::Assert { .. } => {}
            Operation::Store { place: target, value } => {
                self.store(place, target, value, origin);
            }
            Operation::RegisterAccess { .. } => self.register_access(place, operation, origin),
            Operation::Apply { table, keys, hit, action } => {
                self.apply(place, *table, keys, (*hit, *action), origin);
            }
            _ => self.other(place, operation, origin),
        }
    }

    /// Counters, meters, requests, operations on stacks, externs.
    fn other(&mut self, (block, at): (usize, usize), operation: &Operation, origin: OriginId) {
        let name = describe::operation(self.program, operation);
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        for operand in operation.operands() {
            self.read(id, operand, block, at);
        }
        let effects = self.flow.effects(block, at).clone();
        let is_count = matches!(
            operation,
            Operation::Count { .. }
                | Operation::CountDirect { .. }
                | Operation::Meter { .. }
                | Operation::MeterDirect { .. }
        );
        let region = self.region_id;
        let blocks = counter_blocks(self.program, operation);
        // A table's direct counters and meters are counted with the table.
        let is_new = effects.writes.iter().any(|location| {
            matches!(operation, Operation::Count { .. } | Operation::Meter { .. })
                && self.variables.counted.insert(*location)
        });
        let atom = self.atom(id);
        for location in effects.reads {
            // Counting commutes.
            if !is_count {
                atom.reads.insert(Cell::Location(location), at);
            }
        }
        if !is_count {
            atom.writes.extend(effects.writes.into_iter().map(Cell::Location));
        }
        atom.writes.extend(operation.results().into_iter().map(|it| Cell::Computed(region, it)));
        let containers = match operation {
            Operation::ShiftStack { .. } => atom.writes.len() as u64,
            Operation::Request { arguments, .. } => 1 + arguments.len() as u64,
            _ => 0,
        };
        atom.take(Resource::Statements, 1);
        atom.take(Resource::Instructions, containers);
        if is_new {
            atom.take(Resource::Counters, 1);
            atom.take(Resource::SramBlocks, blocks);
        }
        for result in operation.results() {
            self.computed.insert(result, id);
        }
    }

    fn store(
        &mut self,
        (block, at): (usize, usize),
        target: &ir::Place,
        value: &Operand,
        origin: OriginId,
    ) {
        let slots = effects::place_slots(self.program, target);
        if let ir::Place::Slot(slot) = target
            && self.fold_into_array((block, at), *slot, value)
        {
            return;
        }
        let name = describe::store(self, target, value);
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        let computed = self.folded(value).or_else(|| self.stored_first(value));
        match computed.or_else(|| self.computed_again(block, value, at)) {
            Some(temp) => {
                self.read_operation(id, temp, block, at);
                if let (ir::Place::Slot(slot), Operand::Temp(stored)) = (target, value) {
                    self.stored.insert(*stored, (*slot, at));
                }
            }
            None => self.read(id, value, block, at),
        }
        if let ir::Place::Element { index, .. } = target {
            self.read(id, index, block, at);
        }
        let width_bits = self.width_bits(value);
        let atom = self.atom(id);
        atom.writes.extend(slots.into_iter().map(|slot| Cell::Location(Location::Slot(slot))));
        atom.take(Resource::Statements, 1);
        atom.take(Resource::Instructions, containers(width_bits));
    }

    /// The result of a register access that goes into a field goes there at once: no atom of its own.
    fn fold_into_array(
        &mut self,
        (block, at): (usize, usize),
        slot: SlotId,
        value: &Operand,
    ) -> bool {
        let Operand::Temp(temp) = value else { return false };
        let Some((access, defined)) = self.array_output(*temp) else { return false };
        let location = Location::Slot(slot);
        let touches = |instruction| {
            let effects = self.flow.effects(block, instruction);
            effects.reads.contains(&location) || effects.writes.contains(&location)
        };
        if (defined + 1..at).any(touches) {
            return false;
        }
        self.claim_output(access, *temp);
        let width_bits = self.width_bits(value);
        let atom = self.atom(access);
        atom.writes.insert(Cell::Location(location));
        atom.take(Resource::Instructions, containers(width_bits));
        true
    }

    fn register_access(
        &mut self,
        (block, at): (usize, usize),
        operation: &'a Operation,
        origin: OriginId,
    ) {
        let Operation::RegisterAccess { register, index, guard, old, update } = operation else {
            return;
        };
        let name = describe::operation(self.program, operation);
        let truth = guard.as_ref().map(|guard| self.truth(block, guard, at));
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        // A hash is computed on the way to the memory.
        match self.index_hash(index) {
            Some(temp) => self.read_operation(id, temp, block, at),
            None => self.read(id, index, block, at),
        }
        if let Some(update) = update {
            let body: BTreeSet<Temp> =
                update.body.iter().flat_map(|inner| inner.operation.results()).collect();
            let inside = |operand: &&Operand| matches!(operand, Operand::Temp(temp) if body.contains(temp) || Some(*temp) == *old);
            let operands = update.body.iter().flat_map(|inner| inner.operation.operands());
            for operand in operands.chain([&update.value]).filter(|operand| !inside(operand)) {
                self.read(id, operand, block, at);
            }
        }
        match truth {
            Some(Truth::Static(guard)) => {
                let gate = self.atom(id).gate.guard.take();
                let both = match gate {
                    Some(outer) => outer.and(&guard),
                    None => guard,
                };
                self.atom(id).gate.guard = Some(both);
            }
            Some(Truth::Dynamic { matches, after }) => {
                let gateway = self.gateway((block, at), matches, after, origin);
                self.atom(id).gate.after.extend(gateway);
            }
            None => {}
        }
        let action = describe::register_action(update.as_ref(), *old);
        let region = self.region_id;
        let atom = self.atom(id);
        atom.array = Some((*register, action));
        // One access a pass: the order of two of them counts even if both read.
        atom.reads.insert(Cell::Location(Location::Register(*register)), at);
        atom.writes.insert(Cell::Location(Location::Register(*register)));
        atom.take(Resource::Statements, 1);
        if let Some(old) = old {
            atom.writes.insert(Cell::Computed(region, *old));
            self.computed.insert(*old, id);
        }
    }

    /// Adds a gateway unless the results it asks for tell it all by themselves.
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

    fn terminator(&mut self, block: usize) {
        let region = self.flow.region;
        let here = &region.blocks[block];
        let at = here.instructions.len();
        let origin = here.origin;
        let branch = match &here.terminator {
            Terminator::Branch { condition, then, otherwise } => {
                match self.truth(block, condition, at) {
                    Truth::Static(guard) => Branch::Static(vec![
                        (then.index(), guard),
                        (otherwise.index(), Guard::always()),
                    ]),
                    Truth::Dynamic { matches, after } => {
                        Branch::Dynamic(self.gateway((block, at), matches, after, origin))
                    }
                }
            }
            Terminator::Switch { value, cases, default } => {
                let mut ways = Vec::new();
                let (mut matches, mut after) = (BTreeMap::new(), BTreeSet::new());
                for (case, target) in cases {
                    match self.equality(block, value, case, at) {
                        Truth::Static(guard) => ways.push((target.index(), guard)),
                        Truth::Dynamic { matches: more, after: further } => {
                            matches.extend(more);
                            after.extend(further);
                        }
                    }
                }
                ways.push((default.index(), Guard::always()));
                if matches.is_empty() && after.is_empty() {
                    Branch::Static(ways)
                } else {
                    Branch::Dynamic(self.gateway((block, at), matches, after, origin))
                }
            }
            Terminator::Exit => {
                // The rest of the control does not run: what decides that stands in `start_of`.
                return;
            }
            _ => return,
        };
        self.branches.insert(block, branch);
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
}

/// Containers of 32 bits.
pub(super) fn containers(width_bits: u32) -> u64 {
    u64::from(width_bits.div_ceil(32)).max(1)
}

/// SRAM for a counter's cells of 64 bits, in blocks of 128 Kbit.
pub(super) fn cell_blocks(cells: u64) -> u64 {
    cells.saturating_mul(64).div_ceil(128 * 1024)
}

fn counter_blocks(program: &Program, operation: &Operation) -> u64 {
    let size = match operation {
        Operation::Count { counter, .. } => program.counters[counter.index()].size,
        Operation::Meter { meter, .. } => program.meters[meter.index()].size,
        _ => None,
    };
    size.map_or(0, cell_blocks)
}

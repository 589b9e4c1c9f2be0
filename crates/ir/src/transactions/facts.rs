// SPDX-License-Identifier: Apache-2.0
//! On which state the index and the guard of each register access depend, by data flow over the whole
//! program: through temporaries and slots, across basic blocks and programmable blocks, and through
//! the branches, table results and exits that decide whether an access happens at all.
//!
//! Blocks are taken to run in the order of the package, each on the storage that those before it left.
//! What a device copies between the storage of different blocks is not seen here, nor what leaves in a
//! packet and comes back in it; field lists are taken to come back.

use crate::control_flow::{control_dependences, reverse_postorder};
use crate::effects::{self, Location};
use crate::{
    BlockId, ExternAccess, Operand, Operation, Program, Region, RegionId, RegisterId, SlotId,
    TableId, Temp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is known of one register access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFact {
    /// Where it stands.
    pub region: RegionId,
    /// Where it stands.
    pub block: BlockId,
    /// Which instruction of the block.
    pub instruction: u32,
    /// What it accesses.
    pub register: RegisterId,
    /// Whether the old value is used.
    pub reads: bool,
    /// Whether a new value is written.
    pub writes: bool,
    /// Registers, meters, externs, tables and value sets on which the index depends.
    pub index_sources: BTreeSet<Location>,
    /// The same for whether the access happens.
    pub guard_sources: BTreeSet<Location>,
    /// Whether the index depends on registers, meters or externs.
    pub index_depends_on_state: bool,
    /// Whether it depends on registers, meters or externs that the access happens.
    pub guard_depends_on_state: bool,
    /// Whether index or guard depend on tables or value sets.
    pub depends_on_tables: bool,
}

/// Sources of a value, as bits by their number in [`Flow::numbers`]. The last word is never zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Taint(Vec<u64>);

impl Taint {
    fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn extend(&mut self, other: &Taint) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

fn is_state(location: &Location) -> bool {
    matches!(location, Location::Register(_) | Location::Meter(_) | Location::Extern(_))
}

fn is_configuration(location: &Location) -> bool {
    matches!(location, Location::Table(_) | Location::ValueSet(_))
}

/// The facts about every register access of a program, in the order of regions and instructions.
pub fn register_access_facts(program: &Program) -> Vec<AccessFact> {
    let mut flow = Flow {
        program,
        sources: BTreeMap::new(),
        dependences: HashMap::new(),
        numbers: BTreeMap::new(),
    };
    let mut start = Storage::default();
    loop {
        let mut storage = start.clone();
        for block in &program.blocks {
            storage.cursor = Taint::default();
            storage.exited = Taint::default();
            let after = flow.region(block.region, &storage, &Taint::default());
            storage.join(&after);
        }
        let mut next = start.clone();
        for list in &program.field_lists {
            for slot in &list.slots {
                if let Some(taint) = storage.slots.get(slot) {
                    next.slots.entry(*slot).or_default().extend(taint);
                }
            }
        }
        if next == start {
            break;
        }
        start = next;
    }
    facts(program, &flow)
}

type Sources = BTreeMap<(RegionId, usize, usize), (Taint, Taint)>;

fn facts(program: &Program, flow: &Flow) -> Vec<AccessFact> {
    let named = |taint: &Taint| -> BTreeSet<Location> {
        let known = flow.numbers.iter().filter(|(_, number)| taint.contains(**number));
        known.map(|(location, _)| *location).collect()
    };
    let mut facts = Vec::new();
    for (region_at, region) in program.regions.iter().enumerate() {
        let id = RegionId(region_at as u32);
        for (block_at, block) in region.blocks.iter().enumerate() {
            for (at, instruction) in block.instructions.iter().enumerate() {
                let Operation::RegisterAccess { register, old, update, .. } =
                    &instruction.operation
                else {
                    continue;
                };
                let (index_sources, guard_sources) = flow
                    .sources
                    .get(&(id, block_at, at))
                    .map(|(index, guard)| (named(index), named(guard)))
                    .unwrap_or_default();
                facts.push(AccessFact {
                    region: id,
                    block: BlockId(block_at as u32),
                    instruction: at as u32,
                    register: *register,
                    reads: old.is_some(),
                    writes: update.is_some(),
                    index_depends_on_state: index_sources.iter().any(is_state),
                    guard_depends_on_state: guard_sources.iter().any(is_state),
                    depends_on_tables: index_sources.union(&guard_sources).any(is_configuration),
                    index_sources,
                    guard_sources,
                });
            }
        }
    }
    facts
}

/// Where the values in storage come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Storage {
    slots: BTreeMap<SlotId, Taint>,
    /// On what it depends how far the parser has read.
    cursor: Taint,
    /// On what it depends whether the block has ended already.
    exited: Taint,
}

impl Storage {
    fn join(&mut self, other: &Storage) {
        for (slot, taint) in &other.slots {
            self.slots.entry(*slot).or_default().extend(taint);
        }
        self.cursor.extend(&other.cursor);
        self.exited.extend(&other.exited);
    }

    fn get(&self, slot: SlotId) -> Taint {
        self.slots.get(&slot).cloned().unwrap_or_default()
    }

    fn set(&mut self, slot: SlotId, taint: Taint) {
        self.slots.insert(slot, taint);
    }

    fn add(&mut self, slot: SlotId, taint: &Taint) {
        self.slots.entry(slot).or_default().extend(taint);
    }
}

struct Flow<'a> {
    program: &'a Program,
    /// Of accesses by their place: of the index and of the guard, from all ways they are reached.
    sources: Sources,
    dependences: HashMap<RegionId, Vec<Vec<usize>>>,
    /// What has been seen as a source.
    numbers: BTreeMap<Location, usize>,
}

impl<'a> Flow<'a> {
    fn number(&mut self, source: Location) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(source).or_insert(next)
    }

    /// Runs a region on storage under a condition with these sources; the storage afterwards.
    fn region(&mut self, id: RegionId, start: &Storage, condition: &Taint) -> Storage {
        let program = self.program;
        let Some(region) = program.regions.get(id.index()) else { return start.clone() };
        let dependences =
            self.dependences.entry(id).or_insert_with(|| control_dependences(region)).clone();
        let order = reverse_postorder(region);
        let count = region.blocks.len();
        let mut inputs: Vec<Option<Storage>> = vec![None; count];
        if let Some(first) = inputs.first_mut() {
            *first = Some(start.clone());
        }
        // On what the branch at the end of a block, and whether it runs, depend.
        let mut branches: Vec<Taint> = vec![Taint::default(); count];
        let mut runs: Vec<Taint> = vec![condition.clone(); count];
        let mut end = Storage::default();
        // What a block was last run with.
        let mut done: Vec<Option<(Storage, Taint)>> = vec![None; count];
        let mut changed = true;
        while changed {
            changed = false;
            for &at in &order {
                let Some(input) = &inputs[at] else { continue };
                let mut run = runs[at].clone();
                for &decider in &dependences[at] {
                    run.extend(&branches[decider]);
                    run.extend(&runs[decider]);
                }
                if done[at].as_ref().is_some_and(|(storage, with)| storage == input && *with == run)
                {
                    continue;
                }
                done[at] = Some((input.clone(), run.clone()));
                let mut storage = input.clone();
                let branch = self.block(id, region, at, &mut storage, &run);
                if branch != branches[at] || run != runs[at] {
                    branches[at] = branch;
                    runs[at] = run.clone();
                    changed = true;
                }
                let terminator = &region.blocks[at].terminator;
                let successors = terminator.successors();
                if successors.is_empty() {
                    if effects::of_terminator(terminator).may_end_block {
                        storage.exited.extend(&run);
                    }
                    end.join(&storage);
                }
                for successor in successors {
                    let input = &mut inputs[successor.index()];
                    let mut joined = input.clone().unwrap_or_default();
                    joined.join(&storage);
                    if input.as_ref() != Some(&joined) {
                        *input = Some(joined);
                        changed = true;
                    }
                }
            }
        }
        end
    }

    /// Runs a basic block; the sources of what its terminator looks at.
    fn block(
        &mut self,
        id: RegionId,
        region: &'a Region,
        at: usize,
        storage: &mut Storage,
        run: &Taint,
    ) -> Taint {
        let mut temps: HashMap<Temp, Taint> = HashMap::new();
        let block = &region.blocks[at];
        for (number, instruction) in block.instructions.iter().enumerate() {
            let mut run = run.clone();
            run.extend(&storage.exited);
            let operation = &instruction.operation;
            if let Operation::RegisterAccess { index, guard, .. } = operation {
                let index = of_operands(&temps, [index]);
                let mut guard = of_operands(&temps, guard.iter());
                guard.extend(&run);
                let known = self.sources.entry((id, at, number)).or_default();
                known.0.extend(&index);
                known.1.extend(&guard);
            }
            let taint = self.operation(operation, &temps, storage, &run);
            for result in operation.results() {
                temps.insert(result, taint.clone());
            }
        }
        of_operands(&temps, block.terminator.operand())
    }

    /// Does to storage what an operation does; the sources of its results.
    fn operation(
        &mut self,
        operation: &Operation,
        temps: &HashMap<Temp, Taint>,
        storage: &mut Storage,
        run: &Taint,
    ) -> Taint {
        let mut taint = of_operands(temps, operation.operands());
        match operation {
            Operation::Load { place, .. } => {
                for slot in effects::place_slots(self.program, place) {
                    taint.extend(&storage.get(slot));
                }
            }
            Operation::Store { place, .. } => {
                taint.extend(run);
                match place {
                    crate::Place::Slot(slot) => storage.set(*slot, taint.clone()),
                    crate::Place::Element { .. } => {
                        for slot in effects::place_slots(self.program, place) {
                            storage.add(slot, &taint);
                        }
                    }
                }
            }
            Operation::Extract { header, .. } => {
                taint.extend(run);
                taint.extend(&storage.cursor);
                let surely = effects::slots_surely_written(self.program, operation);
                for slot in effects::header_reference_slots(self.program, header) {
                    if surely.contains(&slot) {
                        storage.set(slot, taint.clone());
                    } else {
                        storage.add(slot, &taint);
                    }
                }
                storage.cursor.extend(&taint);
                storage.exited.extend(&taint);
            }
            Operation::Advance { .. } => {
                taint.extend(run);
                storage.cursor.extend(&taint);
                storage.exited.extend(&storage.cursor.clone());
            }
            Operation::Lookahead { .. } => {
                taint.extend(&storage.cursor);
                storage.exited.extend(&taint);
            }
            Operation::Hash { payload: true, .. } => taint.extend(&storage.cursor),
            Operation::ShiftStack { .. } => {
                let slots = effects::of_operation(self.program, operation).slots_written();
                for slot in &slots {
                    taint.extend(&storage.get(*slot));
                }
                taint.extend(run);
                for slot in slots {
                    storage.add(slot, &taint);
                }
            }
            Operation::Apply { table, .. } => {
                taint.insert(self.number(Location::Table(*table)));
                self.apply(*table, &taint, storage, run);
            }
            Operation::RegisterAccess { register, .. } => {
                taint.insert(self.number(Location::Register(*register)));
            }
            Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
                taint.insert(self.number(Location::Meter(*meter)));
            }
            Operation::ValueSetContains { set, .. } => {
                taint.insert(self.number(Location::ValueSet(*set)));
            }
            Operation::CallExtern { target, effects, .. }
                if effects.access != ExternAccess::Pure =>
            {
                taint.insert(self.number(Location::Extern(*target)));
            }
            _ => {}
        }
        taint
    }

    /// Runs the actions of a table, each on the storage before.
    fn apply(&mut self, table: TableId, taint: &Taint, storage: &mut Storage, run: &Taint) {
        let program = self.program;
        let Some(table) = program.tables.get(table.index()) else { return };
        let mut condition = run.clone();
        condition.extend(taint);
        let before = storage.clone();
        for (number, listed) in table.actions.iter().enumerate() {
            let Some(action) = program.actions.get(listed.action.index()) else { continue };
            let mut inside = before.clone();
            for parameter in &action.parameters {
                inside.set(parameter.slot, condition.clone());
            }
            let after = self.region(action.region, &inside, &condition);
            if number == 0 {
                *storage = after;
            } else {
                storage.join(&after);
            }
        }
    }
}

fn of_operands<'a>(
    temps: &HashMap<Temp, Taint>,
    operands: impl IntoIterator<Item = &'a Operand>,
) -> Taint {
    let mut taint = Taint::default();
    for operand in operands {
        if let Operand::Temp(temp) = operand
            && let Some(known) = temps.get(temp)
        {
            taint.extend(known);
        }
    }
    taint
}

// SPDX-License-Identifier: Apache-2.0
//! Tables of the program: keys, entries, and what their actions read and write. What of an action can
//! run in the table's stage belongs to the table's atom; what needs a value that the action computes
//! first, what is under a condition inside the action, and further register arrays, are continuations
//! that wait for the table.

use super::atom::{Atom, AtomId, AtomKind, Base, Cell, Choice, Chosen, Gate, OTHER_ACTION};
use super::stage::{SELECTOR_HASH_BITS, counter_blocks};
use super::walk::Walk;
use crate::guard::Guard;
use crate::problem::{DependencyKind, MatchKind, ProgramKey, ProgramTable, Resource};
use ir::analysis::Point;
use ir::effects::{self, Location};
use ir::{Operand, OriginId, Program, RegionId, RegisterId, SlotId, TableId, Temp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// How many entries a table has that does not say.
const DEFAULT_ENTRIES: u64 = 1024;

/// Of these a table takes what its most demanding action takes, since one of them runs.
const OF_ONE_ACTION: [Resource; 1] = [Resource::Instructions];

impl<'a> Walk<'a, '_> {
    /// Adds the atoms of a table.
    pub fn apply(
        &mut self,
        (block, at): (usize, usize),
        table_id: TableId,
        keys: &[Operand],
        (hit, action): (Temp, Temp),
        origin: OriginId,
    ) {
        let table = &self.program.tables[table_id.index()];
        let id = self.add(AtomKind::Table, table.name.to_string(), (block, at), origin);
        self.results.insert(hit, id);
        self.results.insert(action, id);
        let mut program_keys = Vec::new();
        for (key, operand) in table.keys.iter().zip(keys) {
            let bases = self.bases(block, operand, at);
            if key.match_kind == ir::MatchKind::Selector {
                self.read(id, operand, block, at);
                continue;
            }
            let kind = match key.match_kind {
                ir::MatchKind::Exact => MatchKind::Exact,
                ir::MatchKind::Lpm => MatchKind::LongestPrefix,
                ir::MatchKind::Range => MatchKind::Range,
                _ => MatchKind::Ternary,
            };
            let mut left = key.width_bits;
            for base in bases {
                match base {
                    Base::Cell(cell, read_at) => {
                        self.atom(id).matches.insert(cell, read_at);
                        let variable = self.variables.of(self.program, cell);
                        let width_bits = self.variables.width_bits(variable).min(left);
                        left -= width_bits;
                        program_keys.push(ProgramKey { variable, kind, width_bits });
                    }
                    Base::Result(other) => {
                        self.atom(id).gate.after.insert(other);
                    }
                }
            }
        }
        let own = program_table(self.program, table_id, program_keys);
        let entries = own.entries;
        let profile = table.implementation.map(|it| &self.program.action_profiles[it.index()]);
        let direct = (table.direct_counters.len() + table.direct_meters.len()) as u64;
        let atom = self.atom(id);
        atom.take(Resource::Counters, direct);
        atom.take(Resource::SramBlocks, direct * counter_blocks(entries));
        if profile.is_some_and(|profile| profile.selector.is_some()) {
            atom.take(Resource::HashUnits, 1);
            atom.take(Resource::HashBits, SELECTOR_HASH_BITS);
        }
        atom.table = Some(own);
        atom.source = Some((table_id, 0));
        let choice = self.choice(table, keys, (block, at)).map(Rc::new);
        self.actions(id, table_id, choice, (block, at), origin);
    }

    /// The code of a table's actions.
    fn actions(
        &mut self,
        id: AtomId,
        table_id: TableId,
        choice: Option<Rc<Choice>>,
        place: (usize, usize),
        origin: OriginId,
    ) {
        let table = &self.program.tables[table_id.index()];
        let mut parts: BTreeMap<PartKey, Part> = BTreeMap::new();
        let mut own = Part::default();
        let mut gates: Vec<Gate> = vec![Gate::default()];
        let mut most: BTreeMap<Resource, u64> = BTreeMap::new();
        let mut walked = Vec::new();
        for listed in &table.actions {
            let action = &self.program.actions[listed.action.index()];
            let region = action.region;
            let mut ends = self.program.regions[region.index()].blocks.iter();
            if ends.any(|block| effects::of_terminator(&block.terminator).may_end_block) {
                self.atom(id).ends_block = true;
            }
            let data = action.parameters.iter().map(|parameter| parameter.slot).collect();
            let mut inner =
                Walk::new(self.analysis, region, self.control, data, true, self.variables);
            inner.sites = self.sites.clone();
            inner.run();
            let waits = waits(&inner);
            let levels = levels(inner.atoms.len(), &waits);
            walked.push((region, inner.atoms, waits, levels));
        }
        let own_array = self.own_array(&walked);
        for (number, (region, atoms, waits, levels)) in walked.into_iter().enumerate() {
            let private = self.analysis.private_slots(region);
            let mut taken: BTreeMap<Resource, u64> = BTreeMap::new();
            let mut homes: Vec<Option<PartKey>> = Vec::new();
            for (index, atom) in atoms.iter().enumerate() {
                let array = atom.array.as_ref().map(|(register, _)| *register);
                let level = levels[index];
                if fits(atom, level) && (array.is_none() || own_array == array) {
                    for resource in OF_ONE_ACTION {
                        *taken.entry(resource).or_default() +=
                            atom.demand.get(&resource).copied().unwrap_or(0);
                    }
                    own.add(atom, number, region, &private);
                    homes.push(None);
                    continue;
                }
                // Conditions of different actions are different conditions.
                let gate = if atom.gate == Gate::default() {
                    0
                } else {
                    let same = |known: &Gate| *known == atom.gate && known.after.is_empty();
                    gates.iter().position(same).unwrap_or_else(|| {
                        gates.push(atom.gate.clone());
                        gates.len() - 1
                    })
                };
                let single = if atom.kind == AtomKind::Gateway {
                    (number, index)
                } else {
                    Default::default()
                };
                let key = PartKey { level, array, gate, single };
                let part = parts.entry(key).or_default();
                part.kind = Some(atom.kind);
                part.guard.clone_from(&atom.gate.guard);
                part.add(atom, number, region, &private);
                homes.push(Some(key));
            }
            for (before, after, kind) in waits {
                let (from, to) = (homes[before], homes[after]);
                if let (true, Some(to)) = (from != to, to)
                    && let Some(part) = parts.get_mut(&to)
                {
                    part.waits.push((from, kind));
                }
            }
            for (resource, amount) in taken {
                let known = most.entry(resource).or_default();
                *known = amount.max(*known);
            }
        }
        own.demand.extend(most);
        // How many statements actions have is limited where statements are merged, not here.
        own.demand.remove(&Resource::Statements);
        let gate = self.atom(id).gate.clone();
        let rules = choice.as_ref().map(|choice| (choice, &gate));
        own.put_into(self.atom(id), place.1, rules);
        let mut made: HashMap<PartKey, AtomId> = HashMap::new();
        for (number, (key, part)) in parts.into_iter().enumerate() {
            let what = match key.array {
                Some(register) => self.program.registers[register.index()].name.to_string(),
                None => format!("part {}", number + 2),
            };
            let kind = match part.kind {
                Some(AtomKind::Gateway) => AtomKind::Gateway,
                _ => AtomKind::Continuation,
            };
            let origin = part.origin.unwrap_or(origin);
            let next = self.add(kind, format!("{} ({what})", table.name), place, origin);
            let mut explicit = vec![(id, DependencyKind::Successor)];
            for (before, kind) in &part.waits {
                let before = before.and_then(|key| made.get(&key).copied()).unwrap_or(id);
                explicit.push((before, *kind));
            }
            let guard = part.guard.clone();
            part.put_into(self.atom(next), place.1, rules);
            let atom = self.atom(next);
            // The action that ran decides that it runs, which implies the table's own gate.
            atom.gate = Gate { after: BTreeSet::from([id]), guard };
            atom.explicit = explicit;
            atom.source = Some((table_id, number + 1));
            made.insert(key, next);
        }
    }

    /// Returns the array that belongs to the table itself: no other table accesses it, and no action of the table accesses
    /// it late. An array is attached to one table.
    fn own_array(&self, walked: &[Walked]) -> Option<RegisterId> {
        let accesses = || {
            walked.iter().flat_map(|(_, atoms, _, levels)| {
                atoms
                    .iter()
                    .zip(levels)
                    .filter_map(|(atom, level)| Some((atom.array.as_ref()?.0, fits(atom, *level))))
            })
        };
        accesses().map(|(register, _)| register).find(|register| {
            self.sites.get(register).is_none_or(|sites| *sites < 2)
                && accesses().all(|(other, fits)| other != *register || fits)
        })
    }
}

/// An action's region, atoms, what waits for what, and levels.
type Walked = (RegionId, Vec<Atom>, Vec<(usize, usize, DependencyKind)>, Vec<usize>);

/// Whether an atom of an action can be part of the table.
fn fits(atom: &Atom, level: usize) -> bool {
    level == 0 && atom.gate == Gate::default() && atom.kind == AtomKind::Statement
}

/// What goes together of a table's actions outside the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PartKey {
    level: usize,
    array: Option<RegisterId>,
    gate: usize,
    single: (usize, usize),
}

/// Effects of several atoms.
#[derive(Default)]
struct Part {
    kind: Option<AtomKind>,
    code: BTreeSet<Point>,
    origin: Option<OriginId>,
    guard: Option<Guard>,
    matches: BTreeMap<Cell, BTreeSet<usize>>,
    actions: BTreeSet<usize>,
    reads: BTreeMap<Cell, BTreeSet<usize>>,
    writes: BTreeMap<Cell, BTreeSet<usize>>,
    array: Option<(RegisterId, String)>,
    hashes: BTreeMap<String, u64>,
    demand: BTreeMap<Resource, u64>,
    waits: Vec<(Option<PartKey>, DependencyKind)>,
}

impl Part {
    /// One more atom of the action with this number.
    fn add(&mut self, atom: &Atom, action: usize, region: RegionId, private: &BTreeSet<SlotId>) {
        let is_visible = |cell: &Cell| match cell {
            Cell::Computed(inside, _) => *inside != region,
            Cell::Location(Location::Slot(slot)) => !private.contains(slot),
            Cell::Location(_) | Cell::Flag(_) => true,
        };
        self.origin.get_or_insert(atom.origin);
        self.code.extend(&atom.code);
        self.actions.insert(action);
        for cell in atom.matches.keys().filter(|cell| is_visible(cell)) {
            self.matches.entry(*cell).or_default().insert(action);
        }
        for cell in atom.reads.keys().filter(|cell| is_visible(cell)) {
            self.reads.entry(*cell).or_default().insert(action);
        }
        for cell in atom.writes.iter().filter(|cell| is_visible(cell)) {
            self.writes.entry(*cell).or_default().insert(action);
        }
        match (&mut self.array, &atom.array) {
            (Some((_, known)), Some((_, action)))
                if !known.split(OTHER_ACTION).any(|one| one == action) =>
            {
                known.push_str(OTHER_ACTION);
                known.push_str(action);
            }
            (array, other) => *array = array.take().or_else(|| other.clone()),
        }
        self.hashes.extend(atom.hashes.iter().map(|(what, bits)| (what.clone(), *bits)));
        for (resource, amount) in &atom.demand {
            *self.demand.entry(*resource).or_default() += amount;
        }
    }

    /// Gives an atom the effects; `table` is the table's entries, if they are rules, and when it is
    /// applied.
    fn put_into(self, atom: &mut Atom, at: usize, table: Option<(&Rc<Choice>, &Gate)>) {
        atom.code.extend(&self.code);
        // Keys are matched on whatever runs.
        let matches: BTreeMap<_, _> =
            self.matches.into_iter().filter(|(cell, _)| !atom.matches.contains_key(cell)).collect();
        atom.matches.extend(matches.keys().map(|cell| (*cell, at)));
        atom.reads.extend(self.reads.keys().map(|cell| (*cell, at)));
        atom.writes.extend(self.writes.keys());
        atom.chosen = table.map(|(choice, gate)| Chosen {
            choice: choice.clone(),
            gate: gate.clone(),
            actions: self.actions,
            matches,
            reads: self.reads,
            writes: self.writes,
        });
        atom.array = self.array;
        atom.hashes.extend(self.hashes);
        for (resource, amount) in self.demand {
            atom.take(resource, amount);
        }
    }
}

/// Which atoms of an action wait for which, and why.
fn waits(walk: &Walk<'_, '_>) -> Vec<(usize, usize, DependencyKind)> {
    let atoms = &walk.atoms;
    let comes_before = |from: (usize, usize), to: (usize, usize)| {
        if from.0 == to.0 { from.1 < to.1 } else { walk.flow.reaches(from.0, to.0) }
    };
    let mut waits = Vec::new();
    for (index, atom) in atoms.iter().enumerate() {
        let block = atom.position.block;
        let write_place = (block, atom.position.instruction);
        let guards = super::edges::guard_cells(atom, walk.variables);
        let guards = guards.into_iter().map(|cell| (cell, atom.position.instruction, true));
        for (cell, at, is_match) in atom.all_reads().chain(guards) {
            for (other, writer) in atoms.iter().enumerate() {
                if other == index || !writer.writes.contains(&cell) {
                    continue;
                }
                let place = (writer.position.block, writer.position.instruction);
                if matches!(cell, Cell::Computed(..)) || comes_before(place, (block, at)) {
                    let kind =
                        if is_match { DependencyKind::Match } else { DependencyKind::Action };
                    waits.push((other, index, kind));
                } else if comes_before((block, at), place) {
                    waits.push((index, other, DependencyKind::Anti));
                }
            }
        }
        for (other, writer) in atoms.iter().enumerate() {
            let place = (writer.position.block, writer.position.instruction);
            if other != index
                && comes_before(place, write_place)
                && !writer.writes.is_disjoint(&atom.writes)
            {
                waits.push((other, index, DependencyKind::Action));
            }
        }
        for before in &atom.gate.after {
            waits.push((before.0, index, DependencyKind::Successor));
        }
        for (before, kind) in &atom.explicit {
            waits.push((before.0, index, *kind));
        }
    }
    waits
}

/// How many stages after the first an atom can run at the earliest.
fn levels(count: usize, waits: &[(usize, usize, DependencyKind)]) -> Vec<usize> {
    let mut levels = vec![0; count];
    // Instructions of an action run at once, so two may wait for one another without distance; with
    // distance they cannot, but the limit keeps a mistake from hanging.
    for _ in 0..=count {
        let mut changed = false;
        for (before, after, kind) in waits {
            let least = levels[*before] + kind.distance() as usize;
            if levels[*after] < least {
                levels[*after] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    levels
}

fn program_table(program: &Program, id: TableId, keys: Vec<ProgramKey>) -> ProgramTable {
    let table = &program.tables[id.index()];
    let entries = match (table.keys.is_empty(), table.const_entries) {
        (true, _) => 0,
        (false, true) => table.entries.len() as u64,
        (false, false) => table.size.unwrap_or(DEFAULT_ENTRIES).max(table.entries.len() as u64),
    };
    let data = table.actions.iter().map(|listed| {
        let action = &program.actions[listed.action.index()];
        let bits = action.parameters.iter().map(|parameter| {
            program.slots.get(parameter.slot.index()).map_or(0, |slot| slot.ty.width_bits())
        });
        bits.sum::<u32>()
    });
    ProgramTable {
        keys,
        entries,
        actions: table.actions.len() as u32,
        action_data_bits: data.max().unwrap_or(0),
    }
}

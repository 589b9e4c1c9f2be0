// SPDX-License-Identifier: Apache-2.0
//! `migrate`: copies state from one program's store and cells to another's, as far as names and shapes are
//! equal. The device calls it when it swaps programs.

use crate::entry_cells::EntryIdentity;
use crate::initial::{initial_table, is_as_declared};
use crate::validation::allowed_action;
use crate::{
    ActionData, ActionProfileState, BoundAction, Cells, Configuration, DefaultAction, EntryRecord,
    NewEntry, Replication, Store, ValueSetState,
};
use ir::{
    ActionId, ActionProfile, ActionProfileId, CounterId, HashAlgorithm, Key, MeterId, Program,
    RegisterId, Table, TableId,
};
use std::sync::Arc;

/// Returns whether two selectors hash alike. Custom CRCs are compared by name.
fn same_selector(one: (&Program, &ActionProfile), other: (&Program, &ActionProfile)) -> bool {
    let selector = |(program, profile): (&Program, &ActionProfile)| {
        let (algorithm, width_bits) = profile.selector?;
        let calculation = match algorithm {
            HashAlgorithm::Custom(id) => {
                let crc = program.calculations.get(id.index());
                crc.map(|crc| (crc.name.clone(), crc.parameters.width_bits))
            }
            _ => None,
        };
        let plain = calculation.is_none().then_some(algorithm);
        Some((plain, calculation, width_bits))
    };
    selector(one) == selector(other)
}

/// Copies the state of objects with equal name and shape from the old program to the new one:
///
/// - the contents of registers, counters and configured meters;
/// - the states of externs of equal type, name and constructor arguments;
/// - entries and default actions of tables whose keys and actions (names and widths of parameters) are equal,
///   with their direct counters, direct meters and times of last hit;
/// - members and groups of action profiles, and members of value sets;
/// - multicast groups, clone sessions and CRC parameters.
///
/// Tables, profiles, value sets, groups and sessions of the new program that the control plane has already written
/// keep their content. Returns the names of the old program's tables, profiles and value sets whose content was not
/// copied.
pub fn migrate(
    from: (&Store, &Cells, &Program),
    to: (&mut Store, &mut Cells, &Program),
) -> Vec<Arc<str>> {
    let (from_store, from_cells, from_program) = from;
    let (to_store, to_cells, to_program) = to;
    migrate_arrays((from_cells, from_program), (to_cells, to_program));
    let from_configuration = from_store.configuration();
    to_store.rewrite(|configuration| {
        let mut migration = Migration {
            from: &from_configuration,
            from_program,
            from_cells,
            to: configuration,
            to_program,
            to_cells,
            unmigrated: Vec::new(),
        };
        migration.value_sets();
        let profiles = migration.profiles();
        for (at, table) in from_program.tables.iter().enumerate() {
            migration.table(TableId(at as u32), table, &profiles);
        }
        migration.replication();
        migration.unmigrated
    })
}

/// Returns the index of the item with this name.
fn named<T>(items: &[T], name: impl Fn(&T) -> &Arc<str>, wanted: &Arc<str>) -> Option<usize> {
    items.iter().position(|item| name(item) == wanted)
}

/// Copies registers, counters, meters and externs.
fn migrate_arrays(from: (&Cells, &Program), to: (&mut Cells, &Program)) {
    let ((from, from_program), (to, to_program)) = (from, to);
    for (at, register) in to_program.registers.iter().enumerate() {
        let before = from_program.registers.iter().position(|before| {
            before.name == register.name
                && before.width_bits == register.width_bits
                && before.size == register.size
        });
        let cells = before.and_then(|before| from.register(RegisterId(before as u32)));
        if let (Some(cells), Some(mine)) = (cells, to.register_mut(RegisterId(at as u32))) {
            mine.clone_from(cells);
        }
    }
    for (at, counter) in to_program.counters.iter().enumerate() {
        let before = from_program.counters.iter().position(|before| {
            before.name == counter.name
                && before.unit == counter.unit
                && before.size == counter.size
        });
        if let Some(before) = before {
            to.copy_counter(CounterId(at as u32), from, CounterId(before as u32));
        }
    }
    for (at, meter) in to_program.meters.iter().enumerate() {
        let before = from_program.meters.iter().position(|before| {
            before.name == meter.name && before.unit == meter.unit && before.size == meter.size
        });
        if let Some(before) = before {
            to.copy_meter(MeterId(at as u32), from, MeterId(before as u32));
        }
    }
    to.migrate_externs(to_program, (from, from_program));
}

fn widths_bits<'a>(program: &'a Program, action: ActionId) -> impl Iterator<Item = u32> + 'a {
    let action = program.actions.get(action.index());
    let parameters = action.map_or(&[][..], |action| &action.parameters);
    parameters.iter().map(|parameter| {
        program.slots.get(parameter.slot.index()).map_or(0, |slot| slot.ty.width_bits())
    })
}

/// Returns whether two programs' actions have equal names and equal widths of parameters.
fn same_action(from: (&Program, ActionId), to: (&Program, ActionId)) -> bool {
    let name = |(program, action): (&Program, ActionId)| {
        program.actions.get(action.index()).map(|action| action.name.clone())
    };
    name(from) == name(to) && widths_bits(from.0, from.1).eq(widths_bits(to.0, to.1))
}

fn same_keys(from: &[Key], to: &[Key]) -> bool {
    let shape = |key: &Key| (key.name.clone(), key.match_kind.clone(), key.width_bits);
    from.iter().map(shape).eq(to.iter().map(shape))
}

/// For each profile of the old program, the profile of the new one that has its content.
type MigratedProfiles = Vec<Option<ActionProfileId>>;

struct Migration<'a> {
    from: &'a Configuration,
    from_program: &'a Program,
    from_cells: &'a Cells,
    to: &'a mut Configuration,
    to_program: &'a Program,
    to_cells: &'a mut Cells,
    /// Names of objects of the old program whose state has no place in the new one.
    unmigrated: Vec<Arc<str>>,
}

impl Migration<'_> {
    fn value_sets(&mut self) {
        for (at, set) in self.from_program.value_sets.iter().enumerate() {
            let state = &self.from.value_sets[at];
            if state.members.is_empty() {
                continue;
            }
            let found =
                named(&self.to_program.value_sets, |set| &set.name, &set.name).filter(|&to| {
                    let after = &self.to_program.value_sets[to];
                    same_keys(&set.components, &after.components)
                        && after.size >= state.members.len() as u64
                        && self.to.value_sets[to].members.is_empty()
                });
            match found {
                Some(to) => {
                    let members = state.members.clone();
                    self.to.value_sets[to] = Arc::new(ValueSetState { members });
                }
                None => self.unmigrated.push(set.name.clone()),
            }
        }
    }

    fn replication(&mut self) {
        let untouched = Replication::of(self.to_program);
        if *self.to.replication != untouched {
            return;
        }
        let from = &self.from.replication;
        let mut replication = Replication { crcs: untouched.crcs, ..(**from).clone() };
        for (calculation, crc) in self.from_program.calculations.iter().zip(&from.crcs) {
            let to = named(&self.to_program.calculations, |c| &c.name, &calculation.name);
            let to = to.and_then(|to| replication.crcs.get_mut(to));
            if let Some(to) =
                to.filter(|to| to.parameters().width_bits == crc.parameters().width_bits)
            {
                *to = crc.clone();
            }
        }
        self.to.replication = Arc::new(replication);
    }

    /// Finds the action of the new program, among `listed`, that corresponds to one of the old program.
    fn action(&self, listed: &[ActionId], action: &BoundAction) -> Option<BoundAction> {
        let (before, after) = (self.from_program, self.to_program);
        let same = |&to: &ActionId| same_action((before, action.action), (after, to));
        let action_after = listed.iter().copied().find(same)?;
        Some(BoundAction { action: action_after, arguments: action.arguments.clone() })
    }

    fn profiles(&mut self) -> MigratedProfiles {
        let all = self.from_program.action_profiles.iter().enumerate();
        all.map(|(at, profile)| {
            let state = self.from.profiles.get(at)?;
            let is_empty = state.members.is_empty() && state.groups.is_empty();
            let migrated = named(&self.to_program.action_profiles, |p| &p.name, &profile.name)
                .filter(|&to| {
                    let after = &self.to_program.action_profiles[to];
                    let mine = &self.to.profiles[to];
                    let room = after.size.filter(|&size| size != 0).unwrap_or(u64::MAX);
                    same_selector((self.from_program, profile), (self.to_program, after))
                        && state.members.len() as u64 <= room
                        && mine.members.is_empty()
                        && mine.groups.is_empty()
                })
                .map(|to| ActionProfileId(to as u32))
                .and_then(|to| Some((to, self.profile_state(to, state)?)));
            match migrated {
                Some((to, state)) => {
                    self.to.profiles[to.index()] = Arc::new(state);
                    Some(to)
                }
                None => {
                    if !is_empty {
                        self.unmigrated.push(profile.name.clone());
                    }
                    None
                }
            }
        })
        .collect()
    }

    /// Translates a profile's members and groups to the new program's actions; `None` if the new program does not
    /// allow one of them. Entries count their uses of members when they are copied.
    fn profile_state(
        &self,
        to: ActionProfileId,
        state: &ActionProfileState,
    ) -> Option<ActionProfileState> {
        let program = self.to_program;
        let tables: Vec<&Table> =
            program.tables.iter().filter(|table| table.implementation == Some(to)).collect();
        let listed: Vec<ActionId> =
            tables.iter().flat_map(|table| &table.actions).map(|listed| listed.action).collect();
        let mut after = ActionProfileState::default();
        for (member, action) in state.members() {
            let action = self.action(&listed, action)?;
            for table in &tables {
                allowed_action(program, table, &action, false).ok()?;
            }
            after.members.insert(member, Arc::new(action));
        }
        for (&group, content) in &state.groups {
            after.set_group(group, Some(content.clone()));
        }
        Some(after)
    }

    fn table(&mut self, id: TableId, table: &Table, profiles: &MigratedProfiles) {
        let had_something = {
            let state = &self.from.tables[id.index()];
            !is_as_declared(self.from_program, table, state)
        };
        let found = named(&self.to_program.tables, |table| &table.name, &table.name)
            .filter(|&to| self.is_same_table(table, &self.to_program.tables[to], profiles));
        let Some(to) = found else {
            if had_something {
                self.unmigrated.push(table.name.clone());
            }
            return;
        };
        let (declared, to) = (&self.to_program.tables[to], TableId(to as u32));
        let Some(pairs) = self.entries(id, to, declared) else {
            if had_something {
                self.unmigrated.push(table.name.clone());
            }
            return;
        };
        self.default(id, to, declared);
        self.direct_cells((id, table), (to, declared), &pairs);
    }

    fn is_same_table(&self, from: &Table, to: &Table, profiles: &MigratedProfiles) -> bool {
        let implementation = match (from.implementation, to.implementation) {
            (None, None) => true,
            (Some(from), Some(to)) => profiles.get(from.index()).copied().flatten() == Some(to),
            _ => false,
        };
        let flags = |table: &Table| (table.const_entries, table.idle_timeout);
        let same_action = |from: &ir::TableAction, to: &ir::TableAction| {
            (from.table_only, from.default_only) == (to.table_only, to.default_only)
                && same_action((self.from_program, from.action), (self.to_program, to.action))
        };
        implementation
            && flags(from) == flags(to)
            && same_keys(&from.keys, &to.keys)
            && from.actions.len() == to.actions.len()
            && from.actions.iter().all(|from| to.actions.iter().any(|to| same_action(from, to)))
    }

    fn default(&mut self, id: TableId, to: TableId, declared: &Table) {
        let before = self.from.tables[id.index()].default_action();
        let mine = self.to.tables[to.index()].default_action();
        if before.is_initial || !mine.is_initial || declared.const_default_action {
            return;
        }
        let listed: Vec<ActionId> = declared.actions.iter().map(|listed| listed.action).collect();
        if let Some(action) = self.action(&listed, &before.action) {
            let state = Arc::make_mut(&mut self.to.tables[to.index()]);
            let action_index = state.action_index(action.action).unwrap_or_default();
            state.set_default(DefaultAction { action, action_index, is_initial: false });
        }
    }

    /// Copies a table's entries. Returns pairs of an old entry and its copy; `None` if the new table cannot hold
    /// them.
    fn entries(
        &mut self,
        id: TableId,
        to: TableId,
        declared: &Table,
    ) -> Option<Vec<(Arc<EntryRecord>, Arc<EntryRecord>)>> {
        let before = self.from.tables[id.index()].clone();
        let mine = &self.to.tables[to.index()];
        let entries: Vec<_> = before.entries_by_age().into_iter().cloned().collect();
        if declared.const_entries {
            let same = |entry: Arc<EntryRecord>| {
                let handle = mine.find(&entry.keys, entry.priority)?;
                Some((entry, mine.shared_entry(handle)?))
            };
            return Some(entries.into_iter().filter_map(same).collect());
        }
        let room = declared.size.filter(|&size| size != 0).unwrap_or(u64::MAX);
        if !is_as_declared(self.to_program, declared, mine) || entries.len() as u64 > room {
            return None;
        }
        let listed: Vec<ActionId> = declared.actions.iter().map(|listed| listed.action).collect();
        let actions: Option<Vec<ActionData>> =
            entries.iter().map(|entry| self.action_data(&listed, &entry.action)).collect();
        let actions = actions?;

        // The copies replace the declared entries. A copy equal to a declared entry keeps its source origin.
        let mut unused = 1;
        let declared_state = initial_table(self.to_program, declared, &mut unused).ok()?;
        let own: Vec<_> = mine.entries().cloned().collect();
        for entry in own {
            Arc::make_mut(&mut self.to.tables[to.index()]).remove(entry.handle);
            self.to.count_use(to, &entry.action, false);
        }
        let mut pairs = Vec::with_capacity(entries.len());
        for (entry, action) in entries.into_iter().zip(actions) {
            let origin = declared_state
                .find(&entry.keys, entry.priority)
                .and_then(|handle| declared_state.entry(handle)?.origin);
            let new = NewEntry { action, ..entry.to_new_entry() };
            self.to.count_use(to, &new.action, true);
            let generation = self.to.next_generation;
            self.to.next_generation += 1;
            let state = Arc::make_mut(&mut self.to.tables[to.index()]);
            let after = state.insert(new, generation, entry.inserted_ps, origin);
            pairs.push((entry, after));
        }
        Some(pairs)
    }

    fn action_data(&self, listed: &[ActionId], data: &ActionData) -> Option<ActionData> {
        Some(match data {
            ActionData::Direct(action) => ActionData::Direct(self.action(listed, action)?),
            ActionData::Member(member) => ActionData::Member(*member),
            ActionData::Group(group) => ActionData::Group(*group),
            ActionData::OneShot(actions) => {
                let mut actions = actions.clone();
                for weighted in &mut actions {
                    weighted.action = self.action(listed, &weighted.action)?;
                }
                ActionData::OneShot(actions)
            }
        })
    }

    /// Copies the direct counters, direct meters and hit times of a table's entries and of its default action.
    fn direct_cells(
        &mut self,
        (from, before): (TableId, &Table),
        (to, after): (TableId, &Table),
        pairs: &[(Arc<EntryRecord>, Arc<EntryRecord>)],
    ) {
        let identities: Vec<_> = std::iter::once((None, None))
            .chain(pairs.iter().map(|(before, after)| (Some(&**before), Some(&**after))))
            .map(|(before, after)| (EntryIdentity::of(before), EntryIdentity::of(after)))
            .collect();
        for &counter in &after.direct_counters {
            let shape = |program: &Program, counter: CounterId| {
                let counter = program.counters.get(counter.index())?;
                Some((counter.name.clone(), counter.unit))
            };
            let wanted = shape(self.to_program, counter);
            let mut all = before.direct_counters.iter().copied();
            if let Some(same) = all.find(|same| shape(self.from_program, *same) == wanted) {
                self.to_cells.copy_direct_counter(counter, self.from_cells, same, &identities);
            }
        }
        for &meter in &after.direct_meters {
            let shape = |program: &Program, meter: MeterId| {
                let meter = program.meters.get(meter.index())?;
                Some((meter.name.clone(), meter.unit))
            };
            let wanted = shape(self.to_program, meter);
            let mut all = before.direct_meters.iter().copied();
            if let Some(same) = all.find(|same| shape(self.from_program, *same) == wanted) {
                self.to_cells.copy_direct_meter(meter, self.from_cells, same, &identities);
            }
        }
        self.to_cells.copy_hits(to, self.from_cells, from, &identities);
    }
}

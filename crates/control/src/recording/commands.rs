// SPDX-License-Identifier: Apache-2.0
//! One update as the commands that do the same, with the handles that they need.

use super::{Recording, Written, ranked};
use crate::command::{Arguments, Command, EntryAction, MatchText, Matches, MeterRate, Priority};
use crate::command_text;
use crate::entry_handles::{EntryHandles, EntryKey, entry_key};
use crate::target::{DeviceItem, Item, Reply};
use ir::{Bits, Key, KeyPattern, MatchKind, Table, TableId, ValueSetId};
use state::{
    ActionData, BatchItem, BoundAction, CellRange, CellValues, CloneSession, EntryReference,
    MeterConfiguration, MulticastGroup, NewEntry, TokenRate, Update,
};
use std::collections::HashMap;
use std::ops::Range;

/// Kinds of updates that BMv2's command line has no command for.
const PROFILES: &str = "entries, members and groups of action profiles";
const PATTERNS: &str = "members of value sets that are more than one value";
const CLONES: &str = "clone sessions with several copies, a length or a class";
const METERS: &str = "meters without rates, and those of default actions";
const COUNTERS: &str = "counters of default actions";
const EXCLUSIONS: &str = "exclusions of copies";
const CRCS: &str = "parameters of calculations";
const GENERATORS: &str = "the packet generator";
const QUEUES: &str = "rates and depths of one priority at all ports";
const OTHERS: &str = "other updates";
const UNKNOWN: &str = "updates of entries that were not recorded";

/// Millionths of a unit a second in a unit a microsecond.
const MICRO_UNITS: f64 = 1e12;

impl Recording {
    /// The commands of an item that BMv2's command line takes, and the kinds of the others.
    pub(super) fn commands(&mut self, item: &Item, reply: &Reply) -> Vec<Written> {
        let mut written = self.all_commands(item, reply);
        for one in &mut written {
            if let Written::Command(command) = one
                && command_text::write(&ranked(command, &HashMap::new())).is_none()
            {
                *one = Written::Nothing(kind(command));
            }
        }
        written
    }

    /// The commands of an item, with forms that only ours takes.
    fn all_commands(&mut self, item: &Item, reply: &Reply) -> Vec<Written> {
        let update = match item {
            Item::State(BatchItem::Read(_)) => return Vec::new(),
            Item::State(BatchItem::Update(update)) => update,
            Item::Device(item) => return of_device(item),
        };
        match update {
            Update::InsertEntry { table, entry } => self.insert(*table, entry, reply),
            Update::ModifyEntry { table, entry } => self.modify(*table, entry),
            Update::DeleteEntry { table, keys, priority } => {
                let key = entry_key(self.table(*table), keys, *priority);
                self.delete(*table, key)
            }
            Update::ModifyEntryAt { table, handle, action, .. } => {
                let Some((keys, priority)) = self.places.get(&(*table, *handle)).cloned() else {
                    return vec![Written::Nothing(UNKNOWN)];
                };
                let target = match action {
                    ActionData::Direct(action) => self.action(action),
                    _ => return vec![Written::Nothing(PROFILES)],
                };
                let handle =
                    self.entries.get(table).and_then(|all| all.handle_of(&(keys, priority)));
                let Some(handle) = handle else { return vec![Written::Nothing(UNKNOWN)] };
                let table = self.name(*table);
                vec![Written::Command(Command::TableModify { table, target, handle })]
            }
            Update::DeleteEntryAt { table, handle, .. } => {
                match self.places.remove(&(*table, *handle)) {
                    Some(key) => self.delete(*table, key),
                    None => vec![Written::Nothing(UNKNOWN)],
                }
            }
            Update::ClearEntries { table } => {
                self.entries.insert(*table, EntryHandles::default());
                self.places.retain(|(of, _), _| of != table);
                self.timeouts.retain(|(of, _), _| of != table);
                vec![Written::Command(Command::TableClear { table: self.name(*table) })]
            }
            Update::SetDefaultAction { table, action } => {
                let name = self.name(*table);
                vec![Written::Command(match action {
                    Some(action) => {
                        Command::TableSetDefault { table: name, target: self.action(action) }
                    }
                    None => Command::TableResetDefault { table: name },
                })]
            }
            Update::WriteRegister { register, cells, values } => {
                let declared = &self.program.registers[register.index()];
                let register = declared.name.to_string();
                let cells = indexes(*cells, declared.size);
                if let (CellValues::Same(value), true) = (values, cells == (0..declared.size))
                    && value.is_zero()
                {
                    return vec![Written::Command(Command::RegisterReset { register })];
                }
                let write = |(index, value): (u64, &Bits)| {
                    let (register, value) = (register.clone(), number(value));
                    Written::Command(Command::RegisterWrite { register, index: Some(index), value })
                };
                each(cells, values).map(write).collect()
            }
            Update::WriteCounter { counter, cells, values } => {
                let declared = &self.program.counters[counter.index()];
                let counter = declared.name.to_string();
                let cells = indexes(*cells, declared.size.unwrap_or(0));
                let write = |(index, value): (u64, &state::CounterValue)| {
                    let (counter, packets, bytes) = (counter.clone(), value.packets, value.bytes);
                    Written::Command(Command::CounterWrite { counter, index, packets, bytes })
                };
                each(cells, values).map(write).collect()
            }
            Update::WriteDirectCounter { counter, entry, value } => {
                let table = self.table_of(|table| table.direct_counters.contains(counter));
                let index = table.and_then(|table| self.entry_handle(table, entry));
                let Some(index) = index else { return vec![Written::Nothing(COUNTERS)] };
                let counter = self.program.counters[counter.index()].name.to_string();
                let (packets, bytes) = (value.packets, value.bytes);
                vec![Written::Command(Command::CounterWrite { counter, index, packets, bytes })]
            }
            Update::WriteMeter { meter, cells, values } => {
                let declared = &self.program.meters[meter.index()];
                let cells = indexes(*cells, declared.size.unwrap_or(0));
                let name = declared.name.to_string();
                each(cells, values)
                    .map(|(index, value)| rates(&name, index, value.as_ref()))
                    .collect()
            }
            Update::WriteDirectMeter { meter, entry, configuration } => {
                let table = self.table_of(|table| table.direct_meters.contains(meter));
                let index = table.and_then(|table| self.entry_handle(table, entry));
                let name = &self.program.meters[meter.index()].name;
                vec![match index {
                    Some(index) => rates(name, index, configuration.as_ref()),
                    None => Written::Nothing(METERS),
                }]
            }
            Update::InsertValueSetMember { set, member } => {
                let (set, value) = (self.value_set(*set), member_texts(member));
                vec![Written::Command(Command::ValueSetAdd { set, value })]
            }
            Update::DeleteValueSetMember { set, member } => {
                let (set, value) = (self.value_set(*set), member_texts(member));
                vec![Written::Command(Command::ValueSetRemove { set, value })]
            }
            Update::SetValueSet { set, members } => {
                let set = self.value_set(*set);
                let clear = Command::ValueSetClear { set: set.clone() };
                let add = |member: &Vec<KeyPattern>| {
                    let (set, value) = (set.clone(), member_texts(member));
                    Command::ValueSetAdd { set, value }
                };
                let commands = std::iter::once(clear).chain(members.iter().map(add));
                commands.map(Written::Command).collect()
            }
            Update::InsertMulticastGroup { group, content } => {
                let create = Command::MulticastGroupCreate { group: u64::from(*group) };
                let mut commands = vec![create];
                commands.extend(self.nodes(*group, content));
                commands.into_iter().map(Written::Command).collect()
            }
            Update::ModifyMulticastGroup { group, content } => {
                let mut commands = self.without_nodes(*group);
                commands.extend(self.nodes(*group, content));
                commands.into_iter().map(Written::Command).collect()
            }
            Update::DeleteMulticastGroup { group } => {
                let mut commands = self.without_nodes(*group);
                commands.push(Command::MulticastGroupDestroy { group: u64::from(*group) });
                commands.into_iter().map(Written::Command).collect()
            }
            Update::InsertCloneSession { session, content }
            | Update::ModifyCloneSession { session, content } => {
                vec![clone_session(*session, content)]
            }
            Update::DeleteCloneSession { session } => {
                let session = u64::from(*session);
                vec![Written::Command(Command::CloneSessionDelete { session })]
            }
            Update::InsertMember { .. }
            | Update::ModifyMember { .. }
            | Update::DeleteMember { .. }
            | Update::InsertGroup { .. }
            | Update::ModifyGroup { .. }
            | Update::DeleteGroup { .. } => vec![Written::Nothing(PROFILES)],
            Update::SetNodeExclusion { .. } | Update::SetPortExclusion { .. } => {
                vec![Written::Nothing(EXCLUSIONS)]
            }
            Update::SetCrcParameters { .. } => vec![Written::Nothing(CRCS)],
        }
    }

    fn table(&self, table: TableId) -> &Table {
        &self.program.tables[table.index()]
    }

    fn name(&self, table: TableId) -> String {
        self.table(table).name.to_string()
    }

    fn value_set(&self, set: ValueSetId) -> String {
        self.program.value_sets[set.index()].name.to_string()
    }

    fn table_of(&self, has: impl Fn(&Table) -> bool) -> Option<TableId> {
        self.program.tables.iter().position(has).map(|at| TableId(at as u32))
    }

    fn action(&self, action: &BoundAction) -> EntryAction {
        let name = self.program.actions[action.action.index()].name.to_string();
        EntryAction::Action(
            name,
            Arguments::Positional(action.arguments.iter().map(number).collect()),
        )
    }

    fn entry_handle(&self, table: TableId, entry: &EntryReference) -> Option<u64> {
        let key = match entry {
            EntryReference::Entry { keys, priority } => {
                entry_key(self.table(table), keys, *priority)
            }
            EntryReference::At { handle, .. } => self.places.get(&(table, *handle))?.clone(),
            EntryReference::Default => return None,
        };
        self.entries.get(&table)?.handle_of(&key)
    }

    fn insert(&mut self, table: TableId, entry: &NewEntry, reply: &Reply) -> Vec<Written> {
        let ActionData::Direct(action) = &entry.action else {
            return vec![Written::Nothing(PROFILES)];
        };
        let target = self.action(action);
        let declared = self.table(table);
        let key = entry_key(declared, &entry.keys, entry.priority);
        let matched = declared.keys.iter().filter(|key| key.match_kind != MatchKind::Selector);
        let keys = matched.zip(&key.0).map(|(key, pattern)| match_text(key, pattern)).collect();
        let priority = match declared.has_priorities() {
            true => Priority::LargestWins(entry.priority),
            false => Priority::Absent,
        };
        let add = Command::TableAdd {
            table: self.name(table),
            matches: Matches::Positional(keys),
            target,
            priority,
            timeout_ms: None,
            label: None,
        };
        if let Reply::State(state::Reply::Inserted(place)) = reply {
            self.places.insert((table, *place), key.clone());
        }
        let handle = self.entries.entry(table).or_default().insert(key);
        let mut written = vec![Written::Command(add)];
        written.extend(self.timeout(table, entry, handle));
        written
    }

    fn modify(&mut self, table: TableId, entry: &NewEntry) -> Vec<Written> {
        let ActionData::Direct(action) = &entry.action else {
            return vec![Written::Nothing(PROFILES)];
        };
        let key = entry_key(self.table(table), &entry.keys, entry.priority);
        let handle = self.entries.get(&table).and_then(|all| all.handle_of(&key));
        let Some(handle) = handle else { return vec![Written::Nothing(UNKNOWN)] };
        let (name, target) = (self.name(table), self.action(action));
        let modify = Command::TableModify { table: name, target, handle };
        let mut written = vec![Written::Command(modify)];
        written.extend(self.timeout(table, entry, handle));
        written
    }

    /// The command that gives an entry its idle timeout, if it has another one.
    fn timeout(&mut self, table: TableId, entry: &NewEntry, handle: u64) -> Option<Written> {
        let key = (table, entry_key(self.table(table), &entry.keys, entry.priority));
        let timeout_ns = entry.idle_timeout_ns;
        if self.timeouts.get(&key).copied().unwrap_or(0) == timeout_ns {
            return None;
        }
        self.timeouts.insert(key, timeout_ns);
        let (table, timeout_ms) = (self.name(table), timeout_ns.div_ceil(1_000_000));
        Some(Written::Command(Command::TableSetTimeout { table, handle, timeout_ms }))
    }

    fn delete(&mut self, table: TableId, key: EntryKey) -> Vec<Written> {
        let handles = self.entries.entry(table).or_default();
        let Some(handle) = handles.handle_of(&key) else {
            let has_profile = self.table(table).implementation.is_some();
            return vec![Written::Nothing(if has_profile { PROFILES } else { UNKNOWN })];
        };
        handles.remove(handle);
        self.timeouts.remove(&(table, key.clone()));
        vec![Written::Command(Command::TableDelete { table: self.name(table), handle })]
    }

    /// The commands that give a group without nodes its replicas: a node for each run of equal instances.
    fn nodes(&mut self, group: u32, content: &MulticastGroup) -> Vec<Command> {
        let mut commands = Vec::new();
        for replicas in content.replicas.chunk_by(|one, other| one.instance == other.instance) {
            let node = self.free_nodes.take();
            self.multicast_nodes.entry(group).or_default().push(node);
            let rid = u64::from(replicas[0].instance);
            let ports = replicas.iter().map(|replica| u64::from(replica.egress_port)).collect();
            commands.push(Command::MulticastNodeCreate { rid, ports });
            commands.push(Command::MulticastNodeAssociate { group: u64::from(group), node });
        }
        commands
    }

    fn without_nodes(&mut self, group: u32) -> Vec<Command> {
        let nodes = self.multicast_nodes.remove(&group).unwrap_or_default();
        nodes.iter().for_each(|node| self.free_nodes.give_back(*node));
        let group = u64::from(group);
        let destroy = nodes.into_iter().flat_map(|node| {
            [
                Command::MulticastNodeDissociate { group, node },
                Command::MulticastNodeDestroy { node },
            ]
        });
        destroy.collect()
    }
}

/// The kind of a command, where BMv2 takes only some of its forms.
fn kind(command: &Command) -> &'static str {
    match command {
        Command::CloneSession { .. } => CLONES,
        Command::ValueSetAdd { .. } | Command::ValueSetRemove { .. } => PATTERNS,
        Command::QueueRate { .. } | Command::QueueDepth { .. } => QUEUES,
        _ => OTHERS,
    }
}

fn of_device(item: &DeviceItem) -> Vec<Written> {
    let wide = |number: &Option<u32>| number.map(u64::from);
    vec![match item {
        DeviceItem::QueueRate { packets_per_second, port, priority } => {
            let (port, priority) = (wide(port), wide(priority));
            let packets_per_second = *packets_per_second;
            Written::Command(Command::QueueRate { packets_per_second, port, priority })
        }
        DeviceItem::QueueDepth { packets, port, priority } => {
            let (packets, port, priority) = (*packets, wide(port), wide(priority));
            Written::Command(Command::QueueDepth { packets, port, priority })
        }
        DeviceItem::GeneratorTimer(_) | DeviceItem::GeneratorStop { .. } => {
            Written::Nothing(GENERATORS)
        }
        DeviceItem::ReadQueue { .. } | DeviceItem::ReadSettings => return Vec::new(),
    }]
}

fn clone_session(session: u32, content: &CloneSession) -> Written {
    let replicas = content.replicas.iter();
    let replicas =
        replicas.map(|replica| (u64::from(replica.egress_port), u64::from(replica.instance)));
    Written::Command(Command::CloneSession {
        session: u64::from(session),
        replicas: replicas.collect(),
        group: content.multicast_group.map(u64::from),
        truncate_bytes: content.packet_length_bytes.unwrap_or(0),
        class: content.class_of_service,
    })
}

fn rates(meter: &str, index: u64, configuration: Option<&MeterConfiguration>) -> Written {
    let Some(MeterConfiguration { committed, peak }) = configuration else {
        return Written::Nothing(METERS);
    };
    let rate = |rate: &TokenRate| MeterRate {
        per_microsecond: rate.rate_micro_units_per_second as f64 / MICRO_UNITS,
        burst: rate.burst_units,
    };
    let (meter, rates) = (meter.to_string(), vec![rate(committed), rate(peak)]);
    Written::Command(Command::MeterSetRates { meter, index: Some(index), rates })
}

/// The cells of a range; none if it does not fit, which the target has refused.
fn indexes(cells: CellRange, size: u64) -> Range<u64> {
    let end = cells.count.map_or(size, |count| cells.first.saturating_add(count));
    cells.first..end.min(size)
}

/// Cells with their values.
fn each<T>(cells: Range<u64>, values: &CellValues<T>) -> impl Iterator<Item = (u64, &T)> {
    cells.enumerate().filter_map(move |(at, cell)| {
        let value = match values {
            CellValues::Same(value) => Some(value),
            CellValues::Each(values) => values.get(at),
        };
        value.map(|value| (cell, value))
    })
}

fn number(value: &Bits) -> String {
    value.to_biguint().to_string()
}

/// A value set's member, each component in the form of its pattern.
fn member_texts(member: &[KeyPattern]) -> Vec<MatchText> {
    let text = |pattern: &KeyPattern| match pattern {
        KeyPattern::Any => MatchText::Any,
        KeyPattern::Exact(value) => MatchText::Value(number(value)),
        KeyPattern::Prefix { value, length_bits } => MatchText::Prefix(number(value), *length_bits),
        KeyPattern::Ternary { value, mask } => MatchText::Masked(number(value), number(mask)),
        KeyPattern::Range { low, high } => MatchText::Range(number(low), number(high)),
    };
    member.iter().map(text).collect()
}

/// A pattern in the form that the match kind takes on BMv2, where an optional key is a ternary one.
fn match_text(key: &Key, pattern: &KeyPattern) -> MatchText {
    let ones = || number(&Bits::ones(key.width_bits));
    let zero = || "0".to_string();
    match (pattern, &key.match_kind) {
        (KeyPattern::Any, MatchKind::Range) => MatchText::Range(zero(), ones()),
        (KeyPattern::Any, MatchKind::Lpm) => MatchText::Prefix(zero(), 0),
        (KeyPattern::Any, _) => MatchText::Masked(zero(), zero()),
        (KeyPattern::Exact(value), MatchKind::Ternary | MatchKind::Optional) => {
            MatchText::Masked(number(value), ones())
        }
        (KeyPattern::Exact(value), MatchKind::Range) => {
            MatchText::Range(number(value), number(value))
        }
        (KeyPattern::Exact(value), MatchKind::Lpm) => {
            MatchText::Prefix(number(value), key.width_bits)
        }
        (KeyPattern::Exact(value), _) => MatchText::Value(number(value)),
        (KeyPattern::Prefix { value, length_bits }, MatchKind::Lpm) => {
            MatchText::Prefix(number(value), *length_bits)
        }
        (KeyPattern::Prefix { value, length_bits }, _) => {
            let mask = Bits::prefix_mask(key.width_bits, *length_bits);
            MatchText::Masked(number(value), number(&mask))
        }
        (KeyPattern::Ternary { value, mask }, _) => MatchText::Masked(number(value), number(mask)),
        (KeyPattern::Range { low, high }, _) => MatchText::Range(number(low), number(high)),
    }
}

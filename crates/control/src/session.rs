// SPDX-License-Identifier: Apache-2.0
//! A control session: commands by name, applied one after the other to a store. It keeps the handles
//! and labels that commands speak of (entries, members, groups, multicast nodes), which the store does
//! not know.

use crate::command::{
    Arguments, Command, Located, MatchText, Matches, MeterRate, Origin, Priority, Target,
};
use crate::error::{
    BAD_VALUE, ControlError, PRIORITY, REFUSED, SYNTAX, UNKNOWN_HANDLE, UNKNOWN_NAME, WRONG_COUNT,
};
use crate::{lookup, patterns, values};
use ir::{ActionProfileId, Bits, KeyPattern, MatchKind, Program, TableId};
use state::{
    ActionData, Batch, BatchItem, BoundAction, Cells, CloneSession, CounterValue, CrcParameters,
    CustomCrc, EntryReference, Group, GroupId, GroupMember, MemberId, MeterConfiguration,
    MulticastGroup, NewEntry, Read, Replica, Reply, Store, TokenRate, Update,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a command answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Done.
    Done,
    /// A handle for later commands.
    Handle(u64),
    /// Values of register cells.
    Registers(Vec<Bits>),
    /// A counter's cell.
    Counter(CounterValue),
    /// Something for the device's queues, which the store does not have.
    Device(DeviceCommand),
}

/// A command about queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceCommand {
    /// Limits how fast queues drain.
    QueueRate {
        /// Packets per second.
        packets_per_second: u64,
        /// Port; `None` is all.
        port: Option<u32>,
        /// Priority; `None` is all.
        priority: Option<u32>,
    },
    /// Limits how many packets queues hold.
    QueueDepth {
        /// Packets.
        packets: u64,
        /// Port; `None` is all.
        port: Option<u32>,
        /// Priority; `None` is all.
        priority: Option<u32>,
    },
}

#[derive(Clone, Debug)]
struct EntryName {
    keys: Vec<KeyPattern>,
    priority: i64,
}

#[derive(Clone, Debug)]
struct MulticastNode {
    rid: u32,
    ports: Vec<u32>,
    group: Option<u32>,
}

/// A session with one device.
#[derive(Debug)]
pub struct Session {
    program: Arc<Program>,
    /// STF leaves out exact keys that are zero, and priorities.
    lenient: bool,
    entries: BTreeMap<TableId, Vec<Option<EntryName>>>,
    labels: BTreeMap<String, (TableId, u64)>,
    members: BTreeMap<ActionProfileId, u32>,
    groups: BTreeMap<ActionProfileId, Vec<Group>>,
    multicast_nodes: Vec<Option<MulticastNode>>,
    multicast_groups: Vec<u32>,
}

impl Session {
    /// A session for this program.
    pub fn new(program: Arc<Program>) -> Session {
        Session {
            program,
            lenient: false,
            entries: BTreeMap::new(),
            labels: BTreeMap::new(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            multicast_nodes: Vec::new(),
            multicast_groups: Vec::new(),
        }
    }

    /// As STF has it: exact keys that are left out are zero, and a priority may be missing.
    pub fn lenient(mut self) -> Session {
        self.lenient = true;
        self
    }

    /// Applies one command at a device time.
    pub fn apply(
        &mut self,
        located: &Located,
        store: &Store,
        cells: &mut Cells,
        now_ps: u64,
    ) -> Result<Answer, ControlError> {
        Applying { session: self, store, cells, now_ps, origin: &located.origin }
            .command(&located.command)
    }

    /// The table and handle of a labelled entry.
    pub fn labelled(&self, label: &str) -> Option<(TableId, u64)> {
        self.labels.get(label).copied()
    }

    /// A counter's cell; of a direct counter, that of the entry with this handle.
    pub fn read_counter(
        &mut self,
        counter: &str,
        index: u64,
        origin: &Origin,
        store: &Store,
        cells: &mut Cells,
    ) -> Result<CounterValue, ControlError> {
        let mut applying = Applying { session: self, store, cells, now_ps: 0, origin };
        applying.read_counter(counter, index)
    }
}

/// One command at work.
struct Applying<'a> {
    session: &'a mut Session,
    store: &'a Store,
    cells: &'a mut Cells,
    now_ps: u64,
    origin: &'a Origin,
}

impl Applying<'_> {
    fn error(&self, code: source::Code, message: impl Into<String>) -> ControlError {
        ControlError::new(code, self.origin, message)
    }

    fn item(&mut self, item: BatchItem) -> Result<Reply, ControlError> {
        let batch = Batch { items: vec![item], atomicity: Default::default(), now_ps: self.now_ps };
        let outcome = self.store.write_batch(self.cells, batch);
        match outcome.results.into_iter().next() {
            Some(Ok(reply)) => Ok(reply),
            Some(Err(error)) => {
                let text = format!("{error} [{}]", error.code());
                Err(self.error(REFUSED, text))
            }
            None => Ok(Reply::Done),
        }
    }

    fn update(&mut self, update: Update) -> Result<Answer, ControlError> {
        self.item(BatchItem::Update(update)).map(|_| Answer::Done)
    }

    fn small(&self, number: u64, what: &str) -> Result<u32, ControlError> {
        u32::try_from(number)
            .map_err(|_| self.error(BAD_VALUE, format!("{what} {number} is too large")))
    }

    fn command(&mut self, command: &Command) -> Result<Answer, ControlError> {
        let program = self.session.program.clone();
        let origin = self.origin;
        match command {
            Command::TableAdd { table, matches, target, priority, timeout_ms, label } => {
                self.table_add(table, matches, target, *priority, *timeout_ms, label.as_deref())
            }
            Command::TableSetDefault { table, target } => {
                let table = lookup::table(&program, table, origin)?;
                let Target::Action(action, arguments) = target else {
                    let message = "a default action is an action with arguments here";
                    return Err(self.error(SYNTAX, message));
                };
                let (action, _) = self.bound_action(table, action, arguments, false)?;
                self.update(Update::SetDefaultAction { table, action: Some(action) })
            }
            Command::TableResetDefault { table } => {
                let table = lookup::table(&program, table, origin)?;
                self.update(Update::SetDefaultAction { table, action: None })
            }
            Command::TableModify { table, target, handle } => {
                let table = lookup::table(&program, table, origin)?;
                let EntryName { keys, priority } = self.entry(table, *handle)?;
                let (action, _) = self.action_data(table, target, false)?;
                let entry = NewEntry {
                    keys,
                    priority,
                    action,
                    idle_timeout_ns: 0,
                    metadata: Vec::new(),
                    cookie: 0,
                };
                self.update(Update::ModifyEntry { table, entry })
            }
            Command::TableDelete { table, handle } => {
                let table = lookup::table(&program, table, origin)?;
                let EntryName { keys, priority } = self.entry(table, *handle)?;
                self.update(Update::DeleteEntry { table, keys, priority })?;
                if let Some(slot) = self.entry_slot(table, *handle) {
                    *slot = None;
                }
                Ok(Answer::Done)
            }
            Command::TableClear { table } => {
                let table = lookup::table(&program, table, origin)?;
                self.update(Update::ClearEntries { table })?;
                self.session.entries.remove(&table);
                Ok(Answer::Done)
            }
            Command::MemberCreate { profile, action, arguments } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let action = self.profile_action(profile, action, arguments)?;
                let number = self.session.members.get(&profile).copied().unwrap_or(0);
                let member = MemberId(number);
                self.update(Update::InsertMember { profile, member, action })?;
                self.session.members.insert(profile, number + 1);
                Ok(Answer::Handle(u64::from(number)))
            }
            Command::MemberModify { profile, member, action, arguments } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let action = self.profile_action(profile, action, arguments)?;
                let member = MemberId(self.small(*member, "member")?);
                self.update(Update::ModifyMember { profile, member, action })
            }
            Command::MemberDelete { profile, member } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let member = MemberId(self.small(*member, "member")?);
                self.update(Update::DeleteMember { profile, member })
            }
            Command::GroupCreate { profile } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let number = self.session.groups.get(&profile).map_or(0, Vec::len);
                let (group, content) = (GroupId(number as u32), Group::default());
                self.update(Update::InsertGroup { profile, group, content })?;
                self.session.groups.entry(profile).or_default().push(Group::default());
                Ok(Answer::Handle(number as u64))
            }
            Command::GroupDelete { profile, group } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let group = GroupId(self.small(*group, "group")?);
                self.update(Update::DeleteGroup { profile, group })
            }
            Command::GroupAddMember { profile, member, group } => {
                let member = MemberId(self.small(*member, "member")?);
                self.change_group(profile, *group, |content| {
                    content.members.push(GroupMember { member, weight: 1, watch_port: Vec::new() });
                })
            }
            Command::GroupRemoveMember { profile, member, group } => {
                let member = MemberId(self.small(*member, "member")?);
                self.change_group(profile, *group, |content| {
                    content.members.retain(|each| each.member != member);
                })
            }
            Command::MulticastGroupCreate { .. }
            | Command::MulticastGroupDestroy { .. }
            | Command::MulticastNodeCreate { .. }
            | Command::MulticastNodeUpdate { .. }
            | Command::MulticastNodeDestroy { .. }
            | Command::MulticastNodeAssociate { .. }
            | Command::MulticastNodeDissociate { .. }
            | Command::MulticastGroup { .. } => self.multicast(command),
            Command::CloneSession { session, replicas, group, truncate_bytes } => {
                let session = self.small(*session, "session")?;
                let multicast_group = match group {
                    Some(group) => Some(self.small(*group, "multicast group")?),
                    None => None,
                };
                let content = CloneSession {
                    replicas: self.replicas(replicas)?,
                    multicast_group,
                    class_of_service: 0,
                    packet_length_bytes: Some(*truncate_bytes).filter(|length| *length > 0),
                };
                let exists = match self.item(BatchItem::Read(Read::CloneSessions))? {
                    Reply::CloneSessions(list) => list.iter().any(|(number, _)| *number == session),
                    _ => false,
                };
                self.update(if exists {
                    Update::ModifyCloneSession { session, content }
                } else {
                    Update::InsertCloneSession { session, content }
                })
            }
            Command::CloneSessionDelete { session } => {
                let session = self.small(*session, "session")?;
                self.update(Update::DeleteCloneSession { session })
            }
            Command::RegisterWrite { register, index, value } => {
                let register = lookup::register(&program, register, origin)?;
                let declared = &program.registers[register.index()];
                let value =
                    values::read(value, declared.width_bits, &declared.display).map_err(|why| {
                        self.error(BAD_VALUE, format!("register `{}`: {why}", declared.name))
                    })?;
                self.update(Update::WriteRegister { register, index: *index, value })
            }
            Command::RegisterReset { register } => {
                let register = lookup::register(&program, register, origin)?;
                let value = program.registers[register.index()].initial.clone();
                self.update(Update::WriteRegister { register, index: None, value })
            }
            Command::RegisterRead { register, index } => {
                let register = lookup::register(&program, register, origin)?;
                let read = Read::Register { register, index: *index };
                match self.item(BatchItem::Read(read))? {
                    Reply::Registers(values) => Ok(Answer::Registers(values)),
                    _ => Ok(Answer::Done),
                }
            }
            Command::CounterWrite { counter, index, packets, bytes } => {
                let name = counter;
                let counter = lookup::counter(&program, name, origin)?;
                let value = CounterValue { packets: *packets, bytes: *bytes };
                let update = match self.direct_counter_entry(counter, *index)? {
                    Some(entry) => Update::WriteDirectCounter { counter, entry, value },
                    None => Update::WriteCounter { counter, index: Some(*index), value },
                };
                self.update(update)
            }
            Command::CounterReset { counter } => {
                let counter = lookup::counter(&program, counter, origin)?;
                let value = CounterValue::default();
                if program.counters[counter.index()].size.is_some() {
                    return self.update(Update::WriteCounter { counter, index: None, value });
                }
                let read = Read::DirectCounter { counter, entry: None };
                if let Reply::DirectCounters(list) = self.item(BatchItem::Read(read))? {
                    for (target, _) in list {
                        let entry = match target {
                            state::EntryTarget::Default => EntryReference::Default,
                            state::EntryTarget::Entry(record) => EntryReference::Entry {
                                keys: record.keys.clone(),
                                priority: record.priority,
                            },
                        };
                        self.update(Update::WriteDirectCounter { counter, entry, value })?;
                    }
                }
                Ok(Answer::Done)
            }
            Command::CounterRead { counter, index } => {
                self.read_counter(counter, *index).map(Answer::Counter)
            }
            Command::MeterSetRates { meter, index, rates } => {
                self.meter_set_rates(meter, *index, rates)
            }
            Command::ValueSetAdd { set, value } => {
                let set = lookup::value_set(&program, set, origin)?;
                let member = self.value_set_member(set, value)?;
                self.update(Update::InsertValueSetMember { set, member })
            }
            Command::ValueSetRemove { set, value } => {
                let set = lookup::value_set(&program, set, origin)?;
                let member = self.value_set_member(set, value)?;
                self.update(Update::DeleteValueSetMember { set, member })
            }
            Command::ValueSetClear { set } => {
                let set = lookup::value_set(&program, set, origin)?;
                self.update(Update::SetValueSet { set, members: Vec::new() })
            }
            Command::CrcParameters {
                width_bits,
                polynomial,
                initial,
                final_xor,
                reflect_input,
                reflect_output,
                ..
            } => {
                let crc = if *width_bits == 16 { CustomCrc::Crc16 } else { CustomCrc::Crc32 };
                let parameters = CrcParameters {
                    polynomial: self.small(*polynomial, "the polynomial")?,
                    initial: self.small(*initial, "the initial remainder")?,
                    final_xor: self.small(*final_xor, "the final value")?,
                    reflect_input: *reflect_input,
                    reflect_output: *reflect_output,
                };
                self.update(Update::SetCrcParameters { crc, parameters: Some(parameters) })
            }
            Command::QueueRate { packets_per_second, port, priority } => {
                Ok(Answer::Device(DeviceCommand::QueueRate {
                    packets_per_second: *packets_per_second,
                    port: self.small_option(*port, "port")?,
                    priority: self.small_option(*priority, "priority")?,
                }))
            }
            Command::QueueDepth { packets, port, priority } => {
                Ok(Answer::Device(DeviceCommand::QueueDepth {
                    packets: *packets,
                    port: self.small_option(*port, "port")?,
                    priority: self.small_option(*priority, "priority")?,
                }))
            }
        }
    }

    fn small_option(&self, number: Option<u64>, what: &str) -> Result<Option<u32>, ControlError> {
        number.map(|number| self.small(number, what)).transpose()
    }

    fn replicas(&self, replicas: &[(u64, u64)]) -> Result<Vec<Replica>, ControlError> {
        let one = |(port, instance): &(u64, u64)| {
            Ok(Replica {
                egress_port: self.small(*port, "port")?,
                instance: self.small(*instance, "instance")?,
            })
        };
        replicas.iter().map(one).collect()
    }

    fn table_add(
        &mut self,
        table: &str,
        matches: &Matches,
        target: &Target,
        priority: Priority,
        timeout_ms: Option<u64>,
        label: Option<&str>,
    ) -> Result<Answer, ControlError> {
        let program = self.session.program.clone();
        let table = lookup::table(&program, table, self.origin)?;
        let declared = &program.tables[table.index()];
        let keys = self.keys(table, matches)?;
        let takes_priority = declared.keys.iter().any(|key| {
            matches!(key.match_kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional)
        });
        // In BMv2's command text the priority is one word more than the action has parameters.
        let surplus = priority == Priority::Absent && matches!(matches, Matches::Positional(_));
        let (action, surplus) = self.action_data(table, target, surplus)?;
        let priority = match surplus {
            Some(text) => match text.parse() {
                Ok(number) => Priority::SmallestWins(number),
                Err(_) => {
                    let message = format!(
                        "table `{}`: the priority must be a number, not `{text}`",
                        declared.name
                    );
                    return Err(self.error(PRIORITY, message));
                }
            },
            None => priority,
        };
        let priority = match priority {
            Priority::Absent if takes_priority && !self.session.lenient => {
                let message = format!("table `{}`: the entry needs a priority", declared.name);
                return Err(self.error(PRIORITY, message).help(
                    "tables with ternary, range or optional keys choose among entries by priority",
                ));
            }
            Priority::Absent => 0,
            Priority::LargestWins(number) => number,
            Priority::SmallestWins(number) => i64::from(i32::MAX).saturating_sub(number),
        };
        let entry = NewEntry {
            keys: keys.clone(),
            priority,
            action,
            idle_timeout_ns: timeout_ms.unwrap_or(0).saturating_mul(1_000_000),
            metadata: Vec::new(),
            cookie: 0,
        };
        self.update(Update::InsertEntry { table, entry })?;
        let entries = self.session.entries.entry(table).or_default();
        let handle = entries.len() as u64;
        entries.push(Some(EntryName { keys, priority }));
        if let Some(label) = label {
            self.session.labels.insert(label.to_string(), (table, handle));
        }
        Ok(Answer::Handle(handle))
    }

    fn keys(&self, table: TableId, matches: &Matches) -> Result<Vec<KeyPattern>, ControlError> {
        let program = &self.session.program;
        let declared = &program.tables[table.index()];
        let matched: Vec<usize> = (0..declared.keys.len())
            .filter(|at| declared.keys[*at].match_kind != MatchKind::Selector)
            .collect();
        let mut texts: Vec<Option<&MatchText>> = vec![None; declared.keys.len()];
        match matches {
            Matches::Positional(list) => {
                if list.len() != matched.len() {
                    let names: Vec<&str> =
                        matched.iter().map(|at| &*declared.keys[*at].name).collect();
                    let message = format!(
                        "table `{}` has {} ({}), the entry gives {}",
                        declared.name,
                        count(matched.len(), "key"),
                        names.join(", "),
                        list.len()
                    );
                    return Err(self.error(WRONG_COUNT, message));
                }
                for (at, text) in matched.iter().zip(list) {
                    texts[*at] = Some(text);
                }
            }
            Matches::Named(list) => {
                for (name, text) in list {
                    let at = lookup::key(program, table, name, self.origin)?;
                    if texts[at].replace(text).is_some() {
                        let message =
                            format!("table `{}`: key `{name}` is given twice", declared.name);
                        return Err(self.error(WRONG_COUNT, message));
                    }
                }
            }
        }
        let zero = MatchText::Value("0".to_string());
        let mut keys = Vec::new();
        for at in matched {
            let key = &declared.keys[at];
            let text = match texts[at] {
                Some(text) => text,
                None if key.match_kind == MatchKind::Exact && !self.session.lenient => {
                    let message =
                        format!("table `{}`: exact key `{}` is missing", declared.name, key.name);
                    return Err(self.error(WRONG_COUNT, message));
                }
                None if key.match_kind == MatchKind::Exact => &zero,
                None => &MatchText::Any,
            };
            keys.push(patterns::pattern(text, key).map_err(|(code, why)| {
                let message = format!("table `{}`, key `{}`: {why}", declared.name, key.name);
                self.error(code, message)
            })?);
        }
        Ok(keys)
    }

    fn action_data(
        &self,
        table: TableId,
        target: &Target,
        surplus: bool,
    ) -> Result<(ActionData, Option<String>), ControlError> {
        Ok(match target {
            Target::Action(action, arguments) => {
                let (action, surplus) = self.bound_action(table, action, arguments, surplus)?;
                (ActionData::Direct(action), surplus)
            }
            Target::Member(member) => {
                (ActionData::Member(MemberId(self.small(*member, "member")?)), None)
            }
            Target::Group(group) => {
                (ActionData::Group(GroupId(self.small(*group, "group")?)), None)
            }
        })
    }

    /// The action with its arguments; where `surplus` is allowed, one argument too many is handed back.
    fn bound_action(
        &self,
        table: TableId,
        action: &str,
        arguments: &Arguments,
        surplus: bool,
    ) -> Result<(BoundAction, Option<String>), ControlError> {
        let program = &self.session.program;
        let at = lookup::table_action(program, table, action, self.origin)?;
        let declared = &program.tables[table.index()];
        let action = declared.actions[at].action;
        self.arguments(action, arguments, surplus, &format!("table `{}`, ", declared.name))
    }

    /// An action of a profile, by way of the tables that use the profile.
    fn profile_action(
        &self,
        profile: ActionProfileId,
        action: &str,
        arguments: &Arguments,
    ) -> Result<BoundAction, ControlError> {
        let program = &self.session.program;
        let users = || {
            (0..program.tables.len())
                .filter(|at| program.tables[*at].implementation == Some(profile))
        };
        let name = &program.action_profiles[profile.index()].name;
        let mut problem = None;
        for at in users() {
            let table = TableId(at as u32);
            match lookup::table_action(program, table, action, self.origin) {
                Ok(at) => {
                    let action = program.tables[table.index()].actions[at].action;
                    let place = format!("action profile `{name}`, ");
                    return self.arguments(action, arguments, false, &place).map(|bound| bound.0);
                }
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| {
            self.error(UNKNOWN_NAME, format!("no table uses action profile `{name}`"))
        }))
    }

    fn arguments(
        &self,
        action: ir::ActionId,
        arguments: &Arguments,
        surplus: bool,
        place: &str,
    ) -> Result<(BoundAction, Option<String>), ControlError> {
        let program = &self.session.program;
        let declared = &program.actions[action.index()];
        let wanted = declared.parameters.len();
        let mut rest = None;
        let texts: Vec<&str> = match arguments {
            Arguments::Positional(list) => {
                let mut list: Vec<&str> = list.iter().map(String::as_str).collect();
                if surplus && list.len() == wanted + 1 {
                    rest = list.pop().map(str::to_string);
                }
                if list.len() != wanted {
                    let names: Vec<&str> =
                        declared.parameters.iter().map(|each| &*each.name).collect();
                    let message = format!(
                        "{place}action `{}` has {} ({}), the entry gives {}",
                        declared.name,
                        count(wanted, "parameter"),
                        names.join(", "),
                        list.len()
                    );
                    return Err(self.error(WRONG_COUNT, message));
                }
                list
            }
            Arguments::Named(list) => {
                let at = |name: &str| match name.strip_prefix('#') {
                    // Parameters of actions are numbered from 1.
                    Some(number) => {
                        let number = number.parse::<usize>().ok();
                        number.filter(|at| (1..=wanted).contains(at)).map(|at| at - 1)
                    }
                    None => declared.parameters.iter().position(|each| *each.name == *name),
                };
                for (name, _) in list {
                    if at(name).is_none() {
                        let known = declared.parameters.iter().map(|each| &*each.name);
                        let message =
                            format!("{place}action `{}` has no parameter `{name}`", declared.name);
                        let error = self.error(UNKNOWN_NAME, message);
                        return Err(match crate::names::nearest(name, known) {
                            Some(near) => error.help(format!("did you mean `{near}`?")),
                            None => error,
                        });
                    }
                }
                let find = |(number, parameter): (usize, &ir::ActionParameter)| {
                    let found = list.iter().find(|(name, _)| at(name) == Some(number));
                    found.map(|(_, text)| text.as_str()).ok_or_else(|| {
                        let message = format!(
                            "{place}action `{}`: parameter `{}` is missing",
                            declared.name, parameter.name
                        );
                        self.error(WRONG_COUNT, message)
                    })
                };
                declared.parameters.iter().enumerate().map(find).collect::<Result<_, _>>()?
            }
        };
        let mut values = Vec::new();
        for (parameter, text) in declared.parameters.iter().zip(texts) {
            let slot = &program.slots[parameter.slot.index()];
            let value = values::read(text, slot.ty.width_bits(), &slot.display);
            values.push(value.map_err(|why| {
                let message = format!(
                    "{place}action `{}`, parameter `{}`: {why}",
                    declared.name, parameter.name
                );
                self.error(BAD_VALUE, message)
            })?);
        }
        Ok((BoundAction { action, arguments: values }, rest))
    }

    fn entry_slot(&mut self, table: TableId, handle: u64) -> Option<&mut Option<EntryName>> {
        let at = usize::try_from(handle).ok()?;
        self.session.entries.get_mut(&table)?.get_mut(at)
    }

    fn entry(&mut self, table: TableId, handle: u64) -> Result<EntryName, ControlError> {
        match self.entry_slot(table, handle) {
            Some(Some(name)) => Ok(name.clone()),
            _ => {
                let name = self.session.program.tables[table.index()].name.clone();
                let message = format!("table `{name}` has no entry with handle {handle}");
                Err(self.error(UNKNOWN_HANDLE, message))
            }
        }
    }

    fn change_group(
        &mut self,
        profile: &str,
        group: u64,
        change: impl FnOnce(&mut Group),
    ) -> Result<Answer, ControlError> {
        let program = self.session.program.clone();
        let profile = lookup::profile(&program, profile, self.origin)?;
        let at = usize::try_from(group).unwrap_or(usize::MAX);
        let found = self.session.groups.get(&profile).and_then(|groups| groups.get(at));
        let Some(mut content) = found.cloned() else {
            let name = &program.action_profiles[profile.index()].name;
            let message = format!("action selector `{name}` has no group {group}");
            return Err(self.error(UNKNOWN_HANDLE, message));
        };
        change(&mut content);
        let number = GroupId(self.small(group, "group")?);
        let update = Update::ModifyGroup { profile, group: number, content: content.clone() };
        self.update(update)?;
        if let Some(groups) = self.session.groups.get_mut(&profile) {
            groups[at] = content;
        }
        Ok(Answer::Done)
    }

    fn multicast(&mut self, command: &Command) -> Result<Answer, ControlError> {
        match command {
            Command::MulticastGroupCreate { group } => {
                let group = self.small(*group, "multicast group")?;
                let content = MulticastGroup::default();
                self.update(Update::InsertMulticastGroup { group, content })?;
                self.session.multicast_groups.push(group);
                Ok(Answer::Handle(u64::from(group)))
            }
            Command::MulticastGroupDestroy { group } => {
                let group = self.small(*group, "multicast group")?;
                self.update(Update::DeleteMulticastGroup { group })?;
                self.session.multicast_groups.retain(|each| *each != group);
                for node in self.session.multicast_nodes.iter_mut().flatten() {
                    if node.group == Some(group) {
                        node.group = None;
                    }
                }
                Ok(Answer::Done)
            }
            Command::MulticastGroup { group, replicas } => {
                let group = self.small(*group, "multicast group")?;
                let content =
                    MulticastGroup { replicas: self.replicas(replicas)?, metadata: Vec::new() };
                self.update(Update::InsertMulticastGroup { group, content })
            }
            Command::MulticastNodeCreate { rid, ports } => {
                let ports = self.ports(ports)?;
                let rid = self.small(*rid, "replication id")?;
                self.session.multicast_nodes.push(Some(MulticastNode { rid, ports, group: None }));
                Ok(Answer::Handle(self.session.multicast_nodes.len() as u64 - 1))
            }
            Command::MulticastNodeUpdate { node, ports } => {
                let ports = self.ports(ports)?;
                let node = self.node(*node)?;
                node.ports = ports;
                let group = node.group;
                self.refresh(group)
            }
            Command::MulticastNodeDestroy { node } => {
                let group = self.node(*node)?.group;
                self.session.multicast_nodes[*node as usize] = None;
                self.refresh(group)
            }
            Command::MulticastNodeAssociate { group, node } => {
                let group = self.small(*group, "multicast group")?;
                if !self.session.multicast_groups.contains(&group) {
                    let message = format!("no multicast group {group}");
                    return Err(self
                        .error(UNKNOWN_HANDLE, message)
                        .help(format!("make it first: mc_mgrp_create {group}")));
                }
                self.node(*node)?.group = Some(group);
                self.refresh(Some(group))
            }
            Command::MulticastNodeDissociate { group, node } => {
                let group = self.small(*group, "multicast group")?;
                let node = self.node(*node)?;
                if node.group == Some(group) {
                    node.group = None;
                }
                self.refresh(Some(group))
            }
            _ => Ok(Answer::Done),
        }
    }

    fn ports(&self, ports: &[u64]) -> Result<Vec<u32>, ControlError> {
        ports.iter().map(|port| self.small(*port, "port")).collect()
    }

    fn node(&mut self, handle: u64) -> Result<&mut MulticastNode, ControlError> {
        let error = ControlError::new(
            UNKNOWN_HANDLE,
            self.origin,
            format!("no multicast node with handle {handle}"),
        );
        let at = usize::try_from(handle).unwrap_or(usize::MAX);
        self.session.multicast_nodes.get_mut(at).and_then(Option::as_mut).ok_or(error)
    }

    /// Writes a group's replicas after one of its nodes changed.
    fn refresh(&mut self, group: Option<u32>) -> Result<Answer, ControlError> {
        let Some(group) = group else { return Ok(Answer::Done) };
        let nodes = self.session.multicast_nodes.iter().flatten();
        let replicas = nodes
            .filter(|node| node.group == Some(group))
            .flat_map(|node| {
                let instance = node.rid;
                node.ports.iter().map(move |port| Replica { egress_port: *port, instance })
            })
            .collect();
        let content = MulticastGroup { replicas, metadata: Vec::new() };
        self.update(Update::ModifyMulticastGroup { group, content })
    }

    /// For a direct counter, the entry whose cell has this index.
    fn direct_counter_entry(
        &mut self,
        counter: ir::CounterId,
        index: u64,
    ) -> Result<Option<EntryReference>, ControlError> {
        let program = self.session.program.clone();
        if program.counters[counter.index()].size.is_some() {
            return Ok(None);
        }
        let table = program.tables.iter().position(|t| t.direct_counters.contains(&counter));
        let Some(table) = table else { return Ok(None) };
        let EntryName { keys, priority } = self.entry(TableId(table as u32), index)?;
        Ok(Some(EntryReference::Entry { keys, priority }))
    }

    fn read_counter(&mut self, name: &str, index: u64) -> Result<CounterValue, ControlError> {
        let program = self.session.program.clone();
        let counter = lookup::counter(&program, name, self.origin)?;
        let read = match self.direct_counter_entry(counter, index)? {
            Some(entry) => Read::DirectCounter { counter, entry: Some(entry) },
            None => Read::Counter { counter, index: Some(index) },
        };
        Ok(match self.item(BatchItem::Read(read))? {
            Reply::Counters(values) => values.first().copied().unwrap_or_default(),
            Reply::DirectCounters(values) => {
                values.first().map(|(_, value)| *value).unwrap_or_default()
            }
            _ => CounterValue::default(),
        })
    }

    fn meter_set_rates(
        &mut self,
        name: &str,
        index: Option<u64>,
        rates: &[MeterRate],
    ) -> Result<Answer, ControlError> {
        let program = self.session.program.clone();
        let meter = lookup::meter(&program, name, self.origin)?;
        let (committed, peak) = match rates {
            [committed, peak] => (committed, peak),
            _ => {
                let message =
                    format!("meter `{name}`: give two rates, committed and peak, as RATE:BURST");
                return Err(self.error(WRONG_COUNT, message));
            }
        };
        let rate = |rate: &MeterRate| TokenRate::per_microsecond(rate.per_microsecond, rate.burst);
        let configuration =
            Some(MeterConfiguration { committed: rate(committed), peak: rate(peak) });
        if program.meters[meter.index()].size.is_some() {
            return self.update(Update::WriteMeter { meter, index, configuration });
        }
        let table = program.tables.iter().position(|table| table.direct_meters.contains(&meter));
        let Some(table) = table.map(|at| TableId(at as u32)) else {
            return Err(self.error(UNKNOWN_NAME, format!("no table uses meter `{name}`")));
        };
        let handles: Vec<u64> = match index {
            Some(index) => vec![index],
            None => (0..self.session.entries.get(&table).map_or(0, Vec::len) as u64).collect(),
        };
        for handle in handles {
            let Ok(EntryName { keys, priority }) = self.entry(table, handle) else {
                if index.is_some() {
                    self.entry(table, handle)?;
                }
                continue;
            };
            let entry = EntryReference::Entry { keys, priority };
            self.update(Update::WriteDirectMeter { meter, entry, configuration })?;
        }
        Ok(Answer::Done)
    }

    fn value_set_member(
        &self,
        set: ir::ValueSetId,
        value: &[MatchText],
    ) -> Result<Vec<KeyPattern>, ControlError> {
        let declared = &self.session.program.value_sets[set.index()];
        if value.len() != declared.components.len() {
            let message = format!(
                "value set `{}` has {}, the member gives {}",
                declared.name,
                count(declared.components.len(), "component"),
                value.len()
            );
            return Err(self.error(WRONG_COUNT, message));
        }
        let one = |(text, key): (&MatchText, &ir::Key)| {
            patterns::pattern(text, key).map_err(|(code, why)| {
                self.error(code, format!("value set `{}`: {why}", declared.name))
            })
        };
        value.iter().zip(&declared.components).map(one).collect()
    }
}

fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

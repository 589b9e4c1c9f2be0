// SPDX-License-Identifier: Apache-2.0
//! A control session: commands by name, applied one after the other to a store. It keeps the handles
//! and labels that commands speak of (entries, members, groups, multicast nodes), which the store does
//! not know.

mod counting;
mod entries;
mod multicast;

use crate::command::{Command, GeneratorTimer, Located, MatchText, Origin, Target};
use crate::error::{BAD_VALUE, ControlError, REFUSED, SYNTAX, UNKNOWN_HANDLE, WRONG_COUNT};
use crate::{lookup, patterns, values};
use entries::count;
use ir::{ActionProfileId, Bits, CrcParameters, KeyPattern, Program, TableId};
use state::{
    Batch, BatchItem, CellRange, Cells, CloneSession, CounterValue, EntryReference, Group, GroupId,
    GroupMember, MemberId, NewEntry, Read, Replica, Reply, Store, Update,
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
    /// Something for what the store does not have: the device's queues and packet generator.
    Device(DeviceCommand),
}

/// A command about queues, or the packet generator.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Sets an application of the packet generator.
    GeneratorTimer(GeneratorTimer),
    /// Stops an application of the packet generator.
    GeneratorStop {
        /// Which.
        application: u64,
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
    /// STF leaves out exact keys that are zero, priorities, and the length of whole prefixes.
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

    /// As STF has it: exact keys that are left out are zero, a priority may be missing, and a value
    /// without a length is a prefix as long as the key.
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
            Some(Err(error)) => Err(self.error(REFUSED, error.to_string())),
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
            Command::NodeExclusion { rid, exclusion } => {
                let instance = self.small(*rid, "replication id")?;
                let exclusion = match exclusion {
                    Some(exclusion) => Some(self.small(*exclusion, "exclusion id")?),
                    None => None,
                };
                self.update(Update::SetNodeExclusion { instance, exclusion })
            }
            Command::PortExclusion { exclusion, ports } => {
                let exclusion = self.small(*exclusion, "exclusion id")?;
                let ports = self.ports(ports)?;
                self.update(Update::SetPortExclusion { exclusion, ports })
            }
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
                let exists = match self
                    .item(BatchItem::Read(Read::CloneSessions { session: None }))?
                {
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
                self.update(Update::WriteRegister {
                    register,
                    cells: (*index).into(),
                    values: value.into(),
                })
            }
            Command::RegisterReset { register } => {
                let register = lookup::register(&program, register, origin)?;
                let value = program.registers[register.index()].initial.clone();
                let cells = CellRange::all();
                self.update(Update::WriteRegister { register, cells, values: value.into() })
            }
            Command::RegisterRead { register, index } => {
                let register = lookup::register(&program, register, origin)?;
                let read = Read::Register { register, cells: (*index).into() };
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
                    None => {
                        let cells = CellRange::one(*index);
                        Update::WriteCounter { counter, cells, values: value.into() }
                    }
                };
                self.update(update)
            }
            Command::CounterReset { counter } => {
                let counter = lookup::counter(&program, counter, origin)?;
                let value = CounterValue::default();
                if program.counters[counter.index()].size.is_some() {
                    let (cells, values) = (CellRange::all(), value.into());
                    return self.update(Update::WriteCounter { counter, cells, values });
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
                name,
                polynomial,
                initial,
                final_xor,
                reflect_input,
                reflect_output,
            } => {
                let calculation = lookup::calculation(&program, name, *width_bits, origin)?;
                let parameters = CrcParameters {
                    polynomial: self.small(*polynomial, "the polynomial")?,
                    initial: self.small(*initial, "the initial remainder")?,
                    final_xor: self.small(*final_xor, "the final value")?,
                    reflect_input: *reflect_input,
                    reflect_output: *reflect_output,
                };
                self.update(Update::SetCrcParameters { calculation, parameters: Some(parameters) })
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
            Command::GeneratorTimer(timer) => {
                Ok(Answer::Device(DeviceCommand::GeneratorTimer(timer.clone())))
            }
            Command::GeneratorStop { application } => {
                let application = *application;
                Ok(Answer::Device(DeviceCommand::GeneratorStop { application }))
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

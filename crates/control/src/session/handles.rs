// SPDX-License-Identifier: Apache-2.0
//! Commands with handles of entries, members and groups. Multicast nodes are in `multicast`, counters and meters of entries
//! in `counting`.

use super::{Answer, Applying};
use crate::command::Command;
use crate::entry_handles::{EntryHandles, EntryKey};
use crate::error::{ControlError, UNKNOWN_HANDLE};
use crate::lookup;
use ir::{KeyPattern, TableId};
use state::{
    CellRange, CloneSession, CounterValue, EntryReference, Group, GroupId, GroupMember, MemberId,
    NewEntry, Read, Reply, Update,
};

impl Applying<'_> {
    pub(super) fn command(mut self, command: &Command) -> Result<Answer, ControlError> {
        let program = self.program.clone();
        let origin = self.origin;
        match command {
            Command::TableModify { table, target, handle } => {
                let table = lookup::table(&program, table, origin)?;
                let (keys, priority) = self.entry(table, *handle)?;
                let (action, _) = self.resolver().action_data(table, target, false)?;
                self.modify(table, keys, priority, |entry| entry.action = action)
            }
            Command::TableSetTimeout { table, handle, timeout_ms } => {
                let table = lookup::table(&program, table, origin)?;
                let (keys, priority) = self.entry(table, *handle)?;
                let timeout_ns = timeout_ms.saturating_mul(1_000_000);
                self.modify(table, keys, priority, |entry| entry.idle_timeout_ns = timeout_ns)
            }
            Command::TableDelete { table, handle } => {
                let table = lookup::table(&program, table, origin)?;
                let (keys, priority) = self.entry(table, *handle)?;
                self.update(Update::DeleteEntry { table, keys, priority })?;
                self.session.entries.entry(table).or_default().remove(*handle);
                Ok(Answer::Done)
            }
            Command::TableClear { table } => {
                let table = lookup::table(&program, table, origin)?;
                self.update(Update::ClearEntries { table })?;
                self.session.entries.insert(table, EntryHandles::default());
                Ok(Answer::Done)
            }
            Command::MemberCreate { profile, action, arguments } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let action = self.resolver().profile_action(profile, action, arguments)?;
                let number = self.session.members.get(&profile).copied().unwrap_or(0);
                let member = MemberId(number);
                self.update(Update::InsertMember { profile, member, action })?;
                self.session.members.insert(profile, number + 1);
                Ok(Answer::Handle(u64::from(number)))
            }
            Command::MemberModify { profile, member, action, arguments } => {
                let profile = lookup::profile(&program, profile, origin)?;
                let action = self.resolver().profile_action(profile, action, arguments)?;
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
            Command::CloneSession { session, replicas, group, truncate_bytes, class } => {
                let session = self.small(*session, "session")?;
                let multicast_group = match group {
                    Some(group) => Some(self.small(*group, "multicast group")?),
                    None => None,
                };
                let content = CloneSession {
                    replicas: self.resolver().replicas(replicas)?,
                    multicast_group,
                    class_of_service: *class,
                    packet_length_bytes: Some(*truncate_bytes).filter(|length| *length > 0),
                };
                let exists = match self.item(Read::CloneSessions { session: None })? {
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
                let read = Read::DirectCounter { counter, entry: None };
                if let Reply::DirectCounters(list) = self.item(read)? {
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
            // `plain` resolves the others.
            _ => Ok(Answer::Done),
        }
    }

    /// Writes an entry again with a change.
    fn modify(
        &mut self,
        table: TableId,
        keys: Vec<KeyPattern>,
        priority: i64,
        change: impl FnOnce(&mut NewEntry),
    ) -> Result<Answer, ControlError> {
        let read = Read::Entry { table, keys, priority };
        let found = match self.item(read)? {
            Reply::Entries(entries) => entries.into_iter().next(),
            _ => None,
        };
        let Some(record) = found else {
            let message = "the entry is not in the table any more";
            return Err(self.error(UNKNOWN_HANDLE, message));
        };
        let mut entry = record.to_new_entry();
        change(&mut entry);
        self.update(Update::ModifyEntry { table, entry })
    }

    fn change_group(
        &mut self,
        profile: &str,
        group: u64,
        change: impl FnOnce(&mut Group),
    ) -> Result<Answer, ControlError> {
        let program = self.program.clone();
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

    pub(super) fn entry(&mut self, table: TableId, handle: u64) -> Result<EntryKey, ControlError> {
        match self.session.entries.get(&table).and_then(|entries| entries.get(handle)) {
            Some(key) => Ok(key.clone()),
            None => {
                let name = self.session.program.tables[table.index()].name.clone();
                let message = format!("table `{name}` has no entry with handle {handle}");
                Err(self.error(UNKNOWN_HANDLE, message))
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `Change`: an effect of an update with the old and the new content. `draft` undoes failed batches with it;
//! `forwarding::parts` replays it on the forwarding side.

use crate::{
    ActionData, BoundAction, CloneSession, Configuration, DefaultAction, EntryRecord, Exclusions,
    Group, GroupId, MemberId, MulticastGroup, ValueSetState,
};
use arithmetic::crc::Crc;
use ir::{ActionProfileId, CalculationId, TableId, ValueSetId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One change; `None` is what does not exist.
#[derive(Debug)]
pub(crate) enum Change {
    /// An entry came, went, or has another action; place and generation are those of the records.
    Entry {
        table: TableId,
        before: Option<Arc<EntryRecord>>,
        after: Option<Arc<EntryRecord>>,
    },
    /// All entries went, in this order.
    Cleared {
        table: TableId,
        entries: Vec<Arc<EntryRecord>>,
    },
    Default {
        table: TableId,
        before: DefaultAction,
        after: DefaultAction,
    },
    Member {
        profile: ActionProfileId,
        member: MemberId,
        before: Option<Arc<BoundAction>>,
        after: Option<Arc<BoundAction>>,
    },
    Group {
        profile: ActionProfileId,
        group: GroupId,
        before: Option<Arc<Group>>,
        after: Option<Arc<Group>>,
    },
    ValueSet {
        set: ValueSetId,
        before: Arc<ValueSetState>,
        after: Arc<ValueSetState>,
    },
    MulticastGroup {
        group: u32,
        before: Option<Arc<MulticastGroup>>,
        after: Option<Arc<MulticastGroup>>,
    },
    CloneSession {
        session: u32,
        before: Option<Arc<CloneSession>>,
        after: Option<Arc<CloneSession>>,
    },
    Exclusions {
        before: Arc<Exclusions>,
        after: Arc<Exclusions>,
    },
    Crc {
        calculation: CalculationId,
        before: Crc,
        after: Crc,
    },
}

pub(crate) fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}

impl Configuration {
    /// Counts an entry's use of its member or group up or down.
    pub(crate) fn count_use(&mut self, table: TableId, data: &ActionData, is_added: bool) {
        let implementation =
            self.program.tables.get(table.index()).and_then(|table| table.implementation);
        let Some(profile) =
            implementation.and_then(|profile| self.profiles.get_mut(profile.index()))
        else {
            return;
        };
        let uses = match data {
            ActionData::Member(member) => {
                Arc::make_mut(profile).member_uses.entry(*member).or_default()
            }
            ActionData::Group(group) => {
                Arc::make_mut(profile).group_uses.entry(*group).or_default()
            }
            ActionData::Direct(_) | ActionData::OneShot(_) => return,
        };
        *uses = if is_added { *uses + 1 } else { uses.saturating_sub(1) };
    }

    /// Undoes the latest change. Changes are undone in reverse order.
    pub(crate) fn undo(&mut self, change: Change) {
        match change {
            Change::Entry { table, before, after } => {
                if let Some(after) = &after {
                    self.count_use(table, &after.action, false);
                }
                if let Some(before) = &before {
                    self.count_use(table, &before.action, true);
                }
                let Some(state) = self.tables.get_mut(table.index()) else { return };
                let state = Arc::make_mut(state);
                match (before, after) {
                    (Some(before), Some(_)) => state.replace(before),
                    (Some(before), None) => state.put_back(before),
                    (None, Some(after)) => {
                        state.remove(after.handle);
                    }
                    (None, None) => {}
                }
            }
            Change::Cleared { table, entries } => {
                for entry in entries.into_iter().rev() {
                    self.undo(Change::Entry { table, before: Some(entry), after: None });
                }
            }
            Change::Default { table, before, .. } => {
                if let Some(state) = self.tables.get_mut(table.index()) {
                    Arc::make_mut(state).set_default(before);
                }
            }
            Change::Member { profile, member, before, .. } => {
                if let Some(state) = self.profiles.get_mut(profile.index()) {
                    put(&mut Arc::make_mut(state).members, member, before);
                }
            }
            Change::Group { profile, group, before, .. } => {
                if let Some(state) = self.profiles.get_mut(profile.index()) {
                    Arc::make_mut(state).set_group(group, before);
                }
            }
            Change::ValueSet { set, before, .. } => {
                if let Some(state) = self.value_sets.get_mut(set.index()) {
                    *state = before;
                }
            }
            Change::MulticastGroup { group, before, .. } => {
                put(&mut Arc::make_mut(&mut self.replication).multicast_groups, group, before);
            }
            Change::CloneSession { session, before, .. } => {
                put(&mut Arc::make_mut(&mut self.replication).clone_sessions, session, before);
            }
            Change::Exclusions { before, .. } => {
                Arc::make_mut(&mut self.replication).exclusions = before;
            }
            Change::Crc { calculation, before, .. } => {
                Arc::make_mut(&mut self.replication).set_crc(calculation, before);
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! One version of the forwarding side: all tables, with what lookups lead on to. Publishing versions is
//! `publication`'s matter.

use super::choice::PreparedProfile;
use super::record::Target;
use super::table::ForwardingTable;
use crate::cells::Identity;
use crate::{BoundAction, Configuration, Group, GroupId, MemberId, Replication, ValueSetState};
use ir::{ActionProfileId, TableId, ValueSetId};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts itself among the copies in memory.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(copies: &Arc<AtomicUsize>) -> Counted {
        copies.fetch_add(1, Ordering::Relaxed);
        Counted(copies.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One version of everything that packets read as configuration, laid out for compiled code. It does
/// not change while somebody holds it.
#[derive(Clone, Debug)]
pub struct ForwardingState {
    identity: Identity,
    version: u64,
    tables: Vec<ForwardingTable>,
    profiles: Vec<PreparedProfile>,
    value_sets: Vec<Arc<ValueSetState>>,
    replication: Arc<Replication>,
    _counted: Counted,
}

impl ForwardingState {
    /// The forwarding side of this version of the master. `copies` counts it as long as it lives.
    pub(crate) fn build(
        configuration: &Configuration,
        copies: &Arc<AtomicUsize>,
    ) -> ForwardingState {
        let program = &configuration.program;
        let profiles: Vec<_> =
            configuration.profiles.iter().map(|state| PreparedProfile::new(state)).collect();
        let tables = configuration
            .tables
            .iter()
            .enumerate()
            .map(|(at, state)| {
                let profile = program.tables[at].implementation;
                let profile = profile.and_then(|profile| profiles.get(profile.index()));
                ForwardingTable::new(program, TableId(at as u32), state, profile)
            })
            .collect();
        ForwardingState {
            identity: Identity::fresh(),
            version: configuration.version,
            tables,
            profiles,
            value_sets: configuration.value_sets.clone(),
            replication: configuration.replication.clone(),
            _counted: Counted::new(copies),
        }
    }

    /// [`Configuration::version`] of the version that this is made from.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A number of this content in this memory: as long as it is the same, whatever addresses the tables
    /// gave hold. No two states ever have the same.
    pub fn identity(&self) -> u64 {
        self.identity.number()
    }

    /// The tables, in the order of the program's.
    pub fn tables(&self) -> &[ForwardingTable] {
        &self.tables
    }

    /// Whether [`ForwardingState::resolve`] needs a hash for this record of the table: it names a group
    /// or a one-shot set.
    pub fn needs_hash(&self, table: TableId, record: usize) -> bool {
        let target = self.tables.get(table.index()).and_then(|table| table.target_of(record));
        matches!(target, Some(Target::Group(_) | Target::OneShot(_)))
    }

    /// The address of the record of the action that an entry runs. `record` is the address that a
    /// lookup in this version's `table`, one with an action profile, gave. A record that is not indirect is handed back. In the record
    /// of a member, group or one-shot set, the first word tells only the action
    /// ([`super::NO_ACTION`] when the table does not list it), and there is no generation: both stay
    /// with the entry's own record. 0 when there is nothing to run: an empty group, no such member.
    pub fn resolve(&self, table: TableId, record: usize, hash: u64) -> usize {
        let Some(table) = self.tables.get(table.index()) else { return 0 };
        let profile = table.profile().and_then(|profile| self.profiles.get(profile.index()));
        table.resolve(record, hash, profile)
    }

    /// A value set.
    ///
    /// # Panics
    ///
    /// When the program has no such value set.
    pub fn value_set(&self, set: ValueSetId) -> &ValueSetState {
        &self.value_sets[set.index()]
    }

    /// Multicast groups, clone sessions and CRC parameters.
    pub fn replication(&self) -> &Arc<Replication> {
        &self.replication
    }

    /// Memory that the version takes, as far as it grows with tables' entries.
    pub fn memory_bytes(&self) -> usize {
        self.tables.iter().map(ForwardingTable::memory_bytes).sum()
    }

    pub(super) fn advise(&mut self, advisor: fn(usize, usize)) {
        self.tables.iter_mut().for_each(|table| table.advise(advisor));
    }

    pub(super) fn set_version(&mut self, version: u64) {
        self.version = version;
        self.identity = Identity::fresh();
    }

    pub(crate) fn table_and_profile(
        &mut self,
        table: TableId,
    ) -> Option<(&mut ForwardingTable, Option<&PreparedProfile>)> {
        let table = self.tables.get_mut(table.index())?;
        let profile = table.profile().and_then(|profile| self.profiles.get(profile.index()));
        Some((table, profile))
    }

    pub(crate) fn set_member(
        &mut self,
        profile: ActionProfileId,
        member: MemberId,
        action: Option<Arc<BoundAction>>,
    ) {
        let Some(prepared) = self.profiles.get_mut(profile.index()) else { return };
        let Some(slot) = prepared.set_member(member, action.clone()) else { return };
        for table in self.tables.iter_mut().filter(|table| table.profile() == Some(profile)) {
            table.set_member(slot, action.as_deref());
        }
    }

    pub(crate) fn set_group(
        &mut self,
        profile: ActionProfileId,
        group: GroupId,
        content: Option<&Group>,
    ) {
        if let Some(prepared) = self.profiles.get_mut(profile.index()) {
            prepared.set_group(group, content);
        }
    }

    pub(crate) fn set_value_set(&mut self, set: ValueSetId, content: Arc<ValueSetState>) {
        if let Some(state) = self.value_sets.get_mut(set.index()) {
            *state = content;
        }
    }

    pub(crate) fn replication_mut(&mut self) -> &mut Replication {
        Arc::make_mut(&mut self.replication)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `ForwardingState`: one version of the forwarding side. It does not change while it is shared; `parts` makes the
//! next version, `publication` publishes it.

use super::choice::PreparedProfile;
use super::copies::Part;
use super::record::Target;
use super::table::ForwardingTable;
use crate::cells::Identity;
use crate::versions::VersionToken;
use crate::{Replication, ValueSetState};
use ir::{TableId, ValueSetId};
use std::sync::Arc;

/// One version of everything that packets read as configuration, laid out for compiled code. It does not change while
/// it is shared.
#[derive(Clone, Debug)]
pub struct ForwardingState {
    pub(super) identity: Identity,
    pub(super) token: VersionToken,
    pub(super) tables: Vec<Arc<Part<ForwardingTable>>>,
    pub(super) profiles: Vec<Arc<Part<PreparedProfile>>>,
    pub(super) value_sets: Vec<Arc<ValueSetState>>,
    pub(super) replication: Arc<Part<Replication>>,
}

impl ForwardingState {
    /// [`crate::Configuration::version`] of the version that this is made from.
    pub fn version(&self) -> u64 {
        self.token.version()
    }

    /// Returns a number that identifies this content at these addresses: while it is the same, addresses from the
    /// tables are valid. The number is unique.
    pub fn identity(&self) -> u64 {
        self.identity.number()
    }

    /// The tables, in the order of the program's. A table that does not change is shared by versions, and
    /// keeps its address.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &ForwardingTable> {
        self.tables.iter().map(|table| &***table)
    }

    /// A table.
    pub fn table(&self, table: TableId) -> Option<&ForwardingTable> {
        self.tables.get(table.index()).map(|table| &***table)
    }

    /// Whether [`ForwardingState::resolve`] needs a hash for this record of the table: it names a group
    /// or a one-shot set.
    pub fn needs_hash(&self, table: TableId, record: usize) -> bool {
        let target = self.table(table).and_then(|table| table.target_of(record));
        matches!(target, Some(Target::Group(_) | Target::OneShot(_)))
    }

    /// Returns the address of the record of an entry's action. `record` is the result of a lookup in this version's
    /// `table`, which has an action profile. A direct record is returned unchanged. In the record of a member, group or
    /// one-shot set, the first word is only the action ([`super::NO_ACTION`] if the table does not list it), and there is
    /// no generation; both stay in the record of the entry. Returns 0 for an empty group and a missing member.
    pub fn resolve(&self, table: TableId, record: usize, hash: u64) -> usize {
        let Some(table) = self.table(table) else { return 0 };
        let profile = table.profile().and_then(|profile| self.profiles.get(profile.index()));
        table.resolve(record, hash, profile.map(|profile| &***profile))
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
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// Memory that the version takes, as far as it grows with tables' entries.
    pub fn memory_bytes(&self) -> usize {
        self.tables().map(ForwardingTable::memory_bytes).sum()
    }

    /// Makes this object another version.
    pub(super) fn set_version(&mut self, version: u64) {
        self.token.set_version(version);
        self.identity = Identity::fresh();
    }
}

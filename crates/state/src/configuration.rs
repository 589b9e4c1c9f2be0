// SPDX-License-Identifier: Apache-2.0
//! `Configuration`: one immutable version of everything that packets read as configuration. `store` makes new
//! versions.

use crate::action::choose_by_weight;
use crate::versions::VersionToken;
use crate::{
    ActionData, ActionProfileState, BoundAction, CloneSession, MulticastGroup, Replication,
    TableState, ValueSetState,
};
use arithmetic::crc::Crc;
use ir::{ActionProfileId, CalculationId, Program, TableId, ValueSetId};
use std::sync::Arc;

/// One immutable version of everything that packets read as configuration. Cloning shares the parts.
#[derive(Clone, Debug)]
pub struct Configuration {
    pub(crate) program: Arc<Program>,
    pub(crate) token: VersionToken,
    pub(crate) next_generation: u64,
    pub(crate) tables: Vec<Arc<TableState>>,
    pub(crate) profiles: Vec<Arc<ActionProfileState>>,
    pub(crate) value_sets: Vec<Arc<ValueSetState>>,
    pub(crate) replication: Arc<Replication>,
}

impl Configuration {
    /// The program that this configures.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Counts the batches that changed it.
    pub fn version(&self) -> u64 {
        self.token.version()
    }

    /// Makes it the next version.
    pub(crate) fn advance(&mut self) {
        self.token.set_version(self.version() + 1);
    }

    /// A table.
    pub fn table(&self, table: TableId) -> Option<&TableState> {
        self.tables.get(table.index()).map(|table| &**table)
    }

    /// An action profile or selector.
    pub fn action_profile(&self, profile: ActionProfileId) -> Option<&ActionProfileState> {
        self.profiles.get(profile.index()).map(|profile| &**profile)
    }

    /// A value set.
    pub fn value_set(&self, set: ValueSetId) -> Option<&ValueSetState> {
        self.value_sets.get(set.index()).map(|set| &**set)
    }

    /// Multicast groups, clone sessions and CRC parameters.
    pub fn replication(&self) -> &Arc<Replication> {
        &self.replication
    }

    /// A multicast group.
    pub fn multicast_group(&self, group: u32) -> Option<&MulticastGroup> {
        self.replication.multicast_group(group)
    }

    /// Multicast groups by number.
    pub fn multicast_groups(&self) -> impl Iterator<Item = (u32, &MulticastGroup)> {
        self.replication.multicast_groups()
    }

    /// A clone session.
    pub fn clone_session(&self, session: u32) -> Option<&CloneSession> {
        self.replication.clone_session(session)
    }

    /// Clone sessions by number.
    pub fn clone_sessions(&self) -> impl Iterator<Item = (u32, &CloneSession)> {
        self.replication.clone_sessions()
    }

    /// A calculation's CRC as it is now; `None` when the program has no such calculation.
    pub fn crc(&self, calculation: CalculationId) -> Option<&Crc> {
        self.replication.crc(calculation)
    }

    /// Returns the action that an entry of `table` runs. Calls `hash` only to choose among members. `None` for an
    /// empty group.
    pub fn select_action<'a>(
        &'a self,
        table: TableId,
        data: &'a ActionData,
        hash: impl FnOnce() -> u64,
    ) -> Option<&'a BoundAction> {
        let profile = || {
            let implementation = self.program.tables.get(table.index())?.implementation?;
            self.action_profile(implementation)
        };
        match data {
            ActionData::Direct(action) => Some(action),
            ActionData::Member(member) => profile()?.member(*member),
            ActionData::Group(group) => Some(profile()?.choose(*group, hash())?.1),
            ActionData::OneShot(actions) => {
                let at = choose_by_weight(actions.iter().map(|action| action.weight), hash())?;
                actions.get(at).map(|action| &action.action)
            }
        }
    }
}

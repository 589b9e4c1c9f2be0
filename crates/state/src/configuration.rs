// SPDX-License-Identifier: Apache-2.0
//! One immutable version of everything that packets read as configuration. Making new versions is the
//! store's work.

use crate::action::choose_by_weight;
use crate::{
    ActionData, ActionProfileState, BoundAction, CloneSession, MulticastGroup, Replication,
    TableState, ValueSetState,
};
use ir::{ActionProfileId, Program, TableId, ValueSetId};
use std::sync::Arc;

/// Which of the CRCs whose parameters the control plane sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CustomCrc {
    /// [`ir::HashAlgorithm::Crc16Custom`]
    Crc16,
    /// [`ir::HashAlgorithm::Crc32Custom`]
    Crc32,
}

impl CustomCrc {
    /// Width of the CRC in bits.
    pub fn width_bits(self) -> u32 {
        match self {
            CustomCrc::Crc16 => 16,
            CustomCrc::Crc32 => 32,
        }
    }
}

/// What defines a CRC of a given width. The numbers stand in the notation with the most significant
/// bit first, as in the published catalogues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrcParameters {
    /// Polynomial without its leading one.
    pub polynomial: u32,
    /// First value of the remainder.
    pub initial: u32,
    /// What the remainder is exclusive-ored with at the end.
    pub final_xor: u32,
    /// Whether each byte is taken with its least significant bit first.
    pub reflect_input: bool,
    /// Whether the remainder is reversed at the end.
    pub reflect_output: bool,
}

impl CrcParameters {
    /// CRC-16/ARC, which a custom CRC-16 is until it is changed.
    pub const CRC16: CrcParameters = CrcParameters {
        polynomial: 0x8005,
        initial: 0,
        final_xor: 0,
        reflect_input: true,
        reflect_output: true,
    };

    /// CRC-32/ISO-HDLC, which a custom CRC-32 is until it is changed.
    pub const CRC32: CrcParameters = CrcParameters {
        polynomial: 0x04c1_1db7,
        initial: 0xffff_ffff,
        final_xor: 0xffff_ffff,
        reflect_input: true,
        reflect_output: true,
    };
}

/// One immutable version of everything that packets read as configuration. Cloning shares the parts.
#[derive(Clone, Debug)]
pub struct Configuration {
    pub(crate) program: Arc<Program>,
    pub(crate) version: u64,
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

    /// Counts the batches that changed something.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Entries of all tables.
    pub(crate) fn entry_count(&self) -> usize {
        self.tables.iter().map(|table| table.len()).sum()
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

    /// The parameters of a custom CRC.
    pub fn crc_parameters(&self, crc: CustomCrc) -> CrcParameters {
        self.replication.crc_parameters(crc)
    }

    /// The action that an entry of `table` runs. `hash` is asked only where a choice is to be made.
    /// `None` when the choice is from nothing: an empty group.
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

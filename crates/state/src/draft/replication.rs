// SPDX-License-Identifier: Apache-2.0
//! Updates of multicast groups, clone sessions, exclusions and CRC parameters.

use super::{Draft, Outcome};
use crate::change::Change;
use crate::validation::check_replicas;
use crate::{CloneSession, Exclusions, MulticastGroup, Replication, Reply, UpdateError};
use arithmetic::crc::Crc;
use ir::{CalculationId, CrcParameters};
use std::sync::Arc;

impl Draft<'_> {
    fn replication(&mut self) -> &mut Replication {
        Arc::make_mut(&mut self.configuration.replication)
    }

    pub(super) fn set_multicast_group(
        &mut self,
        group: u32,
        content: MulticastGroup,
        is_new: bool,
    ) -> Outcome {
        check_replicas(&content.replicas)?;
        match (self.configuration.multicast_group(group), is_new) {
            (Some(_), true) => return Err(UpdateError::MulticastGroupExists { group }),
            (None, false) => return Err(UpdateError::NoSuchMulticastGroup { group }),
            _ => {}
        }
        let after = Arc::new(content);
        let before = self.replication().multicast_groups.insert(group, after.clone());
        self.log(Change::MulticastGroup { group, before, after: Some(after) });
        Ok(Reply::Done)
    }

    pub(super) fn delete_multicast_group(&mut self, group: u32) -> Outcome {
        if self.configuration.multicast_group(group).is_none() {
            return Err(UpdateError::NoSuchMulticastGroup { group });
        }
        let before = self.replication().multicast_groups.remove(&group);
        self.log(Change::MulticastGroup { group, before, after: None });
        Ok(Reply::Done)
    }

    pub(super) fn set_clone_session(
        &mut self,
        session: u32,
        content: CloneSession,
        is_new: bool,
    ) -> Outcome {
        check_replicas(&content.replicas)?;
        match (self.configuration.clone_session(session), is_new) {
            (Some(_), true) => return Err(UpdateError::CloneSessionExists { session }),
            (None, false) => return Err(UpdateError::NoSuchCloneSession { session }),
            _ => {}
        }
        let after = Arc::new(content);
        let before = self.replication().clone_sessions.insert(session, after.clone());
        self.log(Change::CloneSession { session, before, after: Some(after) });
        Ok(Reply::Done)
    }

    pub(super) fn delete_clone_session(&mut self, session: u32) -> Outcome {
        if self.configuration.clone_session(session).is_none() {
            return Err(UpdateError::NoSuchCloneSession { session });
        }
        let before = self.replication().clone_sessions.remove(&session);
        self.log(Change::CloneSession { session, before, after: None });
        Ok(Reply::Done)
    }

    pub(super) fn set_node_exclusion(&mut self, instance: u32, exclusion: Option<u32>) -> Reply {
        self.change_exclusions(|exclusions| match exclusion {
            Some(exclusion) => {
                exclusions.nodes.insert(instance, exclusion);
            }
            None => {
                exclusions.nodes.remove(&instance);
            }
        })
    }

    pub(super) fn set_port_exclusion(&mut self, exclusion: u32, ports: Vec<u32>) -> Reply {
        self.change_exclusions(|exclusions| {
            if ports.is_empty() {
                exclusions.ports.remove(&exclusion);
            } else {
                exclusions.ports.insert(exclusion, ports);
            }
        })
    }

    fn change_exclusions(&mut self, change: impl FnOnce(&mut Exclusions)) -> Reply {
        let before = self.configuration.replication.exclusions.clone();
        let mut after = (*before).clone();
        change(&mut after);
        let after = Arc::new(after);
        self.replication().exclusions = after.clone();
        self.log(Change::Exclusions { before, after });
        Reply::Done
    }

    pub(super) fn set_crc(
        &mut self,
        calculation: CalculationId,
        parameters: Option<CrcParameters>,
    ) -> Outcome {
        let declared = self.configuration.program.calculations.get(calculation.index());
        let Some(declared) = declared.cloned() else {
            return Err(UpdateError::NoSuchCalculation { number: calculation.0 });
        };
        let width_bits = declared.parameters.width_bits;
        let fit = |given: CrcParameters| given.width_bits == width_bits && given.is_valid();
        if parameters.is_some_and(|given| !fit(given)) {
            return Err(UpdateError::CrcParametersTooWide { width_bits });
        }
        let after = Crc::new(parameters.unwrap_or(declared.parameters));
        let before = self.configuration.crc(calculation).cloned();
        let before = before.unwrap_or_else(|| after.clone());
        self.replication().set_crc(calculation, after.clone());
        self.log(Change::Crc { calculation, before, after });
        Ok(Reply::Done)
    }
}

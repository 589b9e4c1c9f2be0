// SPDX-License-Identifier: Apache-2.0
//! `Parts`: the parts of the forwarding side with their spare copies, and the replay of the master's changes on them.
//! `publication` publishes versions.

use super::choice::{PreparedProfile, ProfileChange};
use super::copies::{Copies, Replay};
use super::state::ForwardingState;
use super::table::{ForwardingTable, TableChange, slot_of};
use crate::cells::Identity;
use crate::change::{Change, put};
use crate::versions::{Ledger, VersionToken};
use crate::{BoundAction, Configuration, MemberId, Replication};
use ir::{ActionProfileId, TableId};
use smallvec::SmallVec;
use std::sync::Arc;

impl Replay for Replication {
    type Change = Change;

    fn replay(&mut self, change: &Change) {
        match change {
            Change::MulticastGroup { group, after, .. } => {
                put(&mut self.multicast_groups, *group, after.clone());
            }
            Change::CloneSession { session, after, .. } => {
                put(&mut self.clone_sessions, *session, after.clone());
            }
            Change::Exclusions { after, .. } => self.exclusions = after.clone(),
            Change::Crc { calculation, after, .. } => self.set_crc(*calculation, after.clone()),
            // Other changes concern other parts.
            _ => {}
        }
    }

    fn size(&self) -> usize {
        self.multicast_groups.len() + self.clone_sessions.len()
    }
}

/// Parts by their places in a version.
type Touched = SmallVec<[usize; 8]>;

/// The effects of one batch on the parts.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    tables: Touched,
    profiles: Touched,
    replication: bool,
    /// Tables that were copied as a whole.
    pub(super) copied_tables: usize,
}

fn note(touched: &mut Touched, at: usize) {
    if touched.last() != Some(&at) && !touched.contains(&at) {
        touched.push(at);
    }
}

/// Spare copies of all parts.
#[derive(Debug)]
pub(super) struct Parts {
    tables: Vec<Copies<ForwardingTable>>,
    profiles: Vec<Copies<PreparedProfile>>,
    replication: Copies<Replication>,
}

impl Parts {
    /// The forwarding side of this version of the master, without spares.
    pub(super) fn build(
        configuration: &Configuration,
        ledger: &Arc<Ledger>,
        advisor: Option<fn(usize, usize)>,
    ) -> (Parts, ForwardingState) {
        let program = &configuration.program;
        let profiles = configuration.profiles.iter();
        let (profile_copies, profiles): (_, Vec<_>) =
            profiles.map(|state| Copies::of(PreparedProfile::new(state))).unzip();
        let tables = configuration.tables.iter().enumerate().map(|(at, state)| {
            let profile = program.tables[at].implementation;
            let profile = profile.and_then(|profile| profiles.get(profile.index()));
            let profile = profile.map(|profile| &***profile);
            let mut table = ForwardingTable::new(program, TableId(at as u32), state, profile);
            advisor.into_iter().for_each(|advisor| table.advise(advisor));
            Copies::of(table)
        });
        let (table_copies, tables) = tables.unzip();
        let (replication_copies, replication) =
            Copies::of(Replication::clone(&configuration.replication));
        let state = ForwardingState {
            identity: Identity::fresh(),
            token: VersionToken::new(ledger, configuration.version()),
            tables,
            profiles,
            value_sets: configuration.value_sets.clone(),
            replication,
        };
        let parts = Parts {
            tables: table_copies,
            profiles: profile_copies,
            replication: replication_copies,
        };
        (parts, state)
    }

    /// Returns the largest number of copies of a part, including those that only readers hold.
    pub(super) fn most_copies(&self) -> usize {
        let tables = self.tables.iter().map(Copies::alive);
        let profiles = self.profiles.iter().map(Copies::alive);
        tables.chain(profiles).chain([self.replication.alive()]).max().unwrap_or(0)
    }

    /// Replays changes of the master on a new version. Replaces parts that it shares with other versions before it
    /// changes them.
    pub(super) fn replay(&mut self, state: &mut ForwardingState, changes: Vec<Change>) -> Replayed {
        let mut replayed = Replayed::default();
        for change in changes {
            self.replay_one(state, change, &mut replayed);
        }
        replayed
    }

    fn replay_one(&mut self, state: &mut ForwardingState, change: Change, done: &mut Replayed) {
        match change {
            Change::Entry { table, before, after } => {
                let Some(part) = state.tables.get(table.index()) else { return };
                let profile = part.profile().and_then(|id| state.profiles.get(id.index()));
                let action = after.as_ref().map(|after| &after.action);
                let slot = action.map_or(0, |action| slot_of(profile.map(|part| &***part), action));
                let change = TableChange::Entry { before, after, slot };
                self.change_table(state, table.index(), change, done);
            }
            Change::Cleared { table, .. } => {
                self.change_table(state, table.index(), TableChange::Cleared, done);
            }
            Change::Default { table, after, .. } => {
                self.change_table(state, table.index(), TableChange::Default(after), done);
            }
            Change::Member { profile, member, after, .. } => {
                self.change_member(state, profile, member, after, done);
            }
            Change::Group { profile, group, after, .. } => {
                let change = ProfileChange::Group { group, content: after };
                self.change_profile(state, profile, change, done);
            }
            Change::ValueSet { set, after, .. } => {
                if let Some(state) = state.value_sets.get_mut(set.index()) {
                    *state = after;
                }
            }
            Change::MulticastGroup { .. }
            | Change::CloneSession { .. }
            | Change::Exclusions { .. }
            | Change::Crc { .. } => {
                self.replication.change(&mut state.replication, change);
                done.replication = true;
            }
        }
    }

    fn change_table(
        &mut self,
        state: &mut ForwardingState,
        at: usize,
        change: TableChange,
        done: &mut Replayed,
    ) {
        if let (Some(copies), Some(place)) = (self.tables.get_mut(at), state.tables.get_mut(at)) {
            done.copied_tables += usize::from(copies.change(place, change));
            note(&mut done.tables, at);
        }
    }

    fn change_profile(
        &mut self,
        state: &mut ForwardingState,
        profile: ActionProfileId,
        change: ProfileChange,
        done: &mut Replayed,
    ) {
        let at = profile.index();
        if let (Some(copies), Some(place)) = (self.profiles.get_mut(at), state.profiles.get_mut(at))
        {
            copies.change(place, change);
            note(&mut done.profiles, at);
        }
    }

    /// The tables that use the profile lay their members' actions out.
    fn change_member(
        &mut self,
        state: &mut ForwardingState,
        profile: ActionProfileId,
        member: MemberId,
        action: Option<Arc<BoundAction>>,
        done: &mut Replayed,
    ) {
        let slot = |state: &ForwardingState| {
            state.profiles.get(profile.index()).map(|profile| profile.member_slot(member))
        };
        let before = slot(state);
        let change = ProfileChange::Member { member, action: action.clone() };
        self.change_profile(state, profile, change, done);
        // A removed member has had a slot, and an inserted member has one now.
        let slot = if action.is_some() { slot(state) } else { before };
        let Some(slot) = slot.filter(|slot| *slot != super::choice::NO_SLOT) else { return };
        for at in 0..state.tables.len() {
            if state.tables[at].profile() == Some(profile) {
                let change = TableChange::Member { slot, action: action.clone() };
                self.change_table(state, at, change, done);
            }
        }
    }

    /// Calls the advisor for large memory that lookups of changed tables read.
    pub(super) fn advise(
        &self,
        state: &mut ForwardingState,
        replayed: &Replayed,
        advisor: fn(usize, usize),
    ) {
        for at in &replayed.tables {
            if let Some(table) = Copies::content_mut(&mut state.tables[*at]) {
                table.advise(advisor);
            }
        }
    }

    /// Makes a version without readers equal to the current one, and keeps its older parts as spares.
    pub(super) fn take_back(&mut self, state: &mut ForwardingState, current: &ForwardingState) {
        let tables = state.tables.iter_mut().zip(&current.tables);
        for (copies, (place, current)) in self.tables.iter_mut().zip(tables) {
            copies.take_back(place, current);
        }
        let profiles = state.profiles.iter_mut().zip(&current.profiles);
        for (copies, (place, current)) in self.profiles.iter_mut().zip(profiles) {
            copies.take_back(place, current);
        }
        self.replication.take_back(&mut state.replication, &current.replication);
        state.value_sets.clone_from(&current.value_sets);
    }

    /// Removes changes from the logs that no copy will replay; these versions may still be taken back.
    pub(super) fn forget(
        &mut self,
        replayed: &Replayed,
        current: &ForwardingState,
        retired: &[Arc<ForwardingState>],
    ) {
        for &at in &replayed.tables {
            let positions = retired.iter().map(|state| state.tables[at].position());
            self.tables[at].forget(&current.tables[at], positions);
        }
        for &at in &replayed.profiles {
            let positions = retired.iter().map(|state| state.profiles[at].position());
            self.profiles[at].forget(&current.profiles[at], positions);
        }
        if replayed.replication {
            let positions = retired.iter().map(|state| state.replication.position());
            self.replication.forget(&current.replication, positions);
        }
    }
}

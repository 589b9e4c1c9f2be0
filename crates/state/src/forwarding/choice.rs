// SPDX-License-Identifier: Apache-2.0
//! `PreparedProfile`: an action profile prepared for choices by hash. Each `table` lays its members' actions out as
//! records.

use super::copies::Replay;
use crate::{ActionProfileState, BoundAction, Group, GroupId, MemberId};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::Arc;

/// Weights with their prefix sums.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightedChoice {
    /// The sum of the weights up to and including each.
    sums: Box<[u64]>,
}

impl WeightedChoice {
    pub(super) fn new(weights: impl Iterator<Item = u32>) -> WeightedChoice {
        let mut sum = 0;
        let add = |weight| {
            sum += u64::from(weight);
            sum
        };
        WeightedChoice { sums: weights.map(add).collect() }
    }

    /// Returns the index that a hash chooses: the hash modulo the sum of the weights, counted through in order.
    pub(super) fn choose(&self, hash: u64) -> Option<usize> {
        let total = *self.sums.last()?;
        let rest = hash.checked_rem(total)?;
        if total == self.sums.len() as u64 && self.sums[0] == 1 {
            // All weights are 1, or the prefix sums are the same.
            let at = rest as usize;
            if self.sums[at] == rest + 1 && (at == 0 || self.sums[at - 1] == rest) {
                return Some(at);
            }
        }
        Some(self.sums.partition_point(|&sum| sum <= rest))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.sums)
    }
}

/// The members of a group by slot, prepared for choices.
#[derive(Clone, Debug, Default)]
pub(super) struct PreparedGroup {
    members: Box<[u32]>,
    choice: WeightedChoice,
}

impl PreparedGroup {
    /// The slot of the member that a hash chooses.
    pub(super) fn choose(&self, hash: u64) -> Option<u32> {
        self.members.get(self.choice.choose(hash)?).copied()
    }
}

/// Dense slots for objects whose numbers the control plane chooses.
#[derive(Clone, Debug)]
struct Slots<Id, T> {
    slot_of_id: HashMap<Id, u32, FixedState>,
    contents: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<Id, T> Default for Slots<Id, T> {
    fn default() -> Self {
        Slots { slot_of_id: HashMap::default(), contents: Vec::new(), free: Vec::new() }
    }
}

impl<Id: Copy + Eq + std::hash::Hash, T> Slots<Id, T> {
    /// Puts content in place of what is there.
    fn put(&mut self, id: Id, content: T) {
        let slot = *self.slot_of_id.entry(id).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.contents.push(None);
                (self.contents.len() - 1) as u32
            })
        });
        self.contents[slot as usize] = Some(content);
    }

    fn remove(&mut self, id: Id) {
        if let Some(slot) = self.slot_of_id.remove(&id) {
            self.contents[slot as usize] = None;
            self.free.push(slot);
        }
    }

    fn get(&self, slot: u32) -> Option<&T> {
        self.contents.get(slot as usize)?.as_ref()
    }
}

/// The members and groups of an action profile, for tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreparedProfile {
    members: Slots<MemberId, Arc<BoundAction>>,
    groups: Slots<GroupId, PreparedGroup>,
}

/// A slot that is never used.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// One change of a profile; `None` is what does not exist.
#[derive(Debug)]
pub(super) enum ProfileChange {
    Member { member: MemberId, action: Option<Arc<BoundAction>> },
    Group { group: GroupId, content: Option<Arc<Group>> },
}

impl Replay for PreparedProfile {
    type Change = ProfileChange;

    fn replay(&mut self, change: &ProfileChange) {
        match change {
            ProfileChange::Member { member, action } => self.set_member(*member, action.clone()),
            ProfileChange::Group { group, content } => self.set_group(*group, content.as_deref()),
        }
    }

    fn size(&self) -> usize {
        self.members.contents.len() + self.groups.contents.len()
    }
}

impl PreparedProfile {
    pub(super) fn new(state: &ActionProfileState) -> PreparedProfile {
        let mut prepared = PreparedProfile::default();
        for (&member, action) in &state.members {
            prepared.set_member(member, Some(action.clone()));
        }
        for (group, content) in state.groups() {
            prepared.set_group(group, Some(content));
        }
        prepared
    }

    /// Puts a member in place or takes it away.
    fn set_member(&mut self, member: MemberId, action: Option<Arc<BoundAction>>) {
        match action {
            Some(action) => self.members.put(member, action),
            None => self.members.remove(member),
        };
    }

    fn set_group(&mut self, group: GroupId, content: Option<&Group>) {
        let Some(content) = content else {
            self.groups.remove(group);
            return;
        };
        let members = content.members.iter().map(|member| self.member_slot(member.member));
        let prepared = PreparedGroup {
            members: members.collect(),
            choice: WeightedChoice::new(content.members.iter().map(|member| member.weight)),
        };
        self.groups.put(group, prepared);
    }

    /// Members by slot.
    pub(super) fn members(&self) -> impl Iterator<Item = (u32, &Arc<BoundAction>)> {
        let slots = self.members.contents.iter().enumerate();
        slots.filter_map(|(slot, action)| Some((slot as u32, action.as_ref()?)))
    }

    pub(super) fn has_member(&self, slot: u32) -> bool {
        self.members.get(slot).is_some()
    }

    pub(super) fn group(&self, slot: u32) -> Option<&PreparedGroup> {
        self.groups.get(slot)
    }

    /// Returns the slot of a member, which it keeps while an entry or group uses it.
    pub(super) fn member_slot(&self, member: MemberId) -> u32 {
        self.members.slot_of_id.get(&member).copied().unwrap_or(NO_SLOT)
    }

    /// Returns the slot of a group, which it keeps while an entry uses it.
    pub(super) fn group_slot(&self, group: GroupId) -> u32 {
        self.groups.slot_of_id.get(&group).copied().unwrap_or(NO_SLOT)
    }
}

#[cfg(test)]
mod tests {
    use super::WeightedChoice;
    use crate::action::choose_by_weight;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prepared_choices_agree_with_counting(
            weights in prop::collection::vec(0u32..4, 0..6),
            hash in any::<u64>(),
        ) {
            let prepared = WeightedChoice::new(weights.iter().copied());
            prop_assert_eq!(
                prepared.choose(hash),
                choose_by_weight(weights.iter().copied(), hash)
            );
        }
    }
}

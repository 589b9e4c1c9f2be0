// SPDX-License-Identifier: Apache-2.0
//! `ActionProfileState`: one version of an action profile or selector with members, groups and the choice within a
//! group. Engines compute the hash.

use crate::action::choose_by_weight;
use crate::{BoundAction, GroupId, MemberId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A member's part in a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupMember {
    /// The member.
    pub member: MemberId,
    /// Its share, at least 1.
    pub weight: u32,
    /// Port whose state decides whether it takes part, in the control plane's bytes; kept for reading
    /// back.
    pub watch_port: Vec<u8>,
}

/// A group of an action selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Group {
    /// Members; the store keeps them by ascending number.
    pub members: Vec<GroupMember>,
    /// Largest number of members; 0 is no limit.
    pub max_size: u32,
}

/// One version of an action profile or selector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionProfileState {
    pub(crate) members: BTreeMap<MemberId, Arc<BoundAction>>,
    pub(crate) groups: BTreeMap<GroupId, Arc<Group>>,
    /// How many entries and groups refer to each member.
    pub(crate) member_uses: BTreeMap<MemberId, u64>,
    /// How many entries refer to each group.
    pub(crate) group_uses: BTreeMap<GroupId, u64>,
}

impl ActionProfileState {
    /// What a member does.
    pub fn member(&self, member: MemberId) -> Option<&BoundAction> {
        self.members.get(&member).map(|action| &**action)
    }

    /// A group.
    pub fn group(&self, group: GroupId) -> Option<&Group> {
        self.groups.get(&group).map(|group| &**group)
    }

    /// Members by number.
    pub fn members(&self) -> impl Iterator<Item = (MemberId, &BoundAction)> {
        self.members.iter().map(|(&member, action)| (member, &**action))
    }

    /// Groups by number.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.groups.iter().map(|(&group, content)| (group, &**content))
    }

    /// The member of a group that a hash chooses: the hash modulo the sum of the weights, counted
    /// through the members by ascending number. `None` when the group is empty.
    pub fn choose(&self, group: GroupId, hash: u64) -> Option<(MemberId, &BoundAction)> {
        let group = self.group(group)?;
        let at = choose_by_weight(group.members.iter().map(|member| member.weight), hash)?;
        let member = group.members.get(at)?.member;
        Some((member, self.member(member)?))
    }

    /// Sets or removes a group and counts the uses of its members. Returns the old group.
    pub(crate) fn set_group(
        &mut self,
        group: GroupId,
        content: Option<Arc<Group>>,
    ) -> Option<Arc<Group>> {
        for member in content.iter().flat_map(|content| &content.members) {
            *self.member_uses.entry(member.member).or_default() += 1;
        }
        let before = match content {
            Some(content) => self.groups.insert(group, content),
            None => self.groups.remove(&group),
        };
        for member in before.iter().flat_map(|before| &before.members) {
            if let Some(uses) = self.member_uses.get_mut(&member.member) {
                *uses = uses.saturating_sub(1);
            }
        }
        before
    }
}

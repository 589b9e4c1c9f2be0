// SPDX-License-Identifier: Apache-2.0
//! Updates of members and groups of action profiles. The updates of entries count their uses.

use super::{Draft, Outcome};
use crate::change::Change;
use crate::read::object;
use crate::validation::{allowed_action, fitting_arguments};
use crate::{ActionProfileState, BoundAction, Group, GroupId, MemberId, Reply, UpdateError};
use ir::{ActionProfile, ActionProfileId};
use std::sync::Arc;

impl Draft<'_> {
    fn profile_parts(
        &self,
        profile: ActionProfileId,
    ) -> Result<(&ActionProfile, &ActionProfileState), UpdateError> {
        Ok((
            object(&self.configuration.program.action_profiles, "action profile", profile.0)?,
            object(&self.configuration.profiles, "action profile", profile.0)?,
        ))
    }

    fn profile(&mut self, profile: ActionProfileId) -> &mut ActionProfileState {
        Arc::make_mut(&mut self.configuration.profiles[profile.index()])
    }

    /// Checks a member's action against every table that uses the profile.
    fn checked_member(
        &self,
        profile: ActionProfileId,
        action: &BoundAction,
    ) -> Result<Arc<BoundAction>, UpdateError> {
        let program = &self.configuration.program;
        let fitted = fitting_arguments(program, action)?;
        for table in program.tables.iter().filter(|table| table.implementation == Some(profile)) {
            allowed_action(program, table, action, false)?;
        }
        Ok(Arc::new(fitted))
    }

    pub(super) fn insert_member(
        &mut self,
        profile: ActionProfileId,
        member: MemberId,
        action: &BoundAction,
    ) -> Outcome {
        let (declared, state) = self.profile_parts(profile)?;
        let name = declared.name.clone();
        if state.member(member).is_some() {
            return Err(UpdateError::MemberExists { profile: name, member });
        }
        if let Some(size) = declared.size.filter(|&size| size != 0)
            && state.members.len() as u64 >= size
        {
            return Err(UpdateError::ProfileFull { profile: name, size });
        }
        let action = self.checked_member(profile, action)?;
        self.put_member(profile, member, Some(action));
        Ok(Reply::Done)
    }

    pub(super) fn modify_member(
        &mut self,
        profile: ActionProfileId,
        member: MemberId,
        action: &BoundAction,
    ) -> Outcome {
        let (declared, state) = self.profile_parts(profile)?;
        if state.member(member).is_none() {
            return Err(UpdateError::NoSuchMember { profile: declared.name.clone(), member });
        }
        let action = self.checked_member(profile, action)?;
        self.put_member(profile, member, Some(action));
        Ok(Reply::Done)
    }

    pub(super) fn delete_member(&mut self, profile: ActionProfileId, member: MemberId) -> Outcome {
        let (declared, state) = self.profile_parts(profile)?;
        if state.member(member).is_none() {
            return Err(UpdateError::NoSuchMember { profile: declared.name.clone(), member });
        }
        if state.member_uses.get(&member).is_some_and(|&uses| uses > 0) {
            return Err(UpdateError::MemberInUse { profile: declared.name.clone(), member });
        }
        self.put_member(profile, member, None);
        self.profile(profile).member_uses.remove(&member);
        Ok(Reply::Done)
    }

    fn put_member(
        &mut self,
        profile: ActionProfileId,
        member: MemberId,
        after: Option<Arc<BoundAction>>,
    ) {
        let members = &mut self.profile(profile).members;
        let before = match &after {
            Some(action) => members.insert(member, action.clone()),
            None => members.remove(&member),
        };
        self.log(Change::Member { profile, member, before, after });
    }

    fn put_group(&mut self, profile: ActionProfileId, group: GroupId, after: Option<Arc<Group>>) {
        let before = self.profile(profile).set_group(group, after.clone());
        self.log(Change::Group { profile, group, before, after });
    }

    pub(super) fn set_group(
        &mut self,
        profile: ActionProfileId,
        group: GroupId,
        mut content: Group,
        is_new: bool,
    ) -> Outcome {
        let (declared, state) = self.profile_parts(profile)?;
        let name = || declared.name.clone();
        if declared.selector.is_none() {
            return Err(UpdateError::NoSelector { profile: name() });
        }
        match (state.group(group), is_new) {
            (Some(_), true) => {
                return Err(UpdateError::GroupExists { profile: name(), group });
            }
            (None, false) => {
                return Err(UpdateError::NoSuchGroup { profile: name(), group });
            }
            _ => {}
        }
        if content.max_size != 0 && content.members.len() as u64 > u64::from(content.max_size) {
            let limit = content.max_size;
            return Err(UpdateError::GroupTooLarge { profile: name(), group, limit });
        }
        for member in &content.members {
            if state.member(member.member).is_none() {
                let member = member.member;
                return Err(UpdateError::NoSuchMember { profile: name(), member });
            }
            if member.weight == 0 {
                return Err(UpdateError::ZeroWeight { profile: name() });
            }
        }
        content.members.sort_by_key(|member| member.member);
        self.put_group(profile, group, Some(Arc::new(content)));
        Ok(Reply::Done)
    }

    pub(super) fn delete_group(&mut self, profile: ActionProfileId, group: GroupId) -> Outcome {
        let (declared, state) = self.profile_parts(profile)?;
        if state.group(group).is_none() {
            return Err(UpdateError::NoSuchGroup { profile: declared.name.clone(), group });
        }
        if state.group_uses.get(&group).is_some_and(|&uses| uses > 0) {
            return Err(UpdateError::GroupInUse { profile: declared.name.clone(), group });
        }
        self.put_group(profile, group, None);
        self.profile(profile).group_uses.remove(&group);
        Ok(Reply::Done)
    }
}

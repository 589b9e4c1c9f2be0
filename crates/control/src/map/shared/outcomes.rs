// SPDX-License-Identifier: Apache-2.0
//! Outcomes of a portion: results below as results of its items, without what belongs to others; and what they say
//! about who owns what.

use super::Inner;
use super::claims::Object;
use super::portion::{After, Plan, Portion};
use crate::target::{Fault, Outcome, Reply};
use ir::TableId;
use state::{EntryRecord, EntryTarget, Reply as StateReply};

impl Portion {
    /// The outcome of a batch here from that below.
    pub(super) fn outcome(
        &self,
        inner: &mut Inner,
        plans: Vec<Plan>,
        below: Outcome,
        is_check: bool,
    ) -> Outcome {
        let mut results = below.results.into_iter();
        let mut own = Vec::with_capacity(plans.len());
        for plan in plans {
            let list = match plan {
                Plan::Refused(fault) => {
                    own.push(Err(fault));
                    continue;
                }
                Plan::Below(list) => list,
            };
            let mut whole = Ok(Reply::State(StateReply::Done));
            for after in list {
                let result = results.next().unwrap_or(Err(Fault::Gone));
                let is_done = !is_check && result.is_ok() && !below.rolled_back;
                match &after {
                    After::Own(object) => {
                        if let (true, Object::Entry(name), Ok(Reply::State(reply))) =
                            (is_done, object, &result)
                            && let StateReply::Inserted(handle) = reply
                        {
                            inner.claims.note_place(*handle, name);
                        }
                        if !is_check {
                            inner.claims.settle(object, is_done.then_some(true));
                        }
                    }
                    After::Disown(object) => {
                        if let (true, Object::Entry(name)) = (is_done, object) {
                            inner.claims.forget_place(name);
                        }
                        if !is_check {
                            inner.claims.settle(object, is_done.then_some(false));
                        }
                    }
                    After::Replace { there, gone } if !is_check => {
                        for (list, is_there) in [(gone, false), (there, true)] {
                            for object in list {
                                inner.claims.settle(object, is_done.then_some(is_there));
                            }
                        }
                    }
                    After::Keep
                    | After::Filter(_)
                    | After::FilterMembers(_)
                    | After::Replace { .. } => {}
                }
                if whole.is_ok() {
                    whole = match (after, result) {
                        (After::Filter(table), Ok(Reply::State(reply))) => {
                            Ok(Reply::State(self.filtered(inner, table, reply)))
                        }
                        (
                            After::FilterMembers(set),
                            Ok(Reply::State(StateReply::ValueSet(mut members))),
                        ) => {
                            members.retain(|member| {
                                let object = Object::ValueSetMember(set, member.clone());
                                inner.claims.owner(&object) == Some(self.number)
                            });
                            Ok(Reply::State(StateReply::ValueSet(members)))
                        }
                        (_, result) => result,
                    };
                }
            }
            own.push(whole);
        }
        Outcome { results: own, ..below }
    }

    /// A reply without what belongs to others.
    fn filtered(&self, inner: &Inner, table: Option<TableId>, reply: StateReply) -> StateReply {
        let is_own = |record: &EntryRecord| {
            table.is_some_and(|table| inner.owner_of(table, record) == Some(self.number))
        };
        let is_own_target = |target: &EntryTarget| target.entry().is_none_or(is_own);
        match reply {
            StateReply::Entries(mut list) => {
                list.retain(|entry| is_own(entry));
                StateReply::Entries(list)
            }
            StateReply::EntriesWithCells(mut list) => {
                list.retain(|cells| is_own_target(&cells.target));
                StateReply::EntriesWithCells(list)
            }
            StateReply::DirectCounters(mut list) => {
                list.retain(|(target, _)| is_own_target(target));
                StateReply::DirectCounters(list)
            }
            StateReply::DirectMeters(mut list) => {
                list.retain(|(target, _)| is_own_target(target));
                StateReply::DirectMeters(list)
            }
            StateReply::Members(mut list) => {
                list.retain(|(member, _)| self.ids.members.contains(&member.0));
                StateReply::Members(list)
            }
            StateReply::Groups(mut list) => {
                list.retain(|(group, _)| self.ids.groups.contains(&group.0));
                StateReply::Groups(list)
            }
            StateReply::MulticastGroups(mut list) => {
                list.retain(|(group, _)| self.ids.multicast_groups.contains(group));
                StateReply::MulticastGroups(list)
            }
            StateReply::CloneSessions(mut list) => {
                list.retain(|(session, _)| self.ids.clone_sessions.contains(session));
                StateReply::CloneSessions(list)
            }
            other => other,
        }
    }
}

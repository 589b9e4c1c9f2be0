// SPDX-License-Identifier: Apache-2.0
//! Inverses of updates: what gives back the configuration that was there before. Updates of cells have none, as
//! packets write cells too.

use crate::target::Item;
use ir::KeyPattern;
use state::{BatchItem, BoundAction, Configuration, EntryRecord, NewEntry, Update};

/// What an update of configuration is about: an update and its inverse have equal ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Subject<'u> {
    Entry(ir::TableId, &'u [KeyPattern], i64),
    DefaultAction(ir::TableId),
    Member(ir::ActionProfileId, state::MemberId),
    Group(ir::ActionProfileId, state::GroupId),
    ValueSet(ir::ValueSetId),
    MulticastGroup(u32),
    CloneSession(u32),
    NodeExclusion(u32),
    PortExclusion(u32),
    Calculation(ir::CalculationId),
}

/// `None` for items that have no inverse.
pub(super) fn subject(item: &Item) -> Option<Subject<'_>> {
    let Item::State(BatchItem::Update(update)) = item else { return None };
    Some(match update {
        Update::InsertEntry { table, entry } | Update::ModifyEntry { table, entry } => {
            Subject::Entry(*table, &entry.keys, entry.priority)
        }
        Update::DeleteEntry { table, keys, priority } => Subject::Entry(*table, keys, *priority),
        Update::SetDefaultAction { table, .. } => Subject::DefaultAction(*table),
        Update::InsertMember { profile, member, .. }
        | Update::ModifyMember { profile, member, .. }
        | Update::DeleteMember { profile, member } => Subject::Member(*profile, *member),
        Update::InsertGroup { profile, group, .. }
        | Update::ModifyGroup { profile, group, .. }
        | Update::DeleteGroup { profile, group } => Subject::Group(*profile, *group),
        Update::InsertValueSetMember { set, .. }
        | Update::DeleteValueSetMember { set, .. }
        | Update::SetValueSet { set, .. } => Subject::ValueSet(*set),
        Update::InsertMulticastGroup { group, .. }
        | Update::ModifyMulticastGroup { group, .. }
        | Update::DeleteMulticastGroup { group } => Subject::MulticastGroup(*group),
        Update::InsertCloneSession { session, .. }
        | Update::ModifyCloneSession { session, .. }
        | Update::DeleteCloneSession { session } => Subject::CloneSession(*session),
        Update::SetNodeExclusion { instance, .. } => Subject::NodeExclusion(*instance),
        Update::SetPortExclusion { exclusion, .. } => Subject::PortExclusion(*exclusion),
        Update::SetCrcParameters { calculation, .. } => Subject::Calculation(*calculation),
        Update::ClearEntries { .. }
        | Update::ModifyEntryAt { .. }
        | Update::DeleteEntryAt { .. }
        | Update::WriteRegister { .. }
        | Update::WriteCounter { .. }
        | Update::WriteMeter { .. }
        | Update::WriteDirectCounter { .. }
        | Update::WriteDirectMeter { .. } => return None,
    })
}

/// The updates that undo one, in the order in which they are done.
pub(super) fn inverse(update: &Update, before: &Configuration) -> Vec<Update> {
    let entry = |table: ir::TableId, keys: &[ir::KeyPattern], priority| -> Option<NewEntry> {
        let handle = before.entry_handle(table, keys, priority).ok()?;
        before.table(table)?.entry(handle).map(EntryRecord::to_new_entry)
    };
    let one = |update: Option<Update>| update.into_iter().collect();
    match update {
        Update::InsertEntry { table, entry } => vec![Update::DeleteEntry {
            table: *table,
            keys: entry.keys.clone(),
            priority: entry.priority,
        }],
        Update::ModifyEntry { table, entry: new } => {
            let before = entry(*table, &new.keys, new.priority);
            one(before.map(|entry| Update::ModifyEntry { table: *table, entry }))
        }
        Update::DeleteEntry { table, keys, priority } => {
            let before = entry(*table, keys, *priority);
            one(before.map(|entry| Update::InsertEntry { table: *table, entry }))
        }
        Update::SetDefaultAction { table, .. } => {
            let default = before.table(*table).map(|table| table.default_action());
            let action = |default: &state::DefaultAction| -> Option<BoundAction> {
                (!default.is_initial).then(|| default.action.clone())
            };
            one(default
                .map(|default| Update::SetDefaultAction { table: *table, action: action(default) }))
        }
        Update::InsertMember { profile, member, .. } => {
            vec![Update::DeleteMember { profile: *profile, member: *member }]
        }
        Update::ModifyMember { profile, member, .. } => {
            let action = before.action_profile(*profile).and_then(|known| known.member(*member));
            one(action.map(|action| Update::ModifyMember {
                profile: *profile,
                member: *member,
                action: action.clone(),
            }))
        }
        Update::DeleteMember { profile, member } => {
            let action = before.action_profile(*profile).and_then(|known| known.member(*member));
            one(action.map(|action| Update::InsertMember {
                profile: *profile,
                member: *member,
                action: action.clone(),
            }))
        }
        Update::InsertGroup { profile, group, .. } => {
            vec![Update::DeleteGroup { profile: *profile, group: *group }]
        }
        Update::ModifyGroup { profile, group, .. } => {
            let content = before.action_profile(*profile).and_then(|known| known.group(*group));
            one(content.map(|content| Update::ModifyGroup {
                profile: *profile,
                group: *group,
                content: content.clone(),
            }))
        }
        Update::DeleteGroup { profile, group } => {
            let content = before.action_profile(*profile).and_then(|known| known.group(*group));
            one(content.map(|content| Update::InsertGroup {
                profile: *profile,
                group: *group,
                content: content.clone(),
            }))
        }
        Update::InsertValueSetMember { set, .. }
        | Update::DeleteValueSetMember { set, .. }
        | Update::SetValueSet { set, .. } => {
            let members = before.value_set(*set).map(|known| known.members().to_vec());
            one(members.map(|members| Update::SetValueSet { set: *set, members }))
        }
        Update::InsertMulticastGroup { group, .. } => {
            vec![Update::DeleteMulticastGroup { group: *group }]
        }
        Update::ModifyMulticastGroup { group, .. } => {
            let content = before.multicast_group(*group).cloned();
            one(content.map(|content| Update::ModifyMulticastGroup { group: *group, content }))
        }
        Update::DeleteMulticastGroup { group } => {
            let content = before.multicast_group(*group).cloned();
            one(content.map(|content| Update::InsertMulticastGroup { group: *group, content }))
        }
        Update::InsertCloneSession { session, .. } => {
            vec![Update::DeleteCloneSession { session: *session }]
        }
        Update::ModifyCloneSession { session, .. } => {
            let content = before.clone_session(*session).cloned();
            one(content.map(|content| Update::ModifyCloneSession { session: *session, content }))
        }
        Update::DeleteCloneSession { session } => {
            let content = before.clone_session(*session).cloned();
            one(content.map(|content| Update::InsertCloneSession { session: *session, content }))
        }
        Update::SetNodeExclusion { instance, .. } => {
            let exclusions = before.replication().exclusions();
            let known = exclusions.nodes().find(|(of, _)| of == instance);
            let exclusion = known.map(|(_, exclusion)| exclusion);
            vec![Update::SetNodeExclusion { instance: *instance, exclusion }]
        }
        Update::SetPortExclusion { exclusion, .. } => {
            let exclusions = before.replication().exclusions();
            let known = exclusions.ports().find(|(of, _)| of == exclusion);
            let ports = known.map_or(Vec::new(), |(_, ports)| ports.to_vec());
            vec![Update::SetPortExclusion { exclusion: *exclusion, ports }]
        }
        Update::SetCrcParameters { calculation, .. } => {
            let parameters = before.crc(*calculation).map(|crc| crc.parameters());
            vec![Update::SetCrcParameters { calculation: *calculation, parameters }]
        }
        // Normalised before, or about cells.
        Update::ClearEntries { .. }
        | Update::ModifyEntryAt { .. }
        | Update::DeleteEntryAt { .. }
        | Update::WriteRegister { .. }
        | Update::WriteCounter { .. }
        | Update::WriteMeter { .. }
        | Update::WriteDirectCounter { .. }
        | Update::WriteDirectMeter { .. } => Vec::new(),
    }
}

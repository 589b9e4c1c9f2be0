// SPDX-License-Identifier: Apache-2.0
//! Faults of targets below in terms of the program as written: the object that an item is about, and the message for its
//! controller.

use crate::target::{Fault, Item};
use ir::{Program, TableId};
use state::{BatchItem, Update, UpdateError};
use std::sync::Arc;

/// Names the object of the program as written that an item is about.
pub(super) fn object_name(program: &Program, item: &Item) -> Arc<str> {
    let table = |table: TableId| program.tables.get(table.index()).map(|table| &table.name);
    let name = match item {
        Item::State(BatchItem::Update(update)) => match update {
            Update::InsertEntry { table: of, .. }
            | Update::ModifyEntry { table: of, .. }
            | Update::DeleteEntry { table: of, .. }
            | Update::ModifyEntryAt { table: of, .. }
            | Update::DeleteEntryAt { table: of, .. }
            | Update::ClearEntries { table: of }
            | Update::SetDefaultAction { table: of, .. } => table(*of),
            Update::WriteRegister { register, .. } => {
                program.registers.get(register.index()).map(|array| &array.name)
            }
            Update::WriteCounter { counter, .. } | Update::WriteDirectCounter { counter, .. } => {
                program.counters.get(counter.index()).map(|array| &array.name)
            }
            Update::WriteMeter { meter, .. } | Update::WriteDirectMeter { meter, .. } => {
                program.meters.get(meter.index()).map(|array| &array.name)
            }
            Update::InsertMember { profile, .. }
            | Update::ModifyMember { profile, .. }
            | Update::DeleteMember { profile, .. }
            | Update::InsertGroup { profile, .. }
            | Update::ModifyGroup { profile, .. }
            | Update::DeleteGroup { profile, .. } => {
                program.action_profiles.get(profile.index()).map(|profile| &profile.name)
            }
            Update::InsertValueSetMember { set, .. }
            | Update::DeleteValueSetMember { set, .. }
            | Update::SetValueSet { set, .. } => {
                program.value_sets.get(set.index()).map(|set| &set.name)
            }
            _ => None,
        },
        Item::State(BatchItem::Read(_)) | Item::Device(_) => None,
    };
    name.cloned().unwrap_or_else(|| "the device".into())
}

/// Rewords a fault for the controller of the program as written, which does not know the objects below.
pub(super) fn reworded(fault: &Fault, object: &Arc<str>) -> Fault {
    let Fault::Refused(error) = fault else { return fault.clone() };
    let why = match error {
        UpdateError::Aborted => return fault.clone(),
        UpdateError::TableFull { size, .. } => {
            return Fault::Refused(UpdateError::TableFull { table: object.clone(), size: *size });
        }
        UpdateError::CellsAreTheDevices => "its cells cannot be reached from here".to_string(),
        other => format!("the device refuses what it needs ({})", other.code()),
    };
    Fault::Unsupported(format!("`{object}`: {why}"))
}

// SPDX-License-Identifier: Apache-2.0
//! Operations that are checked once and submitted many times with new values. A prepared operation names
//! its entry by place and generation and its program by identity, so a target refuses it when either has
//! changed.

use super::{Batch, Fault, Item, Target};
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use state::{ActionData, BoundAction, EntryHandle, Read, Reply, Update};
use std::sync::Arc;

/// An entry of a program with an action, made ready for new arguments.
#[derive(Clone, Debug)]
pub struct Prepared {
    program: Arc<Program>,
    table: TableId,
    handle: EntryHandle,
    generation: u64,
    action: ActionId,
    widths_bits: Vec<u32>,
}

/// Looks an entry up by its keys, and by its priority where the table has priorities, and checks that the
/// table has the action. The target answers without simulated time.
pub fn prepare_entry(
    target: &mut dyn Target,
    table: TableId,
    keys: Vec<KeyPattern>,
    priority: i64,
    action: ActionId,
) -> Result<Prepared, Fault> {
    let program = target.program();
    let declared = program.tables.get(table.index());
    let is_listed =
        declared.is_some_and(|table| table.actions.iter().any(|each| each.action == action));
    if !is_listed {
        let message = match (declared, program.actions.get(action.index())) {
            (Some(table), Some(action)) => {
                format!("table `{}` has no action `{}`", table.name, action.name)
            }
            _ => "there is no such table or action".to_string(),
        };
        return Err(Fault::Unsupported(message));
    }
    let read = Batch::one(Read::Entry { table, keys, priority }).made_for(program.clone());
    let entry = match target.execute(read).into_reply()? {
        Reply::Entries(entries) => entries.into_iter().next(),
        _ => None,
    };
    let entry = entry.ok_or(Fault::Gone)?;
    let parameters = program.actions[action.index()].parameters.iter();
    let widths_bits =
        parameters.map(|each| program.slots[each.slot.index()].ty.width_bits()).collect();
    Ok(Prepared {
        table,
        handle: entry.handle,
        generation: entry.generation,
        action,
        widths_bits,
        program,
    })
}

impl Prepared {
    /// The item that gives the entry its action with these arguments: one value of the declared width a
    /// parameter. It belongs into a batch made for [`Prepared::program`].
    pub fn item(&self, arguments: Vec<Bits>) -> Result<Item, Fault> {
        let widths = arguments.iter().map(Bits::width_bits);
        if !widths.eq(self.widths_bits.iter().copied()) {
            let wanted: Vec<String> = self.widths_bits.iter().map(u32::to_string).collect();
            return Err(Fault::Unsupported(format!(
                "the prepared operation takes values of {} bits",
                wanted.join(", ")
            )));
        }
        let action = ActionData::Direct(BoundAction { action: self.action, arguments });
        Ok(Item::from(Update::ModifyEntryAt {
            table: self.table,
            handle: self.handle,
            generation: self.generation,
            action,
        }))
    }

    /// A batch of that item alone.
    pub fn batch(&self, arguments: Vec<Bits>) -> Result<Batch, Fault> {
        Ok(Batch::one(self.item(arguments)?).made_for(self.program.clone()))
    }

    /// The program that it was prepared for.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Prepared operations: checked once and submitted many times with new values. A prepared operation names its
//! entry by place and generation and its program by identity, so a target refuses it when either has changed.

use super::{Batch, Fault, Item, Target};
use ir::{ActionId, Bits, KeyPattern, Program, RegisterId, TableId};
use state::{
    ActionData, BoundAction, CellRange, CellValues, EntryHandle, Read, Reply, Update, UpdateError,
};
use std::sync::Arc;

/// The object of a prepared operation.
#[derive(Clone, Debug)]
enum Subject {
    /// Arguments of an entry's action.
    Entry { table: TableId, handle: EntryHandle, generation: u64, action: ActionId },
    /// Arguments of a default action.
    DefaultAction { table: TableId, action: ActionId },
    /// Cells of a register.
    Register { register: RegisterId, cells: CellRange },
}

/// A prepared operation.
#[derive(Clone, Debug)]
pub struct Prepared {
    program: Arc<Program>,
    subject: Subject,
    /// Width of each value.
    widths_bits: Vec<u32>,
}

/// Prepares new arguments for an action of an entry, named by its keys and, where the table has priorities, its priority.
/// The target answers without simulated time.
pub fn prepare_entry(
    target: &mut dyn Target,
    table: TableId,
    keys: Vec<KeyPattern>,
    priority: i64,
    action: ActionId,
) -> Result<Prepared, Fault> {
    let program = target.program();
    let widths_bits = argument_widths(&program, table, action)?;
    let read = Batch::one(Read::Entry { table, keys, priority }).made_for(program.clone());
    let entry = match target.execute(read).into_reply()? {
        Reply::Entries(entries) => entries.into_iter().next(),
        _ => None,
    };
    let entry = entry.ok_or(Fault::Gone)?;
    let (handle, generation) = (entry.handle, entry.generation);
    let subject = Subject::Entry { table, handle, generation, action };
    Ok(Prepared { program, subject, widths_bits })
}

/// A table's default action, made ready for new arguments of an action that the table lists.
pub fn prepare_default_action(
    target: &dyn Target,
    table: TableId,
    action: ActionId,
) -> Result<Prepared, Fault> {
    let program = target.program();
    let widths_bits = argument_widths(&program, table, action)?;
    if program.tables[table.index()].const_default_action {
        let table = program.tables[table.index()].name.clone();
        return Err(Fault::Refused(UpdateError::ConstDefaultAction { table }));
    }
    Ok(Prepared { program, subject: Subject::DefaultAction { table, action }, widths_bits })
}

/// Cells of a register, made ready for new values: one a cell.
pub fn prepare_register(
    target: &dyn Target,
    register: RegisterId,
    cells: CellRange,
) -> Result<Prepared, Fault> {
    let program = target.program();
    let Some(array) = program.registers.get(register.index()) else {
        return Err(Fault::Refused(UpdateError::NoSuchObject {
            kind: "register",
            index: register.0,
        }));
    };
    let count = cells.count.unwrap_or(array.size.saturating_sub(cells.first));
    if cells.first.checked_add(count).is_none_or(|end| end > array.size) {
        let (object, index, size) = (array.name.clone(), cells.first.max(array.size), array.size);
        return Err(Fault::Refused(UpdateError::IndexOutOfBounds { object, index, size }));
    }
    let widths_bits = vec![array.width_bits; count as usize];
    Ok(Prepared { subject: Subject::Register { register, cells }, widths_bits, program })
}

/// Widths of the parameters of an action that a table lists.
fn argument_widths(program: &Program, table: TableId, action: ActionId) -> Result<Vec<u32>, Fault> {
    let Some(declared) = program.tables.get(table.index()) else {
        return Err(Fault::Refused(UpdateError::NoSuchObject { kind: "table", index: table.0 }));
    };
    let Some(known) = program.actions.get(action.index()) else {
        return Err(Fault::Refused(UpdateError::NoSuchObject { kind: "action", index: action.0 }));
    };
    if !declared.actions.iter().any(|listed| listed.action == action) {
        let (table, action) = (declared.name.clone(), known.name.clone());
        return Err(Fault::Refused(UpdateError::ActionNotInTable { table, action }));
    }
    let width = |slot: ir::SlotId| program.slots[slot.index()].ty.width_bits();
    Ok(known.parameters.iter().map(|parameter| width(parameter.slot)).collect())
}

impl Prepared {
    /// The item that writes these values: one a parameter or cell, each of its width. It belongs into a batch
    /// made for [`Prepared::program`].
    pub fn item(&self, values: Vec<Bits>) -> Result<Item, Fault> {
        if !values.iter().map(Bits::width_bits).eq(self.widths_bits.iter().copied()) {
            let wanted: Vec<String> = self.widths_bits.iter().map(u32::to_string).collect();
            return Err(Fault::Unsupported(format!(
                "the prepared operation takes {} values of {} bits",
                wanted.len(),
                wanted.join(", ")
            )));
        }
        Ok(Item::from(match self.subject {
            Subject::Entry { table, handle, generation, action } => {
                let action = ActionData::Direct(BoundAction { action, arguments: values });
                Update::ModifyEntryAt { table, handle, generation, action }
            }
            Subject::DefaultAction { table, action } => {
                let action = Some(BoundAction { action, arguments: values });
                Update::SetDefaultAction { table, action }
            }
            Subject::Register { register, cells } => {
                Update::WriteRegister { register, cells, values: CellValues::Each(values) }
            }
        }))
    }

    /// A batch of that item alone.
    pub fn batch(&self, values: Vec<Bits>) -> Result<Batch, Fault> {
        Ok(Batch::one(self.item(values)?).made_for(self.program.clone()))
    }

    /// The program that it was prepared for.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

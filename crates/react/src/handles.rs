// SPDX-License-Identifier: Apache-2.0
//! Handles of a program's objects by their control-plane names.

use ir::{ActionId, Program, RegisterId, TableId};
use std::sync::Arc;

/// The place of a name in a list; the name is the error if it is not there.
fn place<'n>(mut names: impl Iterator<Item = &'n Arc<str>>, name: &str) -> Result<u32, String> {
    let at = names.position(|known| **known == *name);
    at.map(|at| at as u32).ok_or_else(|| name.to_string())
}

/// The handle of a table.
pub(crate) fn table(program: &Program, name: &str) -> Result<TableId, String> {
    place(program.tables.iter().map(|table| &table.name), name).map(TableId)
}

/// The handle of an action.
pub(crate) fn action(program: &Program, name: &str) -> Result<ActionId, String> {
    place(program.actions.iter().map(|action| &action.name), name).map(ActionId)
}

/// The handle of a register.
pub(crate) fn register(program: &Program, name: &str) -> Result<RegisterId, String> {
    place(program.registers.iter().map(|register| &register.name), name).map(RegisterId)
}

// SPDX-License-Identifier: Apache-2.0
//! The entries and default actions that a program declares: the content of tables before the control plane
//! writes. `store` publishes it as the first version.

use crate::table::TableState;
use crate::validation::{allowed_action, declared_keys, fitting_arguments};
use crate::{ActionData, BoundAction, DefaultAction, NewEntry, UpdateError};
use ir::{ActionCall, Program, Table};

/// Resolves the action index of a declared call to the action.
fn bound_action(table: &Table, call: &ActionCall) -> Result<BoundAction, UpdateError> {
    let listed = table
        .actions
        .get(call.action as usize)
        .ok_or(UpdateError::NoSuchObject { kind: "action", index: call.action })?;
    Ok(BoundAction { action: listed.action, arguments: call.arguments.clone() })
}

/// Returns the default action that the program declares.
pub(crate) fn initial_default(table: &Table) -> Result<DefaultAction, UpdateError> {
    Ok(DefaultAction {
        action: bound_action(table, &table.default_action)?,
        action_index: table.default_action.action,
        is_initial: true,
    })
}

/// Returns a table with its declared entries; each takes the next generation.
pub(crate) fn initial_table(
    program: &Program,
    table: &Table,
    next_generation: &mut u64,
) -> Result<TableState, UpdateError> {
    let mut default = initial_default(table)?;
    default.action = fitting_arguments(program, &default.action)?;
    let mut state = TableState::new(table, default);
    for entry in &table.entries {
        let action = bound_action(table, &entry.call)?;
        let entry_of_program = NewEntry {
            keys: declared_keys(table, &entry.keys)?,
            priority: entry.priority,
            action: ActionData::Direct(allowed_action(program, table, &action, false)?),
            idle_timeout_ns: 0,
            metadata: Vec::new(),
            cookie: 0,
        };
        state.insert(entry_of_program, *next_generation, 0, Some(entry.origin));
        *next_generation += 1;
    }
    Ok(state)
}

/// Returns whether a table has exactly the entries and the default action that its program declares.
pub(crate) fn is_as_declared(program: &Program, table: &Table, state: &TableState) -> bool {
    let content = |state: &TableState| {
        let mut entries: Vec<_> =
            state.entries().map(|entry| (entry.generation, entry.to_new_entry())).collect();
        entries.sort_by_key(|(generation, _)| *generation);
        entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>()
    };
    state.len() == table.entries.len()
        && state.default_action().is_initial
        && initial_table(program, table, &mut 1)
            .is_ok_and(|initial| content(&initial) == content(state))
}

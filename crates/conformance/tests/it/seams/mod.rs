// SPDX-License-Identifier: Apache-2.0
//! The seams under verbs to come, tried by small programs and maps of the tests' own: control maps that keep
//! updates of several tables whole (`react`), programs that share a target (`share`, `portions`), and drivers that
//! take time (`latency`), instances of one program that share tables (`scale`),
//! programs that a device runs side by side (`side_by_side`), and a control cut in two (`split`). Each trial has mutations that make it fail.

mod latency;
mod portions;
mod react;
mod scale;
mod share;
mod side_by_side;
mod split;
mod tenants;

use control::target::{Outcome, Target, Ticket};
use device::Device;
use ir::ready::ReadyProgram;
use ir::{ActionId, Bits, KeyPattern, Program, RegisterId, TableId};
use state::{BoundAction, NewEntry};
use std::sync::Arc;

/// A program as it is run.
fn program(text: &str) -> Arc<Program> {
    match ReadyProgram::of_text("program.p4", text) {
        Ok(ready) => ready.program().clone(),
        Err(report) => panic!("{report}"),
    }
}

fn table(program: &Program, name: &str) -> TableId {
    let at = program.tables.iter().position(|table| table.name.ends_with(name));
    TableId(at.unwrap_or_else(|| panic!("no table `{name}`")) as u32)
}

fn register(program: &Program, name: &str) -> RegisterId {
    let at = program.registers.iter().position(|register| register.name.ends_with(name));
    RegisterId(at.unwrap_or_else(|| panic!("no register `{name}`")) as u32)
}

/// An action of a table with its arguments.
fn bound(program: &Program, of: TableId, name: &str, arguments: &[u64]) -> BoundAction {
    let is_it = |id: &ActionId| program.actions[id.index()].name.ends_with(name);
    let listed = program.tables[of.index()].actions.iter().map(|listed| listed.action);
    let action = { listed }.find(is_it).unwrap_or_else(|| panic!("no action `{name}`"));
    let parameters = program.actions[action.index()].parameters.iter();
    let widths = parameters.map(|each| program.slots[each.slot.index()].ty.width_bits());
    let pairs = widths.zip(arguments);
    let arguments: Vec<Bits> =
        pairs.map(|(width_bits, value)| Bits::from_u64(width_bits, *value)).collect();
    BoundAction { action, arguments }
}

/// Exact keys of a table.
fn exact(program: &Program, of: TableId, keys: &[u64]) -> Vec<KeyPattern> {
    let declared = &program.tables[of.index()].keys;
    assert_eq!(declared.len(), keys.len(), "keys of `{}`", program.tables[of.index()].name);
    let pairs = declared.iter().zip(keys);
    pairs.map(|(key, value)| KeyPattern::Exact(Bits::from_u64(key.width_bits, *value))).collect()
}

/// An entry with exact keys.
fn entry(program: &Program, of: TableId, keys: &[u64], action: BoundAction) -> NewEntry {
    NewEntry::direct(exact(program, of, keys), 0, action)
}

/// Runs a device until a request is answered.
fn answer(device: &mut Device, target: &mut dyn Target, ticket: Ticket) -> Outcome {
    loop {
        if let Some(outcome) = target.poll(ticket) {
            return outcome;
        }
        let next_ps = device.next_event_ps().expect("an answer is to come");
        device.advance(next_ps).expect("no assertion fails");
    }
}

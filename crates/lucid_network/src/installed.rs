// SPDX-License-Identifier: Apache-2.0
//! The entries that commands at time 0 of a run install, for every copy of their tables: as commands, and as lines of a
//! script for a Tofino. A run installs the same entries by its commands ([`super::globals`]).

use lucid::core::{GlobalId, GlobalKind, Program};
use lucid_compiler::{Compiled, GlobalPlace, TableCopy, tna};
use lucid_reference::interpreter::{Entry, State};
use lucid_reference::simulation::Setup;
use lucid_reference::simulation::inputs::{Input, SourceKind};
use std::fmt::Write as _;

/// Tables with the entries that a run installs in them at time 0.
pub(crate) type InstalledTables = [(GlobalId, Vec<Entry>)];

/// The tables that have entries after the commands at time 0 of a switch, with these in order.
pub(crate) fn tables(setup: &Setup, switch: u32) -> Vec<(GlobalId, Vec<Entry>)> {
    let mut state = State::new(setup.program());
    for source in setup.sources().iter().filter(|source| source.time_ps == 0) {
        match &source.kind {
            SourceKind::Single(Input::Command { switch: at, command }) if *at == switch => {
                command.run(setup.program(), &mut state);
            }
            SourceKind::Single(_) | SourceKind::Generator(_) => {}
        }
    }
    let tables = (0..setup.program().globals.len() as u32).map(GlobalId);
    let entries = tables.filter_map(|id| Some((id, state.table(id)?.entries().to_vec())));
    entries.filter(|(_, entries)| !entries.is_empty()).collect()
}

/// Calls `each` with every entry of every copy: the copy, the number of the entry's action, the entry, and its priority,
/// of which the least wins.
fn each_entry(
    (compiled, program): (&Compiled, &Program),
    tables: &InstalledTables,
    each: &mut dyn FnMut(&TableCopy, usize, &Entry, usize),
) {
    for (table, entries) in tables {
        let place = compiled.globals.iter().find(|place| place.global() == *table);
        let (Some(GlobalPlace::Table { copies, .. }), GlobalKind::Table(declared)) =
            (place, &program.globals[table.0 as usize].kind)
        else {
            continue;
        };
        for copy in copies {
            for (entry, priority) in entries.iter().zip(1..) {
                if let Some(action) = declared.actions.iter().position(|id| *id == entry.action) {
                    each(copy, action, entry, priority);
                }
            }
        }
    }
}

/// The commands that install the entries.
pub(crate) fn commands(compiled: &Compiled, program: &Program, tables: &InstalledTables) -> String {
    let mut text = String::new();
    each_entry((compiled, program), tables, &mut |copy, action, entry, priority| {
        let _ = write!(text, "table_add {} {}", copy.name, copy.actions[action]);
        for (value, mask) in &entry.key {
            let _ = write!(text, " {value:#x}&&&{mask:#x}");
        }
        text.push_str(" =>");
        for value in entry.numbers() {
            let _ = write!(text, " {value}");
        }
        let _ = writeln!(text, " {priority}");
    });
    match text.is_empty() {
        true => text,
        false => format!("# entries that the run installs at time 0\n{text}"),
    }
}

/// The same as lines of a script.
pub(crate) fn script(compiled: &Compiled, program: &Program, tables: &InstalledTables) -> String {
    let mut text = String::new();
    each_entry((compiled, program), tables, &mut |copy, action, entry, priority| {
        let name = copy.actions[action].rsplit('.').next().unwrap_or_default();
        let _ = write!(text, "p4.{}.add_with_{name}(", copy.name);
        for (at, (value, mask)) in entry.key.iter().enumerate() {
            let key = tna::key_field(at);
            let _ = write!(text, "{key}={value:#x}, {key}_mask={mask:#x}, ");
        }
        let _ = write!(text, "MATCH_PRIORITY={priority}");
        let parameters = &program.actions[entry.action.0 as usize].parameters;
        for ((at, parameter), value) in parameters.iter().enumerate().zip(entry.numbers()) {
            let _ = write!(text, ", {}={value}", tna::data_field(at, &parameter.name));
        }
        text.push_str(")\n");
    });
    match text.is_empty() {
        true => text,
        false => format!("\n# entries that the run installs at time 0\n{text}"),
    }
}

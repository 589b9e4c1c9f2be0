// SPDX-License-Identifier: Apache-2.0
//! A device that stands for a switch: the compiled program loaded and set up, control commands carried
//! out, its state as the program's globals. When packets come to it and where they go is `network`'s.

use super::cells::CellPlaces;
use crate::compile::deploy::{self, Site};
use crate::compile::normal::walk::each_statement;
use crate::compile::{Compiled, GlobalPlace};
use crate::core::{GlobalId, GlobalKind, StatementKind};
use crate::interpreter::{State, Value};
use crate::simulation::Setup;
use crate::simulation::commands::{Answer as Answered, ReadyCommand};
use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use ir::Program;
use ir::ready::ReadyProgram;
use source::{Code, Diagnostic, Diagnostics, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The code of a run that stops by a mistake of ours.
pub(super) const INTERNAL: &str = "LU-E0699";

/// Why a compiled program does not stand on its devices: a mistake of the compiler's, not of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Which switch.
    pub switch: u32,
    /// What is wrong, for people.
    pub message: String,
}

impl LoadError {
    /// As diagnostics.
    pub fn diagnostics(&self) -> Diagnostics {
        let help = "this is a mistake in Planewright; please report it with the program";
        let mut found = Diagnostics::new();
        found.push(Diagnostic::error(Code(INTERNAL), Span::NONE, self.to_string()).help(help));
        found
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "switch {}: {}", self.switch, self.message)
    }
}

impl std::error::Error for LoadError {}

/// A compiled program, lowered for devices.
///
/// # Errors
///
/// What lowering says of it: a mistake of the compiler.
pub fn ready(compiled: &Compiled) -> Result<ReadyProgram, LoadError> {
    let mut found = Diagnostics::new();
    ReadyProgram::lower(compiled.built.program.clone(), &mut found).ok_or_else(|| {
        let first = found.iter().next().map_or("no reason given", |one| one.message.as_str());
        LoadError { switch: 0, message: format!("it does not lower: {first}") }
    })
}

/// A switch at work.
#[derive(Debug)]
pub(super) struct InstalledSwitch {
    pub(super) device: Device,
    compiled: Arc<Compiled>,
    program: Arc<crate::core::Program>,
    session: Session,
    cells: CellPlaces,
    /// By which port it reaches other switches.
    routes: BTreeMap<u32, u32>,
    /// Tables as commands left them. Its cells mean nothing but while a command runs.
    state: State,
}

/// Which switch of a network, and what runs it.
pub(super) struct Position<'a> {
    pub(super) number: u32,
    pub(super) engine: EngineChoice,
    /// Another switch of it, whose machine code this one shares.
    pub(super) like: Option<&'a InstalledSwitch>,
}

impl InstalledSwitch {
    /// A device for a switch of a run, set up. `change` builds it a little differently.
    pub(super) fn new(
        setup: &Setup,
        compiled: &Arc<Compiled>,
        pipeline: &Arc<Program>,
        Position { number, engine, like }: Position<'_>,
        change: &dyn Fn(&mut DeviceOptions),
    ) -> Result<InstalledSwitch, LoadError> {
        let wrong = |message: String| LoadError { switch: number, message };
        let site = Site::of(setup, number);
        let mut options = DeviceOptions {
            engine,
            seed: setup.seed,
            // Random numbers, egress handlers and what P4 of the user's does are seen there.
            tap: compiled.options.has_user_p4() || needs_tap(&setup.program),
            ..deploy::device_options(compiled, &site, false)
        };
        change(&mut options);
        let device = match like {
            Some(like) => like.device.another(options),
            None => Device::new(pipeline.clone(), options),
        };
        let device = device.map_err(|error| wrong(error.to_string()))?;
        let mut switch = InstalledSwitch {
            device,
            compiled: compiled.clone(),
            program: setup.program.clone(),
            session: Session::new(pipeline.clone()),
            cells: CellPlaces::new(compiled, pipeline),
            routes: site.routes.clone(),
            state: State::new(&setup.program),
        };
        switch.command(&deploy::commands(compiled, &setup.program, &site)).map_err(wrong)?;
        Ok(switch)
    }

    /// Everything as the program's globals.
    pub(super) fn state(&self) -> State {
        let mut state = self.state.clone();
        self.cells.read_all(&self.device, &mut state);
        state
    }

    /// The cell at an index, or the two of a pair.
    pub(super) fn cell(&self, global: GlobalId, index: u64) -> Option<Vec<u128>> {
        let cell = self.cells.get(&self.device, global, index)?;
        let kind = &self.program.globals[global.0 as usize].kind;
        let count = if matches!(kind, GlobalKind::PairArray { .. }) { 2 } else { 1 };
        Some(cell[..count].to_vec())
    }

    /// Runs a command of the run's specification: on the cells that it names, and on the table.
    pub(super) fn run(&mut self, command: &ReadyCommand) -> Result<Answered, String> {
        let InstalledSwitch { device, cells, state, .. } = self;
        if let ReadyCommand::ArrayGet { array, start, end, .. } = command
            && let Some(found) = state.cells_mut(*array)
        {
            for index in *start..*end {
                if let Some(values) = cells.get(device, *array, index) {
                    found.set(u128::from(index), values);
                }
            }
        }
        let answered = command.run(&self.program, state);
        match command {
            ReadyCommand::ArraySet { array, start, end, values } => {
                for index in *start..*end {
                    // What is beyond the end is not there.
                    let _ = cells.set(device, *array, index, *values);
                }
            }
            ReadyCommand::TableInstall { table, .. } | ReadyCommand::TableRemove { table, .. } => {
                let commands = self.table_commands(*table);
                self.command(&commands)?;
            }
            ReadyCommand::ArrayGet { .. } | ReadyCommand::TableGet { .. } => {}
        }
        Ok(answered)
    }

    /// Writes the forwarding table anew, if the ways to other switches are others now.
    pub(super) fn reroute(&mut self, routes: BTreeMap<u32, u32>) -> Result<(), String> {
        if routes == self.routes {
            return Ok(());
        }
        self.command(&format!("table_clear forward\n{}", deploy::forwarding(&routes)))?;
        self.routes = routes;
        Ok(())
    }

    /// Carries out control commands, a line each.
    fn command(&mut self, text: &str) -> Result<(), String> {
        let done = self.session.run("commands", text, &mut self.device.target());
        done.map(drop).map_err(|errors| errors[0].to_string())
    }

    /// Commands that make the device's table hold what the state's table holds.
    fn table_commands(&self, global: GlobalId) -> String {
        let place = self.compiled.globals.iter().find_map(|place| match place {
            GlobalPlace::Table { global: of, name, actions } if *of == global => {
                Some((name, actions))
            }
            _ => None,
        });
        let Some((name, actions)) = place else { return String::new() };
        let (GlobalKind::Table(declared), Some(table)) =
            (&self.program.globals[global.0 as usize].kind, self.state.table(global))
        else {
            return String::new();
        };
        let mut text = format!("table_clear {name}\n");
        // Lower comes first here, and of equals the earlier: positions in that order are priorities.
        let mut entries: Vec<_> = table.entries().iter().collect();
        entries.sort_by_key(|entry| entry.priority);
        for (priority, entry) in entries.iter().enumerate() {
            let Some(action) = declared.actions.iter().position(|known| *known == entry.action)
            else {
                continue;
            };
            let keys: Vec<String> =
                entry.key.iter().map(|(value, mask)| format!("{value:#x}&&&{mask:#x}")).collect();
            let arguments: Vec<String> = entry
                .arguments
                .iter()
                .map(|argument| match argument {
                    Value::Int(value) => format!("{value:#x}"),
                    Value::Bool(value) => u8::from(*value).to_string(),
                    _ => "0".to_string(),
                })
                .collect();
            text.push_str(&format!(
                "table_add {name} {} {} => {} {}\n",
                actions[action],
                keys.join(" "),
                arguments.join(" "),
                priority + 1
            ));
        }
        text
    }
}

/// Whether a program draws random numbers or has egress handlers.
fn needs_tap(program: &crate::core::Program) -> bool {
    let mut found = false;
    for event in &program.events {
        found |= event.egress_handler.is_some();
        if let Some(body) = &event.handler {
            each_statement(&body.statements, &mut |statement| {
                found |= matches!(statement.kind, StatementKind::Random { .. });
            });
        }
    }
    found
}

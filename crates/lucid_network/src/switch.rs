// SPDX-License-Identifier: Apache-2.0
//! A device that stands for a switch: the compiled program loaded and set up, control commands carried
//! out, its state as the program's globals. When packets come to it and where they go is `network`'s.

use super::globals::Globals;
use crate::deploy::{self, SwitchSetup};
use control::command::Origin;
use control::session::Session;
use control::target::{Batch, Item};
use control::{ControlError, lookup};
use device::{Device, DeviceOptions, EngineChoice};
use ir::ready::ReadyProgram;
use ir::{Bits, KeyPattern, Program};
use lucid::core::{GlobalId, GlobalKind};
use lucid_compiler::Compiled;
use lucid_reference::interpreter::State;
use lucid_reference::simulation::Setup;
use lucid_reference::simulation::commands::{CommandResult as Answered, ResolvedCommand};
use source::{Code, Diagnostic, Diagnostics, Span};
use state::{Atomicity, BoundAction, CellRange, NewEntry, Update};
use std::cell::RefCell;
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
    lowered(compiled, &[])
}

/// The same, with the probes that a run reads.
///
/// # Errors
///
/// As for [`ready`].
pub(super) fn ready_with_probes(compiled: &Compiled) -> Result<ReadyProgram, LoadError> {
    let controls: Vec<Arc<str>> = compiled.probes.controls().into_iter().map(Arc::from).collect();
    lowered(compiled, &controls)
}

fn lowered(compiled: &Compiled, probes: &[Arc<str>]) -> Result<ReadyProgram, LoadError> {
    let (typed, mut found) = (compiled.built.program.clone(), Diagnostics::new());
    ReadyProgram::lower_with_probes(typed, probes, &mut found).ok_or_else(|| {
        let first = found.iter().next().map_or("no reason given", |one| one.message.as_str());
        LoadError { switch: 0, message: format!("it does not lower: {first}") }
    })
}

/// A switch at work.
#[derive(Debug)]
pub(super) struct InstalledSwitch {
    pub(super) device: Device,
    program: Arc<lucid::core::Program>,
    /// Targets are asked by `&mut`, also about what does not change.
    globals: RefCell<Globals>,
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
    /// The device of a switch of a run, built from its device file and set up. `change` changes its options.
    pub(super) fn new(
        setup: &Setup,
        compiled: &Arc<Compiled>,
        pipeline: &Arc<Program>,
        Position { number, engine, like }: Position<'_>,
        change: &dyn Fn(&mut DeviceOptions),
    ) -> Result<InstalledSwitch, LoadError> {
        let wrong = |message: String| LoadError { switch: number, message };
        let site = SwitchSetup::of(setup, number);
        let mut options = DeviceOptions {
            engine,
            seed: setup.seed(),
            tap: true,
            ..deploy::device_options(compiled, &site)
        };
        change(&mut options);
        let device = match like {
            Some(like) => like.device.sharing_code_with(options),
            None => Device::new(pipeline.clone(), options),
        };
        let device = device.map_err(|error| wrong(error.to_string()))?;
        // As `plane emit` writes them for other controllers.
        let commands = deploy::commands(compiled, setup.program(), &site);
        let mut session = Session::new(pipeline.clone());
        let done = session.run("commands", &commands, &mut device.target());
        done.map_err(|errors| wrong(errors[0].to_string()))?;
        Ok(InstalledSwitch {
            globals: RefCell::new(Globals::new(
                compiled,
                setup.program(),
                pipeline,
                device.target(),
            )),
            device,
            program: setup.program().clone(),
            routes: site.routes.clone(),
            state: State::new(setup.program()),
        })
    }

    /// Everything as the program's globals.
    pub(super) fn state(&self) -> State {
        let mut state = self.state.clone();
        self.globals.borrow_mut().read_all(&mut state);
        state
    }

    /// The cell at an index, or the two of a pair.
    pub(super) fn cell(&self, global: GlobalId, index: u64) -> Option<Vec<u128>> {
        let cell = self.globals.borrow_mut().get(global, CellRange::one(index))?.pop()?;
        let kind = &self.program.globals[global.0 as usize].kind;
        let count = if matches!(kind, GlobalKind::PairArray { .. }) { 2 } else { 1 };
        Some(cell[..count].to_vec())
    }

    /// Runs a command of the run's specification: on the cells that it names, and on the table.
    pub(super) fn run(&mut self, command: &ResolvedCommand) -> Result<Answered, String> {
        let InstalledSwitch { globals, state, program, .. } = self;
        let globals = globals.get_mut();
        // What is beyond the end is not there.
        let range = |state: &State, array, start: u64, end: u64| {
            let length = state.cells(array).map_or(0, |cells| cells.length());
            let first = start.min(length);
            CellRange::range(first, end.min(length).saturating_sub(first))
        };
        if let ResolvedCommand::ArrayGet { array, start, end, .. } = command {
            let cells = range(state, *array, *start, *end);
            let values = globals.get(*array, cells).unwrap_or_default();
            if let Some(found) = state.cells_mut(*array) {
                for (index, values) in (cells.first..).zip(values) {
                    found.set(u128::from(index), values);
                }
            }
        }
        let answered = command.run(program, state);
        match command {
            ResolvedCommand::ArraySet { array, start, end, values } => {
                let cells = range(state, *array, *start, *end);
                let _ = globals.set(*array, cells, *values);
            }
            ResolvedCommand::TableInstall { table, .. }
            | ResolvedCommand::TableRemove { table, .. } => {
                if let (GlobalKind::Table(declared), Some(wanted)) =
                    (&program.globals[table.0 as usize].kind, state.table(*table))
                {
                    globals.write_table(*table, &declared.actions, wanted)?;
                }
            }
            ResolvedCommand::ArrayGet { .. } | ResolvedCommand::TableGet { .. } => {}
        }
        Ok(answered)
    }

    /// Replaces the entries of the forwarding table if routes have changed.
    pub(super) fn reroute(&mut self, routes: BTreeMap<u32, u32>) -> Result<(), String> {
        if routes == self.routes {
            return Ok(());
        }
        let outcome = self.device.execute(forwarding(&self.device.program(), &routes)?);
        if let Some((_, fault)) = outcome.first_fault() {
            return Err(fault.to_string());
        }
        self.routes = routes;
        Ok(())
    }
}

/// The forwarding table written anew, in one batch that packets see whole.
fn forwarding(program: &Program, routes: &BTreeMap<u32, u32>) -> Result<Batch, String> {
    let origin = Origin { file: "routes".to_string(), place: String::new() };
    let name = |error: ControlError| error.to_string();
    let table = lookup::table(program, "forward", &origin).map_err(name)?;
    let at = lookup::table_action(program, table, "forward_to", &origin).map_err(name)?;
    let declared = &program.tables[table.index()];
    let action = declared.actions[at].action;
    let port_bits = program.actions[action.index()]
        .parameters
        .first()
        .map_or(0, |parameter| program.slots[parameter.slot.index()].ty.width_bits());
    let insert = |(switch, port): (&u32, &u32)| {
        let switch = Bits::from_u64(declared.keys[0].width_bits, u64::from(*switch));
        let arguments = vec![Bits::from_u64(port_bits, u64::from(*port))];
        let action = BoundAction { action, arguments };
        let entry = NewEntry::direct(vec![KeyPattern::Exact(switch)], 0, action);
        Item::from(Update::InsertEntry { table, entry })
    };
    let clear = Item::from(Update::ClearEntries { table });
    let items = std::iter::once(clear).chain(routes.iter().map(insert));
    Ok(Batch::of(items).with(Atomicity::DataplaneAtomic))
}

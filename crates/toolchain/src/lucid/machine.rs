// SPDX-License-Identifier: Apache-2.0
//! What runs a Lucid program: the reference interpreter, or the compiled program on devices. Both tell
//! the same observations; this hides which it is.

use super::inputs::Ready;
use super::targets::ENGINE;
use super::user_p4;
use device::EngineChoice;
use frontend::{Console, Failure};
use lucid::core::GlobalId;
use lucid_compiler::{Options, compile};
use lucid_network::options::delay_options;
use lucid_network::{CompiledSimulation, Verified, check_ports, verify};
use lucid_reference::interpreter::State;
use lucid_reference::report::{Observers, Verdicts};
use lucid_reference::simulation::{Counts, Observer, Outcome, Simulation};
use source::Diagnostics;
use std::sync::Arc;

/// A run at work.
pub enum Machine {
    /// By the reference interpreter.
    Reference(Box<Simulation>),
    /// Compiled: what for, the run, and what came of comparing it with the reference interpreter if
    /// that was asked for.
    Compiled(&'static str, Box<CompiledSimulation>, Verdict),
}

/// Whether a compiled run is compared with the reference interpreter, and what came of it.
pub enum Verdict {
    /// Not compared.
    Unasked,
    /// It will be.
    Asked,
    /// It was.
    Given(Box<Verified>),
}

impl Machine {
    /// The reference interpreter.
    pub fn reference(ready: &Ready) -> Machine {
        Machine::Reference(Box::new(Simulation::new(ready.setup.clone())))
    }

    /// The compiled program. Warnings of the compiler are printed on the console, if there is one.
    pub fn compiled(
        engine: EngineChoice,
        options: Options,
        is_compared: bool,
        ready: &Ready,
        console: Option<&dyn Console>,
    ) -> Result<Machine, Failure> {
        let options = delay_options(&ready.setup, options);
        let ports = check_ports(&ready.setup);
        if ports.has_errors() {
            return Err(Failure::Found(ready.map.clone(), ports));
        }
        let compiled = compile(ready.setup.program(), &ready.map, &options).map_err(|found| {
            let help = "--engine reference runs the program without compiling it";
            let mut told = Diagnostics::new();
            for (at, one) in found.into_iter().enumerate() {
                told.push(if at == 0 { one.help(help) } else { one });
            }
            Failure::Found(user_p4::with_sources(ready.map.clone(), &options), told)
        })?;
        if let Some(console) = console {
            console.warnings(&compiled.built.map, &compiled.warnings);
            console.warnings(&compiled.built.map, &compiled.built.warnings);
        }
        let simulation = CompiledSimulation::new(ready.setup.clone(), Arc::new(compiled), engine)
            .map_err(|error| Failure::Message(error.to_string()))?;
        let verdict = if is_compared { Verdict::Asked } else { Verdict::Unasked };
        Ok(Machine::Compiled(options.target.name(), Box::new(simulation), verdict))
    }

    /// What runs, for people.
    pub fn name(&self) -> String {
        match self {
            Machine::Reference(_) => ENGINE.to_string(),
            Machine::Compiled(target, simulation, verdict) => {
                let engine = simulation.device(0).map_or("jit", |device| device.engine_name());
                let beside = match verdict {
                    Verdict::Unasked => "",
                    _ => ", beside the reference interpreter",
                };
                format!("compiled for {target}, {engine}{beside}")
            }
        }
    }

    /// What came of comparing with the reference interpreter, if that was asked for.
    pub fn judgement(&self) -> Option<Result<String, String>> {
        let Machine::Compiled(_, _, Verdict::Given(verified)) = self else { return None };
        Some(match &verified.difference {
            None => Ok(format!(
                "as the reference interpreter: {} handlers in a legal schedule, {} cells and {} \
                 packets compared{}",
                verified.schedule.dispatches.len(),
                verified.cells,
                verified.packets,
                match verified.by_user {
                    0 => String::new(),
                    passes => format!("; passes in which P4 of yours changed something: {passes}"),
                }
            )),
            Some(difference) => Err(format!(
                "the compiled program differs from the reference interpreter: {difference}; this is \
                 a mistake in Planewright, please report it with the program"
            )),
        })
    }

    fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        match self {
            Machine::Reference(simulation) => simulation.run_until(until_ps, observer),
            Machine::Compiled(_, simulation, _) => simulation.run_until(until_ps, observer),
        }
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        match self {
            Machine::Reference(simulation) => simulation.run(observer),
            Machine::Compiled(_, simulation, verdict) => match verdict {
                Verdict::Asked => {
                    let verified = verify(simulation, observer);
                    let outcome = verified.outcome.clone();
                    *verdict = Verdict::Given(Box::new(verified));
                    outcome
                }
                _ => simulation.run(observer),
            },
        }
    }

    fn switches(&self) -> u32 {
        match self {
            Machine::Reference(simulation) => simulation.setup().switches(),
            Machine::Compiled(_, simulation, _) => simulation.setup().switches(),
        }
    }

    /// Runs to the end, with a stop wherever an expectation wants to look at arrays.
    pub fn observe(
        &mut self,
        verdicts: &mut Verdicts<'_>,
        observers: &mut Observers<'_>,
    ) -> Outcome {
        for time_ps in verdicts.times() {
            let outcome = {
                let mut both = Observers::new();
                both.push(&mut *verdicts);
                both.push(&mut *observers);
                self.run_until(time_ps, &mut both)
            };
            if let Outcome::Stopped(_) = outcome {
                return outcome;
            }
            verdicts.look(time_ps, &|switch, global, index| self.cell(switch, global, index));
        }
        let mut both = Observers::new();
        both.push(&mut *verdicts);
        both.push(&mut *observers);
        self.run(&mut both)
    }

    /// The cell at an index, or the two of a pair.
    pub fn cell(&self, switch: u32, global: GlobalId, index: u64) -> Option<Vec<u128>> {
        match self {
            Machine::Reference(simulation) => {
                let cells = simulation.state(switch)?.cells(global)?;
                let cell = cells.get(index.into())?;
                Some(cell[..if cells.is_pairs() { 2 } else { 1 }].to_vec())
            }
            Machine::Compiled(_, simulation, _) => simulation.cell(switch, global, index),
        }
    }

    /// State of all switches.
    pub fn states(&self) -> Vec<State> {
        let state = |switch| match self {
            Machine::Reference(simulation) => simulation.state(switch).cloned(),
            Machine::Compiled(_, simulation, _) => simulation.state(switch),
        };
        (0..self.switches()).filter_map(state).collect()
    }

    /// Counters of all switches.
    pub fn counts(&self) -> Vec<Counts> {
        let counts = |switch| match self {
            Machine::Reference(simulation) => simulation.counts(switch),
            Machine::Compiled(_, simulation, _) => simulation.counts(switch),
        };
        (0..self.switches()).filter_map(counts).collect()
    }

    /// When the next input comes, in picoseconds.
    pub fn next_input_ps(&self) -> Option<u64> {
        match self {
            Machine::Reference(simulation) => simulation.next_input_ps(),
            Machine::Compiled(_, simulation, _) => simulation.next_input_ps(),
        }
    }

    /// What is worth telling although the run went on.
    pub fn warnings(&self) -> Diagnostics {
        match self {
            Machine::Reference(simulation) => simulation.warnings().clone(),
            Machine::Compiled(..) => Diagnostics::new(),
        }
    }
}

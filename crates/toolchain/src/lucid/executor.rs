// SPDX-License-Identifier: Apache-2.0
//! [`Executor`]: what executes a Lucid program, the reference interpreter or devices with the compiled program. Both
//! report the same observations.

use super::inputs::LucidRun;
use super::targets::{ENGINE, REFERENCE};
use super::user_p4;
use device::EngineChoice;
use frontend::{Console, Failure};
use lucid::core::GlobalId;
use lucid_compiler::{Options, compile};
use lucid_network::deploy::granularity_beyond_stamps;
use lucid_network::options::delay_options;
use lucid_network::{CompiledSimulation, Verified, check_ports, verify};
use lucid_reference::interpreter::State;
use lucid_reference::report::{Observers, Verdicts};
use lucid_reference::simulation::{Counts, Observer, Outcome, Simulation};
use lucid_reference::specification::{Expectation, Input, Run};
use source::Diagnostics;
use std::collections::VecDeque;
use std::sync::Arc;

/// Executes a program.
pub enum Executor {
    /// The reference interpreter.
    Reference(Box<Simulation>),
    /// Devices with the compiled program.
    Compiled {
        /// The name of the target.
        target: &'static str,
        /// The devices in their network.
        simulation: Box<CompiledSimulation>,
        /// The comparison with the reference interpreter.
        verification: Verification,
    },
}

/// The comparison of a compiled run with the reference interpreter.
pub enum Verification {
    /// The run is not compared.
    Off,
    /// The run will be compared.
    Pending,
    /// The run was compared.
    Done(Box<Verified>),
}

impl Executor {
    /// Creates the reference interpreter.
    pub fn reference(run: &LucidRun) -> Executor {
        Executor::Reference(Box::new(Simulation::new(run.setup.clone())))
    }

    /// Compiles the program and creates its devices. Prints warnings of the compiler on the console, if there is one.
    pub fn compiled(
        engine: EngineChoice,
        options: Options,
        verification: Verification,
        run: &LucidRun,
        console: Option<&dyn Console>,
    ) -> Result<Executor, Failure> {
        let options = delay_options(&run.setup, options);
        let ports = check_ports(&run.setup);
        if ports.has_errors() {
            return Err(Failure::Found(run.map.clone(), ports));
        }
        let place = run.setup.delay_granularity_place();
        if let Some(unfit) = granularity_beyond_stamps(&options, place) {
            let mut problems = Diagnostics::new();
            problems.push(unfit);
            return Err(Failure::Found(run.map.clone(), problems));
        }
        let compiled = compile(run.setup.program(), &run.map, &options).map_err(|found| {
            let help = "--engine reference runs the program without compiling it";
            let mut advised = Diagnostics::new();
            for (at, one) in found.into_iter().enumerate() {
                advised.push(if at == 0 { one.help(help) } else { one });
            }
            Failure::Found(user_p4::with_sources(run.map.clone(), &options), advised)
        })?;
        if let Some(console) = console {
            console.warnings(&compiled.built.map, &compiled.warnings);
            console.warnings(&compiled.built.map, &compiled.built.warnings);
        }
        let simulation = CompiledSimulation::new(run.setup.clone(), Arc::new(compiled), engine)
            .map_err(|error| Failure::Message(error.to_string()))?;
        let (target, simulation) = (options.target.name(), Box::new(simulation));
        Ok(Executor::Compiled { target, simulation, verification })
    }

    /// Returns the expectations of a specification that are for this execution.
    pub fn expectations(&self, specification: &Run) -> Vec<Expectation> {
        let execution = match self {
            Executor::Reference(_) => REFERENCE,
            Executor::Compiled { target, .. } => target,
        };
        let all = specification.expectations.iter();
        all.filter(|expectation| expectation.is_for(execution)).cloned().collect()
    }

    /// Returns the name that reports have for it.
    pub fn name(&self) -> String {
        match self {
            Executor::Reference(_) => ENGINE.to_string(),
            Executor::Compiled { target, simulation, verification } => {
                let engine = simulation.device(0).map_or("jit", |device| device.engine_name());
                let beside = match verification {
                    Verification::Off => "",
                    _ => ", beside the reference interpreter",
                };
                format!("compiled for {target}, {engine}{beside}")
            }
        }
    }

    /// Returns the result of the comparison with the reference interpreter, if the run was compared.
    pub fn comparison(&self) -> Option<Result<String, String>> {
        let Executor::Compiled { verification: Verification::Done(verified), .. } = self else {
            return None;
        };
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

    /// Returns the time in picoseconds at which the comparison ended the run; `None` if the run went on to its end.
    pub fn stopped_by_difference_ps(&self) -> Option<u64> {
        let Executor::Compiled { simulation, verification: Verification::Done(verified), .. } =
            self
        else {
            return None;
        };
        let is_early = simulation.now_ps() < simulation.setup().max_time_ps();
        (verified.difference.is_some() && is_early).then(|| simulation.now_ps())
    }

    fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        match self {
            Executor::Reference(simulation) => simulation.run_until(until_ps, observer),
            Executor::Compiled { simulation, .. } => simulation.run_until(until_ps, observer),
        }
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        match self {
            Executor::Reference(simulation) => simulation.run(observer),
            Executor::Compiled { simulation, verification, .. } => match verification {
                Verification::Pending => {
                    let verified = verify(simulation, observer);
                    let outcome = verified.outcome.clone();
                    *verification = Verification::Done(Box::new(verified));
                    outcome
                }
                _ => simulation.run(observer),
            },
        }
    }

    fn switches(&self) -> u32 {
        match self {
            Executor::Reference(simulation) => simulation.setup().switches(),
            Executor::Compiled { simulation, .. } => simulation.setup().switches(),
        }
    }

    /// Runs to the end and stops at each time at which an expectation reads arrays.
    pub fn observe(
        &mut self,
        verdicts: &mut Verdicts<'_>,
        observers: &mut Observers<'_>,
    ) -> Outcome {
        let mut times = verdicts.times().into();
        self.advance(None, &mut times, verdicts, observers)
    }

    /// Runs until a time, included, or to the end; stops at those of the times at which expectations read arrays, and
    /// removes them.
    pub fn advance(
        &mut self,
        until_ps: Option<u64>,
        times: &mut VecDeque<u64>,
        verdicts: &mut Verdicts<'_>,
        observers: &mut Observers<'_>,
    ) -> Outcome {
        let is_before = |time_ps: &u64| until_ps.is_none_or(|until_ps| *time_ps <= until_ps);
        while let Some(time_ps) = times.front().copied().filter(is_before) {
            times.pop_front();
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
        match until_ps {
            Some(until_ps) => self.run_until(until_ps, &mut both),
            None => self.run(&mut both),
        }
    }

    /// Adds an input while the run goes on.
    ///
    /// # Errors
    ///
    /// The input names something that the program or the network does not have.
    pub fn inject(&mut self, input: &Input) -> Result<(), Diagnostics> {
        match self {
            Executor::Reference(simulation) => simulation.inject(input),
            Executor::Compiled { simulation, .. } => simulation.inject(input),
        }
    }

    /// Returns the cell at an index, or both cells of a pair.
    pub fn cell(&self, switch: u32, global: GlobalId, index: u64) -> Option<Vec<u128>> {
        match self {
            Executor::Reference(simulation) => {
                let cells = simulation.state(switch)?.cells(global)?;
                let cell = cells.get(index.into())?;
                Some(cell[..if cells.is_pairs() { 2 } else { 1 }].to_vec())
            }
            Executor::Compiled { simulation, .. } => simulation.cell(switch, global, index),
        }
    }

    /// Returns the state of all switches.
    pub fn states(&self) -> Vec<State> {
        let state = |switch| match self {
            Executor::Reference(simulation) => simulation.state(switch).cloned(),
            Executor::Compiled { simulation, .. } => simulation.state(switch),
        };
        (0..self.switches()).filter_map(state).collect()
    }

    /// Returns the counters of all switches.
    pub fn counts(&self) -> Vec<Counts> {
        let counts = |switch| match self {
            Executor::Reference(simulation) => simulation.counts(switch),
            Executor::Compiled { simulation, .. } => simulation.counts(switch),
        };
        (0..self.switches()).filter_map(counts).collect()
    }

    /// Returns the time of the next input, in picoseconds.
    pub fn next_input_ps(&self) -> Option<u64> {
        match self {
            Executor::Reference(simulation) => simulation.next_input_ps(),
            Executor::Compiled { simulation, .. } => simulation.next_input_ps(),
        }
    }

    /// Returns warnings of the run so far.
    pub fn warnings(&self) -> Diagnostics {
        match self {
            Executor::Reference(simulation) => simulation.warnings().clone(),
            Executor::Compiled { simulation, .. } => simulation.warnings().clone(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What runs a Lucid program: the reference interpreter, or the compiled program on devices. Both tell
//! the same observations; this hides which it is.

use lucid::compiled::CompiledSimulation;
use lucid::core::GlobalId;
use lucid::interpreter::State;
use lucid::report::{Observers, Verdicts};
use lucid::simulation::{Counts, Observer, Outcome, Simulation};
use source::Diagnostics;

/// A run at work.
pub enum Machine {
    /// By the reference interpreter.
    Reference(Box<Simulation>),
    /// Compiled.
    Compiled(Box<CompiledSimulation>),
}

impl Machine {
    fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        match self {
            Machine::Reference(simulation) => simulation.run_until(until_ps, observer),
            Machine::Compiled(simulation) => simulation.run_until(until_ps, observer),
        }
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        match self {
            Machine::Reference(simulation) => simulation.run(observer),
            Machine::Compiled(simulation) => simulation.run(observer),
        }
    }

    fn switches(&self) -> u32 {
        match self {
            Machine::Reference(simulation) => simulation.setup().switches(),
            Machine::Compiled(simulation) => simulation.setup().switches(),
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
            Machine::Compiled(simulation) => simulation.cell(switch, global, index),
        }
    }

    /// State of all switches.
    pub fn states(&self) -> Vec<State> {
        let state = |switch| match self {
            Machine::Reference(simulation) => simulation.state(switch).cloned(),
            Machine::Compiled(simulation) => simulation.state(switch),
        };
        (0..self.switches()).filter_map(state).collect()
    }

    /// Counters of all switches.
    pub fn counts(&self) -> Vec<Counts> {
        let counts = |switch| match self {
            Machine::Reference(simulation) => simulation.counts(switch),
            Machine::Compiled(simulation) => simulation.counts(switch),
        };
        (0..self.switches()).filter_map(counts).collect()
    }

    /// What is worth telling although the run went on.
    pub fn warnings(&self) -> Diagnostics {
        match self {
            Machine::Reference(simulation) => simulation.warnings().clone(),
            Machine::Compiled(_) => Diagnostics::new(),
        }
    }
}

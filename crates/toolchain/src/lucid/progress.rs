// SPDX-License-Identifier: Apache-2.0
//! [`ProgressDisplay`]: how far a run has come, on the terminal, and advice for runs that are slow because events that wait
//! go round.

use super::inputs::LucidRun;
use frontend::{Console, Spinner, Work, count};
use lucid_reference::simulation::{Observation, Observer, Progress};
use source::quantity::in_largest_unit;

/// Rounds from which on the advice is worth the user's time: about a second.
const MANY_ROUNDS: u64 = 1_000_000;

/// Shows progress until it is dropped.
pub struct ProgressDisplay {
    spinner: Box<dyn Spinner>,
    /// The end of the run, as text; empty if it has none.
    end: String,
    /// Whether events wait by going round because the run has no delay granularity.
    has_no_granularity: bool,
    last: Progress,
}

impl ProgressDisplay {
    /// Shows nothing before the first progress.
    pub fn new(run: &LucidRun, console: &dyn Console) -> ProgressDisplay {
        let end = match run.setup.max_time_ps() {
            u64::MAX => String::new(),
            end_ps => format!(" of {}", in_largest_unit(end_ps)),
        };
        ProgressDisplay {
            spinner: console.spinner(Work::Simulation, console.is_quiet()),
            end,
            has_no_granularity: run.setup.delay_granularity_ps() == 0,
            last: Progress::default(),
        }
    }

    /// What makes the run faster, if it sends many events round.
    pub fn advice(&self) -> Option<&'static str> {
        let Progress { handled, rounds, .. } = self.last;
        let is_slow = rounds >= MANY_ROUNDS && rounds / 8 >= handled;
        (is_slow && self.has_no_granularity).then_some(
            "events that waited went round by the recirculation port until they were due; the run is \
             faster with a `delay granularity` in its specification",
        )
    }
}

impl Observer for ProgressDisplay {
    fn wants(&self) -> bool {
        false
    }

    fn observe(&mut self, _: Observation) {}

    fn progress(&mut self, progress: Progress) {
        self.last = progress;
        let Progress { time_ps, handled, rounds } = progress;
        // Whole microseconds are enough for the eye.
        let time = in_largest_unit(time_ps / 1_000_000 * 1_000_000);
        let rounds = match rounds {
            0 => String::new(),
            rounds => format!(", {}", count(rounds, "round")),
        };
        let handlers = count(handled, "handler");
        self.spinner.set_message(format!("{time}{}, {handlers}{rounds}", self.end));
    }
}

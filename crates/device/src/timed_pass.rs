// SPDX-License-Identifier: Apache-2.0
//! Passes that take time: each waits, as an event, for its next stage and for its end, and owns all it needs,
//! so configuration and cells are read as they are at each moment. At equal times passes go on in the order
//! in which they began.

use crate::engine::{Engine, Runner};
use crate::environment::BlockEnvironment;
use crate::machine::{Event, Machine};
use crate::output::DeviceError;
use crate::pass::{Half, Pass};
use crate::trace::PassId;
use crate::traffic_manager::OutputPath;
use interpreter::trace::Recorder;
use interpreter::{BlockRun, Observer, Progress, StopAfter};
use std::cell::Cell;

/// A pass under way.
#[derive(Debug)]
pub(crate) struct TimedPass {
    pass: Pass,
    began_ps: u64,
    order: u64,
    /// The block that runs, by its place in the half; past the last one when all have run.
    at: usize,
    /// How far the block has come.
    run: Option<BlockRun>,
    recorder: Option<Recorder>,
}

impl TimedPass {
    /// Its number in the order in which passes began.
    pub fn order(&self) -> u64 {
        self.order
    }
}

impl Engine {
    /// Begins a pass that takes time: what happens at this time already is an event like the rest, behind
    /// those of passes that began before.
    pub(crate) fn begin_timed(&mut self, machine: &mut Machine, pass: Pass) {
        if let Half::Egress(departure) = pass.half {
            // The wire is idle until the packet is there, but this much of its time is taken.
            let length = u64::from(pass.packet.length_bytes);
            machine.traffic.reserve(OutputPath::Port(departure.port), length, machine.now_ps);
        }
        let order = machine.next_sequence();
        let began_ps = machine.now_ps;
        let timed = TimedPass { pass, began_ps, order, at: 0, run: None, recorder: None };
        self.wait(machine, began_ps, timed);
    }

    fn wait(&mut self, machine: &mut Machine, until_ps: u64, timed: TimedPass) {
        self.in_flight += 1;
        machine.schedule(until_ps, Event::Pass(self.generation, Box::new(timed)));
    }

    /// Goes on with a pass, as far as this moment reaches.
    pub(crate) fn resume_timed(
        &mut self,
        machine: &mut Machine,
        mut timed: TimedPass,
    ) -> Result<(), DeviceError> {
        let now_ps = machine.now_ps;
        if let Some(tap) = &mut machine.tap {
            tap.at(timed.pass.run.packet, timed.pass.run.pass_number);
        }
        let architecture = self.architecture.clone();
        while let Some(&block) = architecture.blocks(timed.pass.half).get(timed.at) {
            let outcome = match self.run_until_now(machine, &mut timed, block) {
                Progress::Stopped { stage } => {
                    let Some(schedule) = &self.schedule else { return Ok(()) };
                    let until_ps = timed.began_ps.saturating_add(schedule.timing.offset_ps(stage));
                    self.wait(machine, until_ps, timed);
                    return Ok(());
                }
                Progress::Ended(outcome) => outcome,
            };
            timed.run = None;
            let run = timed.pass.run;
            self.record(machine, block, &run, timed.recorder.take());
            self.end(machine, block, &outcome, &run)?;
            match architecture.after_block(self, machine, timed.pass, block, &outcome) {
                Some(pass) => timed.pass = pass,
                None => return Ok(()),
            }
            timed.at += 1;
        }
        let end_ps = timed.began_ps.saturating_add(self.duration_ps(timed.pass.half));
        if end_ps > now_ps {
            self.wait(machine, end_ps, timed);
            return Ok(());
        }
        let view = self.view();
        architecture.finish(self, machine, &view, timed.pass)
    }

    /// Runs a block of a pass through all stages that have begun.
    fn run_until_now(
        &mut self,
        machine: &mut Machine,
        timed: &mut TimedPass,
        block: usize,
    ) -> Progress {
        let (Runner::Interpreter(interpreter), Some(schedule)) = (&self.runner, &self.schedule)
        else {
            unreachable!("passes take time on the interpreter only")
        };
        let elapsed_ps = machine.now_ps - timed.began_ps;
        let stop = StopAfter {
            moments: &schedule.half(timed.pass.half).moments[timed.at],
            stage: schedule.timing.stage_after(elapsed_ps),
        };
        let is_recorded = timed.pass.run.pass.is_some_and(PassId::is_kept);
        if is_recorded && timed.recorder.is_none() {
            timed.recorder = Some(self.recorder());
        }
        if let Some(recorder) = &mut timed.recorder {
            recorder.set_time_ps(Some(machine.now_ps));
        }
        let (clock, run) = (Cell::new(machine.now_ps), Cell::new(timed.pass.run));
        interpreter.resume(
            timed.run.get_or_insert_with(|| BlockRun::new(block)),
            Some(stop),
            &mut timed.pass.packet.context,
            &self.store.configuration(),
            &mut self.cells,
            &mut BlockEnvironment::of_one(machine, &clock, &run),
            timed.recorder.as_mut().map(|recorder| recorder as &mut dyn Observer),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_under_way_are_owned_and_can_be_sent() {
        fn is_owned_and_sendable<T: Send + 'static>() {}
        is_owned_and_sendable::<TimedPass>();
    }
}

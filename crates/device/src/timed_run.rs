// SPDX-License-Identifier: Apache-2.0
//! Runs timed passes. A pass waits, as an event, for its next stage or its end, and reads configuration and cells as they
//! are at each moment. At equal times passes continue in the order of their begin.

use crate::engine::{BlockOutputs, Engine};
use crate::event::Event;
use crate::loaded_program::LoadedProgram;
use crate::output::DeviceError;
use crate::pass::{Half, Pass};
use crate::switch_core::SwitchCore;
use crate::timed_pass::TimedPass;
use crate::wire::OutputPath;
use interpreter::{BlockRun, Observer, Progress, StopAfter};
use std::cell::Cell;

impl LoadedProgram {
    /// Begins a timed pass. Its first moment is an event at the current time, after those of earlier passes.
    pub(crate) fn begin_timed(&mut self, core: &mut SwitchCore, pass: Pass) {
        if let Half::Egress(departure) = pass.half {
            // The wire is idle until the packet reaches it, but its transmission time is reserved.
            let length = u64::from(pass.packet.length_bytes);
            core.traffic.reserve(OutputPath::Port(departure.port), length, core.now_ps);
        }
        let order = core.next_sequence();
        let began_ps = pass.began_ps;
        let timed = TimedPass { pass, order, run: None, recorder: None };
        self.wait(core, began_ps, timed);
    }

    fn wait(&mut self, core: &mut SwitchCore, until_ps: u64, timed: TimedPass) {
        self.membership.in_flight += 1;
        core.schedule(until_ps, Event::Pass { program: self.id(), pass: Box::new(timed) });
    }

    /// Continues a pass through the stages that have begun.
    pub(crate) fn resume_timed(
        &mut self,
        core: &mut SwitchCore,
        mut timed: TimedPass,
    ) -> Result<(), DeviceError> {
        let now_ps = core.now_ps;
        let info = timed.pass.run;
        if let Some(tap) = &mut core.tap {
            tap.set_pass(info.packet, info.pass_number);
        }
        while let Some(block) = timed.pass.next_block() {
            let outcome = match self.run_until_now(core, &mut timed, block) {
                Progress::Stopped { stage } => {
                    let Some(schedule) = &self.schedule else { return Ok(()) };
                    let offset_ps = schedule.timing.offset_ps(stage);
                    let until_ps = timed.pass.began_ps.saturating_add(offset_ps);
                    self.wait(core, until_ps, timed);
                    return Ok(());
                }
                Progress::Ended(outcome) => outcome,
            };
            timed.run = None;
            let runner = &self.executor.runner;
            if let Some(recorder) = timed.recorder.take() {
                let (trees, last_store) = runner.trace_of(block, recorder);
                core.add_trace(info.pass, trees, last_store);
            }
            let (dropped, error) = runner.consequences(block, &outcome, &info, now_ps);
            if let Some(reason) = dropped {
                timed.pass.end(reason);
            }
            self.executor.architecture.after_block(&mut timed.pass, block, &outcome, now_ps);
            if error.is_some() || timed.pass.is_ended() {
                let finished = self.finish(core, timed.pass);
                return error.map_or(finished, Err);
            }
            timed.pass.blocks_run += 1;
        }
        let end_ps = timed.pass.began_ps.saturating_add(self.duration_ps(timed.pass.half));
        if end_ps > now_ps {
            self.wait(core, end_ps, timed);
            return Ok(());
        }
        timed.pass.view = Some(self.view());
        self.finish(core, timed.pass)
    }

    /// Runs a block of a pass through all stages that have begun.
    fn run_until_now(
        &mut self,
        core: &mut SwitchCore,
        timed: &mut TimedPass,
        block: usize,
    ) -> Progress {
        let runner = &mut self.executor.runner;
        let TimedPass { pass, run, recorder, .. } = timed;
        if recorder.is_none() {
            *recorder = runner.recorder(&pass.run);
        }
        let random = runner.random();
        let (Engine::Interpreter(interpreter), Some(schedule)) = (&runner.engine, &self.schedule)
        else {
            unreachable!("passes take time on the interpreter only")
        };
        let now_ps = core.now_ps;
        let stop = StopAfter {
            moments: &schedule.half(pass.gress()).moments[pass.blocks_run],
            stage: schedule.timing.stage_after(now_ps - pass.began_ps),
        };
        if let Some(recorder) = recorder {
            recorder.set_time_ps(Some(now_ps));
        }
        let (clock, info) = (Cell::new(now_ps), Cell::new(pass.run));
        let outputs = BlockOutputs { now_ps, log: &mut core.log, tap: core.tap.as_mut() };
        interpreter.resume(
            run.get_or_insert_with(|| BlockRun::new(block)),
            Some(stop),
            &mut pass.packet.context,
            &self.store.configuration(),
            &mut runner.cells,
            &mut random.environment(&clock, &info, outputs),
            recorder.as_mut().map(|recorder| recorder as &mut dyn Observer),
        )
    }
}

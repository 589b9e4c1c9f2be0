// SPDX-License-Identifier: Apache-2.0
//! [`SwitchRun`]: a device whose halves run on machines of several pipelines, in simulated time. The device begins passes,
//! a machine runs their stages cycle by cycle, and the device finishes each pass in the cycle in which it leaves the last
//! stage. What a finish sends back to ingress is a new arrival. Each half is judged against one pipeline.

use crate::checker::Checker;
use crate::design::Design;
use crate::device_pipeline::{DevicePipeline, StagedPass};
use crate::device_work::DeviceWork;
use crate::judge::{End, SingleRun, Verdict};
use crate::machine::outcome::{Arrival, Cause, Departure, Dropped, Left, Outcome};
use crate::machine::{AnyMachine, Settings};
use crate::packet_fields::PacketOptions;
use crate::staged::StagedControl;
use crate::work::{Group, Work};
use device::{CallerPasses, Device, DeviceError, DropReason, Gress, LoadError, Pass};
use state::Cells;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The time of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleClock {
    /// The beginning of cycle 0, in picoseconds.
    pub origin_ps: u64,
    /// The length of a cycle, in picoseconds, at least 1.
    pub period_ps: u64,
}

impl CycleClock {
    /// Returns the cycle at a time.
    fn cycle_at(self, time_ps: u64) -> u64 {
        time_ps.saturating_sub(self.origin_ps) / self.period_ps
    }

    /// Returns the end of a cycle, in picoseconds.
    fn end_ps(self, cycle: u64) -> u64 {
        self.origin_ps.saturating_add(cycle.saturating_add(1).saturating_mul(self.period_ps))
    }
}

/// The machine of a half.
#[derive(Clone, Debug)]
pub struct HalfPlan {
    /// The control in stages, of the device's program.
    pub control: Arc<StagedControl>,
    /// The design.
    pub design: Design,
    /// Its size.
    pub settings: Settings,
    /// What is done with packets beside the program.
    pub options: PacketOptions,
}

/// What a half did.
#[derive(Debug)]
pub struct HalfOutcome {
    /// The number of pipelines.
    pub pipelines: usize,
    /// The machine's outcome, without its packets.
    pub outcome: Outcome<()>,
    /// What differs from one pipeline.
    pub verdict: Verdict,
    /// Rules of the machine that are broken, in words.
    pub violations: Vec<String>,
    /// The cells of the program that the control accesses, counters summed.
    pub cells: Cells,
    /// The cycles of arrivals.
    pub arrivals: Vec<u64>,
    /// The number of accesses of each cell on one pipeline, by group.
    pub counts: Vec<Vec<u64>>,
    /// The groups.
    pub groups: Vec<Group>,
}

/// A device with machines.
pub struct SwitchRun {
    device: Device,
    ingress: Half,
    egress: Option<Half>,
    clock: CycleClock,
    cycle: u64,
}

impl SwitchRun {
    /// Puts machines into a device before its first packet. The device's program is that of the controls in stages. Without a
    /// plan for egress the device runs it.
    ///
    /// # Errors
    ///
    /// The device has another program.
    pub fn new(
        mut device: Device,
        clock: CycleClock,
        ingress: HalfPlan,
        egress: Option<HalfPlan>,
    ) -> Result<SwitchRun, LoadError> {
        device.give_passes(CallerPasses { ingress: true, egress: egress.is_some() });
        let ingress = Half::new(&device, ingress)?;
        let egress = egress.map(|plan| Half::new(&device, plan)).transpose()?;
        Ok(SwitchRun { device, ingress, egress, clock, cycle: 0 })
    }

    /// Returns the device, for what it has sent.
    pub fn device(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Runs everything before a packet's arrival at a port, and lets it enter. Packets come in the order of time and port.
    ///
    /// # Errors
    ///
    /// What stops the device or a pass.
    pub fn arrive(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<(), DeviceError> {
        self.advance(time_ps)?;
        self.device.inject(port, time_ps, bytes)?;
        self.advance_in_cycle(time_ps)
    }

    /// Runs until a time.
    ///
    /// # Errors
    ///
    /// What stops the device or a pass.
    pub fn advance(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        while self.clock.end_ps(self.cycle) <= until_ps {
            if self.is_empty() {
                let next_ps = self.device.next_event_ps().unwrap_or(until_ps).min(until_ps);
                let next = self.clock.cycle_at(next_ps);
                if next > self.cycle {
                    self.cycle = next;
                    continue;
                }
            }
            self.run_cycle()?;
        }
        self.advance_in_cycle(until_ps)
    }

    /// Runs until no packet moves any more, or until a time. What is in a machine then passes the remaining stages for the
    /// judge only.
    ///
    /// # Errors
    ///
    /// What stops the device or a pass.
    pub fn complete(&mut self, until_ps: Option<u64>) -> Result<(), DeviceError> {
        if let Some(until_ps) = until_ps {
            self.advance(until_ps)?;
            let halves = [&mut self.ingress].into_iter().chain(&mut self.egress);
            return halves.into_iter().try_for_each(Half::drain);
        }
        loop {
            if self.is_empty() {
                match self.device.next_event_ps().filter(|_| self.device.has_work()) {
                    Some(next_ps) => self.cycle = self.cycle.max(self.clock.cycle_at(next_ps)),
                    None => return Ok(()),
                }
            }
            let moved = self.run_cycle()?;
            if !moved && !self.device.has_work() && !self.is_waiting() {
                return Ok(());
            }
        }
    }

    /// Ends the run: the device, ingress, and egress if a machine ran it.
    pub fn finish(self) -> (Device, HalfOutcome, Option<HalfOutcome>) {
        (self.device, self.ingress.finish(), self.egress.map(Half::finish))
    }

    fn is_empty(&self) -> bool {
        self.halves().all(|half| half.machine.is_empty())
    }

    /// Says whether packets wait in front of a machine.
    fn is_waiting(&self) -> bool {
        self.halves().any(|half| half.machine.is_waiting())
    }

    fn halves(&self) -> impl Iterator<Item = &Half> {
        [&self.ingress].into_iter().chain(&self.egress)
    }

    /// Runs the rest of a cycle: events of the device, the stages, and finishes of passes. Says whether anything moved in a machine.
    fn run_cycle(&mut self) -> Result<bool, DeviceError> {
        let end_ps = self.clock.end_ps(self.cycle);
        self.advance_in_cycle(end_ps - 1)?;
        let mut has_moved = false;
        let mut done = Vec::new();
        for half in [&mut self.ingress].into_iter().chain(&mut self.egress) {
            has_moved |= half.step(self.cycle, &mut done)?;
        }
        self.cycle += 1;
        self.advance_in_cycle(end_ps)?;
        for pass in done {
            self.device.finish(pass)?;
        }
        self.advance_in_cycle(end_ps)?;
        Ok(has_moved)
    }

    /// Runs the events of the device until a time in the current cycle. Passes that begin arrive in this cycle.
    fn advance_in_cycle(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        self.device.advance(until_ps.max(self.device.now_ps()))?;
        for pass in self.device.take_passes() {
            let half = match (pass.gress(), &mut self.egress) {
                (Gress::Egress, Some(egress)) => egress,
                _ => &mut self.ingress,
            };
            half.take(pass, self.cycle)?;
        }
        Ok(())
    }
}

/// A half of the device: its machine, and the pipeline that it is compared with.
struct Half {
    work: DeviceWork,
    machine: AnyMachine<StagedPass>,
    checker: Checker,
    has_order: bool,
    /// The program on one pipeline.
    single: DeviceWork,
    single_run: SingleRun,
    /// Packets in the machine as they left one pipeline; nothing for those that the program dropped there.
    expected: BTreeMap<u64, Option<StagedPass>>,
    verdict: Verdict,
    arrivals: Vec<u64>,
    departures: Vec<Departure<()>>,
    dropped: Vec<Dropped<()>>,
}

impl Half {
    fn new(device: &Device, plan: HalfPlan) -> Result<Half, LoadError> {
        let HalfPlan { control, design, settings, options } = plan;
        let pipeline = DevicePipeline::new(device, control)?;
        let single = DeviceWork::new(pipeline.another(), 1).with_options(&options);
        let work = DeviceWork::new(pipeline, settings.pipelines).with_options(&options);
        let mut checker = Checker::default();
        Ok(Half {
            machine: AnyMachine::new(&work, settings, &design, &mut checker),
            work,
            checker,
            has_order: design.has_phantoms,
            single_run: SingleRun::new(&single),
            single,
            expected: BTreeMap::new(),
            verdict: Verdict::default(),
            arrivals: Vec::new(),
            departures: Vec::new(),
            dropped: Vec::new(),
        })
    }

    /// Takes a pass that begins in a cycle.
    fn take(&mut self, pass: Pass, cycle: u64) -> Result<(), DeviceError> {
        if self.machine.is_empty() {
            self.machine.skip_to(cycle, &mut self.work, &mut self.checker);
        }
        let packet = self.work.pipelines()[0].enter(pass)?;
        let expected = self.single_run.run(&mut self.single, packet.clone());
        self.expected.insert(self.arrivals.len() as u64, expected);
        self.arrivals.push(cycle);
        let port = packet.pass.egress_port().unwrap_or(packet.pass.ingress_port());
        self.machine.offer(Arrival { cycle, port, packet });
        self.single.take_failure().map_or(Ok(()), Err)
    }

    /// Runs a cycle. Appends the passes that leave, in the order of their arrival. Says whether anything moved.
    fn step(&mut self, cycle: u64, done: &mut Vec<Pass>) -> Result<bool, DeviceError> {
        if self.machine.is_empty() {
            return Ok(false);
        }
        debug_assert_eq!(self.machine.cycle(), cycle);
        let has_moved = self.machine.step(&mut self.work, &mut self.checker);
        if let Some(error) = self.work.take_failure() {
            return Err(error);
        }
        let Left { departures, dropped } = self.machine.take_left();
        let mut left: Vec<(u64, StagedPass)> = Vec::new();
        for departure in departures {
            self.judge(departure.sequence, &End::Left(&departure));
            let Departure { sequence, cycle, is_marked, packet } = departure;
            self.departures.push(Departure { sequence, cycle, is_marked, packet: () });
            left.push((sequence, packet));
        }
        for Dropped { sequence, cycle, stage, cause, mut packet } in dropped {
            let end = match cause {
                Cause::Program => End::Dropped,
                Cause::FullRing | Cause::Starvation => End::Lost,
            };
            self.judge(sequence, &end);
            self.dropped.push(Dropped { sequence, cycle, stage, cause, packet: () });
            packet.pass.end(DropReason::StageQueue);
            left.push((sequence, packet));
        }
        left.sort_by_key(|(sequence, _)| *sequence);
        for (_, packet) in left {
            done.push(self.work.pipelines()[0].leave(packet)?);
        }
        Ok(has_moved)
    }

    /// Runs until the machine is empty or nothing moves in it.
    fn drain(&mut self) -> Result<(), DeviceError> {
        while !self.machine.is_empty() {
            let cycle = self.machine.cycle();
            if !self.step(cycle, &mut Vec::new())? && !self.machine.is_waiting() {
                break;
            }
        }
        Ok(())
    }

    fn judge(&mut self, sequence: u64, end: &End<'_, StagedPass>) {
        let expected = self.expected.remove(&sequence).flatten();
        self.verdict.add_packet((&self.work, &mut self.single), sequence, end, expected.as_ref());
    }

    fn finish(mut self) -> HalfOutcome {
        for sequence in std::mem::take(&mut self.expected).into_keys() {
            self.judge(sequence, &End::Lost);
        }
        let groups = self.work.groups().to_vec();
        let Outcome { accesses, map, measures, .. } = self.machine.finish();
        let expected = self.single_run.accesses;
        let mut verdict = self.verdict;
        verdict.finish((&self.work, &self.single), &map, (&accesses, &expected));
        let cells = self.work.cells(&map);
        verdict.has_other_counts = !cells.has_counts_of(self.single.pipelines()[0].cells());
        // Designs without phantoms break the order of accesses on purpose, and those without crossbars tell nothing.
        let violations = if self.has_order { self.checker.finish() } else { Vec::new() };
        let violations = violations
            .into_iter()
            .map(|violation| format!("cycle {}: {}", violation.cycle, violation.message));
        HalfOutcome {
            pipelines: self.work.pipelines().len(),
            counts: crate::judge::counts(&expected, &groups),
            verdict,
            violations: violations.collect(),
            cells,
            arrivals: self.arrivals,
            groups,
            outcome: Outcome {
                departures: self.departures,
                dropped: self.dropped,
                accesses,
                map,
                measures,
            },
        }
    }
}

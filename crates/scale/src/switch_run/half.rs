// SPDX-License-Identifier: Apache-2.0
//! [`Half`]: ingress or egress of a device on a machine, beside the pipeline that it is compared with.

use crate::checker::Checker;
use crate::controlled_work::{Carried, CellAccess, CellValue, ControlledWork};
use crate::design::Design;
use crate::device_pipeline::{DevicePipeline, StagedPass};
use crate::device_work::DeviceWork;
use crate::judge::{End, SingleRun, Verdict};
use crate::machine::outcome::{Arrival, Cause, Departure, Dropped, Left, Outcome};
use crate::machine::{AnyMachine, Settings};
use crate::packet_fields::PacketOptions;
use crate::staged::StagedControl;
use crate::work::{Group, Work};
use device::{Device, DeviceError, DropReason, LoadError, Pass};
use ir::effects::Location;
use state::Cells;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// The number of reads and of writes of cells by the control plane, among the arrivals.
    pub control: [u64; 2],
}

/// A half of the device: its machine, and the pipeline that it is compared with.
pub(super) struct Half {
    work: ControlledWork,
    pub machine: AnyMachine<Carried>,
    checker: Checker,
    has_order: bool,
    /// The program on one pipeline.
    single: ControlledWork,
    single_run: SingleRun,
    /// Packets in the machine as they left one pipeline; nothing for those that the program dropped there.
    expected: BTreeMap<u64, Option<Carried>>,
    verdict: Verdict,
    arrivals: Vec<u64>,
    /// Reads and writes of the control plane.
    control: [u64; 2],
    /// Accesses of the control plane that have ended.
    ended: Vec<CellAccess>,
    departures: Vec<Departure<()>>,
    dropped: Vec<Dropped<()>>,
}

impl Half {
    pub fn new(device: &Device, plan: HalfPlan) -> Result<Half, LoadError> {
        let HalfPlan { control, design, settings, options } = plan;
        let pipeline = DevicePipeline::new(device, control)?;
        let single = DeviceWork::new(pipeline.another(), 1).with_options(&options);
        let single = ControlledWork(single);
        let work = DeviceWork::new(pipeline, settings.pipelines).with_options(&options);
        let work = ControlledWork(work);
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
            control: [0; 2],
            ended: Vec::new(),
            departures: Vec::new(),
            dropped: Vec::new(),
        })
    }

    /// Returns an access of a cell by the control plane, if the half keeps the object's cells in one pipeline each.
    pub fn cell_access(
        &mut self,
        cell: (Location, u64),
        written: Option<CellValue>,
        time_ps: u64,
    ) -> Option<CellAccess> {
        let control = self.work.0.pipelines()[0].control();
        CellAccess::new(control, cell, written, time_ps)
    }

    /// Takes the accesses of the control plane that have ended since the last call, lost ones among them.
    pub fn take_ended(&mut self) -> Vec<CellAccess> {
        std::mem::take(&mut self.ended)
    }

    /// Takes a pass that begins in a cycle.
    pub fn take(&mut self, pass: Pass, cycle: u64) -> Result<(), DeviceError> {
        let packet = self.work.0.pipelines()[0].enter(pass)?;
        let port = packet.pass.egress_port().unwrap_or(packet.pass.ingress_port());
        self.offer(Carried::Pass(Box::new(packet)), port, cycle);
        self.single.0.take_failure().map_or(Ok(()), Err)
    }

    /// Lets a packet or a write arrive in a cycle, here and at the pipeline that the half is compared with.
    pub fn offer(&mut self, packet: Carried, port: u32, cycle: u64) {
        if self.machine.is_empty() {
            self.machine.skip_to(cycle, &mut self.work, &mut self.checker);
        }
        if let Carried::Cell(cell) = &packet {
            self.control[usize::from(cell.writes())] += 1;
        }
        let expected = self.single_run.run(&mut self.single, packet.clone());
        self.expected.insert(self.arrivals.len() as u64, expected);
        self.arrivals.push(cycle);
        self.machine.offer(Arrival { cycle, port, packet });
    }

    /// Runs a cycle. Appends the passes that leave, in the order of their arrival. Says whether anything moved.
    pub fn step(&mut self, cycle: u64, done: &mut Vec<Pass>) -> Result<bool, DeviceError> {
        if self.machine.is_empty() {
            return Ok(false);
        }
        debug_assert_eq!(self.machine.cycle(), cycle);
        let has_moved = self.machine.step(&mut self.work, &mut self.checker);
        if let Some(error) = self.work.0.take_failure() {
            return Err(error);
        }
        let Left { departures, dropped } = self.machine.take_left();
        let mut left: Vec<(u64, StagedPass)> = Vec::new();
        for departure in departures {
            self.judge(departure.sequence, &End::Left(&departure));
            let Departure { sequence, cycle, is_marked, packet } = departure;
            self.departures.push(Departure { sequence, cycle, is_marked, packet: () });
            match packet {
                Carried::Pass(pass) => left.push((sequence, *pass)),
                Carried::Cell(cell) => self.ended.push(*cell),
            }
        }
        for Dropped { sequence, cycle, stage, cause, packet } in dropped {
            let end = match cause {
                Cause::Program => End::Dropped,
                Cause::FullRing | Cause::Starvation => End::Lost,
            };
            self.judge(sequence, &end);
            self.dropped.push(Dropped { sequence, cycle, stage, cause, packet: () });
            match packet {
                Carried::Pass(mut packet) => {
                    packet.pass.end(DropReason::StageQueue);
                    left.push((sequence, *packet));
                }
                Carried::Cell(mut cell) => {
                    cell.is_lost = true;
                    self.ended.push(*cell);
                }
            }
        }
        left.sort_by_key(|(sequence, _)| *sequence);
        for (_, packet) in left {
            done.push(*self.work.0.pipelines()[0].leave(packet)?);
        }
        Ok(has_moved)
    }

    /// Runs until the machine is empty or nothing moves in it.
    pub fn drain(&mut self) -> Result<(), DeviceError> {
        while !self.machine.is_empty() {
            let cycle = self.machine.cycle();
            if !self.step(cycle, &mut Vec::new())? && !self.machine.is_waiting() {
                break;
            }
        }
        Ok(())
    }

    fn judge(&mut self, sequence: u64, end: &End<'_, Carried>) {
        let expected = self.expected.remove(&sequence).flatten();
        self.verdict.add_packet((&self.work, &mut self.single), sequence, end, expected.as_ref());
    }

    pub fn finish(mut self) -> HalfOutcome {
        for sequence in std::mem::take(&mut self.expected).into_keys() {
            self.judge(sequence, &End::Lost);
        }
        let groups = self.work.groups().to_vec();
        let Outcome { accesses, map, measures, .. } = self.machine.finish();
        let expected = self.single_run.accesses;
        let mut verdict = self.verdict;
        verdict.finish((&self.work, &self.single), &map, (&accesses, &expected));
        let cells = self.work.0.cells(&map);
        verdict.has_other_counts = !cells.has_counts_of(self.single.0.pipelines()[0].cells());
        // Designs without phantoms break the order of accesses on purpose, and those without crossbars tell nothing.
        let violations = if self.has_order { self.checker.finish() } else { Vec::new() };
        let violations = violations
            .into_iter()
            .map(|violation| format!("cycle {}: {}", violation.cycle, violation.message));
        HalfOutcome {
            pipelines: self.work.0.pipelines().len(),
            control: self.control,
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

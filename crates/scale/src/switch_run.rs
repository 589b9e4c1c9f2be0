// SPDX-License-Identifier: Apache-2.0
//! [`SwitchRun`]: a device whose halves run on machines of several pipelines, in simulated time. The device begins passes,
//! a machine runs their stages cycle by cycle, and the device finishes each pass in the cycle in which it leaves the last
//! stage. What a finish sends back to ingress is a new arrival. Each half is judged against one pipeline.

mod batches;
mod half;

pub use batches::CompletedBatch;
pub use half::{HalfOutcome, HalfPlan};

use crate::controlled_work::Carried;
use batches::{Batches, CellRequest, cells_of, described};
use control::target::{Item, Reply};
use device::{CallerPasses, Device, DeviceError, Gress, LoadError};
use half::Half;

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

/// A device with machines.
pub struct SwitchRun {
    device: Device,
    ingress: Half,
    egress: Option<Half>,
    clock: CycleClock,
    cycle: u64,
    batches: Batches,
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
        Ok(SwitchRun { device, ingress, egress, clock, cycle: 0, batches: Batches::default() })
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

    /// Lets a batch of the control plane arrive, in front of packets of the same time. The device has applied it: what it changed in
    /// tables is the version of later arrivals. Each register, counter or meter cell that it reads or writes is an arrival of its
    /// own, which reads and writes at the cell's owner in the order of arrival.
    ///
    /// # Errors
    ///
    /// An item that several pipelines do not take, in words.
    pub fn control(&mut self, items: &[(Item, Reply)]) -> Result<(), String> {
        let program = self.device.program();
        let time_ps = self.device.now_ps();
        let batch = self.batches.open(items, time_ps);
        for (at, (item, _)) in items.iter().enumerate() {
            for CellRequest { object, index, written } in cells_of(&program, item)? {
                let cycle = self.cycle;
                let mut halves = [&mut self.ingress].into_iter().chain(&mut self.egress);
                let found = halves.find_map(|half| {
                    let access = half.cell_access((object, index), written.clone(), time_ps)?;
                    Some((half, access))
                });
                match found {
                    Some((half, mut access)) => {
                        access.place = (batch, at, self.batches.wait(batch, at));
                        half.offer(Carried::Cell(Box::new(access)), 0, cycle);
                    }
                    // All pipelines have the value that the device has read.
                    None if written.is_none() => {}
                    None => {
                        let what = described(&program, object);
                        return Err(format!(
                            "{what}: no packet writes it, so each pipeline has a copy; --read-only-is-state lets it be \
                             written while packets are in flight"
                        ));
                    }
                }
            }
        }
        self.batches.close(batch, time_ps);
        Ok(())
    }

    /// Takes the batches that have completed since the last call: their last item has.
    pub fn take_completed(&mut self) -> Vec<CompletedBatch> {
        self.batches.take_completed()
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
            halves.into_iter().try_for_each(Half::drain)?;
            self.end_accesses();
            return Ok(());
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
        self.end_accesses();
        self.cycle += 1;
        self.advance_in_cycle(end_ps)?;
        for pass in done {
            self.device.finish(pass)?;
        }
        self.advance_in_cycle(end_ps)?;
        Ok(has_moved)
    }

    /// Completes batches whose last access left in this cycle.
    fn end_accesses(&mut self) {
        let end_ps = self.clock.end_ps(self.cycle);
        for half in [&mut self.ingress].into_iter().chain(&mut self.egress) {
            half.take_ended().into_iter().for_each(|access| self.batches.end(access, end_ps));
        }
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

// SPDX-License-Identifier: Apache-2.0
//! [`SwitchRun`]: a device whose halves run on machines of several pipelines, in simulated time. The device begins passes,
//! a machine runs their stages cycle by cycle, and the device finishes each pass in the cycle in which it leaves the last
//! stage. What a finish sends back to ingress is a new arrival. Each half is judged against one pipeline.

mod half;

pub use half::{HalfOutcome, HalfPlan};

use crate::controlled_work::Carried;
use control::target::Item;
use device::{CallerPasses, Device, DeviceError, Gress, LoadError};
use half::Half;
use ir::{CounterId, MeterId};
use state::{BatchItem, CellValues, Update};

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
        // What was written so far is in the device's cells.
        device.drain_updates();
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

    /// Lets the control plane write: `apply` submits batches to the device now, as an arrival in front of packets of the same time. What
    /// they change in tables is the version of later arrivals. Each register cell that they write is an arrival of its own, which
    /// writes at the cell's owner in the order of arrival.
    ///
    /// # Errors
    ///
    /// An update that several pipelines do not take, in words.
    pub fn control<T>(
        &mut self,
        apply: impl FnOnce(&mut Device) -> Result<T, String>,
    ) -> Result<T, String> {
        let applied = apply(&mut self.device)?;
        for update in self.device.drain_updates() {
            let Item::State(BatchItem::Update(update)) = update.item else { continue };
            self.write(update)?;
        }
        Ok(applied)
    }

    fn write(&mut self, update: Update) -> Result<(), String> {
        let program = self.device.program();
        let what = match update {
            Update::WriteRegister { register, cells, values } => {
                let array = &program.registers[register.index()];
                let end = cells.count.map_or(array.size, |count| cells.first + count);
                for (at, index) in (cells.first..end).enumerate() {
                    let value = match &values {
                        CellValues::Same(value) => value.clone(),
                        CellValues::Each(values) => values[at].clone(),
                    };
                    let cycle = self.cycle;
                    let mut halves = [&mut self.ingress].into_iter().chain(&mut self.egress);
                    let found = halves.find_map(|half| {
                        let write = half.cell_write(register, index, value.clone())?;
                        Some((half, write))
                    });
                    let Some((half, write)) = found else {
                        return Err(format!(
                            "register `{}`: no packet writes it, so each pipeline has a copy; --read-only-is-state lets it be \
                             written while packets are in flight",
                            array.name
                        ));
                    };
                    half.offer(Carried::Write(write), 0, cycle);
                }
                return Ok(());
            }
            Update::WriteCounter { counter: CounterId(at), .. } => {
                format!("counter `{}`", program.counters[at as usize].name)
            }
            Update::WriteMeter { meter: MeterId(at), .. } => {
                format!("meter `{}`", program.meters[at as usize].name)
            }
            _ => return Ok(()),
        };
        Err(format!("{what} cannot be written while packets are in flight"))
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

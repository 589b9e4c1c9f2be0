// SPDX-License-Identifier: Apache-2.0
//! A device whose ingress runs ahead on workers ([`crate::threads`]): [`AheadDevice`]. Workers run the ingress of packets that
//! are still to arrive; the device finishes their passes when they arrive. Queues, replication, egress, digests and
//! statistics are the device's, as in a run on one thread, so all outputs are the same.

mod obstacle;
mod work;

pub use obstacle::{Obstacle, of_device, staged};
pub use work::{AheadPass, AheadWork};

use crate::device_pipeline::DevicePipeline;
use crate::staged::StagedControl;
use crate::threads::{Schedule, Window, WorkerCounts, Workers};
use device::{Device, DeviceError};
use std::sync::Arc;

/// A device and the workers that run its ingress. Its program is [`StagedControl::program`].
#[derive(Debug)]
pub struct AheadDevice {
    /// The device. Its cells are those of the workers only in front of [`AheadDevice::start`] and behind
    /// [`AheadDevice::halt`].
    pub device: Device,
    workers: Workers<AheadWork>,
}

/// Makes a work for each worker.
fn works(
    device: &Device,
    control: Arc<StagedControl>,
    workers: usize,
) -> Result<Vec<AheadWork>, String> {
    let first = DevicePipeline::new(device, control).map_err(|error| error.to_string())?;
    let mut works: Vec<AheadWork> = (1..workers).map(|_| AheadWork::new(first.another())).collect();
    works.push(AheadWork::new(first));
    Ok(works)
}

impl AheadDevice {
    /// Starts workers with the device's cells, the first on the caller's thread. Nothing is to keep the device
    /// ([`of_device`]).
    ///
    /// # Errors
    ///
    /// The device has another program, or the system has no further thread.
    pub fn start(
        device: Device,
        control: Arc<StagedControl>,
        workers: usize,
    ) -> Result<AheadDevice, String> {
        let works = works(&device, control, workers)?;
        let started = Workers::start(works, Window::default());
        Ok(AheadDevice { workers: started.map_err(|error| error.to_string())?, device })
    }

    /// Starts workers on the caller's thread. `schedule` chooses who takes the next step.
    ///
    /// # Errors
    ///
    /// The device has another program.
    pub fn scheduled(
        device: Device,
        control: Arc<StagedControl>,
        workers: usize,
        (window, schedule): (Window, Schedule),
    ) -> Result<AheadDevice, String> {
        let works = works(&device, control, workers)?;
        Ok(AheadDevice { workers: Workers::scheduled(works, window, schedule), device })
    }

    /// Whether [`AheadDevice::finish_next`] should be called before the next packet is begun.
    pub fn is_full(&self) -> bool {
        self.workers.is_full()
    }

    /// How many calls of [`AheadDevice::finish_next`] in a row are best when it is full: one collects their outputs then.
    pub fn burst(&self) -> usize {
        self.workers.batch()
    }

    /// Begins the pass of a packet that arrives at a port later, and gives it to the workers. Packets come in order of
    /// time. Nothing changes the configuration before the time of the arrival.
    ///
    /// # Errors
    ///
    /// Those of [`Device::inject`].
    pub fn begin(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<(), DeviceError> {
        if let Some(pass) = self.device.begin_ahead(port, time_ps, bytes)? {
            self.workers.push(AheadPass::Begun(pass));
        }
        Ok(())
    }

    /// Waits until the oldest packet has run, advances the device to its arrival, and finishes its pass. False if no packet is
    /// under way.
    ///
    /// # Errors
    ///
    /// What stops the run.
    pub fn finish_next(&mut self) -> Result<bool, DeviceError> {
        match self.workers.pop() {
            Some(AheadPass::Done(pass)) => {
                self.device.finish_ahead(pass)?;
                Ok(true)
            }
            Some(AheadPass::Failed(error)) => Err(error),
            Some(_) | None => Ok(false),
        }
    }

    /// Gives the device's cells the values that the workers have written. No packet is under way.
    pub fn halt(&mut self) {
        let AheadDevice { device, workers } = self;
        let placement = workers.placement().clone();
        workers.with_works(|works| {
            device.change_cells(|cells| work::gather(works, &placement, cells));
        });
    }

    /// Gives the workers the values of the device's cells, which a control plane may have changed.
    pub fn resume(&mut self) {
        let AheadDevice { device, workers } = self;
        workers.with_works(|works| work::scatter(works, &device.cells()));
    }

    /// Ends the workers. Returns the device and what each worker has done.
    pub fn end(self) -> (Device, Vec<WorkerCounts>) {
        (self.device, self.workers.end())
    }
}

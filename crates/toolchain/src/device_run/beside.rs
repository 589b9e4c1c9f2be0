// SPDX-License-Identifier: Apache-2.0
//! [`Beside`]: the ordinary run on one thread that a run on several pipelines is compared with: what each packet lets leave, and
//! at the end counters and cells.

use device::side_by_side::AgreedOutputs;
use device::{Device, DeviceError};
use ir::RegisterId;
use std::collections::VecDeque;
use std::fmt::Debug;

/// An ordinary device.
pub(super) struct Beside {
    pub(super) device: Device,
    /// Port, time and bytes of the packets that the other run has begun.
    arrivals: VecDeque<(u32, u64, Vec<u8>)>,
    /// The packets that have arrived.
    arrived: u64,
}

impl Beside {
    pub(super) fn new(device: Device) -> Beside {
        Beside { device, arrivals: VecDeque::new(), arrived: 0 }
    }

    /// A packet is to arrive at a port at a time.
    pub(super) fn will_arrive(&mut self, port: u32, time_ps: u64, bytes: &[u8]) {
        self.arrivals.push_back((port, time_ps, bytes.to_vec()));
    }

    /// The next packet arrives, if there is one.
    pub(super) fn arrive_next(&mut self) -> Result<(), DeviceError> {
        let Some((port, time_ps, bytes)) = self.arrivals.pop_front() else { return Ok(()) };
        self.arrived += 1;
        self.device.advance(time_ps)?;
        self.device.inject(port, time_ps, bytes)?;
        self.device.advance(time_ps)
    }

    /// Compares what has left. The error says what differs.
    pub(super) fn compare(&mut self, found: &AgreedOutputs) -> Result<(), String> {
        let expected = outputs(&mut self.device);
        self.same("packets that leave", &found.transmitted, &expected.transmitted)?;
        self.same("digests", &found.digests, &expected.digests)?;
        self.same("log lines", &found.log, &expected.log)
    }

    /// Compares counters and cells at the end. The error says what differs.
    pub(super) fn compare_ends(&self, device: &Device) -> Result<(), String> {
        self.same("statistics", &device.statistics(), &self.device.statistics())?;
        let program = self.device.program();
        let (found, expected) = (device.cells(), self.device.cells());
        for (register, declared) in (0..).map(RegisterId).zip(&program.registers) {
            let (Some(found), Some(expected)) =
                (found.register(register), expected.register(register))
            else {
                continue;
            };
            let different = (0..declared.size).find(|at| found.read(*at) != expected.read(*at));
            if let Some(at) = different {
                let what = format!("cell {at} of `{}`", declared.name);
                self.same(&what, &found.read(at), &expected.read(at))?;
            }
        }
        self.same("counters", &found.has_counts_of(&expected), &true)
    }

    fn same<T: Debug + PartialEq>(
        &self,
        what: &str,
        found: &T,
        expected: &T,
    ) -> Result<(), String> {
        if found == expected {
            return Ok(());
        }
        Err(format!(
            "pipelines and one thread differ behind packet {}: {what}\n  pipelines: {found:?}\n  one thread: {expected:?}",
            self.arrived
        ))
    }
}

/// Takes what a device has sent.
pub(super) fn outputs(device: &mut Device) -> AgreedOutputs {
    AgreedOutputs {
        transmitted: device.drain_transmitted(),
        digests: device.drain_digests(),
        log: device.drain_log(),
    }
}

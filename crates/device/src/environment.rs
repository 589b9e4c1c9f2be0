// SPDX-License-Identifier: Apache-2.0
//! `BlockEnvironment`: what a running block reads from the device (time, packet length, random key) and where it writes
//! log lines and tapped events.

use crate::output::LogLine;
use crate::pass::PassInfo;
use crate::tap::{Tap, TappedEvent};
use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall};
use ir::Bits;
use std::cell::Cell;

pub(crate) struct BlockEnvironment<'a> {
    /// Device time in picoseconds; a burst of looped-back packets changes it from packet to packet.
    pub clock: &'a Cell<u64>,
    pub seed: u64,
    pub device_id: u64,
    /// The pass; a burst changes it from packet to packet.
    pub run: &'a Cell<PassInfo>,
    /// In a burst, the number of the packet at index 0.
    pub burst: Option<u64>,
    pub log: &'a mut Vec<LogLine>,
    pub tap: Option<&'a mut Tap>,
}

impl Environment for BlockEnvironment<'_> {
    fn now_ps(&self) -> u64 {
        self.clock.get()
    }

    fn packet_length_bytes(&self) -> u64 {
        u64::from(self.run.get().counted_bytes)
    }

    fn random_key(&self) -> RandomKey {
        RandomKey {
            seed: self.seed,
            device: self.device_id,
            packet: self.run.get().packet,
            pass: self.run.get().pass_number,
        }
    }

    fn at_packet(&mut self, index: u64) {
        if let Some(base) = self.burst {
            self.run.set(PassInfo { packet: base.wrapping_add(index), ..self.run.get() });
        }
    }

    fn drawn(&mut self, low_bits: u64) {
        if let Some(tap) = &mut self.tap {
            tap.record(self.clock.get(), TappedEvent::Drawn { value: low_bits });
        }
    }

    fn log_line(&mut self, line: &str) {
        if let Some(tap) = &mut self.tap {
            tap.record(self.clock.get(), TappedEvent::Logged { text: line.to_string() });
        }
        self.log.push(LogLine {
            time_ps: self.clock.get(),
            packet: self.run.get().packet,
            text: line.to_string(),
        });
    }

    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        // The device refuses to load programs with such calls.
        Err(format!("the device does not provide `{}`", call.declaration.type_name))
    }
}

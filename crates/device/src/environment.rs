// SPDX-License-Identifier: Apache-2.0
//! What a running block gets from the device: its time, the length that counters count, who draws
//! random numbers, and a log.

use crate::output::LogLine;
use crate::pass::PassInfo;
use crate::tap::{Tap, TappedEvent};
use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall};
use ir::Bits;
use std::cell::Cell;

pub(crate) struct BlockEnvironment<'a> {
    /// Changes from packet to packet of a run of rounds.
    pub clock: &'a Cell<u64>,
    pub seed: u64,
    pub device_id: u64,
    /// Changes from packet to packet of a burst.
    pub run: &'a Cell<PassInfo>,
    /// Of a burst: the number of the packet at its place 0.
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
            tap.note(self.clock.get(), TappedEvent::Drawn { value: low_bits });
        }
    }

    fn log_line(&mut self, line: &str) {
        if let Some(tap) = &mut self.tap {
            tap.note(self.clock.get(), TappedEvent::Logged { text: line.to_string() });
        }
        self.log.push(LogLine {
            time_ps: self.clock.get(),
            packet: self.run.get().packet,
            text: line.to_string(),
        });
    }

    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        // Programs with such calls are refused when they are loaded.
        Err(format!("the device does not provide `{}`", call.declaration.type_name))
    }
}

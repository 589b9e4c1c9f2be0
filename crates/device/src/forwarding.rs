// SPDX-License-Identifier: Apache-2.0
//! Forwards bursts: packets take the fast path while its effects equal those of the slow path. A packet that takes an exit
//! is completed on the slow path before the next packet starts.

use crate::burst::Burst;
use crate::fast_path::FastPathKind;
use crate::fast_path_run::{resume_on_slow_path, run_fast_path};
use crate::output::DeviceError;
use crate::packet::ProgramId;
use crate::switch::{AdmissionOutcome, Switch};
use std::ops::Range;

impl Switch {
    /// See [`crate::Device::forward`].
    pub(crate) fn forward(&mut self, burst: &mut Burst) -> Result<(), DeviceError> {
        self.serve_waiting();
        while let Some(first) = burst.next() {
            let last = match burst.first_beyond(first, self.largest_port) {
                Some(wrong) if wrong == first => {
                    burst.set_next(first + 1);
                    let (port, largest) = (burst.port(first), self.largest_port);
                    return Err(DeviceError::NoSuchPort { port, largest });
                }
                Some(wrong) => wrong,
                None => burst.len(),
            };
            let last = self.first_at_mac(burst, first..last);
            let id = match self.admit_packet(burst.port(first), burst.bytes(first)) {
                AdmissionOutcome::Program(id) => id,
                AdmissionOutcome::Dropped(_) => {
                    self.forward_slowly(burst, first)?;
                    continue;
                }
            };
            let is_idle = last > first && self.core.is_idle() && !self.core.limits_ingress_rate();
            match self.fast_path_of_burst(id, burst.largest_bytes()).filter(|_| is_idle) {
                Some(kind) => {
                    let last = match self.only_program {
                        Some(_) => last,
                        None => self.first_of_another(burst, first..last, id),
                    };
                    self.forward_fast(burst, first..last, id, kind)?;
                }
                None => self.forward_slowly(burst, first)?,
            }
        }
        Ok(())
    }

    /// Returns the first packet of a range that is a flow control frame for the MAC of its port, or the end of the range.
    fn first_at_mac(&self, burst: &Burst, mut packets: Range<usize>) -> usize {
        let (core, last) = (&self.core, packets.end);
        if !core.has_flow_control() {
            return last;
        }
        let ends_there =
            |packet: &usize| core.ends_at_mac(burst.port(*packet), burst.bytes(*packet));
        packets.find(ends_there).unwrap_or(last)
    }

    /// Returns the first packet of a range that the rule does not admit to a program, or the end of the range.
    fn first_of_another(&self, burst: &Burst, packets: Range<usize>, id: ProgramId) -> usize {
        let last = packets.end;
        let meets_it = |at: usize| {
            self.admit_packet(burst.port(at), burst.bytes(at)) == AdmissionOutcome::Program(id)
        };
        packets.skip(1).find(|at| !meets_it(*at)).unwrap_or(last)
    }

    fn forward_fast(
        &mut self,
        burst: &mut Burst,
        packets: Range<usize>,
        id: ProgramId,
        kind: FastPathKind,
    ) -> Result<(), DeviceError> {
        let (first, first_number) = (packets.start, self.receptions);
        let last = packets.end;
        let Some((program, core)) = self.program_and_core(id) else { return Ok(()) };
        let sent_before = burst.sent_count();
        let left = run_fast_path(program, core, burst, packets, (first_number, 0), kind);
        self.note_burst_outputs(sent_before, id);
        let Some(unfinished) = left else {
            self.receptions += (last - first) as u64;
            burst.set_next(last);
            return Ok(());
        };
        let packet = unfinished.packet;
        burst.set_next(packet + 1);
        let number = first_number + (packet - first) as u64;
        self.receptions = number + 1;
        let already = self.core.transmitted.len();
        let resumed = match self.program_and_core(id) {
            Some((program, core)) => {
                resume_on_slow_path(program, core, burst, unfinished, number, None)
            }
            None => Ok(()),
        };
        let done = resumed.and_then(|()| self.run_to_completion());
        self.take_outputs(burst, packet, already);
        done
    }

    fn forward_slowly(&mut self, burst: &mut Burst, packet: usize) -> Result<(), DeviceError> {
        burst.set_next(packet + 1);
        let already = self.core.transmitted.len();
        let bytes = burst.bytes(packet).to_vec();
        let done = self
            .inject(burst.port(packet), self.core.now_ps, bytes)
            .and_then(|_| self.run_to_completion());
        self.take_outputs(burst, packet, already);
        done
    }

    /// Moves the packets transmitted since `already` to the burst.
    fn take_outputs(&mut self, burst: &mut Burst, packet: usize, already: usize) {
        let mut taken = 0;
        for at in 0..self.core.cpu_packets.len() {
            let (place, program) = self.core.cpu_packets[at];
            if let Some(behind) = place.checked_sub(already) {
                self.note_burst_outputs(burst.sent_count() + behind, program);
            }
        }
        self.core.cpu_packets.retain(|(place, _)| *place < already);
        while self.core.transmitted.len() > already + taken {
            let sent = &mut self.core.transmitted[already + taken];
            burst.send_copy(packet, sent.port, sent.queue, &sent.bytes);
            let bytes = std::mem::take(&mut sent.bytes);
            self.core.recycle_bytes(bytes);
            taken += 1;
        }
        self.core.transmitted.truncate(already);
    }
}

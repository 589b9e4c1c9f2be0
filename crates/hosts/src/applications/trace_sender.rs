// SPDX-License-Identifier: Apache-2.0
//! Sends a generated packet trace. One packet at a time is in memory.

use super::frames::FrameSenderReport;
use super::{Measures, Report, option_error};
use crate::error::AddError;
use crate::packet_trace::{PacketTrace, TraceOptions};
use crate::program::{Io, Program};
use crate::stack::Stack;
use network::frame::Frame;

/// Options of a trace sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSenderOptions {
    /// The packets. Their seed is mixed with that of the host.
    pub trace: TraceOptions,
    /// When the trace begins, in picoseconds.
    pub start_ps: u64,
}

#[derive(Debug)]
pub(crate) struct TraceSender {
    trace: PacketTrace,
    start_ps: u64,
    /// The next frame and its time.
    next: Option<(u64, Frame)>,
    report: FrameSenderReport,
}

impl TraceSender {
    pub(crate) fn new(options: TraceSenderOptions, seed: u64) -> Result<TraceSender, AddError> {
        let TraceSenderOptions { trace, start_ps } = options;
        let trace = TraceOptions { seed: trace.seed ^ seed, ..trace };
        let mut trace = PacketTrace::new(&trace).map_err(option_error)?;
        let next = next(&mut trace, start_ps);
        Ok(TraceSender { trace, start_ps, next, report: FrameSenderReport::default() })
    }

    fn send(&mut self, io: &mut Io<'_>) {
        while let Some((time_ps, _)) = &self.next {
            if *time_ps > io.now_ps() {
                io.set_timer(*time_ps, 0);
                return;
            }
            if let Some((_, frame)) = self.next.take() {
                self.report.sent += 1;
                self.report.sent_bytes += frame.length_bytes();
                io.send_frame(frame);
            }
            self.next = next(&mut self.trace, self.start_ps);
        }
    }
}

fn next(trace: &mut PacketTrace, start_ps: u64) -> Option<(u64, Frame)> {
    let (packet, frame) = trace.next()?;
    Some((start_ps.saturating_add(packet.time_ps), frame))
}

impl Program for TraceSender {
    fn start_ps(&self) -> Option<u64> {
        self.next.as_ref().map(|(time_ps, _)| *time_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.send(io);
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        self.send(io);
    }
}

impl Measures for TraceSender {
    fn report(&self, _: &Stack) -> Report {
        Report::FrameSender(self.report.clone())
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Frames as they are: sent at given times (a capture's replay, a script), and recorded as they arrive.

use super::{Measures, Report};
use crate::program::{Binding, Io, Program};
use crate::stack::Stack;
use network::frame::Frame;

/// Options of a frame sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameSenderOptions {
    /// Frames with the times at which they enter the transmit queue, in picoseconds. Equal times keep their order.
    pub frames: Vec<(u64, Frame)>,
}

/// What a frame sender did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameSenderReport {
    /// Frames handed to the transmit queue.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
}

/// Sends frames, the latest of which are kept first.
#[derive(Debug)]
pub(crate) struct FrameSender {
    left: Vec<(u64, Frame)>,
    report: FrameSenderReport,
}

impl FrameSender {
    pub(crate) fn new(options: FrameSenderOptions) -> FrameSender {
        let mut left = options.frames;
        left.sort_by_key(|(time_ps, _)| *time_ps);
        left.reverse();
        FrameSender { left, report: FrameSenderReport::default() }
    }

    fn send(&mut self, io: &mut Io<'_>) {
        while let Some((time_ps, _)) = self.left.last() {
            if *time_ps > io.now_ps() {
                io.set_timer(*time_ps, 0);
                return;
            }
            if let Some((_, frame)) = self.left.pop() {
                self.report.sent += 1;
                self.report.sent_bytes += frame.length_bytes();
                io.send_frame(frame);
            }
        }
    }
}

impl Program for FrameSender {
    fn start_ps(&self) -> Option<u64> {
        self.left.last().map(|(time_ps, _)| *time_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.send(io);
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        self.send(io);
    }
}

impl Measures for FrameSender {
    fn report(&self, _: &Stack) -> Report {
        Report::FrameSender(self.report.clone())
    }
}

/// Options of a frame listener.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameListenerOptions {
    /// Only frames with this EtherType.
    pub ether_type: Option<u16>,
    /// The most frames to keep; later ones are counted.
    pub most_frames: usize,
}

/// What a frame listener recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameListenerReport {
    /// Frames that arrived.
    pub received: u64,
    /// The first of them with their times of arrival, in picoseconds.
    pub frames: Vec<(u64, Frame)>,
}

#[derive(Debug)]
pub(crate) struct FrameListener {
    options: FrameListenerOptions,
    report: FrameListenerReport,
}

impl FrameListener {
    pub(crate) fn new(options: FrameListenerOptions) -> FrameListener {
        FrameListener { options, report: FrameListenerReport::default() }
    }
}

impl Program for FrameListener {
    fn bindings(&self) -> Vec<Binding> {
        vec![Binding::Frames]
    }

    fn frame(&mut self, frame: &Frame, io: &mut Io<'_>) {
        let ether_type = match frame.bytes.get(12..14) {
            Some(&[high, low]) => u16::from_be_bytes([high, low]),
            _ => return,
        };
        if self.options.ether_type.is_some_and(|wanted| wanted != ether_type) {
            return;
        }
        self.report.received += 1;
        if self.report.frames.len() < self.options.most_frames {
            self.report.frames.push((io.now_ps(), frame.clone()));
        }
    }
}

impl Measures for FrameListener {
    fn report(&self, _: &Stack) -> Report {
        Report::FrameListener(self.report.clone())
    }
}

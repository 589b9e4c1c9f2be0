// SPDX-License-Identifier: Apache-2.0
//! Watches the frames of a run: counts those that expectations name and hands those of captures to the caller.

use crate::built::{Built, RunError};
use crate::numbering::node_id;
use crate::watched::{Counted, Watched};
use device::Device;
use network::frame::Frame;
use network::links::End;
use network::node::{NodeError, Note};
use network::packet_fields::PacketField;
use network::simulation::{Movement, SimulationError, Watcher};
use network_file::model::{CaptureDirection, Expectation, Subject};
use source::{Code, Diagnostic, Diagnostics, Explanation};
use std::net::IpAddr;

/// An expectation names a header field that does not exist, or gives it no value that it can have.
pub const BAD_FIELD: Code = Code("NW-E0407");

pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: BAD_FIELD,
    title: "an expectation names a header field or value that does not exist",
    text: "Packets are selected by header fields such as `ipv4.dst`, `ipv4.ttl`, `tcp.dst_port`, `ethernet.type`. A value is \
           a number, decimal or hexadecimal, an IPv4 address or an Ethernet address.",
    wrong: "",
    right: "",
}];

/// Takes the frames of captures: the capture's number in the file, the time, and all bytes.
pub trait CaptureSink {
    /// Takes a frame.
    fn capture(&mut self, number: usize, time_ps: u64, bytes: &[u8]);
}

fn value(text: &str) -> Option<u128> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return u128::from_str_radix(digits, 16).ok();
    }
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    match text.parse() {
        Ok(IpAddr::V4(address)) => return Some(address.to_bits().into()),
        Ok(IpAddr::V6(address)) => return Some(address.to_bits()),
        Err(_) => {}
    }
    let mac = network_file::Mac::parse(text)?;
    Some(mac.0.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

impl Built {
    /// Prepares what a run watches.
    pub(crate) fn prepare_watch(&mut self, found: &mut Diagnostics) {
        let network = &self.network;
        for (number, Expectation { subject, .. }) in network.expectations.iter().enumerate() {
            let Subject::Received { host, fields, after_ps, before_ps } = subject else { continue };
            let mut wanted = Vec::new();
            for (name, text) in fields {
                let field = PacketField::named(&name.value);
                match (field, value(&text.value)) {
                    (Some(field), Some(value)) => wanted.push((field, value)),
                    (None, _) => {
                        let message = format!("packets have no field `{}`", name.value);
                        let names = PacketField::NAMES.iter().map(|known| known.0);
                        let help = match source::nearest(&name.value, names) {
                            Some(near) => format!("`{near}` may be meant"),
                            None => "such as `ipv4.dst` or `tcp.dst_port`".to_string(),
                        };
                        found.push(Diagnostic::error(BAD_FIELD, name.span, message).help(help));
                    }
                    (Some(_), None) => {
                        let message = format!("`{}` is not a value of a field", text.value);
                        let help = "write a number, an IPv4 address or an Ethernet address";
                        found.push(Diagnostic::error(BAD_FIELD, text.span, message).help(help));
                    }
                }
            }
            self.watched.counted.push(Counted {
                expectation: number,
                node: node_id(network, network_file::model::Node::Host(*host)).0,
                fields: wanted,
                times_ps: (after_ps.unwrap_or(0), before_ps.unwrap_or(u64::MAX)),
                count: 0,
            });
        }
    }

    /// How many packets an expectation has counted.
    pub(crate) fn received(&self, expectation: &Expectation) -> Option<u64> {
        let at = self.network.expectations.iter().position(|one| std::ptr::eq(one, expectation))?;
        self.watched.counted.iter().find(|one| one.expectation == at).map(|one| one.count)
    }

    /// Runs until a time, included. Returns whether events are left.
    ///
    /// # Errors
    ///
    /// A node that failed, or a controller.
    pub fn run_until(
        &mut self,
        until_ps: u64,
        sink: &mut dyn CaptureSink,
    ) -> Result<bool, RunError> {
        while let Some(at_ps) = self.next_reading_ps(until_ps) {
            self.run_part(at_ps, sink)?;
            self.read_due_cells(at_ps);
        }
        self.run_part(until_ps, sink)
    }

    fn run_part(&mut self, until_ps: u64, sink: &mut dyn CaptureSink) -> Result<bool, RunError> {
        let captures = self.network.captures.iter().enumerate().map(|(number, capture)| {
            let end = (node_id(&self.network, capture.port.node).0, capture.port.port);
            (end, number, capture.direction)
        });
        let mut watcher =
            RunWatcher { captures: captures.collect(), watched: &mut self.watched, sink };
        let ran = self.simulation.run_watched(until_ps, &mut watcher);
        watcher.flush(until_ps);
        // Packets for controllers leave by ports without a link.
        self.simulation.drain_undelivered();
        ran.map_err(|error| self.run_error(error))
    }

    /// Advances the switches to the time that the run reached, so that their counters and queues are those of that time.
    ///
    /// # Errors
    ///
    /// A switch that failed.
    pub fn finish(&mut self) -> Result<(), RunError> {
        let time_ps = self.simulation.now_ps();
        for number in 0..self.network.switches.len() {
            let id = node_id(&self.network, network_file::model::Node::Switch(number));
            let Some(device) = self.simulation.node_mut::<Device>(id) else { continue };
            if device.now_ps() < time_ps
                && let Err(error) = device.advance(time_ps)
            {
                let node = self.network.switches[number].name.clone();
                let error = NodeError { message: error.to_string() };
                return Err(self.run_error(SimulationError::Node { node, time_ps, error }));
            }
        }
        Ok(())
    }
}

struct RunWatcher<'r> {
    captures: Vec<(End, usize, CaptureDirection)>,
    watched: &'r mut Watched,
    sink: &'r mut dyn CaptureSink,
}

impl RunWatcher<'_> {
    /// Hands the captured frames until a time to the sink.
    fn flush(&mut self, until_ps: u64) {
        let RunWatcher { watched, sink, .. } = self;
        watched
            .captured
            .flush(until_ps, |number, time_ps, bytes| sink.capture(number, time_ps, bytes));
    }

    fn capture(&mut self, time_ps: u64, at: End, is_in: bool, frame: &Frame) {
        for (end, number, direction) in &self.captures {
            let is_wanted = match direction {
                CaptureDirection::In => is_in,
                CaptureDirection::Out => !is_in,
                CaptureDirection::Both => true,
            };
            if *end == at && is_wanted {
                self.watched.captured.push(*number, time_ps, frame.to_bytes());
            }
        }
    }
}

impl Watcher for RunWatcher<'_> {
    fn moved(&mut self, time_ps: u64, movement: Movement, frame: &Frame) {
        if let Some(timeline) = &mut self.watched.timeline {
            timeline.moved(time_ps, movement, frame);
        }
        match movement {
            Movement::Received { at, .. } => {
                if self.watched.captured.is_large() {
                    self.flush(time_ps);
                }
                for counted in &mut self.watched.counted {
                    let (after_ps, before_ps) = counted.times_ps;
                    if counted.node == at.0 && (after_ps..=before_ps).contains(&time_ps) {
                        let bytes = frame.to_bytes();
                        let has = |(field, value): &(PacketField, u128)| {
                            field.read_frame(&bytes) == Some(*value)
                        };
                        counted.count += u64::from(counted.fields.iter().all(has));
                    }
                }
                self.capture(time_ps, at, true, frame);
            }
            Movement::Sent { from, .. } | Movement::Undelivered { from } => {
                self.capture(time_ps, from, false, frame);
            }
            Movement::Lost { .. } => {}
        }
    }

    fn link_changed(&mut self, time_ps: u64, end: End, is_up: bool) {
        if let Some(timeline) = &mut self.watched.timeline {
            timeline.link_changed(time_ps, end, is_up);
        }
    }

    fn wants_notes(&self) -> bool {
        self.watched.timeline.is_some()
    }

    fn noted(&mut self, time_ps: u64, node: u32, note: &Note) {
        if let Some(timeline) = &mut self.watched.timeline {
            timeline.noted(time_ps, node, note);
        }
    }
}

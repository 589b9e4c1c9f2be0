// SPDX-License-Identifier: Apache-2.0
//! `Node` for a device: packets in and out, and priority flow control at its ports.

use super::{FlowControl, Node, NodeError, Note, Outbox};
use crate::frame::Frame;
use device::{Device, OutputPath, Outputs};

/// Hands tapped events, transmitted packets and congestion signals to the network.
fn hand_over(device: &mut Device, mut sent: Outputs, outbox: &mut Outbox) {
    if outbox.wants_notes() {
        for tapped in device.drain_taps() {
            outbox.note(|| Note::Device(tapped));
        }
    }
    for packet in sent.transmitted.drain(..) {
        let frame = Frame { bytes: packet.bytes, absent_bytes: packet.absent_bytes };
        outbox.send(packet.port, packet.time_ps, frame);
    }
    for signal in sent.signals.drain(..) {
        outbox.request_flow_control(FlowControl {
            time_ps: signal.time_ps,
            queue: signal.queue,
            pause: signal.congested,
        });
    }
    outbox.wake_at(sent.next_event_ps);
    outbox.outputs = sent;
}

impl Node for Device {
    fn receive(&mut self, port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        let mut sent = std::mem::take(&mut outbox.outputs);
        let received = Device::receive(
            self,
            port,
            outbox.now_ps(),
            frame.bytes,
            frame.absent_bytes,
            &mut sent,
        );
        hand_over(self, sent, outbox);
        received.map_err(|error| NodeError { message: error.to_string() })
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.next_event_ps()
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        let mut sent = std::mem::take(&mut outbox.outputs);
        let advanced = self.advance_into(outbox.now_ps(), &mut sent);
        hand_over(self, sent, outbox);
        advanced.map_err(|error| NodeError { message: error.to_string() })
    }

    fn flow_control(&mut self, port: u32, control: FlowControl) {
        let path = OutputPath::Port(port);
        self.schedule_pause(control.time_ps, path, Some(control.queue), control.pause);
    }

    fn link_changed(&mut self, port: u32, is_up: bool) {
        self.note_link(port, is_up);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `Node` for a device: packets in and out, and priority flow control at its ports.

use super::{FlowControl, Node, NodeError, Note, Outbox};
use crate::frame::Frame;
use device::{Device, OutputPath};

impl Node for Device {
    fn receive(&mut self, port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        let time_ps = outbox.now_ps().max(self.now_ps());
        let injected = self.inject(port, time_ps, frame.into_bytes());
        injected.map(|_| ()).map_err(|error| NodeError { message: error.to_string() })
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.next_event_ps()
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        let advanced = self.advance(outbox.now_ps());
        advanced.map_err(|error| NodeError { message: error.to_string() })?;
        if outbox.wants_notes() {
            for tapped in self.drain_taps() {
                outbox.note(|| Note::Device(tapped));
            }
        }
        for packet in self.drain_transmitted() {
            outbox.send(packet.port, packet.time_ps, packet.bytes.into());
        }
        for signal in self.drain_congestion_signals() {
            outbox.request_flow_control(FlowControl {
                time_ps: signal.time_ps,
                queue: signal.queue,
                pause: signal.congested,
            });
        }
        Ok(())
    }

    fn flow_control(&mut self, port: u32, control: FlowControl) {
        let path = OutputPath::Port(port);
        self.schedule_pause(control.time_ps, path, Some(control.queue), control.pause);
    }

    fn link_changed(&mut self, port: u32, is_up: bool) {
        self.note_link(port, is_up);
    }
}

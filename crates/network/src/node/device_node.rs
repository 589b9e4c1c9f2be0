// SPDX-License-Identifier: Apache-2.0
//! `Node` for a device: packets in and out, and priority flow control at its ports.

use super::{Departure, FlowControl, Node, NodeError};
use device::{Device, OutputPath};

impl Node<Vec<u8>> for Device {
    fn receive(&mut self, port: u32, time_ps: u64, message: Vec<u8>) {
        // A delivery in the device's past would arrive now.
        let time_ps = time_ps.max(self.now_ps());
        let _ = self.inject(port, time_ps, message);
    }

    fn next_event_ps(&self) -> Option<u64> {
        Device::next_event_ps(self)
    }

    fn advance(&mut self, until_ps: u64) -> Result<(), NodeError> {
        Device::advance(self, until_ps).map_err(|error| NodeError { message: error.to_string() })
    }

    fn drain_departures(&mut self) -> Vec<Departure<Vec<u8>>> {
        self.drain_transmitted()
            .into_iter()
            .map(|packet| Departure {
                port: packet.port,
                time_ps: packet.time_ps,
                message: packet.bytes,
            })
            .collect()
    }

    fn flow_control(&mut self, port: u32, control: FlowControl) {
        let path = OutputPath::Port(port);
        self.schedule_pause(control.time_ps, path, Some(control.queue), control.pause);
    }

    fn drain_flow_control(&mut self) -> Vec<FlowControl> {
        self.drain_congestion_signals()
            .into_iter()
            .map(|signal| FlowControl {
                time_ps: signal.time_ps,
                queue: signal.queue,
                pause: signal.congested,
            })
            .collect()
    }
}

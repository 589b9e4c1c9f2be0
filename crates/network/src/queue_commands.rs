// SPDX-License-Identifier: Apache-2.0
//! Control commands about queues carried to a device: the state store knows no queues, and control knows
//! no device.

use control::session::DeviceCommand;
use device::{Device, OutputPath};

/// v1model's ports have 9 bits: a command for all ports means these.
const PORTS: u32 = 512;

/// Carries a command about queues to a device. The error says which queue does not exist.
pub fn set_queues(device: &mut Device, command: DeviceCommand) -> Result<(), String> {
    let (port, priority) = match command {
        DeviceCommand::QueueRate { port, priority, .. }
        | DeviceCommand::QueueDepth { port, priority, .. } => (port, priority),
    };
    for number in port.map_or(0..PORTS, |port| port..port.saturating_add(1)) {
        let path = OutputPath::Port(number);
        let done = match command {
            DeviceCommand::QueueRate { packets_per_second, .. } => {
                device.set_queue_rate(path, priority, packets_per_second)
            }
            DeviceCommand::QueueDepth { packets, .. } => {
                let packets = u32::try_from(packets).unwrap_or(u32::MAX);
                device.set_queue_depth(path, priority, packets)
            }
        };
        if !done {
            let priority = priority.unwrap_or(0);
            return Err(format!("port {number} has no queue of priority {priority}"));
        }
    }
    Ok(())
}

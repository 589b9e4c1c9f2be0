// SPDX-License-Identifier: Apache-2.0
//! Control commands about queues and the packet generator carried to a device: the state store knows
//! neither, and control knows no device.

use control::command::GeneratorTimer as Timer;
use control::session::DeviceCommand;
use device::{
    Device, GENERATOR_APPLICATIONS, GENERATOR_PORT, GeneratorApplication, GeneratorTimer,
    MOST_BATCHES, OutputPath,
};

/// v1model's ports have 9 bits: a command for all ports means these.
const PORTS: u32 = 512;

/// Carries a command to a device. The error says what does not exist or is not possible.
pub fn carry_out(device: &mut Device, command: DeviceCommand) -> Result<(), String> {
    match command {
        DeviceCommand::QueueRate { packets_per_second, port, priority } => {
            set_queues(device, port, priority, |device, path| {
                device.set_queue_rate(path, priority, packets_per_second)
            })
        }
        DeviceCommand::QueueDepth { packets, port, priority } => {
            let packets = u32::try_from(packets).unwrap_or(u32::MAX);
            set_queues(device, port, priority, |device, path| {
                device.set_queue_depth(path, priority, packets)
            })
        }
        DeviceCommand::GeneratorTimer(timer) => {
            let application = application(timer)?;
            device.set_generator_application(application).map_err(|error| error.to_string())
        }
        DeviceCommand::GeneratorStop { application } => {
            let stopped =
                application_id(application).map(|id| device.stop_generator_application(id))?;
            stopped.then_some(()).ok_or_else(|| {
                format!("application {application} of the packet generator was not set")
            })
        }
    }
}

fn set_queues(
    device: &mut Device,
    port: Option<u32>,
    priority: Option<u32>,
    set: impl Fn(&mut Device, OutputPath) -> bool,
) -> Result<(), String> {
    for number in port.map_or(0..PORTS, |port| port..port.saturating_add(1)) {
        if !set(device, OutputPath::Port(number)) {
            let priority = priority.unwrap_or(0);
            return Err(format!("port {number} has no queue of priority {priority}"));
        }
    }
    Ok(())
}

fn application_id(application: u64) -> Result<u8, String> {
    let id = u8::try_from(application).ok().filter(|id| *id < GENERATOR_APPLICATIONS);
    id.ok_or_else(|| {
        let largest = GENERATOR_APPLICATIONS - 1;
        format!("the packet generator has applications 0 to {largest}, not {application}")
    })
}

fn application(timer: Timer) -> Result<GeneratorApplication, String> {
    let picoseconds = |ns: u64, what: &str| {
        ns.checked_mul(1000).ok_or_else(|| format!("{what} of {ns} ns is too long"))
    };
    let count = |count: u64, what: &str| match u32::try_from(count) {
        Ok(count @ 1..=MOST_BATCHES) => Ok(count),
        _ => Err(format!("{what} must be 1 to {MOST_BATCHES}, not {count}")),
    };
    if timer.period_ns == 0 {
        return Err("a timer takes at least 1 ns".to_string());
    }
    Ok(GeneratorApplication {
        id: application_id(timer.application)?,
        port: match timer.port {
            Some(port) => u32::try_from(port).map_err(|_| format!("there is no port {port}"))?,
            None => GENERATOR_PORT,
        },
        timer: match timer.is_periodic {
            true => GeneratorTimer::Periodic,
            false => GeneratorTimer::Once,
        },
        offset_ps: picoseconds(timer.offset_ns, "the offset")?,
        period_ps: picoseconds(timer.period_ns, "the timer")?,
        batches: count(timer.batches, "the number of batches")?,
        batch_gap_ps: picoseconds(timer.batch_gap_ns, "the gap of batches")?,
        packets: count(timer.packets, "the number of packets")?,
        packet_gap_ps: picoseconds(timer.packet_gap_ns, "the gap of packets")?,
        bytes: timer.bytes,
    })
}

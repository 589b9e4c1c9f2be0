// SPDX-License-Identifier: Apache-2.0
//! Batch items about the device itself: queues and packet generator. The traffic manager and `packet_generator` hold the
//! settings.

use crate::control_request::TargetProgram;
use crate::packet_generator::{
    GENERATOR_APPLICATIONS, GENERATOR_PORT, GeneratorApplication, GeneratorTimer, MAX_BATCHES,
};
use crate::switch::Switch;
use crate::wire::OutputPath;
use control::target::{self, DeviceItem, Fault, QueueState, Reply};
use std::ops::RangeInclusive;

fn refused(why: impl Into<String>) -> Fault {
    Fault::Unsupported(why.into())
}

impl Switch {
    /// Applies an item. The fault says what does not exist or is out of range.
    pub(super) fn apply_to_device(
        &mut self,
        target: TargetProgram,
        item: DeviceItem,
    ) -> Result<Reply, Fault> {
        self.check_on_device(target, &item)?;
        let ports = |port| self.program_of(target).map_or(0..=0, |program| program.ports(port));
        let ports = match &item {
            DeviceItem::QueueRate { port, .. } | DeviceItem::QueueDepth { port, .. } => {
                ports(*port)
            }
            _ => 0..=0,
        };
        let setting = item.clone();
        let traffic = &mut self.core.traffic;
        match item {
            DeviceItem::ReadSettings => return Ok(Reply::Settings(self.driver.settings.clone())),
            DeviceItem::QueueRate { packets_per_second, priority, .. } => {
                for number in ports {
                    let path = OutputPath::Port(number);
                    traffic.set_queue_rate(path, priority, packets_per_second);
                }
            }
            DeviceItem::QueueDepth { packets, priority, .. } => {
                let packets = u32::try_from(packets).unwrap_or(u32::MAX);
                for number in ports {
                    traffic.set_depth_limit(OutputPath::Port(number), priority, packets);
                }
            }
            DeviceItem::ReadQueue { port, priority } => {
                let (path, now_ps) = (OutputPath::Port(port), self.core.now_ps);
                let depth_packets = u64::from(traffic.depth_packets(path, priority, now_ps));
                let statistics = traffic.queue_statistics(path, priority, now_ps);
                let peak_packets = statistics.map_or(0, |known| known.peak_packets);
                return Ok(Reply::Queue(QueueState { depth_packets, peak_packets }));
            }
            DeviceItem::GeneratorTimer(timer) => {
                self.set_generator_application(application(timer)?)
                    .map_err(|error| refused(error.to_string()))?;
            }
            DeviceItem::GeneratorStop { application } => {
                self.core.stop_generator_application(application_id(application)?);
            }
        }
        note_setting(&mut self.driver.settings, setting);
        Ok(Reply::Done)
    }

    /// Checks an item without applying it.
    pub(super) fn check_on_device(
        &self,
        target: TargetProgram,
        item: &DeviceItem,
    ) -> Result<(), Fault> {
        let program = self.program_of(target).ok_or(Fault::Gone)?;
        match item {
            DeviceItem::ReadSettings => Ok(()),
            DeviceItem::QueueRate { port, priority, .. }
            | DeviceItem::QueueDepth { port, priority, .. } => {
                self.check_queues(program.ports(*port), *priority)
            }
            DeviceItem::ReadQueue { port, priority } => {
                self.check_queues(*port..=*port, Some(*priority))
            }
            DeviceItem::GeneratorTimer(timer) => {
                let application = application(timer.clone())?;
                let (port, largest) = (application.port, program.largest_port());
                match port > largest {
                    true => {
                        Err(refused(format!("there is no port {port}: the largest is {largest}")))
                    }
                    false => Ok(()),
                }
            }
            DeviceItem::GeneratorStop { application } => {
                let id = application_id(*application)?;
                match self.core.has_generator_application(id) {
                    true => Ok(()),
                    false => Err(refused(format!(
                        "application {application} of the packet generator was not set"
                    ))),
                }
            }
        }
    }

    fn check_queues(
        &self,
        mut ports: RangeInclusive<u32>,
        priority: Option<u32>,
    ) -> Result<(), Fault> {
        let priority = priority.unwrap_or(0);
        let traffic = &self.core.options.traffic_manager;
        match ports.find(|port| priority >= traffic.port(*port).queue_count.max(1)) {
            Some(port) => Err(refused(format!("port {port} has no queue of priority {priority}"))),
            None => Ok(()),
        }
    }
}

/// Records a setting and removes those that it replaces.
fn note_setting(settings: &mut Vec<DeviceItem>, new: DeviceItem) {
    let covers = |of: Option<u32>, other: Option<u32>| of.is_none() || of == other;
    settings.retain(|old| match (&new, old) {
        (
            DeviceItem::QueueRate { port, priority, .. },
            DeviceItem::QueueRate { port: of, priority: class, .. },
        )
        | (
            DeviceItem::QueueDepth { port, priority, .. },
            DeviceItem::QueueDepth { port: of, priority: class, .. },
        ) => !(covers(*port, *of) && covers(*priority, *class)),
        (
            DeviceItem::GeneratorTimer(control::target::GeneratorTimer { application, .. })
            | DeviceItem::GeneratorStop { application },
            DeviceItem::GeneratorTimer(of),
        ) => of.application != *application,
        _ => true,
    });
    if !matches!(new, DeviceItem::GeneratorStop { .. }) {
        settings.push(new);
    }
}

fn application_id(application: u64) -> Result<u8, Fault> {
    let id = u8::try_from(application).ok().filter(|id| *id < GENERATOR_APPLICATIONS);
    id.ok_or_else(|| {
        let largest = GENERATOR_APPLICATIONS - 1;
        refused(format!("the packet generator has applications 0 to {largest}, not {application}"))
    })
}

fn application(timer: target::GeneratorTimer) -> Result<GeneratorApplication, Fault> {
    let picoseconds = |ns: u64, what: &str| {
        ns.checked_mul(1000).ok_or_else(|| refused(format!("{what} of {ns} ns is too long")))
    };
    let count = |count: u64, what: &str| match u32::try_from(count) {
        Ok(count @ 1..=MAX_BATCHES) => Ok(count),
        _ => Err(refused(format!("{what} must be 1 to {MAX_BATCHES}, not {count}"))),
    };
    if timer.period_ns == 0 {
        return Err(refused("a timer takes at least 1 ns"));
    }
    let port = match timer.port {
        Some(port) => {
            u32::try_from(port).map_err(|_| refused(format!("there is no port {port}")))?
        }
        None => GENERATOR_PORT,
    };
    Ok(GeneratorApplication {
        id: application_id(timer.application)?,
        port,
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

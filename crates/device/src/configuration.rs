// SPDX-License-Identifier: Apache-2.0
//! Device files: TOML to [`DeviceOptions`], with a diagnostic for each mistake. `docs/device-files.md`
//! describes them for users. Opening files is not done here.

mod reader;
#[cfg(test)]
mod tests;
mod units;

use crate::explanation::{
    CONFIGURATION_MISSING, CONFIGURATION_VALUE, CONFIGURATION_ZERO_TIME_LOOP,
};
use crate::flow_control::{FlowControlOptions, PauseFrame};
use crate::options::{DeviceOptions, PortOptions, TimestampUnit};
use crate::packet_generator::{
    GENERATOR_APPLICATIONS, GeneratorApplication, GeneratorTimer, MAX_BATCHES, MAX_TRAINS,
    PacketTrain, TrainTarget,
};
use crate::pass_timing::PassTiming;
use crate::wire::OutputPath;
use reader::{Reader, Section, found};
use source::{Diagnostic, Diagnostics, FileId};
use toml::de::DeValue;

/// Largest number of queues of a port that a device file may ask for.
const MAX_QUEUES: u64 = 128;
/// Largest number of stages that a device file may name.
const MAX_STAGES: u64 = 1 << 16;
/// Largest queue depth in packets that a device file may ask for.
const MAX_QUEUE_DEPTH: u64 = u32::MAX as u64;

/// Reads a device file. Fields that it leaves out have the values of [`DeviceOptions::default`].
pub fn read(file: FileId, text: &str) -> Result<DeviceOptions, Diagnostics> {
    let mut reader = Reader::new(file);
    let options = reader.document(text, |reader, root| reader.device(root)).unwrap_or_default();
    reader.end().map(|()| options)
}

impl Reader {
    fn device(&mut self, root: &mut Section<'_>) -> DeviceOptions {
        let mut options = DeviceOptions::default();
        let units = [("us", TimestampUnit::Microseconds), ("ns", TimestampUnit::Nanoseconds)];
        options.timestamp_unit = self.choice(root, "clock", &units).unwrap_or_default();
        options.device_id = self.number(root, "id", 0..=u64::MAX >> 1).unwrap_or(0);
        options.ingress_interval_ps = self.time(root, "ingress_interval").unwrap_or(0);
        options.ingress_latency_ps = self.time(root, "ingress_latency").unwrap_or(0);
        options.egress_latency_ps = self.time(root, "egress_latency").unwrap_or(0);
        options.pass_timing = self.pass_timing(root);
        if let Some(limit) = self.number_or_none(root, "pass_limit", 1..=u64::from(u32::MAX)) {
            options.pass_limit = limit.map(|limit| limit as u32);
        }
        if let Some(bytes) = self.number_or_none(root, "shared_buffer_bytes", 0..=u64::MAX >> 1) {
            options.traffic_manager.shared_buffer_bytes = bytes;
        }
        options.cpu_port = self.port_number(root, "cpu_port").or(options.cpu_port);
        options.drop_port = self.port_number(root, "drop_port").or(options.drop_port);

        let traffic = &mut options.traffic_manager;
        let mut default_port = self.section(root, "default_port");
        traffic.default_port = self.port(&mut default_port, PortOptions::default(), true);
        self.close(default_port);
        for (name, path) in [
            ("recirculation", OutputPath::Recirculation),
            ("resubmission", OutputPath::Resubmission),
        ] {
            let mut section = self.section(root, name);
            let port = self.port(&mut section, PortOptions::internal(), false);
            self.close(section);
            match path {
                OutputPath::Recirculation => traffic.recirculation = port,
                _ => traffic.resubmission = port,
            }
        }
        for (name, mut section) in self.sections(root, "port") {
            let number = name.get_ref().parse::<u32>();
            match number {
                Ok(number) => {
                    let before = traffic.default_port.clone();
                    let port = self.port(&mut section, before, true);
                    traffic.ports.insert(number, port);
                }
                Err(_) => {
                    let text = format!("`{}`", source::printable(name.get_ref(), 40));
                    self.wrong(name.span(), "port", "named by a number, such as [port.68]", &text);
                }
            }
            self.close(section);
        }
        for mut section in self.list(root, "generator") {
            options.packet_generator.extend(self.train(&mut section));
            self.close(section);
        }
        for mut section in self.list(root, "generator_application") {
            let application = self.application(&mut section, &options.generator_applications);
            options.generator_applications.extend(application);
            self.close(section);
        }
        for mut section in self.list(root, "pausable_queue") {
            self.pausable_queue(&mut section, &mut options);
            self.close(section);
        }
        if options.packet_generator.len() > MAX_TRAINS {
            let message = format!("the packet generator makes at most {MAX_TRAINS} trains");
            self.push(Diagnostic::error(CONFIGURATION_VALUE, self.span(root.range()), message));
        }
        self.refuse_zero_time_loops(root, &options);
        options
    }

    /// Reads the times of the stages of passes, if the file has them.
    fn pass_timing(&mut self, root: &mut Section<'_>) -> Option<PassTiming> {
        let mut section = self.section(root, "pass_timing");
        let is_there = section.is_there();
        let first_stage_ps = self.time(&mut section, "first_stage").unwrap_or(0);
        let stage_ps = self.time(&mut section, "stage").unwrap_or(0);
        let stages = self.named_numbers(&mut section, "stages", 0..=MAX_STAGES - 1);
        self.close(section);
        let stages = stages.into_iter().map(|(name, stage)| (name, stage as u32)).collect();
        is_there.then_some(PassTiming { first_stage_ps, stage_ps, stages })
    }

    /// Reads a port over its defaults. The internal paths back to ingress have neither loopback nor flow control.
    fn port(
        &mut self,
        section: &mut Section<'_>,
        otherwise: PortOptions,
        is_port: bool,
    ) -> PortOptions {
        let mut port = otherwise;
        if let Some(rate_bps) = self.rate(section, "rate") {
            port.rate_bps = rate_bps;
        }
        port.latency_ps = self.time(section, "latency").unwrap_or(port.latency_ps);
        let queues = self.number(section, "queues", 1..=MAX_QUEUES);
        port.queue_count = queues.map_or(port.queue_count, |count| count as u32);
        let depth = self.number(section, "queue_depth", 0..=MAX_QUEUE_DEPTH);
        port.queue_depth_packets = depth.map_or(port.queue_depth_packets, |depth| depth as u32);
        let rate = self.number(section, "queue_rate", 0..=u64::MAX >> 1);
        port.queue_rate_pps = rate.unwrap_or(port.queue_rate_pps);
        if is_port {
            port.loopback = self.truth(section, "loopback").unwrap_or(port.loopback);
            self.flow_control(section, &mut port);
        }
        port
    }

    /// Reads `flow_control = true`, or the list of the classes' queues.
    fn flow_control(&mut self, section: &mut Section<'_>, port: &mut PortOptions) {
        let name = section.name_of("flow_control");
        let Some(value) = section.get("flow_control") else { return };
        let wanted =
            "true, false, or the queue of each of the eight classes: [0, 1, 2, 3, 4, 5, 6, 7]";
        port.flow_control = match value.get_ref() {
            DeValue::Boolean(false) => None,
            DeValue::Boolean(true) => Some(FlowControlOptions::default()),
            DeValue::Array(array) => {
                let queues = array.iter().map(|queue| match queue.get_ref() {
                    DeValue::Integer(integer) => {
                        u32::from_str_radix(integer.as_str(), integer.radix()).ok()
                    }
                    _ => None,
                });
                let queues: Option<Vec<u32>> = queues.collect();
                match queues.and_then(|queues| <[u32; 8]>::try_from(queues).ok()) {
                    Some(queue_of_class) => Some(FlowControlOptions { queue_of_class }),
                    None => return self.wrong(value.span(), &name, wanted, "another list"),
                }
            }
            other => return self.wrong(value.span(), &name, wanted, &found(other)),
        };
    }

    fn train(&mut self, section: &mut Section<'_>) -> Option<PacketTrain> {
        let port = self.required_port(section);
        let targets = [("mac", TrainTarget::Mac), ("ingress", TrainTarget::Ingress)];
        let target = self.choice(section, "into", &targets).unwrap_or_default();
        let offset_ps = self.time(section, "offset").unwrap_or(0);
        let period_ps =
            self.required_time(section, "period", "from one packet to the next, such as \"100us\"");
        let count = self.number(section, "count", 0..=u64::MAX >> 1);
        let bytes = self.bytes(section, "bytes");
        let mut pause = self.section(section, "pause");
        let frame = pause.is_there().then(|| self.pause(&mut pause));
        self.close(pause);
        let bytes = match (bytes, frame) {
            (Some(bytes), None) => bytes,
            (None, Some(frame)) => frame?,
            _ => {
                let span = self.span(section.range().start..section.range().start);
                let message = "a train needs either `bytes` or `pause`";
                self.push(Diagnostic::error(CONFIGURATION_MISSING, span, message).help(
                    "add `bytes = \"0123...\"`, or `pause = { class = 0, quanta = 65535 }` for a frame of \
                     flow control",
                ));
                return None;
            }
        };
        Some(PacketTrain { port: port?, target, offset_ps, period_ps: period_ps?, count, bytes })
    }

    fn pause(&mut self, section: &mut Section<'_>) -> Option<Vec<u8>> {
        let class = self.required_number(section, "class", 0..=7);
        let quanta = self.required_number(section, "quanta", 0..=u64::from(u16::MAX));
        Some(PauseFrame::of_class(class? as u8, quanta? as u16).bytes([0; 6]))
    }

    /// Reads an application of the packet generator; its number must differ from those before it.
    fn application(
        &mut self,
        section: &mut Section<'_>,
        before: &[GeneratorApplication],
    ) -> Option<GeneratorApplication> {
        let otherwise = GeneratorApplication::default();
        let id = self.required_number(section, "id", 0..=u64::from(GENERATOR_APPLICATIONS) - 1);
        if before.iter().any(|other| Some(u64::from(other.id)) == id) {
            let (name, range) = (section.name_of("id"), section.range_of("id"));
            self.wrong(range, &name, "a number that no other application has", "a duplicate");
        }
        let timers = [("periodic", GeneratorTimer::Periodic), ("once", GeneratorTimer::Once)];
        let timer = self.choice(section, "timer", &timers).unwrap_or_default();
        let wanted = "until the timer is over, such as \"100us\"";
        let mut period_ps = self.required_time(section, "period", wanted);
        if period_ps == Some(0) {
            let (name, range) = (section.name_of("period"), section.range_of("period"));
            self.wrong(range, &name, "a time above 0", "0");
            period_ps = None;
        }
        let most = u64::from(MAX_BATCHES);
        let mut count = |field| self.number(section, field, 1..=most).map(|count| count as u32);
        let (batches, packets) = (count("batches"), count("packets"));
        let port = self.port_number(section, "port").unwrap_or(otherwise.port);
        Some(GeneratorApplication {
            port,
            timer,
            offset_ps: self.time(section, "offset").unwrap_or(otherwise.offset_ps),
            batches: batches.unwrap_or(otherwise.batches),
            batch_gap_ps: self.time(section, "batch_gap").unwrap_or(otherwise.batch_gap_ps),
            packets: packets.unwrap_or(otherwise.packets),
            packet_gap_ps: self.time(section, "packet_gap").unwrap_or(otherwise.packet_gap_ps),
            bytes: self.bytes(section, "bytes").unwrap_or(otherwise.bytes),
            id: id? as u8,
            period_ps: period_ps?,
        })
    }

    /// Reads a pausable queue: trains of frames that pause it except for the end of each period. Its port obeys flow
    /// control.
    fn pausable_queue(&mut self, section: &mut Section<'_>, options: &mut DeviceOptions) {
        let port = self.required_port(section);
        let class = self.number(section, "class", 0..=7).unwrap_or(0) as u8;
        let period_ps = self.required_time(
            section,
            "period",
            "from one release to the next, such as \"100us\"",
        );
        let open_ps = self.required_time(
            section,
            "open",
            "for how long the queue is released, such as \"1us\"",
        );
        let (Some(port), Some(period_ps), Some(open_ps)) = (port, period_ps, open_ps) else {
            return;
        };
        if open_ps >= period_ps || open_ps == 0 {
            let name = section.name_of("open");
            return self.wrong(
                section.range(),
                &name,
                "shorter than `period`, and not 0",
                "not so",
            );
        }
        let traffic = &mut options.traffic_manager;
        let before = traffic.default_port.clone();
        let of_port = traffic.ports.entry(port).or_insert(before);
        of_port.flow_control.get_or_insert_default();
        let rate_bps = of_port.rate_bps;
        if let Some(wanted) = PacketTrain::unfit_period(period_ps, rate_bps) {
            let name = section.name_of("period");
            return self.wrong(section.range_of("period"), &name, &wanted, "longer");
        }
        let trains = PacketTrain::pausable_queue(port, class, period_ps, open_ps, rate_bps);
        options.packet_generator.extend(trains);
    }

    /// Refuses options with which a packet could loop forever without device time passing.
    fn refuse_zero_time_loops(&mut self, root: &Section<'_>, options: &DeviceOptions) {
        let traffic = &options.traffic_manager;
        let takes_time = |port: &PortOptions| port.rate_bps.is_some() || port.latency_ps > 0;
        let first_stage_ps = options.pass_timing.as_ref().map_or(0, |timing| timing.first_stage_ps);
        let pipeline = [
            options.ingress_interval_ps,
            options.ingress_latency_ps,
            options.egress_latency_ps,
            first_stage_ps,
        ];
        if options.pass_limit.is_some() || pipeline.iter().any(|ps| *ps > 0) {
            return;
        }
        let ports = traffic.ports.iter().map(|(number, port)| (format!("port {number}"), port));
        let ports = ports.chain([("the default port".to_string(), &traffic.default_port)]);
        let loops = ports.filter(|(_, port)| port.loopback);
        let internal = [
            ("the recirculation path".to_string(), &traffic.recirculation),
            ("the resubmission path".to_string(), &traffic.resubmission),
        ];
        let stands = loops.chain(internal).find(|(_, port)| !takes_time(port));
        let Some((name, _)) = stands else { return };
        let message =
            format!("packets may loop through {name} forever without device time passing");
        let diagnostic = Diagnostic::error(
            CONFIGURATION_ZERO_TIME_LOOP,
            self.span(root.range_of("pass_limit")),
            message,
        )
        .here("no limit for passes")
        .help("give it a `rate` or a `latency`, or the device an `ingress_interval`");
        self.push(diagnostic);
    }
}

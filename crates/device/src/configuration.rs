// SPDX-License-Identifier: Apache-2.0
//! Device files: TOML to [`DeviceOptions`], with a diagnostic for each mistake. `docs/device-files.md`
//! describes them for users.

#[cfg(test)]
mod tests;
mod values;

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
use document::{Field, Fields, Format, Messages, Node, NodeKind};
use source::{Diagnostic, Diagnostics, FileId, printable};
use values::{CONVENTIONS, DeviceFields};

/// Largest number of queues of a port that a device file may ask for.
const MAX_QUEUES: u64 = 128;
/// Largest number of stages that a device file may name.
const MAX_STAGES: u64 = 1 << 16;
/// Largest queue depth in packets that a device file may ask for.
/// The largest overhead of a packet on the wire, in bytes.
const MAX_OVERHEAD_BYTES: u64 = 1 << 16;
const MAX_QUEUE_DEPTH: u64 = u32::MAX as u64;

/// Reads a device file. Fields that it leaves out have the values of [`DeviceOptions::default`].
pub fn read(file: FileId, text: &str) -> Result<DeviceOptions, Diagnostics> {
    let messages = Messages::new(&CONVENTIONS, Format::Toml);
    let document = messages.parse(file, text);
    let root = document.as_ref().and_then(|node| Fields::of(node, "a device file", &messages));
    let options = root.map(device).unwrap_or_default();
    if messages.has_errors() { Err(messages.into_diagnostics()) } else { Ok(options) }
}

fn device(mut root: Fields<'_>) -> DeviceOptions {
    let messages = root.messages();
    let mut options = DeviceOptions::default();
    let units = [("us", TimestampUnit::Microseconds), ("ns", TimestampUnit::Nanoseconds)];
    options.timestamp_unit = root.choice("clock", &units).unwrap_or_default();
    options.device_id = root.number("id", 0..=u64::MAX >> 1).unwrap_or(0);
    options.ingress_interval_ps = root.time("ingress_interval").unwrap_or(0);
    options.ingress_latency_ps = root.time("ingress_latency").unwrap_or(0);
    options.egress_latency_ps = root.time("egress_latency").unwrap_or(0);
    options.pass_timing = pass_timing(&mut root);
    if let Some(limit) = root.number_or_none("pass_limit", 1..=u64::from(u32::MAX)) {
        options.pass_limit = limit.map(|limit| limit as u32);
    }
    if let Some(bytes) = root.number_or_none("shared_buffer_bytes", 0..=u64::MAX >> 1) {
        options.traffic_manager.shared_buffer_bytes = bytes;
    }
    options.cpu_port = root.number_u32("cpu_port", 0..=u32::MAX).or(options.cpu_port);
    options.drop_port = root.number_u32("drop_port", 0..=u32::MAX).or(options.drop_port);

    let traffic = &mut options.traffic_manager;
    let mut default_port = root.section("default_port");
    traffic.default_port = port_options(&mut default_port, PortOptions::default(), true);
    default_port.finish();
    for (name, path) in
        [("recirculation", OutputPath::Recirculation), ("resubmission", OutputPath::Resubmission)]
    {
        let mut section = root.section(name);
        let port = port_options(&mut section, PortOptions::internal(), false);
        section.finish();
        match path {
            OutputPath::Recirculation => traffic.recirculation = port,
            _ => traffic.resubmission = port,
        }
    }
    for (field, mut section) in root.sections("port") {
        match field.name.parse() {
            Ok(number) => {
                let default_port = traffic.default_port.clone();
                traffic.ports.insert(number, port_options(&mut section, default_port, true));
            }
            Err(_) => {
                let name = printable(&field.name, 40);
                let message = format!("a port's name must be a number, not `{name}`");
                let help = "write the port's number: `[port.68]`";
                messages.error(CONFIGURATION_VALUE, field.name_span, message, help);
            }
        }
        section.finish();
    }
    for mut section in root.list("generator") {
        options.packet_generator.extend(train(&mut section));
        section.finish();
    }
    for mut section in root.list("generator_application") {
        let application = application(&mut section, &options.generator_applications);
        options.generator_applications.extend(application);
        section.finish();
    }
    for mut section in root.list("pausable_queue") {
        pausable_queue(&mut section, &mut options);
        section.finish();
    }
    if options.packet_generator.len() > MAX_TRAINS {
        let message = format!("the packet generator makes at most {MAX_TRAINS} trains");
        messages.error(CONFIGURATION_VALUE, root.span_of("generator"), message, "");
    }
    refuse_zero_time_loops(&root, &options);
    root.finish();
    options
}

/// Reads the times of the stages of passes, if the file has them.
fn pass_timing(root: &mut Fields<'_>) -> Option<PassTiming> {
    let mut section = root.section("pass_timing");
    let is_there = section.is_there();
    let first_stage_ps = section.time("first_stage").unwrap_or(0);
    let stage_ps = section.time("stage").unwrap_or(0);
    let stages = section.section("stages");
    section.finish();
    let stage = |field: &Field| {
        let name = stages.name_of(&format!("\"{}\"", printable(&field.name, 40)));
        let stage = stages.messages().number(&field.value, &name, 0..=MAX_STAGES - 1)?;
        Some((field.name.clone(), stage as u32))
    };
    let stages = stages.all().iter().filter_map(stage).collect();
    is_there.then_some(PassTiming { first_stage_ps, stage_ps, stages })
}

/// Reads a port over its defaults. The internal paths back to ingress have neither loopback nor flow control.
fn port_options(section: &mut Fields<'_>, otherwise: PortOptions, is_port: bool) -> PortOptions {
    let mut port = otherwise;
    if let Some(rate_bps) = section.rate("rate") {
        port.rate_bps = rate_bps;
    }
    port.latency_ps = section.time("latency").unwrap_or(port.latency_ps);
    let queues = section.number("queues", 1..=MAX_QUEUES);
    port.queue_count = queues.map_or(port.queue_count, |count| count as u32);
    let depth = section.number("queue_depth", 0..=MAX_QUEUE_DEPTH);
    port.queue_depth_packets = depth.map_or(port.queue_depth_packets, |depth| depth as u32);
    if let Some(bytes) = section.number("queue_bytes", 0..=u64::MAX >> 1) {
        port.queue_depth_bytes = Some(bytes);
    }
    let overhead = section.number("overhead", 0..=MAX_OVERHEAD_BYTES);
    port.overhead_bytes = overhead.map_or(port.overhead_bytes, |bytes| bytes as u32);
    let rate = section.number("queue_rate", 0..=u64::MAX >> 1);
    port.queue_rate_pps = rate.unwrap_or(port.queue_rate_pps);
    if is_port {
        port.loopback = section.truth("loopback").unwrap_or(port.loopback);
        flow_control(section, &mut port);
    }
    port
}

/// Reads `flow_control = true`, or the list of the classes' queues.
fn flow_control(section: &mut Fields<'_>, port: &mut PortOptions) {
    let Some(node) = section.get(&["flow_control"]) else { return };
    let number = |queue: &Node| match queue.kind {
        NodeKind::Int(queue) => u32::try_from(queue).ok(),
        _ => None,
    };
    let queues: Option<Vec<u32>> = match &node.kind {
        NodeKind::Bool(false) => return port.flow_control = None,
        NodeKind::Bool(true) => return port.flow_control = Some(FlowControlOptions::default()),
        NodeKind::List(list) => list.iter().map(number).collect(),
        _ => None,
    };
    match queues.and_then(|queues| queues.try_into().ok()) {
        Some(queue_of_class) => port.flow_control = Some(FlowControlOptions { queue_of_class }),
        None => section.wrong_value(
            "flow_control",
            "true, false, or the queue of each of the eight classes, such as [0, 1, 2, 3, 4, 5, 6, 7]",
        ),
    }
}

fn train(section: &mut Fields<'_>) -> Option<PacketTrain> {
    let port = section.need_port();
    let targets = [("mac", TrainTarget::Mac), ("ingress", TrainTarget::Ingress)];
    let target = section.choice("into", &targets).unwrap_or_default();
    let offset_ps = section.time("offset").unwrap_or(0);
    let period_ps = section.need_time("period", "`period = \"100us\"` from packet to packet");
    let count = section.number("count", 0..=u64::MAX >> 1);
    let bytes = section.bytes("bytes");
    let mut pause = section.section("pause");
    let frame = pause.is_there().then(|| pause_frame(&mut pause));
    pause.finish();
    let bytes = match (bytes, frame) {
        (Some(bytes), None) => bytes,
        (None, Some(frame)) => frame?,
        _ => {
            let message = "a train needs either `bytes` or `pause`";
            let help = "add `bytes = \"0123...\"`, or `pause = { class = 0, quanta = 65535 }` for a frame of \
                        flow control";
            section.messages().error(CONFIGURATION_MISSING, section.span(), message, help);
            return None;
        }
    };
    Some(PacketTrain { port: port?, target, offset_ps, period_ps: period_ps?, count, bytes })
}

fn pause_frame(section: &mut Fields<'_>) -> Option<Vec<u8>> {
    let class = section.need_number("class", 0..=7, "`class = 0`");
    let quanta = section.need_number("quanta", 0..=u64::from(u16::MAX), "`quanta = 65535`");
    Some(PauseFrame::of_class(class? as u8, quanta? as u16).bytes([0; 6]))
}

/// Reads an application of the packet generator; its number must differ from those before it.
fn application(
    section: &mut Fields<'_>,
    before: &[GeneratorApplication],
) -> Option<GeneratorApplication> {
    let otherwise = GeneratorApplication::default();
    let id = section.need_number("id", 0..=u64::from(GENERATOR_APPLICATIONS) - 1, "`id = 0`");
    if before.iter().any(|other| Some(u64::from(other.id)) == id) {
        section.wrong_value("id", "a number that no other application has");
    }
    let timers = [("periodic", GeneratorTimer::Periodic), ("once", GeneratorTimer::Once)];
    let timer = section.choice("timer", &timers).unwrap_or_default();
    let mut period_ps = section.need_time("period", "`period = \"100us\"` until the timer expires");
    if period_ps == Some(0) {
        section.wrong_value("period", "a time above 0");
        period_ps = None;
    }
    let most = u64::from(MAX_BATCHES);
    let mut count = |field| section.number(field, 1..=most).map(|count| count as u32);
    let (batches, packets) = (count("batches"), count("packets"));
    let port = section.number_u32("port", 0..=u32::MAX).unwrap_or(otherwise.port);
    Some(GeneratorApplication {
        port,
        timer,
        offset_ps: section.time("offset").unwrap_or(otherwise.offset_ps),
        batches: batches.unwrap_or(otherwise.batches),
        batch_gap_ps: section.time("batch_gap").unwrap_or(otherwise.batch_gap_ps),
        packets: packets.unwrap_or(otherwise.packets),
        packet_gap_ps: section.time("packet_gap").unwrap_or(otherwise.packet_gap_ps),
        bytes: section.bytes("bytes").unwrap_or(otherwise.bytes),
        id: id? as u8,
        period_ps: period_ps?,
    })
}

/// Reads a pausable queue: trains of frames that pause it except for the end of each period. Its port obeys flow
/// control.
fn pausable_queue(section: &mut Fields<'_>, options: &mut DeviceOptions) {
    let port = section.need_port();
    let class = section.number("class", 0..=7).unwrap_or(0) as u8;
    let period_ps = section.need_time("period", "`period = \"100us\"` from release to release");
    let open_ps =
        section.need_time("open", "`open = \"1us\"` for the time that the queue is released");
    let (Some(port), Some(period_ps), Some(open_ps)) = (port, period_ps, open_ps) else {
        return;
    };
    if open_ps >= period_ps || open_ps == 0 {
        return section.wrong_value("open", "above 0 and below `period`");
    }
    let traffic = &mut options.traffic_manager;
    let before = traffic.default_port.clone();
    let of_port = traffic.ports.entry(port).or_insert(before);
    of_port.flow_control.get_or_insert_default();
    let rate_bps = of_port.rate_bps;
    if let Some(wanted) = PacketTrain::unfit_period(period_ps, rate_bps) {
        return section.wrong_value("period", &wanted);
    }
    let trains = PacketTrain::pausable_queue(port, class, period_ps, open_ps, rate_bps);
    options.packet_generator.extend(trains);
}

/// Refuses options with which a packet could loop forever without device time passing.
fn refuse_zero_time_loops(root: &Fields<'_>, options: &DeviceOptions) {
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
    let message = format!("packets may loop through {name} forever without device time passing");
    let diagnostic =
        Diagnostic::error(CONFIGURATION_ZERO_TIME_LOOP, root.span_of("pass_limit"), message)
            .here("no limit for passes")
            .help("give it a `rate` or a `latency`, or the device an `ingress_interval`");
    root.messages().push(diagnostic);
}

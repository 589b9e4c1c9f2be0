// SPDX-License-Identifier: Apache-2.0
//! What runs on captures print: digests, what stopped a run, tables of ports and drops.

use super::request::DeviceRun;
use crate::port_captures::{Written, written_text};
use device::{Device, DeviceOptions, DigestMessage, LoadError};
use frontend::{Console, coded, diagnostics_text};
use network::replay::{Progress, ReplayError};
use source::{RenderOptions, SourceMap, quantity};

/// Where an item of a program stands in the source: `file:line`.
pub(crate) fn place(
    program: &ir::Program,
    map: &SourceMap,
    origin: ir::OriginId,
) -> Option<String> {
    let place = map.location(program.origins.get(origin.index())?.span)?;
    Some(format!("{}:{}", place.file, place.line))
}

pub(super) fn digest_line(digest: &DigestMessage) -> String {
    let fields: Vec<String> = digest
        .fields
        .iter()
        .map(|(name, value)| format!("{name} = 0x{:x}", value.to_biguint()))
        .collect();
    format!("digest {} of packet {}: {}\n", digest.name, digest.packet, fields.join(", "))
}

/// How the program was compiled, which differs from run to run.
pub(super) fn note_compilation(device: &Device, console: &dyn Console) {
    if let Some(time) = device.compile_time() {
        console.note(&format!(
            "compiled in {} ms: {} bytes of machine code",
            time.as_millis(),
            device.code_bytes()
        ));
    }
    for note in device.notes() {
        console.note(&format!("slow on this engine: {note}"));
    }
}

/// Why a program cannot be loaded, with places where it says any.
pub(super) fn load_problem_text(error: &LoadError, map: &SourceMap) -> String {
    let found = error.diagnostics();
    match found.is_empty() {
        true => coded(error.code().0, &error.to_string()),
        false => diagnostics_text(map, &found, RenderOptions::default()),
    }
}

pub(super) fn problem_text(error: &ReplayError, device: &Device, map: &SourceMap) -> String {
    if let ReplayError::Capture(error) = error {
        let message = format!("{error}; the packets before it were run");
        return coded(error.code().0, &message);
    }
    if let ReplayError::Device(device::DeviceError::AssertionFailed { origin, .. }) = error
        && let Some(place) = place(&device.program(), map, *origin)
    {
        return format!("{place}: {error}");
    }
    error.to_string()
}

pub(super) fn summary(
    device: &Device,
    progress: Option<Progress>,
    run: &DeviceRun<'_>,
    written: &Written,
) -> String {
    let statistics = device.statistics();
    let engine = match run.verify {
        true => "jit and interpreter side by side",
        false => device.engine_name(),
    };
    let mut text = format!("{} ({engine})\n", run.program.display());
    text.push_str(&format!(
        "\n{:>8} {:>12} {:>14} {:>12} {:>14}\n",
        "port", "packets in", "bytes in", "packets out", "bytes out"
    ));
    let mut total = device::PortStatistics::default();
    let row = |name: &str, port: &device::PortStatistics, what: &str| {
        format!(
            "{name:>8} {:>12} {:>14} {:>12} {:>14}{what}\n",
            port.received_packets, port.received_bytes, port.sent_packets, port.sent_bytes
        )
    };
    for (number, port) in &statistics.ports {
        text.push_str(&row(&number.to_string(), port, &within(device.options(), *number)));
        total.received_packets += port.received_packets;
        total.received_bytes += port.received_bytes;
        total.sent_packets += port.sent_packets;
        total.sent_bytes += port.sent_bytes;
    }
    text.push_str(&row("all", &total, ""));
    let dropped = statistics.dropped_packets();
    let reasons: Vec<String> =
        statistics.drops.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    text.push_str(&format!("\ndropped: {dropped}"));
    if !reasons.is_empty() {
        text.push_str(&format!(" ({})", reasons.join(", ")));
    }
    text.push('\n');
    let further = [
        ("copies made by multicast groups", statistics.replicated),
        ("clones", statistics.cloned),
        ("resubmitted", statistics.resubmitted),
        ("recirculated", statistics.recirculated),
        ("held by externs", statistics.held),
        ("held by externs and released", statistics.released),
        ("emitted by externs", statistics.emitted),
        ("digests", statistics.digests),
    ];
    for (what, count) in further.iter().filter(|(_, count)| *count > 0) {
        text.push_str(&format!("{what}: {count}\n"));
    }
    if let Some(progress) = progress.filter(|progress| progress.packets_snapped > 0) {
        text.push_str(&format!(
            "{} packets were cut short by their capture and run as they are\n",
            progress.packets_snapped
        ));
    }
    if let Some(until_ps) = run.until_ps {
        let left = [
            (device.is_busy(), "packets were on their way"),
            (progress.is_some_and(|progress| progress.is_cut), "the captures have later packets"),
        ];
        let left: Vec<&str> = left.iter().filter(|left| left.0).map(|left| left.1).collect();
        if !left.is_empty() {
            let end = quantity::nanoseconds(until_ps);
            text.push_str(&format!("the run was over at {end} ns; {}\n", left.join("; ")));
        }
    }
    text.push_str(&written_text(written));
    text
}

/// What a port has of packets that come from within the device; nothing for a port that leads outside.
fn within(options: &DeviceOptions, port: u32) -> String {
    let loopback = options.traffic_manager.is_loopback(port);
    let trains = options.packet_generator.iter().map(|train| train.port);
    let applications = options.generator_applications.iter().map(|application| application.port);
    let generates = trains.chain(applications).any(|generator| generator == port);
    match (loopback, generates) {
        (true, true) => "  (loopback, packet generator)".to_string(),
        (true, false) => "  (loopback)".to_string(),
        (false, true) => "  (packet generator)".to_string(),
        (false, false) => String::new(),
    }
}

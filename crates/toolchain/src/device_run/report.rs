// SPDX-License-Identifier: Apache-2.0
//! What runs on captures print: digests, the error that stopped a run, tables of ports and drops.

use super::ended::Ended;
use super::{DeviceRun, Engines, TraceFormat, result_json};
use crate::port_captures::{PortCaptures, Written, written_text};
use crate::threads::Pipelines;
use device::{Device, DeviceOptions, DigestMessage, LoadError, LogLine};
use frontend::{Console, coded, diagnostics_text};
use network::replay::ReplayError;
use source::{RenderOptions, SourceMap, quantity};

/// Returns the source of an item: `file:line`.
pub(crate) fn place(
    program: &ir::Program,
    map: &SourceMap,
    origin: ir::OriginId,
) -> Option<String> {
    let place = map.location(program.origins.get(origin.index())?.span)?;
    Some(place.to_string())
}

/// Returns a digest as a line.
fn digest_line(digest: &DigestMessage) -> String {
    let fields: Vec<String> = digest
        .fields
        .iter()
        .map(|(name, value)| format!("{name} = 0x{:x}", value.to_biguint()))
        .collect();
    format!("digest {} of packet {}: {}\n", digest.name, digest.packet, fields.join(", "))
}

/// Prints digests, if the user wants them, and log lines. Digests for JSON are kept for its object.
pub(super) fn deliver_messages(
    run: &DeviceRun<'_>,
    (digests, log): (Vec<DigestMessage>, &[LogLine]),
    kept: &mut Vec<DigestMessage>,
    console: &dyn Console,
) {
    for digest in digests {
        match run.json {
            true => kept.push(digest),
            false if run.digests => console.print(&digest_line(&digest)),
            false => {}
        }
    }
    for line in log {
        console.note(&format!("log: {}", line.text));
    }
}

/// Completes the captures and prints error and summary. Returns whether all packets were run.
pub(super) fn finish(
    device: &Device,
    ended: Ended,
    captures: PortCaptures,
    run: &DeviceRun<'_>,
    console: &dyn Console,
) -> Result<bool, String> {
    // The error comes first: what follows may fail too.
    if let Some(error) = &ended.error {
        console.error(error);
    }
    let written = captures.finish()?;
    if run.json {
        if !console.is_quiet() {
            note_compilation(device, console);
        }
        let engine = engine_name(device, &ended, run);
        console.print(&result_json::text(device, engine, &ended, run, &written));
        return Ok(ended.error.is_none());
    }
    if !console.is_quiet() {
        note_compilation(device, console);
        let summary = summary(device, &ended, run, &written);
        // Readers of traces as JSON get nothing else on standard output.
        match run.trace {
            Some(TraceFormat::Json) => console.note(summary.trim_end()),
            _ => console.print(&summary),
        }
    }
    Ok(ended.error.is_none())
}

/// Prints time and size of compilation, which differ from run to run.
fn note_compilation(device: &Device, console: &dyn Console) {
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

/// Returns why a program cannot be loaded, with places if the error has any.
pub(crate) fn load_error_text(error: &LoadError, map: &SourceMap) -> String {
    let found = error.diagnostics();
    match found.is_empty() {
        true => coded(error.code().0, &error.to_string()),
        false => diagnostics_text(map, &found, RenderOptions::default()),
    }
}

/// Returns why a run stopped.
pub(crate) fn replay_error_text(error: &ReplayError, device: &Device, map: &SourceMap) -> String {
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

/// Returns the engine that ran the program.
fn engine_name(device: &Device, ended: &Ended, run: &DeviceRun<'_>) -> &'static str {
    let is_on_pipelines = matches!(ended.pipelines, Some(Pipelines::Many(_)));
    match run.engines {
        Engines::SideBySide if !is_on_pipelines => "jit and interpreter side by side",
        _ => device.engine_name(),
    }
}

fn summary(device: &Device, ended: &Ended, run: &DeviceRun<'_>, written: &Written) -> String {
    let statistics = device.statistics();
    let progress = ended.progress;
    let engine = engine_name(device, ended, run);
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
        text.push_str(&row(
            &number.to_string(),
            port,
            &internal_sources(device.options(), *number),
        ));
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
    if let Some(pipelines) = &ended.pipelines {
        text.push_str(&pipelines.text());
    }
    if let Some(progress) = progress.filter(|progress| progress.packets_snapped > 0) {
        text.push_str(&format!(
            "{} cut by their capture (snap length) and were run {}\n",
            match progress.packets_snapped {
                1 => "1 packet was".to_string(),
                packets => format!("{packets} packets were"),
            },
            match run.pads_snapped {
                true => "with zeros for the missing bytes",
                false => "without the missing bytes",
            }
        ));
    }
    if let Some(until_ps) = run.until_ps {
        let unfinished = [
            (device.is_busy(), "packets were in flight"),
            (progress.is_some_and(|progress| progress.is_cut), "the captures have later packets"),
        ];
        let unfinished: Vec<&str> =
            unfinished.iter().filter(|each| each.0).map(|each| each.1).collect();
        if !unfinished.is_empty() {
            let end = quantity::nanoseconds(until_ps);
            text.push_str(&format!("the run was over at {end} ns; {}\n", unfinished.join("; ")));
        }
    }
    text.push_str(&written_text(written));
    text
}

/// Returns the sources of packets within the device that a port has; empty for a port that leads outside.
fn internal_sources(options: &DeviceOptions, port: u32) -> String {
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

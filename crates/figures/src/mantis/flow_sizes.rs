// SPDX-License-Identifier: Apache-2.0
//! Figure 14: errors of flow sizes by true size. A generated trace runs through a P4R program that samples, and through P4
//! programs of sFlow, of a hash table and of a count-min sketch.

use super::Options;
use super::network::plain_program;
use super::switch::{Program, Switch};
use crate::{Measuring, Table};
use arithmetic::crc::CrcParameters;
use control::latency::{BarrierKind, Duration, LatencyModel};
use control::target::{Reply, Target};
use device::{Device, DeviceOptions};
use hosts::packet_trace::{AddressPool, PacketTrace, TraceOptions};
use ir::RegisterId;
use network::frame::Frame;
use state::{CellRange, Read};
use std::collections::HashMap;

const SAMPLING: &str = include_str!("../../../../examples/react/dos/flow_sizes.p4r");
const SFLOW: &str = include_str!("../../../../examples/react/dos/sflow.p4");
const HASH_TABLE: &str = include_str!("../../../../examples/react/dos/hash_table.p4");
const COUNT_MIN: &str = include_str!("../../../../examples/react/dos/count_min.p4");

/// The paper's trace.
const PACKETS: u64 = 8_900_000;
const FLOWS: u64 = 370_000;
const DURATION_PS: u64 = 20_000_000_000_000;
/// The part of the trace and of the tables that is measured by default.
const SCALE: u64 = 20;
/// Cells of a table in the paper.
const CELLS: [u64; 2] = [8192, 16384];
const SFLOW_PERIOD: u64 = 30_000;
/// The published time of a dialogue.
const PUBLISHED_DIALOGUE_PS: u64 = 10_000_000;
/// Packets between two reads of what a device has sent.
const PACKETS_BETWEEN_DRAINS: u64 = 1024;
/// True sizes of columns, in bytes: up to these.
const SIZES: [(&str, u64); 6] = [
    ("<1 KB", 1_000),
    ("1-10 KB", 10_000),
    ("10-100 KB", 100_000),
    ("0.1-1 MB", 1_000_000),
    ("1-10 MB", 10_000_000),
    (">10 MB", u64::MAX),
];

/// Estimates by source.
type Estimates = HashMap<u32, f64>;

/// The trace, of a part of the paper's size.
pub(super) struct Trace {
    options: TraceOptions,
    scale: u64,
}

impl Trace {
    pub fn new(scale: u64, seed: u64) -> Result<Trace, String> {
        let flows = FLOWS / scale;
        // Each flow has a source of its own, so that sources are flows.
        let sources = AddressPool { hosts: Some(flows), ..AddressPool::internet() };
        let options = TraceOptions {
            packets: PACKETS / scale,
            flows,
            duration_ps: DURATION_PS / scale,
            sources,
            seed,
            ..TraceOptions::default()
        };
        Ok(Trace { options, scale })
    }

    /// Calls for each packet with its time and its frame.
    fn each(
        &self,
        mut take: impl FnMut(u64, &Frame, u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut trace = PacketTrace::new(&self.options)?;
        let mut frame = Frame::default();
        let mut number = 0;
        while let Some(packet) = trace.next_into(&mut frame) {
            number += 1;
            take(packet.time_ps, &frame, number)?;
        }
        Ok(())
    }

    pub fn true_sizes(&self) -> Result<HashMap<u32, u64>, String> {
        let mut sizes = HashMap::new();
        self.each(|_, frame, _| {
            *sizes.entry(source_of(frame)).or_insert(0) += frame.length_bytes();
            Ok(())
        })?;
        Ok(sizes)
    }
}

/// The source of an IPv4 packet behind an Ethernet header.
fn source_of(frame: &Frame) -> u32 {
    let at = 14 + 12;
    frame
        .bytes
        .get(at..at + 4)
        .map_or(0, |bytes| bytes.iter().fold(0, |address, byte| address << 8 | u32::from(*byte)))
}

fn whole(frame: &Frame) -> Vec<u8> {
    let mut bytes = frame.bytes.clone();
    bytes.resize(frame.length_bytes() as usize, 0);
    bytes
}

/// Runs the trace through a P4 program without an agent.
fn run_plain(
    trace: &Trace,
    name: &str,
    text: &str,
    cells: u64,
    seed: u64,
) -> Result<Device, String> {
    let defines = [("CELLS", cells.to_string()), ("PERIOD", SFLOW_PERIOD.to_string())];
    let program = plain_program(name, text, &defines)?;
    let options = DeviceOptions { seed, ..DeviceOptions::default() };
    let device = Device::new(program.program().clone(), options);
    let mut device = device.map_err(|error| error.to_string())?;
    trace.each(|time_ps, frame, number| {
        let sent = device.inject(1, time_ps, whole(frame)).and_then(|_| device.advance(time_ps));
        if number.is_multiple_of(PACKETS_BETWEEN_DRAINS) {
            device.drain_transmitted();
        }
        sent.map_err(|error| error.to_string())
    })?;
    device.run_to_completion().map_err(|error| error.to_string())?;
    Ok(device)
}

/// The cells of a register.
fn cells_of(device: &Device, name: &str) -> Result<Vec<u64>, String> {
    let program = device.program();
    let at = program.registers.iter().position(|register| register.name.ends_with(name));
    let register = RegisterId(at.ok_or_else(|| format!("no register {name}"))? as u32);
    let read = Read::Register { register, cells: CellRange::all() };
    let outcome = device.target().execute(control::target::Batch::of([read]));
    match outcome.results.into_iter().next() {
        Some(Ok(Reply::State(state::Reply::Registers(values)))) => {
            Ok(values.iter().map(ir::Bits::low_u64).collect())
        }
        _ => Err(format!("register {name} cannot be read")),
    }
}

fn cell_of(crc: &CrcParameters, source: u32, cells: &[u64]) -> f64 {
    let index = crc.compute(&source.to_be_bytes()) % cells.len() as u64;
    cells[index as usize] as f64
}

fn hash_table(
    trace: &Trace,
    cells: u64,
    sources: &HashMap<u32, u64>,
    seed: u64,
) -> Result<Estimates, String> {
    let device = run_plain(trace, "hash_table.p4", HASH_TABLE, cells, seed)?;
    let bytes = cells_of(&device, ".bytes")?;
    let estimate = |source: &u32| (*source, cell_of(&CrcParameters::CRC32, *source, &bytes));
    Ok(sources.keys().map(estimate).collect())
}

pub(super) fn count_min(
    trace: &Trace,
    cells: u64,
    sources: &HashMap<u32, u64>,
    seed: u64,
) -> Result<Estimates, String> {
    let device = run_plain(trace, "count_min.p4", COUNT_MIN, cells, seed)?;
    let (first, second) = (cells_of(&device, ".first_row")?, cells_of(&device, ".second_row")?);
    let estimate = |source: &u32| {
        let one = cell_of(&CrcParameters::CRC32, *source, &first);
        let other = cell_of(&CrcParameters::CRC16, *source, &second);
        (*source, one.min(other))
    };
    Ok(sources.keys().map(estimate).collect())
}

/// Estimates of sFlow, and the number of samples.
fn sflow(trace: &Trace, seed: u64) -> Result<(Estimates, usize), String> {
    let mut device = run_plain(trace, "sflow.p4", SFLOW, 1, seed)?;
    let mut estimates = Estimates::new();
    let mut samples = 0;
    for digest in device.drain_digests() {
        let values: Vec<u64> = digest.fields.iter().map(|(_, value)| value.low_u64()).collect();
        if let [source, length] = values[..] {
            *estimates.entry(source as u32).or_insert(0.0) += (length * SFLOW_PERIOD) as f64;
            samples += 1;
        }
    }
    Ok((estimates, samples))
}

/// What sampling by an agent gave.
pub(super) struct Sampled {
    /// All bytes since the last dialogue to the sampled source.
    pub marginal: Estimates,
    /// The sampled length times the packets since the last dialogue.
    pub by_length: Estimates,
    pub dialogue_us: f64,
    pub packets_per_sample: f64,
}

/// Runs the trace beside the agent, and computes both estimates from what its dialogues measured.
pub(super) fn sample(trace: &Trace, model: &LatencyModel) -> Result<Sampled, String> {
    let program = Program::compile("flow_sizes.p4r", SAMPLING, &[])?;
    let mut switch = Switch::new(&program, DeviceOptions::default(), Some(model.clone()), "")?;
    let mut sampled = Sampled {
        marginal: Estimates::new(),
        by_length: Estimates::new(),
        dialogue_us: 0.0,
        packets_per_sample: 0.0,
    };
    let (mut last_bytes, mut last_packets) = (0_u32, 0_u32);
    let (mut samples, mut all_packets) = (0_u64, 0_u64);
    let mut take = |switch: &Switch, sampled: &mut Sampled| {
        let mut record = switch.record.get();
        record.dialogues.clear();
        for input in record.inputs.drain(..) {
            let [source, length, bytes, packets, ..] = input[..] else { continue };
            let new_bytes = (bytes as u32).wrapping_sub(last_bytes);
            let new_packets = (packets as u32).wrapping_sub(last_packets);
            (last_bytes, last_packets) = (bytes as u32, packets as u32);
            if new_packets == 0 {
                continue;
            }
            samples += 1;
            all_packets += u64::from(new_packets);
            *sampled.marginal.entry(source as u32).or_insert(0.0) += f64::from(new_bytes);
            *sampled.by_length.entry(source as u32).or_insert(0.0) +=
                length as f64 * f64::from(new_packets);
        }
    };
    trace.each(|time_ps, frame, number| {
        switch.receive(1, time_ps, whole(frame))?;
        if number.is_multiple_of(PACKETS_BETWEEN_DRAINS) {
            switch.device.drain_transmitted();
            take(&switch, &mut sampled);
        }
        Ok(())
    })?;
    switch.run_until(trace.options.duration_ps + 1_000_000_000)?;
    take(&switch, &mut sampled);
    let statistics = switch.record.get().statistics;
    sampled.dialogue_us = statistics.busy_ps as f64 / 1e6 / statistics.dialogues.max(1) as f64;
    sampled.packets_per_sample = all_packets as f64 / samples.max(1) as f64;
    Ok(sampled)
}

/// Mean relative errors by true size; `None` where no flow has such a size.
pub(super) fn errors(sizes: &HashMap<u32, u64>, estimates: &Estimates) -> [Option<f64>; 6] {
    let mut sums = [(0.0, 0_u64); 6];
    for (source, size) in sizes {
        let at = SIZES.iter().position(|(_, most)| size < most).unwrap_or(SIZES.len() - 1);
        let estimate = estimates.get(source).copied().unwrap_or(0.0);
        sums[at].0 += (estimate - *size as f64).abs() / *size as f64;
        sums[at].1 += 1;
    }
    sums.map(|(sum, count)| (count > 0).then(|| sum / count as f64))
}

/// A model whose costs are this part of another's.
fn scaled(model: &LatencyModel, factor: f64) -> LatencyModel {
    let ps = |ps: u64| (ps as f64 * factor) as u64;
    let duration = |duration: &Duration| match duration {
        Duration::Constant(constant) => Duration::Constant(ps(*constant)),
        Duration::Uniform { min_ps, max_ps } => {
            Duration::Uniform { min_ps: ps(*min_ps), max_ps: ps(*max_ps) }
        }
        Duration::Exponential { min_ps, mean_ps } => {
            Duration::Exponential { min_ps: ps(*min_ps), mean_ps: ps(*mean_ps) }
        }
        Duration::Measured(histogram) => {
            Duration::Measured(histogram.iter().map(|(at, weight)| (ps(*at), *weight)).collect())
        }
    };
    let mut model = model.clone();
    for (_, cost) in &mut model.items {
        cost.base = duration(&cost.base);
        cost.byte_ps = ps(cost.byte_ps);
    }
    model.other_items.base = duration(&model.other_items.base);
    if let BarrierKind::Bound(bound) = &mut model.barrier {
        *bound = ps(*bound);
    }
    model
}

/// Errors of flow sizes by true size.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_14(measuring: &mut Measuring<'_>, options: &Options) -> Result<Table, String> {
    let scale = if options.is_full { 1 } else { SCALE };
    let trace = Trace::new(scale, measuring.seed)?;
    table(measuring, &options.model, &trace)
}

/// The table of one trace.
pub(super) fn table(
    measuring: &mut Measuring<'_>,
    model: &LatencyModel,
    trace: &Trace,
) -> Result<Table, String> {
    let mut columns = vec!["estimator"];
    columns.extend(SIZES.iter().map(|(name, _)| *name));
    columns.push("published");
    let mut table =
        Table::new("Figure 14: mean relative error of flow sizes by true size", &columns);
    let scale = trace.scale;
    let sizes = trace.true_sizes()?;
    let mut add = |name: String, estimates: &Estimates, published: &str| {
        let cells = errors(&sizes, estimates).map(|error| match error {
            None => "-".to_string(),
            Some(error) if error >= 100.0 => format!("{error:.0}"),
            Some(error) => format!("{error:.3}"),
        });
        table.row([name].into_iter().chain(cells).chain([published.to_string()]));
    };
    (measuring.progress)("Mantis", 0.0);
    let ours = sample(trace, model)?;
    let faster = scaled(model, PUBLISHED_DIALOGUE_PS as f64 / 1e6 / ours.dialogue_us);
    (measuring.progress)("Mantis, 10 us", 0.15);
    let published = sample(trace, &faster)?;
    for sampled in [&published, &ours] {
        let dialogue = format!("{:.1} us", sampled.dialogue_us);
        add(
            format!("Mantis, bytes to the sample, {dialogue}"),
            &sampled.marginal,
            "best for small flows, slightly worse than sketches for large",
        );
        add(format!("Mantis, length x packets, {dialogue}"), &sampled.by_length, "-");
    }
    (measuring.progress)("sFlow", 0.3);
    let (estimates, samples) = sflow(trace, measuring.seed)?;
    add("sFlow 1:30,000".to_string(), &estimates, "orders of magnitude worse than Mantis");
    for (at, cells) in CELLS.into_iter().enumerate() {
        let own = cells / scale;
        (measuring.progress)("hash table", 0.4 + 0.3 * at as f64);
        let estimates = hash_table(trace, own, &sizes, measuring.seed)?;
        add(
            format!("hash table, {own} cells"),
            &estimates,
            "orders of magnitude worse for small flows",
        );
        (measuring.progress)("count-min", 0.55 + 0.3 * at as f64);
        let estimates = count_min(trace, own, &sizes, measuring.seed)?;
        add(
            format!("count-min, 2 rows of {own}"),
            &estimates,
            "orders of magnitude worse for small flows",
        );
    }
    table.remark(format!(
        "Trace: {} packets, {} flows with a source each, {:.0} ms; sFlow has {samples} samples. Packets a sample: {:.1} at \
         the published 10 us (all costs scaled), {:.1} with the cost model (published: about 5).",
        trace.options.packets,
        trace.options.flows,
        trace.options.duration_ps as f64 / 1e9,
        published.packets_per_sample,
        ours.packets_per_sample,
    ));
    if scale > 1 {
        table.remark(format!(
            "A {scale}th of the paper's trace and of its tables (8,192 and 16,384 cells); --full has all of them. The rate of \
             packets is the paper's."
        ));
    }
    Ok(table)
}

// SPDX-License-Identifier: Apache-2.0
//! Figure 14: bandwidth, lateness and packet buffer of delayed events, with and without the pausable queue (Lucid §7.2).
//! A switch compiled for Tofino delays events of 64 bytes again and again; its recirculation port of 100 Gb/s also
//! carries the frames that time the queue.

use crate::{Measuring, Table};
use device::{DeviceOptions, EngineChoice};
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::NoFiles;
use lucid_compiler::{Backend, Compiled, DELAY_PERIOD_PS, Delay, Options, compile};
use lucid_network::CompiledSimulation;
use lucid_reference::interpreter::Value;
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup};
use lucid_reference::specification::{Argument, FieldSpans, Input, InputKind, Run};
use source::{Diagnostics, SourceMap};
use std::collections::HashMap;
use std::sync::Arc;

const NAME: &str = "delayed_event.dpt";
const TEXT: &str = include_str!("delayed_event.dpt");

/// Numbers of events that are delayed at a time.
const CONCURRENT: [u64; 5] = [10, 30, 50, 70, 90];
/// The shortest delay of an event: 1 ms. Each delay is longer than the one before by a step, up to a period.
const DELAY_NS: u64 = 1_000_000;
/// The step: no simple fraction of the period, so that delays fall evenly between the releases of the queue.
const STEP_NS: u64 = 38_197;
/// The period of the queue.
const PERIOD_NS: u64 = DELAY_PERIOD_PS / 1000;
/// Simulated time of a measurement: 20 ms.
const MEASURED_PS: u64 = 20_000_000_000;
/// The recirculation port.
const RATE_BPS: u64 = 100_000_000_000;
/// Preamble and gap between frames, in bytes.
const BETWEEN_FRAMES_BYTES: u64 = 20;
/// Queues hold packets in cells of this many bytes.
const CELL_BYTES: u64 = 80;

/// The published bandwidth for 90 events in Gb/s, with the queue and without.
const PUBLISHED_GBPS: (f64, f64) = (5.5, 95.0);

/// The last time at which each event was handled, and the lateness of events.
#[derive(Default)]
struct Lateness {
    last_ps: HashMap<u128, u64>,
    late_ns: Vec<f64>,
}

impl Observer for Lateness {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Handled { event, .. } = observation.kind else { return };
        let [Value::Int(which), Value::Int(longer), ..] = event.arguments[..] else { return };
        if let Some(before_ps) = self.last_ps.insert(which, observation.time_ps) {
            let took_ns = (observation.time_ps - before_ps) as f64 / 1e3;
            self.late_ns.push(took_ns - DELAY_NS as f64 - longer as f64);
        }
    }
}

/// The result of one measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    gbps: f64,
    average_us: f64,
    worst_us: f64,
    least_us: f64,
    buffer_bytes: u64,
}

fn measured(
    program: &Arc<Program>,
    compiled: &Arc<Compiled>,
    concurrent: u64,
    measured_ps: u64,
) -> Result<Cost, Diagnostics> {
    let input = |which: u64| {
        let rest = std::iter::repeat_n(Argument::Int(0), 11);
        let arguments = [Argument::Int(which.into())].into_iter().chain(rest).collect();
        Input {
            // Spread over a period of the queue.
            time_ps: Some(which * DELAY_PERIOD_PS / concurrent),
            locations: vec![(0, 0)],
            kind: InputKind::Event { name: "wait".to_string(), arguments },
            field_spans: FieldSpans::default(),
        }
    };
    let run = Run {
        inputs: (0..concurrent).map(input).collect(),
        max_time_ps: measured_ps,
        ..Run::default()
    };
    let setup = Arc::new(Setup::new(program.clone(), &run)?);
    let port = compiled.options.recirculation_port;
    let change = |options: &mut DeviceOptions| {
        if let Some(port) = options.traffic_manager.ports.get_mut(&port) {
            port.rate_bps = Some(RATE_BPS);
        }
    };
    let engine = EngineChoice::Jit;
    let made = CompiledSimulation::with_devices(setup, compiled.clone(), engine, &change);
    let mut simulation = made.map_err(|error| error.diagnostics())?;
    let mut lateness = Lateness::default();
    simulation.run(&mut lateness);
    let mut cost = Cost::default();
    if let Some(device) = simulation.device(0) {
        let sent = device.statistics().ports.get(&port).copied().unwrap_or_default();
        let bytes = sent.sent_bytes + sent.sent_packets * BETWEEN_FRAMES_BYTES;
        cost.gbps = bytes as f64 * 8.0 / (measured_ps as f64 * 1e-12) / 1e9;
        cost.buffer_bytes = device.peak_buffered_bytes().div_ceil(64) * CELL_BYTES;
    }
    let late = &lateness.late_ns;
    cost.average_us = late.iter().sum::<f64>() / late.len().max(1) as f64 / 1e3;
    cost.worst_us = late.iter().copied().fold(f64::MIN, f64::max) / 1e3;
    cost.least_us = late.iter().copied().fold(f64::MAX, f64::min) / 1e3;
    Ok(cost)
}

/// Measures both kinds of waiting, for each number of events.
fn costs(
    map: &mut SourceMap,
    measuring: &mut Measuring<'_>,
    concurrent: &[u64],
    measured_ps: u64,
) -> Result<Vec<(u64, Cost, Cost)>, Diagnostics> {
    let symbolics = Symbolics {
        values: [("delay", DELAY_NS), ("period", PERIOD_NS), ("step", STEP_NS)]
            .map(|(name, value)| (name.to_string(), u128::from(value)))
            .into(),
        ..Symbolics::default()
    };
    let made = front::compile(map, NAME, TEXT.to_string(), &NoFiles, &symbolics, &[])?;
    let program = Arc::new(made.program);
    let compiled = |delay: Delay| {
        let options = Options { target: Backend::Tna, delay, ..Options::default() };
        compile(&program, map, &options).map(Arc::new)
    };
    let (queue, round) = (compiled(Delay::Queue)?, compiled(Delay::Recirculation)?);
    let mut found = Vec::new();
    for (at, count) in concurrent.iter().enumerate() {
        (measuring.progress)("figure 14", at as f64 / concurrent.len() as f64);
        found.push((
            *count,
            measured(&program, &queue, *count, measured_ps)?,
            measured(&program, &round, *count, measured_ps)?,
        ));
    }
    Ok(found)
}

/// Measures figure 14.
///
/// # Errors
///
/// Diagnostics of the measured program, which are a mistake in Planewright.
pub fn figure_14(measuring: &mut Measuring<'_>) -> Result<Table, (SourceMap, Diagnostics)> {
    let mut map = SourceMap::new();
    let found = match costs(&mut map, measuring, &CONCURRENT, MEASURED_PS) {
        Ok(found) => found,
        Err(problems) => return Err((map, problems)),
    };
    let mut table = Table::new(
        "Figure 14: delayed events of 64 bytes on a recirculation port of 100 Gb/s",
        &[
            "events",
            "queue: published",
            "measured",
            "late by (least, average, worst)",
            "buffer",
            "without: published",
            "measured",
            "late by (least, average, worst)",
        ],
    );
    for (count, queue, round) in found {
        let published = |gbps: f64, sign: &str| match count {
            90 => format!("{sign}{gbps} Gb/s"),
            _ => String::new(),
        };
        let late = |cost: &Cost| {
            format!("{:.1}, {:.1}, {:.1} us", cost.least_us, cost.average_us, cost.worst_us)
        };
        table.row([
            count.to_string(),
            published(PUBLISHED_GBPS.0, ""),
            format!("{:.2} Gb/s", queue.gbps),
            late(&queue),
            format!("{:.1} KB", queue.buffer_bytes as f64 / 1e3),
            published(PUBLISHED_GBPS.1, "over "),
            format!("{:.2} Gb/s", round.gbps),
            late(&round),
        ]);
    }
    table.remark(
        "Also published: delays off by up to about 50 us, and around 7 KB of packet buffer for 90 events. \
         The queue is released every 100 us for 1 us. Bandwidth counts 20 bytes between frames. \
         The published 5.5 Gb/s are 9 rounds of each of the 90 events in a period; the paper does not say how long its \
         queue is open. Ours is open for 1 us, in which an event goes round once or twice.",
    );
    table.remark(
        "Delays are spread evenly over a period. Ours are never early: an event leaves the queue at the first release \
         after it is due, so it is late by up to a period, and by about half of it on average. The paper's events are \
         off by half a period to both sides. A round takes 600 ns besides its time on the wire. The buffer is counted in cells of 80 bytes. \
         The program is the one for Tofino: the packet generator's frames go through it to the port, and are \
         counted.",
    );
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_saves_bandwidth_and_no_delay_is_too_short() {
        let mut progress = |_: &str, _: f64| {};
        let mut measuring = Measuring { seed: 1, progress: &mut progress };
        let found = costs(&mut SourceMap::new(), &mut measuring, &[10], MEASURED_PS / 4)
            .expect("a right program");
        let (_, queue, round) = found[0];
        assert!(queue.gbps * 10.0 < round.gbps, "{queue:?} {round:?}");
        assert!(queue.least_us >= 0.0 && round.least_us >= 0.0, "{queue:?} {round:?}");
        assert!(queue.worst_us < 110.0 && round.worst_us < 3.0, "{queue:?} {round:?}");
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Hash polarization (section 8.3.3): the imbalance of eight ports behind a switch that hashes in the same way over u paths,
//! before and after the reaction replaces an input of the hash.

use super::examples::HASH_POLARIZATION;
use super::network::{Files, SwitchProgram, TimedFrames, run};
use crate::{Measuring, Table};
use arithmetic::random::stream::Stream;
use control::latency::LatencyModel;
use std::fmt::Write;

const UPSTREAM: &str = include_str!("../../../../examples/react/hash_polarization/upstream.p4");
/// The purpose of random numbers.
const FLOWS: u64 = 17;
/// Ports of the switch that reacts.
const PORTS: usize = 8;
const FANOUTS: [u64; 4] = [1, 2, 4, 8];
/// Packets a microsecond at the switch that reacts.
const PACKETS_PER_US: u64 = 20;
const RUN_US: u64 = 1_000;
const FLOWS_PER_PATH: u64 = 4096;

/// The imbalance of port counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Imbalance {
    /// Ports with packets.
    pub used: usize,
    /// The median absolute deviation over the mean.
    pub mad: f64,
    /// The largest count over the mean.
    pub peak: f64,
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count => (values[(count - 1) / 2] + values[count / 2]) / 2.0,
    }
}

pub(super) fn imbalance(counts: &[u64]) -> Imbalance {
    let mut values: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
    let mean = values.iter().sum::<f64>() / counts.len().max(1) as f64;
    let middle = median(&mut values);
    let peak = values.iter().copied().fold(0.0, f64::max);
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Imbalance {
        used: counts.iter().filter(|count| **count > 0).count(),
        mad: median(&mut deviations) / mean,
        peak: peak / mean,
    }
}

/// A TCP packet without payload.
fn packet(source: u32, destination: u32, ports: (u16, u16), ttl: u8) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    bytes.extend([0x45, 0, 0, 46, 0, 0, 0, 0, ttl, 6, 0, 0]);
    bytes.extend(source.to_be_bytes());
    bytes.extend(destination.to_be_bytes());
    bytes.extend(ports.0.to_be_bytes());
    bytes.extend(ports.1.to_be_bytes());
    bytes.resize(60, 0);
    bytes
}

fn traffic(fanout: u64, seed: u64) -> TimedFrames {
    let mut random = Stream::new(seed, FLOWS, fanout);
    let flows: Vec<Vec<u8>> = (0..fanout * FLOWS_PER_PATH)
        .map(|_| {
            let source = 0x0a00_0000 | random.up_to((1 << 24) - 1) as u32;
            let destination = 0xc000_0200 | random.up_to(255) as u32;
            let source_port = 32_768 + random.up_to(28_000) as u16;
            let server = [80, 443, 8080][random.up_to(2) as usize];
            packet(source, destination, (source_port, server), 64)
        })
        .collect();
    let rate = fanout * PACKETS_PER_US;
    (0..rate * RUN_US)
        .map(|number| {
            let flow = random.up_to(flows.len() as u64 - 1) as usize;
            (number * 1_000_000 / rate, flows[flow].clone())
        })
        .collect()
}

fn network(fanout: u64) -> String {
    let mut text = String::from(
        "switches:\n  s1: {program: upstream.p4}\n  s2: {program: hash_polarization.p4r}\n\
         defaults:\n  links: {rate: 400Gbps, latency: 100ns}\n\
         hosts:\n  source: {address: 10.0.0.1/8, applications: [{replay: {capture: flows}}]}\n",
    );
    for port in 1..=PORTS {
        let _ = writeln!(text, "  d{port}: {{address: 192.0.{port}.2/24}}");
    }
    for path in 2..=fanout {
        let _ = writeln!(text, "  other{path}: {{address: 198.51.{path}.2/24}}");
    }
    text.push_str("links:\n  - [source, \"s1:100\"]\n  - [\"s1:1\", \"s2:100\"]\n");
    for path in 2..=fanout {
        let _ = writeln!(text, "  - [other{path}, \"s1:{path}\"]");
    }
    for port in 1..=PORTS {
        let _ = writeln!(text, "  - [d{port}, \"s2:{port}\"]");
    }
    text.push_str("captures:\n");
    for port in 1..=PORTS {
        let _ = writeln!(text, "  - {{port: \"s2:{port}\", direction: out}}");
    }
    text
}

/// What a fan-out gave.
pub(super) struct Balanced {
    pub before: Imbalance,
    /// `None` if the reaction replaced nothing.
    pub after: Option<Imbalance>,
    /// When the last input was replaced, in microseconds.
    pub shifted_us: Option<f64>,
    pub shifts: usize,
}

/// Runs both switches.
pub(super) fn balance(fanout: u64, model: &LatencyModel, seed: u64) -> Result<Balanced, String> {
    let upstream = SwitchProgram::plain("upstream.p4", UPSTREAM, &[("PATHS", fanout.to_string())])?;
    let paths = [("PATHS", PORTS.to_string())];
    let own = SwitchProgram::reacting(HASH_POLARIZATION.name, HASH_POLARIZATION.text, &paths)?;
    let files = Files {
        network: &network(fanout),
        programs: &[("upstream.p4", &upstream), ("hash_polarization.p4r", &own)],
        texts: &[],
        captures: vec![("flows".to_string(), traffic(fanout, seed))],
    };
    let ran = run(&files, model, seed, RUN_US * 1_000_000)?;
    let record = ran.records[1].get();
    let commits: Vec<u64> =
        (record.dialogues.iter().map(|one| one.committed_ps)).filter(|at_ps| *at_ps > 0).collect();
    let count = |from_ps: u64, to_ps: u64| {
        let mut counts = [0; PORTS];
        for frame in ran.frames.iter().filter(|one| (from_ps..to_ps).contains(&one.time_ps)) {
            counts[frame.capture] += 1;
        }
        imbalance(&counts)
    };
    let last = commits.last().copied();
    Ok(Balanced {
        before: count(0, commits.first().copied().unwrap_or(u64::MAX)),
        after: last.map(|last_ps| count(last_ps, u64::MAX)),
        shifted_us: last.map(|ps| ps as f64 / 1e6),
        shifts: commits.len(),
    })
}

/// Imbalance by the fan-out of the switch before.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_hash(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut table = Table::new(
        "Section 8.3.3: hash polarization, 8 ports behind a switch with the same hash over u paths",
        &[
            "u",
            "ports used",
            "MAD/mean",
            "max/mean",
            "shifts",
            "last at us",
            "ports after",
            "MAD/mean",
            "max/mean",
        ],
    );
    for (at, fanout) in FANOUTS.into_iter().enumerate() {
        (measuring.progress)("hash polarization", at as f64 / FANOUTS.len() as f64);
        let balanced = balance(fanout, model, measuring.seed)?;
        let after = |show: fn(Imbalance) -> String| balanced.after.map_or("-".to_string(), show);
        table.row([
            fanout.to_string(),
            balanced.before.used.to_string(),
            format!("{:.3}", balanced.before.mad),
            format!("{:.2}", balanced.before.peak),
            balanced.shifts.to_string(),
            balanced.shifted_us.map_or("-".to_string(), |us| format!("{us:.0}")),
            after(|one| one.used.to_string()),
            after(|one| format!("{:.3}", one.mad)),
            after(|one| format!("{:.2}", one.peak)),
        ]);
    }
    table.remark(
        "The paper has no figure for this use case; its criterion is the MAD of port counts. The MAD is 0 where more than half \
         of the ports are equally idle (u = 4 and 8), so the reaction tests the largest count as well.",
    );
    Ok(table)
}

// SPDX-License-Identifier: Apache-2.0
//! Figure 15: 250 TCP senders share a link of 10 Gb/s when a sender of UDP begins at 25 Gb/s. When the sender is blocked, and
//! when the others are as before.

use super::examples::DOS;
use super::network::{CapturedFrame, Files, SwitchProgram, run};
use super::published::Claim;
use crate::{Measuring, Table};
use arithmetic::random::stream::Stream;
use control::latency::LatencyModel;
use std::fmt::Write;

/// How many senders of TCP there are, and the rate of each: 20 % of the link together.
const SENDERS: u64 = 250;
const SENDER_RATE_BPS: u64 = 8_000_000;
/// When the attack begins; slow start and first losses are over then.
const ATTACK_US: u64 = 30_000;
/// The end of the run.
const END_US: u64 = 45_000;
/// The time whose throughput counts as steady, before the attack.
const STEADY_FROM_US: u64 = 10_000;
/// Width of the windows of the throughput.
const WINDOW_US: u64 = 100;
/// Step of these windows.
const STEP_US: u64 = 10;
/// Runs with seeds of their own.
const RUNS: u64 = 3;
/// The purpose of random numbers.
const BEGINNINGS: u64 = 15;
/// The address of the sender of UDP.
const ATTACKER: u32 = 0x0a00_0909;

/// The network's file and its entries.
fn network(senders: u64, attack_ns: u64) -> (String, String) {
    let address = |number: u64| format!("10.1.{}.{}", number / 200, 1 + number % 200);
    let mac = |number: u64| format!("02:00:00:01:{:02x}:{:02x}", number / 256, number % 256);
    let mut text = String::from("switches:\n  s1: {program: dos.p4r, entries: routes}\n");
    text.push_str("defaults:\n  links: {rate: 25Gbps, latency: 1us}\nhosts:\n");
    text.push_str("  d:\n    address: 10.0.0.1/8\n    mac: 02:00:00:00:00:01\n    arp:\n");
    for number in 0..senders {
        let _ = writeln!(text, "      {}: \"{}\"", address(number), mac(number));
    }
    let to_d = "arp: {10.0.0.1: \"02:00:00:00:00:01\"}";
    for number in 0..senders {
        // Starts are spread over the time between two segments of a sender.
        let start_ns = number * 1448 * 8 * 1_000_000_000 / SENDER_RATE_BPS / senders;
        let _ = writeln!(
            text,
            "  h{number}: {{address: {}/8, mac: \"{}\", {to_d}, applications: [{{tcp: {{to: d, rate: {SENDER_RATE_BPS}bps, \
             start: {start_ns}ns}}}}]}}",
            address(number),
            mac(number),
        );
    }
    let _ = writeln!(
        text,
        "  attacker: {{address: 10.0.9.9/8, {to_d}, applications: [{{udp: {{to: d, rate: 24Gbps, start: {attack_ns}ns}}}}]}}"
    );
    text.push_str(
        "links:\n  - {ends: [d, \"s1:1\"], rate: 10Gbps, queue: 2MB}\n  - [attacker, \"s1:2\"]\n",
    );
    let mut entries = String::from("table_add routes forward 10.0.0.1/32 => 1\n");
    for number in 0..senders {
        let port = 3 + number;
        let _ = writeln!(text, "  - [h{number}, \"s1:{port}\"]");
        let _ = writeln!(entries, "table_add routes forward {}/32 => {port}", address(number));
    }
    text.push_str(
        "captures:\n  - {port: \"s1:1\", direction: out}\n  - {port: \"s1:2\", direction: in}\n",
    );
    (text, entries)
}

fn source_of(frame: &CapturedFrame) -> u32 {
    let bytes = frame.bytes.get(26..30).unwrap_or(&[0; 4]);
    bytes.iter().fold(0, |address, byte| address << 8 | u32::from(*byte))
}

/// What a run gave.
pub(super) struct Mitigated {
    /// From the first packet of the attack at the switch to the commit of the entry, in microseconds.
    pub blocked_us: f64,
    /// From that packet until the others' throughput stays above nine tenths of that before.
    pub steady_us: f64,
    /// Throughput of the others before the attack, and the least in a window after it, in Gb/s.
    pub before_gbps: f64,
    pub least_gbps: f64,
    /// Senders of TCP that were blocked.
    pub wrong: usize,
    /// Packets of the attack that reached the link.
    pub passed: usize,
    pub dialogue_us: f64,
}

/// Runs the network.
pub(super) fn mitigate(senders: u64, model: &LatencyModel, seed: u64) -> Result<Mitigated, String> {
    let attack_ns = ATTACK_US * 1000 + Stream::new(seed, BEGINNINGS, 0).up_to(1_000_000);
    let (text, entries) = network(senders, attack_ns);
    let program = SwitchProgram::reacting(DOS.name, DOS.text, &[])?;
    let files = Files {
        network: &text,
        programs: &[("dos.p4r", &program)],
        texts: &[("routes", &entries)],
        captures: Vec::new(),
    };
    let ran = run(&files, model, seed, END_US * 1_000_000)?;
    let record = ran.records[0].get();
    let first = ran.frames.iter().find(|frame| frame.capture == 1 && source_of(frame) == ATTACKER);
    let first_ps = first.ok_or("the attack did not begin")?.time_ps;
    let is_attacker = |line: &&String| line.contains(" 10.0.9.9 blocked");
    let blocked: Vec<&String> =
        record.log.iter().filter(|line| line.contains(" blocked")).collect();
    if !blocked.iter().any(is_attacker) {
        return Err("the attacker was not blocked".to_string());
    }
    let wrong = blocked.len() - blocked.iter().filter(|line| is_attacker(line)).count();
    let commit = record.dialogues.iter().find(|one| one.committed_ps > first_ps);
    let blocked_ps = commit.ok_or("no commit")?.committed_ps;
    let on_link = |frame: &&CapturedFrame| frame.capture == 0;
    let passed = ran.frames.iter().filter(on_link).filter(|one| source_of(one) == ATTACKER).count();
    // Bits of the others' frames up to each step.
    let steps = (END_US / STEP_US) as usize;
    let mut bits = vec![0_u64; steps + 1];
    for frame in ran.frames.iter().filter(on_link).filter(|one| source_of(one) != ATTACKER) {
        let at = (frame.time_ps / 1_000_000 / STEP_US) as usize;
        bits[at.min(steps - 1) + 1] += frame.bytes.len() as u64 * 8;
    }
    for at in 0..steps {
        bits[at + 1] += bits[at];
    }
    let gbps = |from_us: u64, to_us: u64| {
        let count = bits[(to_us / STEP_US) as usize] - bits[(from_us / STEP_US) as usize];
        count as f64 / ((to_us - from_us) as f64 * 1000.0)
    };
    let first_us = first_ps / 1_000_000 / STEP_US * STEP_US;
    let before_gbps = gbps(STEADY_FROM_US, first_us);
    let windows: Vec<(u64, f64)> = (first_us..END_US - WINDOW_US)
        .step_by(STEP_US as usize)
        .map(|from_us| (from_us, gbps(from_us, from_us + WINDOW_US)))
        .collect();
    let last_low = windows.iter().take_while(|(from, _)| from - first_us < 5_000);
    let last_low = last_low.filter(|(_, rate)| *rate < 0.9 * before_gbps).last();
    let steady_us = last_low.map_or(0.0, |(from, _)| (from + STEP_US - first_us) as f64);
    let least_gbps = windows.iter().map(|(_, rate)| *rate).fold(f64::MAX, f64::min);
    let statistics = record.statistics;
    Ok(Mitigated {
        blocked_us: (blocked_ps - first_ps) as f64 / 1e6,
        steady_us,
        before_gbps,
        least_gbps,
        wrong,
        passed,
        dialogue_us: statistics.busy_ps as f64 / 1e6 / statistics.dialogues.max(1) as f64,
    })
}

/// Time to block, and recovery.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_15(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut table = Table::new(
        "Figure 15: 250 TCP senders at 20 % of 10 Gb/s, then UDP at 25 Gb/s",
        &[
            "seed",
            "where",
            "rule after us",
            "steady after us",
            "before Gb/s",
            "least Gb/s",
            "attack passed",
            "wrongly blocked",
        ],
    );
    table.row([
        "paper".to_string(),
        "testbed".to_string(),
        Claim::BLOCKED.to_string(),
        Claim::STEADY.to_string(),
        "2.0".to_string(),
        "-".to_string(),
        "-".to_string(),
        "-".to_string(),
    ]);
    let mut dialogue_us = 0.0;
    for number in 0..RUNS {
        (measuring.progress)("figure 15", number as f64 / RUNS as f64);
        let seed = measuring.seed + number;
        let ran = mitigate(SENDERS, model, seed)?;
        dialogue_us = ran.dialogue_us;
        table.row([
            seed.to_string(),
            "simulated".to_string(),
            format!("{:.0}", ran.blocked_us),
            format!("{:.0}", ran.steady_us),
            format!("{:.2}", ran.before_gbps),
            format!("{:.2}", ran.least_gbps),
            ran.passed.to_string(),
            ran.wrong.to_string(),
        ]);
    }
    table.remark(format!(
        "Times are from the first packet of the attack at the switch. Steady: from then on the senders' throughput is at least \
         nine tenths of that before in each window of {WINDOW_US} us. Dialogues take {dialogue_us:.1} us (cost model). The queue \
         of the link holds 2 MB."
    ));
    Ok(table)
}

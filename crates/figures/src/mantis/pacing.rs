// SPDX-License-Identifier: Apache-2.0
//! Figure 11: the agent's share of a processor against its reaction time, by the pause between dialogues.

use super::probe::Probe;
use super::switch::{Program, Switch};
use crate::{Measuring, Table};
use arithmetic::random::stream::Stream;
use control::latency::LatencyModel;
use device::DeviceOptions;

/// Shares of a processor, in percent.
const SHARES: [u64; 6] = [100, 80, 60, 40, 20, 10];
/// The purpose of random numbers.
const EVENT_TIMES: u64 = 11;
/// Events at random times whose reactions are timed.
const EVENTS: usize = 400;

/// The share of a processor and the time from an event to the end of the commit that answers it.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_11(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut table = Table::new(
        "Figure 11: processor share and reaction time, one malleable value",
        &["share", "pause us", "published", "mean reaction us", "longest us", "measured share"],
    );
    let probe = Probe { fields: 1, values: 1, writes_values: true, ..Probe::default() };
    // A dialogue that waits for its time flips the working copy itself.
    let busy_ps = run(&Probe { rate_ps: 1_000_000_000, ..probe }, model, 10_000_000_000)?.mean_ps();
    for (at, share) in SHARES.into_iter().enumerate() {
        (measuring.progress)("figure 11", at as f64 / SHARES.len() as f64);
        let rate_ps = if share == 100 { 0 } else { busy_ps * 100 / share };
        let ran = run(&Probe { rate_ps, ..probe }, model, 400 * busy_ps * 100 / share)?;
        let mut random = Stream::new(measuring.seed, EVENT_TIMES, share);
        let last = ran.began_ps.len().saturating_sub(2);
        let (from_ps, to_ps) = (ran.began_ps[1], ran.began_ps[last]);
        let delays: Vec<u64> = (0..EVENTS)
            .filter_map(|_| {
                let event_ps = from_ps + random.up_to(to_ps - from_ps);
                let dialogue = ran.began_ps.partition_point(|began_ps| *began_ps < event_ps);
                Some(ran.ended_ps.get(dialogue)? - event_ps)
            })
            .collect();
        let mean = delays.iter().sum::<u64>() as f64 / delays.len().max(1) as f64;
        let busy: u64 = ran.began_ps.iter().zip(&ran.ended_ps).map(|(from, to)| to - from).sum();
        let all = ran.ended_ps.last().unwrap_or(&1) - ran.began_ps[0];
        table.row([
            format!("{share} %"),
            format!("{:.1}", (rate_ps.saturating_sub(busy_ps)) as f64 / 1e6),
            if share == 20 { "10s of us on average" } else { "-" }.to_string(),
            format!("{:.1}", mean / 1e6),
            format!("{:.1}", delays.iter().max().copied().unwrap_or(0) as f64 / 1e6),
            format!("{:.0} %", busy as f64 / all as f64 * 100.0),
        ]);
    }
    table.remark(
        "Simulated: dialogues cost what the cost model says. An event comes at a random time and waits for the next dialogue \
         that begins after it, until the end of its commit. The paper paces by nanosleep; here reactions have a rate. Without \
         a pause a commit flips the working copy of the next dialogue, which is then shorter.",
    );
    Ok(table)
}

/// Begin and end of each dialogue.
struct Ran {
    began_ps: Vec<u64>,
    ended_ps: Vec<u64>,
}

impl Ran {
    fn mean_ps(&self) -> u64 {
        let times = self.began_ps.iter().zip(&self.ended_ps).map(|(from, to)| to - from);
        times.sum::<u64>() / self.began_ps.len().max(1) as u64
    }
}

fn run(probe: &Probe, model: &LatencyModel, until_ps: u64) -> Result<Ran, String> {
    let program = Program::compile("probe.p4r", &probe.text(), &[])?;
    let mut switch = Switch::new(&program, DeviceOptions::default(), Some(model.clone()), "")?;
    switch.run_until(until_ps)?;
    let record = switch.record.get();
    if record.dialogues.len() < 4 {
        return Err("too few dialogues".to_string());
    }
    Ok(Ran {
        began_ps: record.dialogues.iter().map(|one| one.began_ps).collect(),
        ended_ps: record.dialogues.iter().map(|one| one.ended_ps).collect(),
    })
}

// SPDX-License-Identifier: Apache-2.0
//! Figure 12: latency of updates of a legacy control plane with and without the agent.

use super::examples;
use super::published::Claim;
use super::switch::{Program, Switch};
use crate::distribution::Distribution;
use crate::{Measuring, Table};
use arithmetic::random::stream::Stream;
use control::latency::LatencyModel;
use control::target::{Batch, Item, Target};
use device::DeviceOptions;
use ir::{Bits, KeyPattern};
use state::{BoundAction, NewEntry, Update};

/// The purpose of random numbers.
const GAPS: u64 = 12;
/// Updates of each run.
const UPDATES: u64 = 2000;

/// Which table the legacy control plane updates.
#[derive(Clone, Copy)]
enum Updated {
    Ordinary,
    Malleable,
}

/// The table, an action without parameters, and an entry by its number.
fn update(target: &dyn Target, updated: Updated, number: u64) -> Result<Item, String> {
    let program = target.program();
    let wanted = match updated {
        Updated::Ordinary => ".routes",
        Updated::Malleable => ".blocklist",
    };
    let at = program.tables.iter().position(|table| table.name.ends_with(wanted));
    let at = at.ok_or("the program has no such table")?;
    let action = program.tables[at]
        .actions
        .iter()
        .map(|one| one.action)
        .find(|action| program.actions[action.index()].parameters.is_empty());
    let action = BoundAction { action: action.ok_or("no action")?, arguments: Vec::new() };
    let value = Bits::from_u64(32, 0x0a00_0000 + number);
    let (pattern, priority) = match updated {
        Updated::Ordinary => (KeyPattern::Prefix { value, length_bits: 32 }, 0),
        Updated::Malleable => {
            (KeyPattern::Ternary { value, mask: Bits::ones(32) }, 1 + number as i64)
        }
    };
    let entry = NewEntry::direct(vec![pattern], priority, action);
    Ok(Item::from(Update::InsertEntry { table: ir::TableId(at as u32), entry }))
}

/// The latencies of updates one after the other, in microseconds.
fn latencies(
    switch: &mut Switch,
    updated: Updated,
    mean_gap_ps: f64,
    seed: u64,
) -> Result<Distribution, String> {
    let mut random = Stream::new(seed, GAPS, 0);
    let mut target = switch.target.clone();
    let mut times = Vec::new();
    for number in 0..UPDATES {
        let gap_ps = random.exponential(mean_gap_ps) as u64;
        switch.run_until(switch.device.now_ps() + gap_ps)?;
        let began_ps = switch.device.now_ps();
        // The blocklist has 1,024 entries.
        let item = update(&target, updated, number % 512)?;
        let items = match (number / 512) % 2 {
            0 => vec![item],
            _ => vec![deleted(item)],
        };
        let ticket = target.submit(Batch { items, ..Batch::default() }, began_ps);
        let outcome = loop {
            if let Some(outcome) = target.poll(ticket) {
                break outcome;
            }
            let now_ps = switch.device.now_ps();
            let next = [target.next_event_ps(), switch.next_action_ps()];
            let next_ps = next.into_iter().flatten().filter(|at_ps| *at_ps > now_ps).min();
            switch.run_until(next_ps.unwrap_or(now_ps + 100_000))?;
        };
        if let Some((_, fault)) = outcome.first_fault() {
            return Err(format!("update {number}: {fault}"));
        }
        times.push((outcome.known_ps.max(switch.device.now_ps()) - began_ps) as f64 / 1e6);
    }
    Ok(Distribution::new(times))
}

fn deleted(item: Item) -> Item {
    match item {
        Item::State(state::BatchItem::Update(Update::InsertEntry { table, entry })) => {
            let NewEntry { keys, priority, .. } = entry;
            Item::from(Update::DeleteEntry { table, keys, priority })
        }
        other => other,
    }
}

/// Median and p99 of legacy updates, without and with the agent of the DoS program.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_12(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut table = Table::new(
        "Figure 12: latency of legacy updates of one entry (us)",
        &["updates", "statistic", "published", "without agent", "with agent", "more"],
    );
    let program = Program::compile("dos.p4r", examples::DOS.text, &[])?;
    let mut waits = None;
    let cases = [
        ("ordinary table, one after the other", Updated::Ordinary, 0.0),
        ("ordinary table, 10,000/s", Updated::Ordinary, 1e8),
        ("malleable table, 10,000/s", Updated::Malleable, 1e8),
    ];
    for (at, (name, updated, gap_ps)) in cases.into_iter().enumerate() {
        (measuring.progress)(name, at as f64 / cases.len() as f64);
        let switch = || Switch::new(&program, DeviceOptions::default(), Some(model.clone()), "");
        let without = latencies(&mut switch()?.without_agent(), updated, gap_ps, measuring.seed)?;
        let with = latencies(&mut switch()?, updated, gap_ps, measuring.seed)?;
        let is_paper = at == 0;
        if is_paper {
            waits = Some([0.5, 0.99].map(|share| with.at(share) - without.at(share)));
        }
        for (statistic, share, published) in
            [("median", 0.5, Claim::LEGACY_MEDIAN), ("p99", 0.99, Claim::LEGACY_P99)]
        {
            let (without, with) = (without.at(share), with.at(share));
            table.row([
                name.to_string(),
                statistic.to_string(),
                if is_paper { published } else { "-" }.to_string(),
                format!("{without:.1}"),
                format!("{with:.1}"),
                format!("{:+.1} %", (with / without - 1.0) * 100.0),
            ]);
        }
    }
    table.remark(
        "Simulated. The driver serves one batch at a time, in order of arrival, so an update waits for at most one batch of the \
         agent, as in the paper (section 6). The paper gives percentages of a latency that it does not state; without the agent \
         ours is the cost of one entry alone, without the legacy stack above the driver.",
    );
    if let Some(waits) = waits {
        table.remark(format!(
            "The wait itself is {:.1} us (median) and {:.1} us (p99): +4.64 % and +6.45 % of {:.0} and {:.0} us.",
            waits[0],
            waits[1],
            waits[0] / 0.0464,
            waits[1] / 0.0645
        ));
    }
    Ok(table)
}

// SPDX-License-Identifier: Apache-2.0
//! Figure 17: how long it takes to install a flow in the stateful firewall's table of 2,048 entries
//! at a load of 0.3125, over 1,000 trials (Lucid §7.4). A trial fills an empty table with flows at
//! random and installs one more. Its time is from the first packet's handler to the last control
//! event that the installation needs; a round of recirculation takes the paper's 600 ns.

use super::flow_table::{event, new_flows, program, setup};
use super::{Measuring, Table};
use crate::core::EventId;
use crate::simulation::{Observation, ObservationKind, Observer, Simulation};
use crate::specification::Gap;
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

/// Entries of the table, both halves together.
const ENTRIES: u64 = 2048;
/// Flows in the table when one more comes: a load of 0.3125.
const FLOWS: u64 = 640;
/// How many trials.
const TRIALS: u64 = 1000;
/// From one flow to the next, so that installations do not overlap: 100 us.
const GAP_PS: u64 = 100_000_000;

/// Average and worst published times in nanoseconds, and the share of flows installed at once.
const PUBLISHED_AVERAGE_NS: f64 = 49.0;
const PUBLISHED_WORST_NS: f64 = 2400.0;
/// Published for remote control (Mantis): least and average.
const REMOTE_NS: (f64, f64) = (12_000.0, 17_500.0);

/// When the last flow came, and when the last control event that it caused was handled.
struct Last {
    packet: EventId,
    failed: EventId,
    flows: u64,
    came_ps: u64,
    done_ps: u64,
    rounds: u64,
    has_failed: bool,
}

impl Observer for Last {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Handled { event, .. } = observation.kind else { return };
        self.done_ps = observation.time_ps;
        if event.event == self.packet {
            self.flows += 1;
            (self.came_ps, self.rounds, self.has_failed) = (observation.time_ps, 0, false);
        } else {
            self.rounds += 1;
            self.has_failed |= event.event == self.failed;
        }
    }
}

/// How long one installation took, in nanoseconds and in rounds; `None` if it found no place.
type Trial = Option<(f64, u64)>;

/// One trial after the other.
fn trials(
    map: &mut SourceMap,
    measuring: &mut Measuring<'_>,
    count: u64,
) -> Result<Vec<Trial>, Diagnostics> {
    let program = program(map, ENTRIES, 0, 0)?;
    let (Some(packet), Some(failed)) = (event(&program, "packet"), event(&program, "failed"))
    else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for trial in 0..count {
        if trial % 50 == 0 {
            (measuring.progress)("figure 17", trial as f64 / count as f64);
        }
        let flows = new_flows(0, FLOWS + 1, Gap::Constant(GAP_PS));
        let seed = measuring.seed.wrapping_mul(TRIALS).wrapping_add(trial);
        let setup = setup(&program, seed, vec![flows], (FLOWS + 2) * GAP_PS)?;
        let mut last =
            Last { packet, failed, flows: 0, came_ps: 0, done_ps: 0, rounds: 0, has_failed: false };
        Simulation::new(Arc::new(setup)).run(&mut last);
        let time_ns = (last.done_ps - last.came_ps) as f64 / 1e3;
        found.push((!last.has_failed).then_some((time_ns, last.rounds)));
    }
    Ok(found)
}

/// The figure.
///
/// # Errors
///
/// Diagnostics of the measured program: a mistake of ours.
pub fn figure_17(measuring: &mut Measuring<'_>) -> Result<Table, (SourceMap, Diagnostics)> {
    let mut map = SourceMap::new();
    let found = match trials(&mut map, measuring, TRIALS) {
        Ok(found) => found,
        Err(problems) => return Err((map, problems)),
    };
    let times: Vec<(f64, u64)> = found.iter().copied().flatten().collect();
    let average = |times: &[(f64, u64)]| {
        times.iter().map(|time| time.0).sum::<f64>() / times.len().max(1) as f64
    };
    let worst = times.iter().map(|time| time.0).fold(0.0, f64::max);
    let at_once = times.iter().filter(|time| time.1 == 0).count() as f64 / times.len() as f64;
    let mut table = Table::new(
        "Figure 17: flow installation (2,048 entries, load 0.3125, 1,000 trials)",
        &["", "published", "measured"],
    );
    let mut row = |what: &str, published: String, measured: String| {
        table.row([what.to_string(), published, measured]);
    };
    row("average", format!("{PUBLISHED_AVERAGE_NS} ns"), format!("{:.0} ns", average(&times)));
    row("during the first packet", "over 90%".to_string(), format!("{:.1}%", at_once * 100.0));
    row("worst", format!("about {PUBLISHED_WORST_NS} ns"), format!("{worst:.0} ns"));
    for rounds in 0..=times.iter().map(|time| time.1).max().unwrap_or(0) {
        let count = times.iter().filter(|time| time.1 == rounds).count();
        row(&format!("{rounds} recirculations"), String::new(), count.to_string());
    }
    row("no place found", String::new(), (found.len() - times.len()).to_string());
    row("remote control, least", format!("{} ns", REMOTE_NS.0), "-".to_string());
    row("remote control, average", format!("{} ns", REMOTE_NS.1), "-".to_string());
    row(
        "remote / integrated",
        format!("{:.0}", REMOTE_NS.1 / PUBLISHED_AVERAGE_NS),
        format!("{:.0}", REMOTE_NS.1 / average(&times)),
    );
    table.remark(
        "A round of recirculation takes 600 ns, as in the paper; the remote controller's times are the \
         paper's (Mantis on a switch's processor).",
    );
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_flows_are_installed_at_once() {
        let mut progress = |_: &str, _: f64| {};
        let mut measuring = Measuring { seed: 3, progress: &mut progress };
        let found = trials(&mut SourceMap::new(), &mut measuring, 60).expect("a right program");
        let at_once = found.iter().filter(|trial| matches!(trial, Some((_, 0)))).count();
        assert!(found.len() == 60 && at_once > 45 && at_once < 60, "{at_once} of 60");
        // Times are whole rounds.
        for (time_ns, rounds) in found.into_iter().flatten() {
            assert_eq!(time_ns, 600.0 * rounds as f64);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Figure 17: the time to install a flow in the stateful firewall's table of 2,048 entries at a load of 0.3125, over
//! 1,000 trials (Lucid §7.4). A trial fills an empty table with random flows and installs one more: simulated with the
//! paper's time of a round (`simulated`), and compiled on our device (`switch`). The baseline is a remote controller
//! that writes a match table (`remote`).

mod remote;
mod simulated;
mod switch;

use super::flow_table::program;
use crate::distribution::Distribution;
use crate::{Measuring, Table};
use lucid_network::LoadError;
use remote::Installed;
use source::{Diagnostics, SourceMap};

/// Entries of the table, both halves together.
const ENTRIES: u64 = 2048;
/// Flows in the table before the measured one: a load of 0.3125.
const FLOWS: u64 = 640;
/// The number of trials.
const TRIALS: u64 = 1000;

/// Average and worst published times in nanoseconds.
const PUBLISHED_AVERAGE_NS: f64 = 49.0;
const PUBLISHED_WORST_NS: f64 = 2400.0;
/// Published times of remote control (Mantis) in nanoseconds: minimum and average.
const REMOTE_NS: (f64, f64) = (12_000.0, 17_500.0);

/// One installation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Trial {
    /// The first packet's own time, in nanoseconds; simulated packets take none.
    first_packet_ns: f64,
    /// The time from then to the end of the last control event, in nanoseconds.
    rest_ns: f64,
    /// The number of recirculations of control events.
    rounds: u64,
    /// Whether the installation failed for lack of a slot.
    has_failed: bool,
}

/// The seed of a trial.
fn seed(measuring: &Measuring<'_>, trial: u64) -> u64 {
    measuring.seed.wrapping_mul(TRIALS).wrapping_add(trial)
}

/// Returns diagnostics for a mistake in Planewright.
fn internal(message: &str) -> Diagnostics {
    LoadError { switch: 0, message: message.to_string() }.diagnostics()
}

/// The summary of trials of one kind.
struct Summary {
    first_packet_ns: Distribution,
    rest_ns: Distribution,
    all_ns: Distribution,
    /// The number of flows by number of rounds.
    by_rounds: Vec<u64>,
    failed: u64,
    installed: u64,
}

impl Summary {
    fn new(trials: &[Trial]) -> Summary {
        let installed = || trials.iter().filter(|trial| !trial.has_failed);
        let most = installed().map(|trial| trial.rounds).max().unwrap_or(0);
        let of = |rounds| installed().filter(|trial| trial.rounds == rounds).count() as u64;
        Summary {
            first_packet_ns: Distribution::new(installed().map(|trial| trial.first_packet_ns)),
            rest_ns: Distribution::new(installed().map(|trial| trial.rest_ns)),
            all_ns: Distribution::new(
                installed().map(|trial| trial.first_packet_ns + trial.rest_ns),
            ),
            by_rounds: (0..=most).map(of).collect(),
            failed: trials.iter().filter(|trial| trial.has_failed).count() as u64,
            installed: installed().count() as u64,
        }
    }

    fn at_once(&self) -> String {
        let count = self.by_rounds.first().copied().unwrap_or(0);
        format!("{:.1}%", count as f64 * 100.0 / self.installed.max(1) as f64)
    }

    /// The packets of an installation: the first one and the rounds.
    fn packets(&self) -> String {
        let rounds: u64 =
            self.by_rounds.iter().zip(0..).map(|(count, rounds)| count * rounds).sum();
        let most = self.by_rounds.len();
        let mean = 1.0 + rounds as f64 / self.installed.max(1) as f64;
        format!("{mean:.3}, at most {most}")
    }

    fn with_rounds(&self, rounds: usize) -> String {
        self.by_rounds.get(rounds).copied().unwrap_or(0).to_string()
    }
}

fn nanoseconds(time: f64) -> String {
    format!("{time:.0} ns")
}

/// Median, 99 of 100, worst.
fn spread(of: &Distribution) -> String {
    format!("{:.0}, {:.0}, {:.0} ns", of.at(0.5), of.at(0.99), of.at(1.0))
}

/// Measures figure 17.
///
/// # Errors
///
/// Diagnostics of the measured programs, which are a mistake in Planewright.
pub fn figure_17(measuring: &mut Measuring<'_>) -> Result<Table, (SourceMap, Diagnostics)> {
    let mut map = SourceMap::new();
    let found = firewall(&mut map, measuring, TRIALS).map_err(|found| (map, found))?;
    let remote = remote::trials(measuring, TRIALS)?;
    Ok(table(&Summary::new(&found.0), &Summary::new(&found.1), &remote))
}

/// Runs trials of the firewall, simulated and on our switch.
fn firewall(
    map: &mut SourceMap,
    measuring: &mut Measuring<'_>,
    count: u64,
) -> Result<(Vec<Trial>, Vec<Trial>), Diagnostics> {
    let program = program(map, ENTRIES, 0, 0)?;
    let simulated = simulated::trials(&program, measuring, count)?;
    let ours = switch::trials(&program, map, measuring, count)?;
    Ok((simulated, ours))
}

fn table(simulated: &Summary, ours: &Summary, remote: &[Installed]) -> Table {
    let entry_ns = Distribution::new(remote.iter().map(|one| one.entry_ns));
    let whole_ns = Distribution::new(remote.iter().map(|one| one.whole_ns));
    let mut table = Table::new(
        "Figure 17: flow installation (2,048 entries, load 0.3125, 1,000 trials)",
        &["", "published", "simulated, 600 ns a round", "on our switch"],
    );
    let mut row = |what: &str, published: String, simulated: String, ours: String| {
        table.row([what.to_string(), published, simulated, ours]);
    };
    let nothing = String::new;
    row(
        "beyond the first packet: average",
        nanoseconds(PUBLISHED_AVERAGE_NS),
        nanoseconds(simulated.rest_ns.mean()),
        nanoseconds(ours.rest_ns.mean()),
    );
    row(
        "  worst",
        format!("about {PUBLISHED_WORST_NS} ns"),
        nanoseconds(simulated.rest_ns.at(1.0)),
        nanoseconds(ours.rest_ns.at(1.0)),
    );
    row("done with the first packet", "over 90%".to_string(), simulated.at_once(), ours.at_once());
    row("packets an installation", nothing(), simulated.packets(), ours.packets());
    for rounds in 0..simulated.by_rounds.len().max(ours.by_rounds.len()) {
        let what = format!("  flows with {rounds} recirculations");
        row(&what, nothing(), simulated.with_rounds(rounds), ours.with_rounds(rounds));
    }
    row("  without a free slot", nothing(), simulated.failed.to_string(), ours.failed.to_string());
    let unmeasured = || "-".to_string();
    row(
        "first packet itself: median, 99%, worst",
        nothing(),
        unmeasured(),
        spread(&ours.first_packet_ns),
    );
    row("first packet and installation", nothing(), unmeasured(), spread(&ours.all_ns));
    row(
        "remote control, entry alone: least",
        nanoseconds(REMOTE_NS.0),
        unmeasured(),
        nanoseconds(entry_ns.at(0.0)),
    );
    row("  average", nanoseconds(REMOTE_NS.1), unmeasured(), nanoseconds(entry_ns.mean()));
    row("  median, 99%, worst", nothing(), unmeasured(), spread(&entry_ns));
    row(
        "remote control, from packet to entry: average",
        "longer".to_string(),
        unmeasured(),
        nanoseconds(whole_ns.mean()),
    );
    row("  median, 99%, worst", nothing(), unmeasured(), spread(&whole_ns));
    let ratio = |remote: f64, integrated: f64| format!("{:.0}", remote / integrated.max(1e-9));
    row(
        "remote entry / beyond the first packet",
        ratio(REMOTE_NS.1, PUBLISHED_AVERAGE_NS),
        ratio(REMOTE_NS.1, simulated.rest_ns.mean()),
        ratio(entry_ns.mean(), ours.rest_ns.mean()),
    );
    row(
        "remote, packet to entry / first packet and installation",
        nothing(),
        unmeasured(),
        ratio(whole_ns.mean(), ours.all_ns.mean()),
    );
    table.remark(
        "As in the paper, an installation that ends with its first packet takes 0 ns, and an \
         entry's time leaves out how the controller learns of the flow. The simulation takes the paper's \
         600 ns a round, and its ratio the paper's entry.",
    );
    table.remark(
        "On our switch: the firewall compiled for v1model on compiled code, and a firewall in P4 whose \
         match table a controller fills, from the digest of the first packet to the entry that packets \
         see. Controller and switch are threads of this process, with a channel between them: no \
         network, no driver and no PCIe, which are most of the published times. A round costs what the \
         processor needs for one more packet, not the latency of hardware. Each trial is repeated five \
         times and the shortest time counts, so that other processes do not; which flows come is the \
         same for all repetitions. Hashes of simulation and device are the same, flows are not.",
    );
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_flows_are_installed_at_once() {
        let mut progress = |_: &str, _: f64| {};
        let mut measuring = Measuring { seed: 3, progress: &mut progress };
        let (simulated, ours) =
            firewall(&mut SourceMap::new(), &mut measuring, 100).expect("a right program");
        for found in [&simulated, &ours] {
            let at_once = found.iter().filter(|trial| !trial.has_failed && trial.rounds == 0);
            let at_once = at_once.count();
            assert!(found.len() == 100 && at_once > 80 && at_once < 100, "{at_once} of 100");
        }
        // Times are whole rounds, on the device the number of recirculated packets.
        for trial in simulated {
            assert_eq!(trial.rest_ns, 600.0 * trial.rounds as f64);
        }
        for trial in ours {
            assert_eq!(trial.rest_ns > 0.0, trial.rounds > 0, "{trial:?}");
        }
    }

    #[test]
    fn the_summary_counts_packets_and_leaves_failures_out() {
        let trial = |rounds, has_failed| Trial {
            first_packet_ns: 10.0,
            rest_ns: 5.0 * rounds as f64,
            rounds,
            has_failed,
        };
        let found = Summary::new(&[
            trial(0, false),
            trial(0, false),
            trial(0, false),
            trial(2, false),
            trial(9, true),
        ]);
        assert_eq!((found.failed, found.by_rounds.clone()), (1, vec![3, 0, 1]));
        assert_eq!(found.packets(), "1.500, at most 3");
        assert_eq!((found.at_once().as_str(), found.all_ns.at(1.0)), ("75.0%", 20.0));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Properties of the figures at a small scale.

use super::Options;
use super::flow_sizes::{self, Trace};
use super::gray_failures::{self, Case};
use super::{denial, polarization, tcam};
use crate::{Measuring, Table};
use control::latency::{DriverModel, LatencyModel};

fn model() -> LatencyModel {
    DriverModel::pcie_chip().model
}

/// Every use case takes stages, tables and metadata beyond the router, and the JSON has a row for each line of the table.
#[test]
fn use_cases_take_more_than_a_router() {
    let mut progress = |_: &str, _: f64| {};
    let mut measuring = Measuring { seed: 1, progress: &mut progress };
    let options = Options { model: model(), is_full: false };
    let (_, measure) = super::FIGURES.iter().find(|(name, _)| *name == "table1").expect("a figure");
    let table = measure(&mut measuring, &options).expect("it is measured");
    let ours: Vec<&Vec<String>> = table.rows.iter().filter(|row| row[1] == "ours").collect();
    assert_eq!(ours.len(), 4);
    for row in ours {
        for at in [2, 3, 4, 5, 6, 9] {
            let amount: i64 = row[at].parse().expect("a number");
            assert!(amount > 0, "{} of {row:?}", table.columns[at]);
        }
    }
    let json = Table::json_list(&[("table1".to_string(), table)]);
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(read[0]["figure"], "table1");
    assert_eq!(read[0]["rows"][1]["by"], "ours");
    assert_eq!(read[0]["rows"].as_array().map(Vec::len), Some(8));
}

/// N rows for each alternative; the read table has a column for each alternative as well.
#[test]
fn tcam_is_as_counted_by_hand() {
    let check = |is_read: bool, alternatives: u64, width_bits: u64| {
        let taken = tcam::measure(is_read, (alternatives as u32, width_bits as u32), 512);
        let selector = u64::from(alternatives.next_power_of_two().trailing_zeros());
        let columns = if is_read { alternatives * width_bits } else { 0 };
        let bytes = 512 * alternatives * (104 + selector + columns) / 8;
        assert_eq!(taken.expect("it is laid out").bytes, bytes, "{is_read} {alternatives}");
    };
    check(false, 3, 32);
    check(false, 4, 8);
    check(true, 3, 32);
    check(true, 4, 8);
}

/// A failure shows at the flip between (2 - eta) and (3 - eta) dialogues after it. Heartbeats are whole: one of them more or
/// less, and one for the part of a window in which none was due.
#[test]
fn gray_failures_show_within_their_bounds() {
    for (ports, eta_percent) in [(8, 50), (8, 80)] {
        let case = Case { ports, eta_percent };
        let detected = gray_failures::detect(case, 4, &model(), 3).expect("all are found");
        let eta = eta_percent as f64 / 100.0;
        let bounds =
            (2.0 - eta) * detected.dialogue_us - 2.0..(3.0 - eta) * detected.dialogue_us + 2.0;
        for found_us in &detected.found_us {
            assert!(bounds.contains(found_us), "{found_us} is not in {bounds:?}");
        }
        for (found_us, routed_us) in detected.found_us.iter().zip(&detected.times_us) {
            assert!((0.0..2.0 * detected.dialogue_us).contains(&(routed_us - found_us)));
        }
    }
}

#[test]
fn false_alarms_are_as_many_as_theory_says() {
    let case = Case { ports: 8, eta_percent: 80 };
    let alarms = |loss: f64| {
        let (seen, dialogue_us) =
            gray_failures::false_alarms(case, loss, 2_000, &model(), 5).expect("it runs");
        (seen as f64, gray_failures::expected_alarms(case, loss, 2_000, dialogue_us))
    };
    let (seen, expected) = alarms(0.02);
    assert!(expected < 0.01 && seen == 0.0, "{seen} of {expected}");
    let (seen, expected) = alarms(0.3);
    assert!(expected > 7.5 && seen >= 7.0, "{seen} of {expected}");
}

#[test]
fn a_shift_of_the_hash_ends_polarization() {
    let balanced = polarization::balance(4, &model(), 1).expect("it runs");
    // The hash modulo 4 is constant, so two of eight ports get all, and the median of the ports is 0.
    assert_eq!((balanced.before.used, balanced.before.mad), (2, 0.0));
    let after = balanced.after.expect("a shift");
    assert!(after.used == 8 && after.mad < 0.1 && after.peak < 1.2, "{after:?}");
    let counts = [5, 5, 5, 5];
    let even = polarization::imbalance(&counts);
    assert_eq!((even.used, even.mad, even.peak), (4, 0.0, 1.0));
}

#[test]
fn an_attacker_is_blocked_and_nobody_else() {
    let ran = denial::mitigate(40, &model(), 1).expect("it runs");
    // A window of at least 60 us that began up to a dialogue before, then the commit.
    let bounds = 60.0 - ran.dialogue_us..60.0 + 2.5 * ran.dialogue_us + 10.0;
    assert!(bounds.contains(&ran.blocked_us), "{} is not in {bounds:?}", ran.blocked_us);
    assert_eq!(ran.wrong, 0);
}

#[test]
fn sampled_lengths_are_better_for_large_flows_and_sketches_never_too_small() {
    let trace = Trace::new(800, 1).expect("a trace");
    let sizes = trace.true_sizes().expect("it runs");
    let sketch = flow_sizes::count_min(&trace, 64, &sizes, 1).expect("it runs");
    assert!(sizes.iter().all(|(source, size)| sketch[source] >= *size as f64));
    let sampled = flow_sizes::sample(&trace, &model()).expect("it runs");
    let (marginal, by_length) = (
        flow_sizes::errors(&sizes, &sampled.marginal),
        flow_sizes::errors(&sizes, &sampled.by_length),
    );
    let largest = (0..6).rev().find(|at| marginal[*at].is_some()).expect("a flow");
    assert!(by_length[largest] < marginal[largest], "{by_length:?} {marginal:?}");
    let total: u64 = sizes.values().sum();
    let attributed: f64 = sampled.marginal.values().sum();
    assert!((attributed / total as f64 - 1.0).abs() < 0.02, "{attributed} of {total}");
}

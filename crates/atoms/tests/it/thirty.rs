// SPDX-License-Identifier: Apache-2.0
//! The stateful codelets of the thirty programs: the least atom of each in small and in 32-bit arithmetic. The example
//! `table` tries all atoms on all codelets.

use crate::{items, mapped};
use atoms::{Codelet, Setting, Verdict, banzai};
use std::collections::BTreeMap;

/// Codelet, least atom of the order from `rw` to `pair` at small ranges, and for all 32-bit words.
const LEAST: &str = include_str!("../data/least.tsv");

fn thirty() -> BTreeMap<String, Codelet> {
    let read = items(include_str!("../data/thirty.atoms")).codelets;
    read.into_iter().map(|codelet| (codelet.name.clone(), codelet)).collect()
}

/// Checks in a column that each codelet maps to its least atom and not to the one before it. Codelets whose search is long
/// are left to the example.
fn check_least(column: usize, setting: &Setting, slow: &[&str]) {
    let (codelets, templates) = (thirty(), banzai());
    let mut tried = 0;
    for line in LEAST.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (codelet, least) = (&codelets[fields[0]], fields[column]);
        if slow.contains(&fields[0]) {
            continue;
        }
        tried += 1;
        let at = templates.iter().position(|template| template.name == least);
        if let Some(at) = at {
            let verdict = mapped(codelet, &templates[at], setting);
            assert!(matches!(verdict, Verdict::Yes(_)), "{} {least}: {verdict:?}", fields[0]);
        }
        // Without an atom of the order, `nested_ifs` stands for all; `mul_acc` is not in the order.
        let before = match at {
            Some(0) => continue,
            Some(7) | None => 5,
            Some(at) => at - 1,
        };
        let verdict = mapped(codelet, &templates[before], setting);
        assert!(
            matches!(verdict, Verdict::No(_)),
            "{} {}: {verdict:?}",
            fields[0],
            templates[before].name
        );
    }
    assert_eq!(tried + slow.len(), codelets.len());
}

#[test]
fn least_atoms_at_small_ranges() {
    // The example takes about a second for each of these in release.
    let slow = [
        "avq.vq",
        "hash_pipe_second_stage.key",
        "red.q_avg",
        "trTCM.tp",
        "trTCM_sat_core.tc",
        "trTCM_unsat_core.tc",
    ];
    check_least(1, &Setting::small(), &slow);
}

#[test]
fn least_atoms_for_all_words() {
    // The example takes 1 to 30 s for each of these in release.
    let slow =
        ["avq.capacity", "avq.vq", "stfq.last_finish", "trTCM_sat_core.tc", "trTCM_unsat_core.tc"];
    check_least(2, &Setting::exact(32), &slow);
}

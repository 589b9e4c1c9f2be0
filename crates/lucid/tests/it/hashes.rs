// SPDX-License-Identifier: Apache-2.0
//! The polynomials of seeds that docs/lucid-runs.md lists.

use crate::support::root;

#[test]
fn documented_polynomials_are_those_of_the_seeds() {
    let path = root().join("../../docs/lucid-runs.md");
    let text = std::fs::read_to_string(path).expect("docs/lucid-runs.md");
    let (_, rest) = text.split_once("| seed | polynomial |\n| --- | --- |\n").expect("the table");
    let rows: Vec<&str> = rest.lines().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let seed: u32 = cells[1].parse().expect("a seed");
        let polynomial = cells[2].trim_matches('`').trim_start_matches("0x");
        let polynomial = u32::from_str_radix(polynomial, 16).expect("hexadecimal digits");
        assert_eq!(lucid::core::hash::polynomial(seed), polynomial, "{row}");
    }
}

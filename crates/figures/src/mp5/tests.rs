// SPDX-License-Identifier: Apache-2.0
//! Properties of the figures at a small scale.

use super::{FIGURES, Options};
use crate::{Measuring, Table};

/// Measures a figure with one seed.
fn measured(name: &str) -> Table {
    let mut progress = |_: &str, _: f64| {};
    let mut measuring = Measuring { seed: 1, progress: &mut progress };
    let compile = |_: &str, _: &str| Err("these figures compile nothing".to_string());
    let options = Options { seeds: 1, long_per_port: 20, ..Options::new(&compile) };
    let (_, measure) = FIGURES.iter().find(|(figure, _)| *figure == name).expect("a figure");
    measure(&mut measuring, &options).expect("it is measured")
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

/// Without phantoms runs differ from one pipeline; with them none does.
#[test]
fn only_order_makes_stateful_runs_equal() {
    let table = measured("2");
    let equal: Vec<&str> = table.rows.iter().map(|row| row[5].as_str()).collect();
    assert_eq!(equal, ["2 of 2", "0 of 2", "2 of 2", "2 of 2"]);
    for row in &table.rows {
        assert_eq!(row[3], "2 of 2", "{row:?}");
    }
    // The naive design has a fourth of the others' throughput without state.
    assert!(number(&table.rows[0][4]) < 0.3 && number(&table.rows[2][4]) > 0.9);
}

/// No design passes the bound, and the better design is between MP5 and the bound.
#[test]
fn more_packets_fit_with_free_steering() {
    let table = measured("7d");
    let row = &table.rows[0];
    let [mp5, free, bound] = [4, 7, 9].map(|column| number(&row[column]));
    assert!(mp5 < free && free <= bound, "{row:?}");
}

// SPDX-License-Identifier: Apache-2.0
//! The counters of a run as a table for people.

use crate::simulation::Counts;

/// The columns: heading and value.
type Column = (&'static str, fn(&Counts) -> u64);

const COLUMNS: &[Column] = &[
    ("handled", |counts| counts.handled),
    ("packets", |counts| counts.packets),
    ("generated", |counts| counts.generated),
    ("recirculated", |counts| counts.recirculated),
    ("left", |counts| counts.left),
    ("dropped", |counts| counts.dropped),
    ("out of range", |counts| counts.out_of_range),
    ("tables full", |counts| counts.tables_full),
];

/// The value of a counter by its name.
pub fn counter(counts: &Counts, name: &str) -> Option<u64> {
    COLUMNS.iter().find(|(heading, _)| *heading == name).map(|(_, value)| value(counts))
}

/// Names of all counters.
pub fn counter_names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(heading, _)| *heading)
}

/// The sum over switches.
pub fn total(counts: &[Counts]) -> Counts {
    counts.iter().fold(Counts::default(), |sum, each| Counts {
        handled: sum.handled + each.handled,
        packets: sum.packets + each.packets,
        generated: sum.generated + each.generated,
        recirculated: sum.recirculated + each.recirculated,
        left: sum.left + each.left,
        dropped: sum.dropped + each.dropped,
        out_of_range: sum.out_of_range + each.out_of_range,
        tables_full: sum.tables_full + each.tables_full,
    })
}

/// Most switches that have a row of their own; more are summed up.
const MAX_ROWS: usize = 64;

/// A row for each switch and one for all; columns that are zero everywhere are left out, but for the
/// first.
pub fn table(counts: &[Counts]) -> String {
    let sum = total(counts);
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .enumerate()
        .filter(|(at, (_, value))| *at == 0 || value(&sum) > 0)
        .map(|(_, column)| column)
        .collect();
    let mut text = format!("{:>8}", "switch");
    for (heading, _) in &columns {
        text.push_str(&format!(" {heading:>12}"));
    }
    text.push('\n');
    let mut row = |name: &str, counts: &Counts| {
        text.push_str(&format!("{name:>8}"));
        for (_, value) in &columns {
            text.push_str(&format!(" {:>12}", value(counts)));
        }
        text.push('\n');
    };
    if counts.len() > 1 && counts.len() <= MAX_ROWS {
        for (switch, counts) in counts.iter().enumerate() {
            row(&switch.to_string(), counts);
        }
    }
    row(if counts.len() == 1 { "0" } else { "all" }, &sum);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables() {
        let one = Counts { handled: 12, generated: 7, left: 3, ..Counts::default() };
        let other = Counts { handled: 3, dropped: 1, ..Counts::default() };
        let expected = "  switch      handled    generated         left      dropped\n       \
                        0           12            7            3            0\n       \
                        1            3            0            0            1\n     \
                        all           15            7            3            1\n";
        assert_eq!(table(&[one, other]), expected);
        assert_eq!(table(&[Counts::default()]), "  switch      handled\n       0            0\n");
        assert_eq!(table(&vec![one; 100]).lines().count(), 2);
    }

    #[test]
    fn counters_that_can_be_expected_are_those_that_are_counted() {
        assert_eq!(counter_names().collect::<Vec<_>>(), crate::specification::COUNTERS);
        let counts = Counts { out_of_range: 4, ..Counts::default() };
        assert_eq!(counter(&counts, "out of range"), Some(4));
        assert_eq!(counter(&counts, "nothing"), None);
    }
}

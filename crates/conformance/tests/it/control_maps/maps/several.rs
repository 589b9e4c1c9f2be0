// SPDX-License-Identifier: Apache-2.0
//! One entry becomes several: a range is matched by ternary rows, one a prefix. Rows of two entries that would be
//! the same have priorities of their own.

use super::ids::{Ids, table_named};
use super::rows::{ByRows, Coinciding, Row, Rows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{self, Specification, Statement, Table};
use control::map::{RowPriorities, Virtual};
use ir::{Bits, KeyPattern, Program, TableId};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "one entry becomes several",
    mistake: "counters of rows but the first are not added",
    transform,
};

struct Prefixes {
    table: TableId,
    below: TableId,
    key: usize,
    width_bits: u32,
}

/// Ternary patterns that take the values of a range, each once.
fn prefixes(low: u64, high: u64, width_bits: u32) -> Vec<KeyPattern> {
    let (mut low, mut found) = (low, Vec::new());
    while low <= high {
        let mut free = if low == 0 { width_bits } else { low.trailing_zeros().min(width_bits) };
        while low + ((1 << free) - 1) > high {
            free -= 1;
        }
        found.push(KeyPattern::Ternary {
            value: Bits::from_u64(width_bits, low),
            mask: Bits::prefix_mask(width_bits, width_bits - free),
        });
        low += 1 << free;
    }
    found
}

impl Rows for Prefixes {
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>> {
        if table != self.table {
            return None;
        }
        let patterns = match &keys[self.key] {
            KeyPattern::Range { low, high } => {
                prefixes(low.low_u64(), high.low_u64(), self.width_bits)
            }
            other => vec![other.clone()],
        };
        let row = |pattern| {
            let mut keys = keys.to_vec();
            keys[self.key] = pattern;
            Row { table: self.below, keys, phase: 0 }
        };
        Some(patterns.into_iter().map(row).collect())
    }

    fn defaults(&self, table: TableId) -> Option<Vec<TableId>> {
        (table == self.table).then(|| vec![self.below])
    }
}

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let has_range =
        |table: &Table| table.keys.iter().position(|key| key.kind == specification::Kind::Range);
    let candidates: Vec<&Table> =
        written.tables.iter().filter(|table| has_range(table).is_some()).collect();
    if candidates.is_empty() {
        return None;
    }
    let table = (*choices.pick(&candidates)).clone();
    let key = has_range(&table)?;
    let width_bits = table.keys[key].width_bits;
    let name = run.fresh(&table.name);
    for other in run.tables.iter_mut().filter(|other| other.name == table.name) {
        other.name = name.clone();
        other.keys[key].kind = specification::Kind::Ternary;
        other.size *= 2 * u64::from(width_bits);
    }
    run.rewrite(&mut |statement| match statement {
        Statement::Apply(other) if other == table.name => vec![Statement::Apply(name.clone())],
        Statement::OnMiss { table: other, otherwise } if other == table.name => {
            vec![Statement::OnMiss { table: name.clone(), otherwise }]
        }
        other => vec![other],
    });
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let rows = Prefixes {
            table: table_named(written, &table.name),
            below: table_named(run, &name),
            key,
            width_bits,
        };
        let ids = Ids { written: written.clone(), run: run.clone() };
        let coinciding = Coinciding::Apart(RowPriorities::new(16));
        let translation = ByRows { sums: form, coinciding, ..ByRows::new(ids, rows) };
        Erased::new(Virtual::new(translation).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

// SPDX-License-Identifier: Apache-2.0
//! A key of 8 bits matched by exact rows, one a value, in a table without priorities: entries that take the same
//! value share its row. The table has no counter and no timeouts, which a shared row cannot tell apart.

use super::ids::{Ids, table_named};
use super::rows::{ByRows, Coinciding, Row, Rows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{self, Specification, Statement, Table};
use control::map::{SharedRows, Virtual};
use ir::{Bits, KeyPattern, Program, TableId};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "entries share exact rows",
    mistake: "when the entry that shows is deleted, the next one does not come back",
    transform,
};

struct Values {
    table: TableId,
    below: TableId,
}

/// Whether a pattern takes a value of 8 bits.
fn takes(pattern: &KeyPattern, value: u64) -> bool {
    match pattern {
        KeyPattern::Any => true,
        KeyPattern::Exact(exact) => exact.low_u64() == value,
        KeyPattern::Prefix { value: prefix, length_bits } => {
            (prefix.low_u64() ^ value) >> (8 - length_bits) == 0
        }
        KeyPattern::Ternary { value: wanted, mask } => {
            (wanted.low_u64() ^ value) & mask.low_u64() == 0
        }
        KeyPattern::Range { low, high } => (low.low_u64()..=high.low_u64()).contains(&value),
    }
}

impl Rows for Values {
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>> {
        let values = (0..256).filter(|value| takes(&keys[0], *value));
        let row = |value| Row {
            table: self.below,
            keys: vec![KeyPattern::Exact(Bits::from_u64(8, value))],
            phase: 0,
        };
        (table == self.table).then(|| values.map(row).collect())
    }

    fn defaults(&self, table: TableId) -> Option<Vec<TableId>> {
        (table == self.table).then(|| vec![self.below])
    }
}

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let fits = |table: &&Table| {
        let has_cells = table.counter.is_some() || table.idle_timeout;
        let kinds = [specification::Kind::Range, specification::Kind::Ternary];
        let is_short = |key: &specification::Key| key.width_bits == 8 && kinds.contains(&key.kind);
        !has_cells && table.keys.len() == 1 && is_short(&table.keys[0])
    };
    let candidates: Vec<&Table> = written.tables.iter().filter(fits).collect();
    if candidates.is_empty() {
        return None;
    }
    let table = (*choices.pick(&candidates)).clone();
    let name = run.fresh(&table.name);
    for other in run.tables.iter_mut().filter(|other| other.name == table.name) {
        other.name = name.clone();
        other.keys[0].kind = specification::Kind::Exact;
        other.size = 256;
    }
    run.rewrite(&mut |statement| match statement {
        Statement::Apply(other) if other == table.name => vec![Statement::Apply(name.clone())],
        Statement::OnMiss { table: other, otherwise } if other == table.name => {
            vec![Statement::OnMiss { table: name.clone(), otherwise }]
        }
        other => vec![other],
    });
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let rows =
            Values { table: table_named(written, &table.name), below: table_named(run, &name) };
        let ids = Ids { written: written.clone(), run: run.clone() };
        let coinciding = Coinciding::Shared(SharedRows::default());
        let translation = ByRows { sums: form, coinciding, ..ByRows::new(ids, rows) };
        Erased::new(Virtual::new(translation).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

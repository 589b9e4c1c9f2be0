// SPDX-License-Identifier: Apache-2.0
//! A key with a constant: a table matches on metadata that always has one value.

use super::ids::{Ids, table_named};
use super::rows::{ByRows, Row, Rows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{self, Key, Specification, Statement};
use control::map::Virtual;
use ir::{Bits, KeyPattern, Program, TableId};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "a key with a constant",
    mistake: "rows have 0 instead of the constant",
    transform,
};

/// The constant.
const VALUE: u64 = 5;
const WIDTH_BITS: u32 = 4;

struct Constant {
    table: TableId,
    below: TableId,
    at: usize,
    value: u64,
}

impl Rows for Constant {
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>> {
        if table != self.table {
            return None;
        }
        let mut keys = keys.to_vec();
        keys.insert(self.at, KeyPattern::Exact(Bits::from_u64(WIDTH_BITS, self.value)));
        Some(vec![Row { table: self.below, keys, phase: 0 }])
    }

    fn defaults(&self, table: TableId) -> Option<Vec<TableId>> {
        (table == self.table).then(|| vec![self.below])
    }
}

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let keyed: Vec<_> = written.tables.iter().filter(|table| !table.keys.is_empty()).collect();
    if keyed.is_empty() {
        return None;
    }
    let table = (*choices.pick(&keyed)).clone();
    let field = run.fresh("constant");
    run.metadata.push((field.clone(), WIDTH_BITS));
    run.statements.insert(0, Statement::Text(format!("meta.{field} = {VALUE};")));
    let at = choices.below(table.keys.len() + 1);
    for other in run.tables.iter_mut().filter(|other| other.name == table.name) {
        let expression = format!("meta.{field}");
        let key = Key { expression, width_bits: WIDTH_BITS, kind: specification::Kind::Exact };
        other.keys.insert(at, key);
    }
    let value = if form == Form::Broken { 0 } else { VALUE };
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let (above, below) = (table_named(written, &table.name), table_named(run, &table.name));
        let ids = Ids { written: written.clone(), run: run.clone() };
        let rows = ByRows::new(ids, Constant { table: above, below, at, value });
        Erased::new(Virtual::new(rows).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

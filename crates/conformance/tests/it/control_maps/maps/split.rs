// SPDX-License-Identifier: Apache-2.0
//! A table split in two by a bit of a key. An entry whose pattern takes both values of the bit has a row in both.

use super::ids::{Ids, table_named};
use super::rows::{ByRows, Row, Rows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{Specification, Statement};
use control::map::Virtual;
use ir::{Bits, KeyPattern, Program, TableId};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "split a table in two",
    mistake: "counters of the second table are not added",
    transform,
};

struct Halves {
    table: TableId,
    below: [TableId; 2],
    key: usize,
    bit: u32,
}

/// Whether some value with this bit fits a pattern.
fn takes(pattern: &KeyPattern, at: u32, bit: bool) -> bool {
    let fits = |value: &Bits| value.bit(at) == bit;
    match pattern {
        KeyPattern::Any => true,
        KeyPattern::Exact(value) => fits(value),
        KeyPattern::Prefix { value, length_bits } => {
            at < value.width_bits() - length_bits || fits(value)
        }
        KeyPattern::Ternary { value, mask } => !mask.bit(at) || fits(value),
        KeyPattern::Range { low, high } => {
            (low.low_u64()..=high.low_u64()).any(|value| (value >> at & 1 == 1) == bit)
        }
    }
}

impl Rows for Halves {
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>> {
        let own = [false, true].into_iter().zip(self.below);
        let own = own.filter(|(bit, _)| takes(&keys[self.key], self.bit, *bit));
        let row = |(_, table)| Row { table, keys: keys.to_vec(), phase: 0 };
        (table == self.table).then(|| own.map(row).collect())
    }

    fn defaults(&self, table: TableId) -> Option<Vec<TableId>> {
        (table == self.table).then(|| self.below.to_vec())
    }
}

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let candidates = written.plainly_applied();
    let candidates: Vec<_> = candidates
        .iter()
        .filter_map(|name| written.table(name))
        .filter(|table| table.keys.iter().any(|key| key.width_bits <= 16))
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let table = (*choices.pick(&candidates)).clone();
    let (key, bit) = loop {
        let key = choices.below(table.keys.len());
        if table.keys[key].width_bits <= 16 {
            break (key, choices.below(table.keys[key].width_bits as usize) as u32);
        }
    };
    let names = [run.fresh(&table.name), run.fresh(&table.name)];
    run.tables.retain(|other| other.name != table.name);
    for name in &names {
        let counter = table.counter.as_ref().map(|stem| run.fresh(stem));
        let half = crate::control_maps::specification::Table {
            name: name.clone(),
            counter,
            ..table.clone()
        };
        run.tables.push(half);
    }
    let condition = format!("{}[{bit}:{bit}] == 1", table.keys[key].expression);
    run.rewrite(&mut |statement| match statement {
        Statement::Apply(name) if name == table.name => vec![Statement::If {
            condition: condition.clone(),
            yes: vec![Statement::Apply(names[1].clone())],
            no: vec![Statement::Apply(names[0].clone())],
        }],
        other => vec![other],
    });
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let halves = Halves {
            table: table_named(written, &table.name),
            below: [table_named(run, &names[0]), table_named(run, &names[1])],
            key,
            bit,
        };
        let ids = Ids { written: written.clone(), run: run.clone() };
        let translation = ByRows { sums: form, ..ByRows::new(ids, halves) };
        Erased::new(Virtual::new(translation).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

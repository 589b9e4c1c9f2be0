// SPDX-License-Identifier: Apache-2.0
//! A default action that lives in another table: one without keys, applied on a miss.

use super::ids::{Ids, table_named};
use super::rows::{ByRows, Row, Rows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{Specification, Statement, Table};
use control::map::Virtual;
use ir::{KeyPattern, Program, TableId};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "a default moved to another table",
    mistake: "the default action is set where it was",
    transform,
};

struct Moved {
    table: TableId,
    below: TableId,
    default: TableId,
}

impl Rows for Moved {
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>> {
        let row = || Row { table: self.below, keys: keys.to_vec(), phase: 0 };
        (table == self.table).then(|| vec![row()])
    }

    fn defaults(&self, table: TableId) -> Option<Vec<TableId>> {
        (table == self.table).then(|| vec![self.default])
    }
}

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let candidates: Vec<Table> = written
        .plainly_applied()
        .iter()
        .filter_map(|name| written.table(name))
        .filter(|table| !table.keys.is_empty())
        .cloned()
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let table = choices.pick(&candidates).clone();
    let nothing = table.actions.iter().find(|action| action.starts_with("leave"))?.clone();
    let default = Table {
        name: run.fresh("default"),
        keys: Vec::new(),
        size: 1,
        counter: table.counter.as_ref().map(|stem| run.fresh(stem)),
        idle_timeout: false,
        ..table.clone()
    };
    for other in run.tables.iter_mut().filter(|other| other.name == table.name) {
        other.default = (nothing.clone(), Vec::new());
    }
    run.rewrite(&mut |statement| match statement {
        Statement::Apply(name) if name == table.name => {
            let otherwise = vec![Statement::Apply(default.name.clone())];
            vec![Statement::OnMiss { table: name, otherwise }]
        }
        other => vec![other],
    });
    let default_name = default.name.clone();
    run.tables.push(default);
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let below = table_named(run, &table.name);
        let default = match form {
            Form::Right => table_named(run, &default_name),
            Form::Broken => below,
        };
        let rows = Moved { table: table_named(written, &table.name), below, default };
        let ids = Ids { written: written.clone(), run: run.clone() };
        Erased::new(Virtual::new(ByRows::new(ids, rows)).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

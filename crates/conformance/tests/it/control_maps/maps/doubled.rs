// SPDX-License-Identifier: Apache-2.0
//! Doubled entries behind a commit: every table matches on a version bit that a table without keys sets. Writes
//! go to the copy that packets do not see, the bit is changed, and when packets of the old version have left,
//! the other copy follows.

use super::ids::{Ids, physical, table_named};
use super::rows::{ByRows, Row, Rows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{self, Action, Key, Specification, Statement, Table};
use control::map::{Physical, TargetIndex, Virtual};
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use state::{BoundAction, Update};
use std::collections::HashMap;
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "doubled entries behind a commit",
    mistake: "the second copy does not follow",
    transform,
};

struct Copies {
    /// Tables that have copies, by those as written.
    tables: HashMap<TableId, TableId>,
    init: TableId,
    set_version: ActionId,
    /// The version that packets see.
    active: u8,
    form: Form,
}

impl Rows for Copies {
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>> {
        let below = *self.tables.get(&table)?;
        let row = |version: u8| {
            let mut keys = keys.to_vec();
            keys.insert(0, KeyPattern::Exact(Bits::from_u64(1, u64::from(version))));
            Row { table: below, keys, phase: if version == self.active { 2 } else { 0 } }
        };
        match self.form {
            Form::Right => Some(vec![row(0), row(1)]),
            Form::Broken => Some(vec![row(self.active ^ 1)]),
        }
    }

    fn defaults(&self, table: TableId) -> Option<Vec<TableId>> {
        Some(vec![*self.tables.get(&table)?])
    }

    fn complete(&mut self, _: bool) -> Vec<Physical> {
        self.active ^= 1;
        let arguments = vec![Bits::from_u64(1, u64::from(self.active))];
        let action = Some(BoundAction { action: self.set_version, arguments });
        let commit = Update::SetDefaultAction { table: self.init, action };
        vec![physical(commit).in_phase(1)]
    }

    fn barrier_before(&self, phase: u8) -> Vec<TargetIndex> {
        if phase == 2 { vec![TargetIndex(0)] } else { Vec::new() }
    }
}

fn transform(_: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let version = run.fresh("version");
    let (init, set_version) = (run.fresh("init"), run.fresh("set_version"));
    run.metadata.push((version.clone(), 1));
    run.actions.push(Action {
        name: set_version.clone(),
        parameters: vec![("value".to_string(), 1)],
        body: format!("meta.{version} = value;"),
    });
    let names: Vec<String> = written
        .tables
        .iter()
        .filter(|table| !table.keys.is_empty())
        .map(|table| table.name.clone())
        .collect();
    if names.is_empty() {
        return None;
    }
    for table in run.tables.iter_mut().filter(|table| names.contains(&table.name)) {
        let expression = format!("meta.{version}");
        let key = Key { expression, width_bits: 1, kind: specification::Kind::Exact };
        table.keys.insert(0, key);
        table.size *= 2;
    }
    run.tables.push(Table {
        name: init.clone(),
        keys: Vec::new(),
        actions: vec![set_version.clone()],
        default: (set_version.clone(), vec![0]),
        size: 1,
        counter: None,
        idle_timeout: false,
    });
    run.statements.insert(0, Statement::Apply(init.clone()));
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let pair = |name: &String| (table_named(written, name), table_named(run, name));
        let init = table_named(run, &init);
        let copies = Copies {
            tables: names.iter().map(pair).collect(),
            init,
            set_version: run.tables[init.index()].actions[0].action,
            active: 0,
            form,
        };
        let ids = Ids { written: written.clone(), run: run.clone() };
        Erased::new(Virtual::new(ByRows::new(ids, copies)).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

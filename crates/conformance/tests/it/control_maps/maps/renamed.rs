// SPDX-License-Identifier: Apache-2.0
//! The same program with its objects in another order and under other names.

use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{Specification, Statement, full_name};
use control::map::{Handles, Renamed};
use ir::Program;
use std::collections::BTreeMap;
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind { name: "rename", mistake: "two actions are exchanged", transform };

fn shuffle<T>(choices: &mut Choices, list: &mut [T]) {
    for at in (1..list.len()).rev() {
        list.swap(at, choices.below(at + 1));
    }
}

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    run.fresh += 1;
    let number = run.fresh;
    let mut rename = |name: &mut String| {
        let other = format!("n{number}_{}", names.len());
        *name = names.entry(name.clone()).or_insert(other).clone();
    };
    run.tables.iter_mut().for_each(|table| rename(&mut table.name));
    run.tables.iter_mut().filter_map(|table| table.counter.as_mut()).for_each(&mut rename);
    run.registers.iter_mut().for_each(|register| rename(&mut register.name));
    run.counters.iter_mut().for_each(|counter| rename(&mut counter.name));
    rename(&mut run.digest);
    // Names that maps know actions by stay at the front.
    let keep = |name: &String| match name.starts_with("leave") {
        true => format!("leave_n{number}_{name}"),
        false => format!("n{number}_{name}"),
    };
    for action in &mut run.actions {
        names.insert(action.name.clone(), keep(&action.name));
        action.name = keep(&action.name);
    }
    for table in &mut run.tables {
        table.actions.iter_mut().for_each(|action| *action = keep(action));
        table.default.0 = keep(&table.default.0);
        shuffle(choices, &mut table.actions);
    }
    shuffle(choices, &mut run.tables);
    shuffle(choices, &mut run.actions);
    shuffle(choices, &mut run.registers);
    shuffle(choices, &mut run.counters);
    let named = |name: &str| names.get(name).cloned().unwrap_or_else(|| name.to_string());
    run.rewrite(&mut |statement| {
        vec![match statement {
            Statement::Text(line) => {
                Statement::Text(line.replace(&written.digest, &named(&written.digest)))
            }
            Statement::Apply(table) => Statement::Apply(named(&table)),
            Statement::OnMiss { table, otherwise } => {
                Statement::OnMiss { table: named(&table), otherwise }
            }
            Statement::Access { register, index, value, operation } => {
                Statement::Access { register: named(&register), index, value, operation }
            }
            Statement::Count { counter, index } => {
                Statement::Count { counter: named(&counter), index }
            }
            other => other,
        }]
    });
    let digests = (named(&written.digest), written.digest.clone());
    let full: BTreeMap<String, String> =
        names.iter().map(|(name, other)| (full_name(name), full_name(other))).collect();
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let below = |name: &str| full.get(name).cloned().unwrap_or_else(|| name.to_string());
        let mut handles = Handles::by_name(written, run, below).expect("every object has a name");
        if form == Form::Broken {
            let takes = |at: &usize| written.actions[*at].parameters.len() == 1;
            let same: Vec<usize> = (0..handles.actions.len()).filter(takes).collect();
            handles.actions.swap(same[0], same[1]);
        }
        let (below, own) = (digests.0.as_str().into(), digests.1.as_str().into());
        Erased::new(Renamed::new(written.clone(), run, handles).with_digests([(below, own)]))
    };
    Some(Transformed { run, map: Box::new(map) })
}

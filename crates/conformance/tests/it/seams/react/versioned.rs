// SPDX-License-Identifier: Apache-2.0
//! Two copies of each table behind a program as written: the map of the trial, and maps with a mistake each.

use crate::seams::{bound, program, table};
use control::map::{Physical, TargetIndex, Translation};
use control::target::{Fault, Notification, Visibility};
use ir::{Bits, KeyPattern, Program, TableId};
use state::{Configuration, Read, Update};
use std::sync::{Arc, LazyLock};

pub struct Programs {
    pub written: Arc<Program>,
    pub run: Arc<Program>,
}

impl Programs {
    fn new(defines: &str) -> Programs {
        let text = include_str!("../react.p4");
        Programs {
            written: program(&format!("{defines}{text}")),
            run: program(&format!("#define AS_RUN\n{defines}{text}")),
        }
    }
}

/// Both tables in ingress.
pub static JOINED: LazyLock<Programs> = LazyLock::new(|| Programs::new(""));

/// The second table in egress.
pub static SPLIT: LazyLock<Programs> = LazyLock::new(|| Programs::new("#define SPLIT\n"));

/// What is wrong with a map, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// No map: the program as written runs.
    Identity,
    CommitFirst,
    NoBarrier,
    /// Both copies of the second table are written at once.
    TableOutside,
}

/// Two copies of each table, and an init table that says which one packets look up.
#[derive(Debug)]
pub struct Versioned {
    written: Arc<Program>,
    run: Arc<Program>,
    mistake: Mistake,
    /// The copy that packets look up, once what was asked for is done.
    version: u64,
    value: u64,
}

impl Versioned {
    pub fn new(programs: &Programs, mistake: Mistake) -> Versioned {
        let (written, run) = (programs.written.clone(), programs.run.clone());
        Versioned { written, run, mistake, version: 0, value: 0 }
    }

    /// The phase of what is prepared, and that of what is mirrored.
    fn phases(&self) -> (u8, u8) {
        if self.mistake == Mistake::CommitFirst { (2, 3) } else { (0, 3) }
    }

    /// The items that do an update to both copies of a table.
    fn both(&self, of: TableId, update: impl Fn(TableId, KeyPattern) -> Update) -> Vec<Physical> {
        let name = &self.written.tables[of.index()].name;
        let below = table(&self.run, name);
        let (prepare, mirror) = self.phases();
        let is_outside = self.mistake == Mistake::TableOutside && name.ends_with("two");
        let mirror = if is_outside { prepare } else { mirror };
        let copy = |version| KeyPattern::Exact(Bits::from_u64(1, version));
        let copies = [(self.version ^ 1, prepare), (self.version, mirror)];
        let item = |(version, phase)| {
            Physical::at(TargetIndex(0), update(below, copy(version))).in_phase(phase)
        };
        copies.map(item).to_vec()
    }

    fn entry(&self, of: TableId, entry: &state::NewEntry, version: KeyPattern) -> state::NewEntry {
        let state::ActionData::Direct(action) = &entry.action else { return entry.clone() };
        let name = &self.written.actions[action.action.index()].name;
        let below = table(&self.run, &self.written.tables[of.index()].name);
        let arguments: Vec<u64> = action.arguments.iter().map(Bits::low_u64).collect();
        let action = bound(&self.run, below, name, &arguments);
        let keys = std::iter::once(version).chain(entry.keys.iter().cloned()).collect();
        state::NewEntry { keys, action: state::ActionData::Direct(action), ..entry.clone() }
    }
}

impl Translation for Versioned {
    fn program(&self) -> Arc<Program> {
        self.written.clone()
    }

    fn visibility(&self, _: Visibility) -> Visibility {
        Visibility::Pass
    }

    fn update(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        Ok(match update {
            Update::InsertEntry { table, entry } => self.both(*table, |below, version| {
                Update::InsertEntry { table: below, entry: self.entry(*table, entry, version) }
            }),
            Update::ModifyEntry { table, entry } => self.both(*table, |below, version| {
                Update::ModifyEntry { table: below, entry: self.entry(*table, entry, version) }
            }),
            Update::DeleteEntry { table, keys, priority } => self.both(*table, |below, version| {
                let keys = std::iter::once(version).chain(keys.iter().cloned()).collect();
                Update::DeleteEntry { table: below, keys, priority: *priority }
            }),
            // It is part of the commit.
            Update::SetDefaultAction { action, .. } => {
                self.value = action.as_ref().map_or(0, |action| action.arguments[0].low_u64());
                Vec::new()
            }
            _ => return Err(Fault::Unsupported("not in this trial".to_string())),
        })
    }

    fn complete(&mut self, _: bool) -> Vec<Physical> {
        self.version ^= 1;
        let init = table(&self.run, "init");
        let action = bound(&self.run, init, "set_init", &[self.version, self.value]);
        let commit = Update::SetDefaultAction { table: init, action: Some(action) };
        vec![Physical::at(TargetIndex(0), commit).in_phase(1)]
    }

    fn barrier_before(&self, phase: u8) -> Vec<TargetIndex> {
        match phase == 3 && self.mistake != Mistake::NoBarrier {
            true => self.targets(),
            false => Vec::new(),
        }
    }

    fn read(&mut self, _: &Read, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        Ok(Vec::new())
    }

    fn combine(&mut self, _: &Read, _: Vec<state::Reply>) -> Result<state::Reply, Fault> {
        Ok(state::Reply::Done)
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        _: &Configuration,
    ) -> Vec<Notification> {
        vec![notification]
    }
}

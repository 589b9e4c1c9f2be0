// SPDX-License-Identifier: Apache-2.0
//! Control maps with a mistake: [`BrokenMap`] moves the driver operations of the right map to other phases.

use control::map::{Physical, TargetIndex, Translation};
use control::target::{Fault, Item, Notification, Visibility};
use ir::{Program, TableId};
use react::compiler::Plan;
use react::map::{COMMIT, MIRROR, MalleableMap, PREPARE};
use state::{BatchItem, Configuration, Read, Reply, Update};
use std::sync::Arc;

/// A mistake of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// None.
    #[default]
    None,
    /// Nothing is mirrored.
    NoMirror,
    /// Rows are mirrored while packets may still match them.
    NoWait,
    /// The wait comes after the mirror.
    WaitAfterMirror,
    /// The master entry is written first.
    CommitFirst,
    /// The master entry is written before the last malleable table is prepared.
    CommitEarly,
    /// There are no versions: both copies are written at once, the master entry last.
    NoVersions,
    /// Both copies of the last malleable table are written at once.
    TableOutside,
    /// Deletions begin with the rows that packets match.
    DeletePrimaryFirst,
    /// Default actions are set in both copies at once, before the commit.
    DefaultInPlace,
    /// Default actions are set in both copies at once, after the commit.
    DefaultAfterCommit,
    /// Both copies of the init tables behind the master are written at once.
    InitInPlace,
    /// The init tables behind the master are written after it.
    MasterFirst,
}

/// The phase behind the mirror.
const AFTER: u8 = MIRROR + 1;

/// The map with a mistake.
#[derive(Clone, Debug)]
pub struct BrokenMap {
    pub map: MalleableMap,
    mistake: Mistake,
    last_table: Vec<TableId>,
    defaults: Vec<TableId>,
    inits: Vec<TableId>,
}

/// The table of the program as run that an item writes entries of.
fn table_of(item: &Item) -> Option<TableId> {
    match item {
        Item::State(BatchItem::Update(
            Update::InsertEntry { table, .. }
            | Update::ModifyEntry { table, .. }
            | Update::DeleteEntry { table, .. },
        )) => Some(*table),
        _ => None,
    }
}

impl BrokenMap {
    pub fn new(map: MalleableMap, plan: &Plan, run: &Program, mistake: Mistake) -> BrokenMap {
        let table = |name: &Arc<str>| {
            let at = run.tables.iter().position(|table| table.name == *name);
            TableId(at.expect("a table of the plan") as u32)
        };
        let defaults = plan.tables.iter().filter_map(|planned| planned.default_table.as_ref());
        let behind = plan.pipelines.iter().flat_map(|pipeline| pipeline.inits.iter().skip(1));
        let last = plan.tables.iter().rev().find(|planned| planned.is_malleable);
        let last =
            last.into_iter().flat_map(|last| [Some(&last.table), last.default_table.as_ref()]);
        BrokenMap {
            last_table: last.flatten().map(table).collect(),
            defaults: defaults.map(table).collect(),
            inits: behind.map(|init| table(&init.table)).collect(),
            map,
            mistake,
        }
    }

    /// Moves items to the phases of the mistake.
    fn moved(&self, items: Vec<Physical>) -> Vec<Physical> {
        items.into_iter().filter_map(|one| self.moved_item(one)).collect()
    }

    fn moved_item(&self, one: Physical) -> Option<Physical> {
        let table = table_of(&one.item);
        let is_in = |list: &[TableId]| table.is_some_and(|table| list.contains(&table));
        let is_deletion =
            matches!(one.item, Item::State(BatchItem::Update(Update::DeleteEntry { .. })));
        let late = COMMIT + 1;
        let phase = match (self.mistake, one.phase) {
            (Mistake::NoMirror, MIRROR) => return None,
            (Mistake::CommitFirst, PREPARE) => late,
            (Mistake::CommitEarly, PREPARE) if is_in(&self.last_table) => late,
            (Mistake::NoVersions, MIRROR) => PREPARE,
            (Mistake::TableOutside, MIRROR) if is_in(&self.last_table) => PREPARE,
            (Mistake::DeletePrimaryFirst, MIRROR) if is_deletion => PREPARE,
            (Mistake::DeletePrimaryFirst, PREPARE) if is_deletion => MIRROR,
            (Mistake::DefaultInPlace, MIRROR) if is_in(&self.defaults) => PREPARE,
            (Mistake::DefaultAfterCommit, PREPARE) if is_in(&self.defaults) => MIRROR,
            (Mistake::InitInPlace, MIRROR) if is_in(&self.inits) => PREPARE,
            (Mistake::MasterFirst, PREPARE) if is_in(&self.inits) => late,
            (_, phase) => phase,
        };
        Some(one.in_phase(phase))
    }
}

impl Translation for BrokenMap {
    fn program(&self) -> Arc<Program> {
        self.map.program()
    }

    fn visibility(&self, below: Visibility) -> Visibility {
        self.map.visibility(below)
    }

    fn update(&mut self, update: &Update, before: &Configuration) -> Result<Vec<Physical>, Fault> {
        let items = self.map.update(update, before)?;
        Ok(self.moved(items))
    }

    fn undo(&mut self, update: &Update, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        let items = self.map.undo(update, state)?;
        Ok(self.moved(items))
    }

    fn read(&mut self, read: &Read, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        self.map.read(read, state)
    }

    fn combine(&mut self, read: &Read, replies: Vec<Reply>) -> Result<Reply, Fault> {
        self.map.combine(read, replies)
    }

    fn complete(&mut self, is_phased: bool) -> Vec<Physical> {
        let mut items = self.map.complete(is_phased || self.mistake == Mistake::NoMirror);
        if self.mistake == Mistake::WaitAfterMirror {
            let read = Read::DefaultAction { table: TableId(0) };
            items.push(Physical::at(TargetIndex(0), read).in_phase(AFTER));
        }
        items
    }

    fn barrier_before(&self, phase: u8) -> Vec<TargetIndex> {
        match (self.mistake, phase) {
            (Mistake::NoWait | Mistake::WaitAfterMirror, MIRROR) => Vec::new(),
            (Mistake::WaitAfterMirror, AFTER) => self.targets(),
            _ => self.map.barrier_before(phase),
        }
    }

    fn answer_after(&self) -> u8 {
        self.map.answer_after()
    }

    fn notify(
        &mut self,
        from: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification> {
        self.map.notify(from, notification, state)
    }
}

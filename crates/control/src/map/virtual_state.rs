// SPDX-License-Identifier: Apache-2.0
//! Maps that keep the state of the program as written. They apply each batch to that state first, so faults name its
//! objects and reads return what was written, and translate the accepted updates with a [`Translation`]. `plan`
//! plans a batch, `inverse` inverts updates.

mod inverse;
mod plan;
mod questions;
mod steps;
mod wording;

use super::{Absence, Added, ControlMap, Renamed, Step, TargetIndex};
use crate::state_target::StateTarget;
use crate::target::{Batch, Fault, Item, Notification, Outcome, Target, Visibility};
use ir::{Program, TableId};
pub use plan::VirtualPlan;
use state::{BatchItem, Configuration, EntryReference, Read, Subscription, Update, UpdateError};
use std::sync::Arc;

/// An item for a program as run.
#[derive(Clone, Debug, PartialEq)]
pub struct Physical {
    /// Which target.
    pub target: TargetIndex,
    /// Phases of a batch are done one after the other: 0 first.
    pub phase: u8,
    /// What.
    pub item: Item,
}

impl Physical {
    /// An item of phase 0.
    pub fn at(target: TargetIndex, item: impl Into<Item>) -> Physical {
        Physical { target, phase: 0, item: item.into() }
    }

    /// The same item in another phase.
    pub fn in_phase(self, phase: u8) -> Physical {
        Physical { phase, ..self }
    }
}

/// Translates single updates and reads of a program as written to the programs as run.
///
/// Updates come normalised: entries by keys and priority as the table has them, with everything that they hold
/// afterwards; tables are cleared entry by entry. A batch is done in phases. Items of phase 0 take effect first; when the batch asked
/// to be atomic, either all of them do or none. Reads of cells belong to phase 0. Updates that undo others, after
/// a failure in phase 0, come to [`Translation::undo`]; of their items those of phase 0 are done.
pub trait Translation: Send {
    /// The program as written.
    fn program(&self) -> Arc<Program>;

    /// Returns the items that carry out an update. `before` is the configuration of the program as written before it.
    fn update(&mut self, update: &Update, before: &Configuration) -> Result<Vec<Physical>, Fault>;

    /// Returns the items that undo an update: `update` is its inverse, and `state` the configuration before that. The
    /// default translates the inverse like any update; maps that name rows by when entries came give them their old
    /// names back.
    fn undo(&mut self, update: &Update, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        self.update(update, state)
    }

    /// Returns the reads that answer a question about cells: of one register, counter or meter, or of one entry's
    /// direct cells.
    fn read(&mut self, read: &Read, state: &Configuration) -> Result<Vec<Physical>, Fault>;

    /// Combines the replies of those reads, in their order, to the answer.
    fn combine(&mut self, read: &Read, replies: Vec<state::Reply>) -> Result<state::Reply, Fault>;

    /// Whether one object of target 0 answers a read of cells alone, so that [`Translation::renaming`] rewrites it. The
    /// default says no.
    fn renames(&self, _read: &Read) -> bool {
        false
    }

    /// The map that rewrites the reads that [`Translation::renames`] accepts, and their outcomes.
    fn renaming(&mut self) -> Option<&mut Renamed> {
        None
    }

    /// Items about a device. The default asks target 0.
    fn device(&mut self, item: &crate::target::DeviceItem) -> Result<Vec<Physical>, Fault> {
        Ok(vec![Physical::at(TargetIndex(0), item.clone())])
    }

    /// Returns the further items that each batch with writes needs, such as a commit. Called when phase 0 is done, unless
    /// all of it was undone; the items belong to later phases. `is_phased` says whether items of later phases remain, as
    /// those of updates that failed do not.
    fn complete(&mut self, _is_phased: bool) -> Vec<Physical> {
        Vec::new()
    }

    /// Targets whose passes have to end before a phase of a batch begins.
    fn barrier_before(&self, _phase: u8) -> Vec<TargetIndex> {
        Vec::new()
    }

    /// The phase after which the caller is answered; the default answers after the last one.
    fn answer_after(&self) -> u8 {
        u8::MAX
    }

    /// The targets below.
    fn targets(&self) -> Vec<TargetIndex> {
        vec![TargetIndex(0)]
    }

    /// What packets see of a batch, when its parts are seen so below.
    fn visibility(&self, below: Visibility) -> Visibility {
        below
    }

    /// Translates a notification from below; `state` is the configuration of the program as written.
    fn notify(
        &mut self,
        from: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification>;

    /// Returns a batch that the map itself submits to the program as written.
    fn background(&mut self) -> Option<Batch> {
        None
    }

    /// The answer to it, and the notifications that follow from it.
    fn background_answer(&mut self, _outcome: Outcome) -> Vec<Notification> {
        Vec::new()
    }

    /// What the map does while a target is detached.
    fn absence(&self) -> Absence {
        Absence::Refuse
    }

    /// Objects that were added below.
    fn added(&self) -> Vec<Added> {
        Vec::new()
    }
}

/// A map that keeps the state of the program as written.
#[derive(Debug)]
pub struct Virtual<T> {
    translation: T,
    state: StateTarget,
}

impl<T: Translation> Virtual<T> {
    /// The map of a translation, with the state that the program as written begins with.
    pub fn new(translation: T) -> Result<Virtual<T>, UpdateError> {
        let state = StateTarget::new(translation.program())?;
        Ok(Virtual { translation, state })
    }

    /// The translation.
    pub fn translation(&self) -> &T {
        &self.translation
    }

    /// The configuration of the program as written.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.state.store().configuration()
    }

    /// Checks a batch against the state of the program as written.
    fn check_here(&mut self, batch: Batch) -> Outcome {
        let now_ps = self.state.now_ps();
        let ticket = self.state.reserve(batch, now_ps);
        self.state.release(ticket);
        self.state.wait(ticket)
    }

    /// Normalises an update that [`Configuration::accepted`] leaves as it is; some become several.
    fn normalised(update: Update, before: &Configuration) -> Vec<Update> {
        let by_keys = |table, handle| {
            let entry = before.table(table).and_then(|table| table.shared_entry(handle));
            entry.map(|entry| (entry.keys.clone(), entry.priority))
        };
        match update {
            Update::ClearEntries { table } => {
                let entries = before.table(table).into_iter().flat_map(|table| table.entries());
                let mut entries: Vec<_> = entries.collect();
                entries.sort_by_key(|entry| entry.generation);
                let delete = |entry: &Arc<state::EntryRecord>| {
                    let (keys, priority) = (entry.keys.clone(), entry.priority);
                    Update::DeleteEntry { table, keys, priority }
                };
                entries.into_iter().map(delete).collect()
            }
            Update::WriteDirectCounter {
                counter,
                entry: EntryReference::At { handle, .. },
                value,
            } => {
                let table =
                    table_with(before.program(), |table| table.direct_counters.contains(&counter));
                let write = |(keys, priority)| Update::WriteDirectCounter {
                    counter,
                    entry: EntryReference::Entry { keys, priority },
                    value,
                };
                table.and_then(|table| by_keys(table, handle)).into_iter().map(write).collect()
            }
            Update::WriteDirectMeter {
                meter,
                entry: EntryReference::At { handle, .. },
                configuration,
            } => {
                let table =
                    table_with(before.program(), |table| table.direct_meters.contains(&meter));
                let write = |(keys, priority)| Update::WriteDirectMeter {
                    meter,
                    entry: EntryReference::Entry { keys, priority },
                    configuration,
                };
                table.and_then(|table| by_keys(table, handle)).into_iter().map(write).collect()
            }
            other => vec![other],
        }
    }
}

fn table_with(program: &Program, is_it: impl Fn(&ir::Table) -> bool) -> Option<TableId> {
    program.tables.iter().position(is_it).map(|at| TableId(at as u32))
}

impl<T: Translation> ControlMap for Virtual<T> {
    type Plan = VirtualPlan;

    fn program(&self) -> Arc<Program> {
        self.translation.program()
    }

    fn targets(&self) -> Vec<TargetIndex> {
        self.translation.targets()
    }

    fn visibility(&self, below: Visibility) -> Visibility {
        self.translation.visibility(below)
    }

    /// Reads of cells need no plan where one object below answers each.
    fn passes_to(&self, batch: &Batch) -> Option<TargetIndex> {
        let is_renamed = |item: &Item| match item {
            Item::State(BatchItem::Read(read)) => {
                read.touches_cells() && self.translation.renames(read)
            }
            _ => false,
        };
        let is_passed = !batch.items.is_empty() && batch.items.iter().all(is_renamed);
        is_passed.then_some(TargetIndex(0))
    }

    fn pass(&mut self, batch: &mut Batch) {
        if let Some(renamed) = self.translation.renaming() {
            renamed.pass(batch);
        }
    }

    fn passed(&mut self, outcome: &mut Outcome) {
        if let Some(renamed) = self.translation.renaming() {
            renamed.passed(outcome);
        }
    }

    fn set_now_ps(&mut self, now_ps: u64) {
        self.state.set_now_ps(now_ps);
    }

    fn begin(&mut self, batch: Batch) -> VirtualPlan {
        self.plan(batch)
    }

    fn step(&mut self, plan: &mut VirtualPlan, seen: Vec<Outcome>) -> Step {
        self.next_step(plan, seen)
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        self.check_here(Batch { program: None, ..batch.clone() })
    }

    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification> {
        let configuration = self.configuration();
        self.translation.notify(from, notification, &configuration)
    }

    fn background(&mut self) -> Option<VirtualPlan> {
        let batch = self.translation.background()?;
        Some(self.plan(batch))
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        self.translation.background_answer(outcome)
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.state.subscribe(tables)
    }

    fn absence(&self) -> Absence {
        self.translation.absence()
    }

    fn added(&self) -> Vec<Added> {
        self.translation.added()
    }
}

/// Whether the state of the program as written answers a question.
fn is_answered_here(read: &Read) -> bool {
    !read.touches_cells()
}

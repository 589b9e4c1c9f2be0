// SPDX-License-Identifier: Apache-2.0
//! Control maps: translate writes, reads and notifications of a program as written to the programs as run. [`Mapped`]
//! puts a map in front of targets and is a target itself, so maps nest; [`Composed`] is the composition of two maps.
//! Maps that keep the state of the program as written build on [`Virtual`].

mod composed;
mod identity;
mod idle;
mod instances;
mod mapped;
mod reconcile;
mod renamed;
mod rows;
mod shared;
mod virtual_state;

pub use composed::Composed;
pub use identity::Identity;
pub use idle::IdleEntries;
pub use instances::{Instances, OwnedArray, Owner};
pub use mapped::Mapped;
pub use reconcile::Reconciliation;
pub use renamed::{Handles, Renamed};
pub use rows::{EntryName, RowName, RowPriorities, SharedRows};
pub use shared::{CellArray, IdRanges, Portion, SharedTarget};
pub use virtual_state::{Physical, Translation, Virtual, VirtualPlan};

use crate::target::{Batch, Notification, Outcome, Visibility};
use ir::{Program, TableId};
use state::Subscription;
use std::sync::Arc;

/// A target below a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetIndex(pub usize);

/// The next step of a plan.
#[derive(Debug)]
pub enum Step {
    /// Submits these batches at one time. The next call sees their outcomes, in this order.
    Submit(Vec<(TargetIndex, Batch)>),
    /// Reserves these batches. The next call sees the outcomes of the checks, in this order; what was reserved
    /// stays so until [`Step::Commit`] or [`Step::Release`].
    Reserve(Vec<(TargetIndex, Batch)>),
    /// Commits everything that is reserved. The next call sees the outcomes, in the order of the reservations.
    Commit,
    /// Releases all reservations. The next call sees nothing.
    Release,
    /// Waits until all passes that have begun at these targets have ended. The next call sees an outcome
    /// without results for each.
    Barrier(Vec<TargetIndex>),
    /// Answers the caller; the plan goes on. The next call sees nothing.
    Answer(Outcome),
    /// The plan is over. A caller without an answer gets an empty one.
    End,
}

/// What a map does while a target is detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// Items for it fail with [`crate::target::Fault::Away`]. What they changed of the configuration of other
    /// targets is undone; cells that other targets have written stay written.
    #[default]
    Refuse,
    /// Plans that need it wait until it is attached again.
    Defer,
    /// Keeps writes for it until it is attached again and up to date; reads fail with [`crate::target::Fault::Away`].
    GoOn,
}

/// An object of a program as run that the map added, in a namespace of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its name there, such as `init`.
    pub name: Arc<str>,
    /// The target that has it.
    pub target: TargetIndex,
    /// Its control-plane name in that target's program.
    pub object: Arc<str>,
}

/// Translates writes, reads and notifications of a program as written to the programs as run.
pub trait ControlMap: Send {
    /// The plan of a batch. It gives the next step when it sees the outcomes of the last one.
    type Plan: Send;

    /// The program as written.
    fn program(&self) -> Arc<Program>;

    /// The targets that it has.
    fn targets(&self) -> Vec<TargetIndex> {
        vec![TargetIndex(0)]
    }

    /// What packets see of a batch, when its parts are seen so below.
    fn visibility(&self, below: Visibility) -> Visibility {
        below
    }

    /// The target that answers a batch alone, with nothing more to do than [`ControlMap::pass`] and
    /// [`ControlMap::passed`]. `None` is for batches that need a plan.
    fn passes_to(&self, _batch: &Batch) -> Option<TargetIndex> {
        None
    }

    /// Rewrites a batch that [`ControlMap::passes_to`] a target.
    fn pass(&mut self, _batch: &mut Batch) {}

    /// Rewrites the outcome of a batch that [`ControlMap::pass`] rewrote. Batches come here in their order.
    fn passed(&mut self, _outcome: &mut Outcome) {}

    /// The time of the targets, or of the controller if that is later, before a batch is begun.
    fn set_now_ps(&mut self, _now_ps: u64) {}

    /// Begins a batch.
    fn begin(&mut self, batch: Batch) -> Self::Plan;

    /// Gives the next step of a plan; `seen` are the outcomes of the last one.
    fn step(&mut self, plan: &mut Self::Plan, seen: Vec<Outcome>) -> Step;

    /// Whether a later batch waits until a plan ends. Plans that a batch does not wait for run beside it.
    fn queues_behind(&self, _running: &Self::Plan, _later: &Batch) -> bool {
        true
    }

    /// Predicts the outcome of a batch without asking the targets below.
    fn check(&mut self, batch: &Batch) -> Outcome;

    /// Translates a notification from below to notifications of the program as written, in order; possibly none.
    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification>;

    /// Returns a plan of the map itself, such as a read whether an entry idles everywhere. Called after each call of
    /// [`crate::target::Target::notifications`].
    fn background(&mut self) -> Option<Self::Plan> {
        None
    }

    /// The answer to [`ControlMap::background`], and the notifications that follow from it.
    fn background_answer(&mut self, _outcome: Outcome) -> Vec<Notification> {
        Vec::new()
    }

    /// As [`crate::target::Target::subscribe`], for tables of the program as written.
    fn subscribe(&mut self, _tables: &[TableId]) -> Option<Subscription> {
        None
    }

    /// What the map does while a target is detached.
    fn absence(&self) -> Absence {
        Absence::Refuse
    }

    /// Objects that the map added below.
    fn added(&self) -> Vec<Added> {
        Vec::new()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The plan of a batch on a program whose state is kept: its items applied to that state and translated, and undone
//! where a part of it failed. `steps` carries it out below.

use super::inverse::{inverse, subject};
use super::wording::object_name;
use super::{Physical, Translation, Virtual, is_answered_here};
use crate::map::TargetIndex;
use crate::target::{Batch, Fault, Item, Reply, Target, Visibility};
use state::{
    Atomicity, BatchItem, EntryReference, EntryTarget, EntryWithCells, Read, Reply as StateReply,
    Update,
};
use std::sync::Arc;

/// An item of a batch: its result, its undo and its questions.
#[derive(Debug)]
pub(super) struct Part {
    /// The result so far.
    pub(super) result: Result<Reply, Fault>,
    /// The inverses of its updates in the state of the program as written, in the order of the updates.
    pub(super) undo: Vec<Update>,
    /// Reads of cells below, each with the entry that it is about.
    pub(super) questions: Vec<(Read, EntryTarget)>,
    /// Whether it changes something.
    pub(super) is_write: bool,
    /// The object of the program as written, for messages.
    pub(super) object: Arc<str>,
}

/// A physical item, with the item of the batch and its question that need it.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) target: TargetIndex,
    pub(super) phase: u8,
    /// `None` once a later phase has sent it: only items of phase 0 may be undone.
    pub(super) item: Option<Item>,
    pub(super) is_read: bool,
    pub(super) part: usize,
    pub(super) question: usize,
    /// The reply to a read.
    pub(super) reply: Option<StateReply>,
    /// Whether it took effect.
    pub(super) is_done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before phase 0.
    Begin,
    /// All targets check phase 0.
    Reserving,
    /// Reservations are released, since one failed.
    Releasing,
    /// Targets apply phase 0.
    Doing,
    /// Targets undo phase 0.
    Undoing,
    /// The barrier before a phase.
    Waiting(u8),
    /// Targets apply a later phase.
    Later(u8),
    /// Only the answer and the end remain.
    Over,
}

/// The plan of a batch on a program whose state is kept.
#[derive(Debug)]
pub struct VirtualPlan {
    /// The caller's mode.
    pub(super) atomicity: Atomicity,
    /// Whether an item that fails undoes the others.
    pub(super) stops_on_error: bool,
    /// Whether the later phases make the batch visible at one moment, so that phase 0 need not.
    pub(super) is_phased: bool,
    pub(super) parts: Vec<Part>,
    pub(super) sent: Vec<Sent>,
    /// Items of the current step: indices into `sent`, by target.
    pub(super) running: Vec<(TargetIndex, Vec<usize>)>,
    pub(super) stage: Stage,
    pub(super) rolled_back: bool,
    pub(super) is_answered: bool,
    pub(super) latest_ps: (u64, u64),
}

impl Part {
    fn of(object: Arc<str>, result: Result<Reply, Fault>) -> Part {
        Part { result, undo: Vec::new(), questions: Vec::new(), is_write: false, object }
    }
}

impl Sent {
    fn new(physical: Physical, part: usize, question: usize) -> Sent {
        let Physical { target, phase, item } = physical;
        let (is_read, item) = (item.is_read(), Some(item));
        Sent { target, phase, item, is_read, part, question, reply: None, is_done: false }
    }
}

impl<T: Translation> Virtual<T> {
    pub(super) fn plan(&mut self, batch: Batch) -> VirtualPlan {
        let atomicity = batch.atomicity;
        let mut plan = VirtualPlan {
            atomicity,
            stops_on_error: batch.stops_on_error(),
            is_phased: self.translation.visibility(Visibility::Items) > Visibility::Items,
            parts: Vec::with_capacity(batch.items.len()),
            sent: Vec::new(),
            running: Vec::new(),
            stage: Stage::Begin,
            rolled_back: false,
            is_answered: false,
            latest_ps: (self.state.now_ps(), self.state.now_ps()),
        };
        let count = batch.items.len();
        if plan.stops_on_error
            && let Some((at, fault)) = self.refused(&batch)
        {
            // Nothing has to be undone, so entries keep their places.
            plan.abort(0, count);
            plan.parts[at].result = Err(fault);
            plan.stage = Stage::Over;
            return plan;
        }
        for item in batch.items {
            let number = plan.parts.len();
            let part = self.part(item, number, &mut plan.sent);
            let has_failed = part.result.is_err();
            plan.parts.push(part);
            if has_failed && plan.stops_on_error {
                plan.abort(number, count);
                self.undo(&mut plan, |_| true);
                plan.sent.clear();
                plan.stage = Stage::Over;
                return plan;
            }
        }
        plan
    }

    /// The item for which the state of the program as written refuses an atomic batch, and why.
    fn refused(&mut self, batch: &Batch) -> Option<(usize, Fault)> {
        let of_state = |(at, item): (usize, &Item)| match item {
            Item::State(_) => Some((at, item.clone())),
            Item::Device(_) => None,
        };
        let (places, items): (Vec<usize>, Vec<Item>) =
            batch.items.iter().enumerate().filter_map(of_state).unzip();
        let outcome = self.check_here(Batch::of(items).with(batch.atomicity));
        outcome.first_fault().map(|(at, fault)| (places[at], fault.clone()))
    }

    /// Adds the further items of the batch once phase 0 is done.
    pub(super) fn complete(&mut self, plan: &mut VirtualPlan) {
        if plan.parts.iter().any(|part| part.is_write && part.result.is_ok()) {
            let no_part = plan.parts.len();
            let is_phased = plan.sent.iter().any(|sent| sent.phase > 0);
            let items = self.translation.complete(is_phased).into_iter();
            plan.sent.extend(items.map(|physical| Sent::new(physical, no_part, 0)));
        }
    }

    /// Applies an item to the state of the program as written, and translates it.
    fn part(&mut self, item: Item, number: usize, sent: &mut Vec<Sent>) -> Part {
        let object = object_name(&self.translation.program(), &item);
        let mut part = Part { is_write: !item.is_read(), ..Part::of(object, Ok(Reply::Done)) };
        let mut send = |physical, question| sent.push(Sent::new(physical, number, question));
        match item {
            Item::Device(item) => match self.translation.device(&item) {
                Ok(list) => list.into_iter().for_each(|physical| send(physical, 0)),
                Err(fault) => part.result = Err(fault),
            },
            Item::State(BatchItem::Read(read)) => {
                let known = self.state.execute(Batch::one(read.clone()));
                part.result = known.results.into_iter().next().unwrap_or(Ok(Reply::Done));
                if is_answered_here(&read) || part.result.is_err() {
                    return part;
                }
                let configuration = self.configuration();
                for (read, target) in single_reads(&read, &part.result) {
                    let question = part.questions.len();
                    match self.translation.read(&read, &configuration) {
                        Ok(list) => list.into_iter().for_each(|physical| send(physical, question)),
                        Err(fault) => part.result = Err(fault),
                    }
                    part.questions.push((read, target));
                }
            }
            Item::State(BatchItem::Update(update)) => match self.update_part(update, &mut part) {
                Ok(list) => list.into_iter().for_each(|physical| send(physical, 0)),
                Err(fault) => {
                    self.undo_part(&mut part);
                    part.result = Err(fault);
                }
            },
        }
        part
    }

    /// Applies an update to the state of the program as written. Returns the items that carry it out below.
    ///
    /// # Errors
    ///
    /// Why the state, or the translation, refuses it.
    fn update_part(&mut self, update: Update, part: &mut Part) -> Result<Vec<Physical>, Fault> {
        let before = self.configuration();
        if let Some(accepted) = before.accepted(&update) {
            let update = accepted.map_err(Fault::Refused)?;
            part.undo = inverse(&update, &before);
            let items = self.translation.update(&update, &before);
            // The store copies nothing for a version that nobody holds.
            drop(before);
            part.result = self.state.update(update);
            return items;
        }
        part.result = Ok(self.state.update(update.clone())?);
        let mut items = Vec::new();
        for update in Virtual::<T>::normalised(update, &before) {
            part.undo.extend(inverse(&update, &before));
            items.extend(self.translation.update(&update, &before)?);
        }
        Ok(items)
    }

    /// Undoes an item in the state of the program as written.
    fn undo_part(&mut self, part: &mut Part) {
        for undo in std::mem::take(&mut part.undo).into_iter().rev() {
            // No target did anything, but the translation has recorded the update.
            let state = self.configuration();
            let _ = self.translation.undo(&undo, &state);
            drop(state);
            self.state.execute(Batch::one(undo));
        }
    }

    /// Undoes items in the state of the program as written; returns the items that undo below what phase 0 did.
    pub(super) fn undo(
        &mut self,
        plan: &mut VirtualPlan,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<Physical> {
        let mut below = Vec::new();
        for (number, part) in plan.parts.iter_mut().enumerate().rev() {
            if !is_wanted(number) {
                continue;
            }
            // An item that failed, or was not tried, may be about an object of another controller.
            let is_done = |physical: &Physical| {
                let done = |sent: &&Sent| sent.part == number && sent.is_done;
                physical.phase == 0
                    && plan.sent.iter().filter(done).any(|sent| {
                        let is_same = |item| subject(item) == subject(&physical.item);
                        sent.target == physical.target && sent.item.as_ref().is_some_and(is_same)
                    })
            };
            for undo in std::mem::take(&mut part.undo).into_iter().rev() {
                let state = self.configuration();
                let items = self.translation.undo(&undo, &state).unwrap_or_default();
                drop(state);
                below.extend(items.into_iter().filter(is_done));
                self.state.execute(Batch::one(undo));
            }
        }
        below
    }
}

impl VirtualPlan {
    pub(super) fn is_atomic(&self) -> bool {
        self.atomicity != Atomicity::ContinueOnError
    }

    /// No item is applied because of one.
    pub(super) fn abort(&mut self, at: usize, count: usize) {
        self.rolled_back = self.stops_on_error;
        let fault = self.parts.get(at).and_then(|part| part.result.clone().err());
        for part in &mut self.parts {
            part.result = Err(Fault::ABORTED);
            part.questions.clear();
        }
        while self.parts.len() < count {
            self.parts.push(Part::of("".into(), Err(Fault::ABORTED)));
        }
        if let (Some(part), Some(fault)) = (self.parts.get_mut(at), fault) {
            part.result = Err(fault);
        }
    }
}

/// Splits a read about many entries into reads of one each.
fn single_reads(read: &Read, known: &Result<Reply, Fault>) -> Vec<(Read, EntryTarget)> {
    let reference = |target: &EntryTarget| match target {
        EntryTarget::Default => EntryReference::Default,
        EntryTarget::Entry(record) => {
            EntryReference::Entry { keys: record.keys.clone(), priority: record.priority }
        }
    };
    let known = match known {
        Ok(Reply::State(reply)) => reply,
        _ => return Vec::new(),
    };
    match (read, known) {
        (Read::DirectCounter { counter, .. }, StateReply::DirectCounters(list)) => {
            let single = |(target, _): &(EntryTarget, _)| {
                let entry = Some(reference(target));
                (Read::DirectCounter { counter: *counter, entry }, target.clone())
            };
            list.iter().map(single).collect()
        }
        (Read::DirectMeter { meter, .. }, StateReply::DirectMeters(list)) => {
            let single = |(target, _): &(EntryTarget, _)| {
                let entry = Some(reference(target));
                (Read::DirectMeter { meter: *meter, entry }, target.clone())
            };
            list.iter().map(single).collect()
        }
        (Read::EntriesWithCells { table, .. }, StateReply::EntriesWithCells(list)) => {
            let single = |cells: &EntryWithCells| {
                let entry = Some(reference(&cells.target));
                (Read::EntriesWithCells { table: *table, entry }, cells.target.clone())
            };
            list.iter().map(single).collect()
        }
        _ => vec![(read.clone(), EntryTarget::Default)],
    }
}

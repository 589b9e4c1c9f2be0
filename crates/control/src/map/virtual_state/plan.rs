// SPDX-License-Identifier: Apache-2.0
//! The plan of a batch on a program whose state is kept: phase 0 with its reads, reserved first where the batch
//! asked to be atomic over several targets and undone where a part of it failed; then the later phases, with
//! barriers before them.

use super::inverse::{inverse, subject};
use super::wording::{object_name, reworded};
use super::{Physical, Translation, Virtual, is_answered_here};
use crate::map::{Step, TargetIndex};
use crate::target::{Batch, Fault, Item, Outcome, Reply, Target, Visibility};
use state::{
    Atomicity, BatchItem, EntryReference, EntryTarget, EntryWithCells, Read, Reply as StateReply,
    Update,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An item of a batch, and what it needs below.
#[derive(Debug)]
struct Part {
    /// Its result, as far as it is known.
    result: Result<Reply, Fault>,
    /// What undoes it in the state of the program as written, in the order of what was done.
    undo: Vec<Update>,
    /// Questions below, each with whose answer it is.
    questions: Vec<(Read, EntryTarget)>,
    /// Whether it changes something.
    is_write: bool,
    /// For messages: the object of the program as written.
    object: Arc<str>,
}

/// A physical item, and which item of the batch, and which question of it, wants it.
#[derive(Debug)]
struct Sent {
    physical: Physical,
    part: usize,
    question: usize,
    /// What a read was answered.
    reply: Option<StateReply>,
    /// Whether it took effect.
    is_done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Phase 0 is to be submitted.
    Begin,
    /// Phase 0 is being checked everywhere.
    Reserving,
    /// Reservations that did not succeed everywhere are given up.
    Releasing,
    /// Phase 0 is being done.
    Doing,
    /// What was done of phase 0 is being undone.
    Undoing,
    /// The barrier before a phase.
    Waiting(u8),
    /// A later phase is being done.
    Later(u8),
    /// Only an answer, or the end, is left.
    Over,
}

/// A batch at work on a program whose state is kept.
#[derive(Debug)]
pub struct VirtualPlan {
    /// As the caller asked.
    atomicity: Atomicity,
    /// Whether an item that fails undoes the others.
    stops_on_error: bool,
    /// Whether the later phases make the batch visible at one moment, so that phase 0 need not.
    is_phased: bool,
    parts: Vec<Part>,
    sent: Vec<Sent>,
    /// What the step that runs has sent: places in `sent`, by target.
    running: Vec<(TargetIndex, Vec<usize>)>,
    stage: Stage,
    rolled_back: bool,
    is_answered: bool,
    latest_ps: (u64, u64),
}

impl Part {
    fn of(object: Arc<str>, result: Result<Reply, Fault>) -> Part {
        Part { result, undo: Vec::new(), questions: Vec::new(), is_write: false, object }
    }
}

impl Sent {
    fn new(physical: Physical, part: usize, question: usize) -> Sent {
        Sent { physical, part, question, reply: None, is_done: false }
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

    /// Adds what the batch needs besides, now that phase 0 is done.
    fn complete(&mut self, plan: &mut VirtualPlan) {
        if plan.parts.iter().any(|part| part.is_write && part.result.is_ok()) {
            let nobody = plan.parts.len();
            let items = self.translation.complete().into_iter();
            plan.sent.extend(items.map(|physical| Sent::new(physical, nobody, 0)));
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
            Item::State(BatchItem::Update(update)) => {
                let before = self.configuration();
                let known = self.state.execute(Batch::one(update.clone()));
                part.result = known.results.into_iter().next().unwrap_or(Ok(Reply::Done));
                if part.result.is_err() {
                    return part;
                }
                let after = self.configuration();
                for update in Virtual::<T>::normalised(update, &before, &after) {
                    part.undo.extend(inverse(&update, &before));
                    match self.translation.update(&update, &before) {
                        Ok(list) => list.into_iter().for_each(|physical| send(physical, 0)),
                        Err(fault) => {
                            part.result = Err(fault);
                            self.undo_part(&mut part);
                            break;
                        }
                    }
                }
                if part.result.is_err() {
                    sent.retain(|sent| sent.part != number);
                }
            }
        }
        part
    }

    /// Takes an item back in the state of the program as written.
    fn undo_part(&mut self, part: &mut Part) {
        for undo in std::mem::take(&mut part.undo).into_iter().rev() {
            // Nothing was done below, but the translation has taken note of the update.
            let state = self.configuration();
            let _ = self.translation.undo(&undo, &state);
            drop(state);
            self.state.execute(Batch::one(undo));
        }
    }

    /// Takes items back in the state of the program as written; returns what takes back what phase 0 did of
    /// them below.
    fn undo(&mut self, plan: &mut VirtualPlan, is_wanted: impl Fn(usize) -> bool) -> Vec<Physical> {
        let mut below = Vec::new();
        for (number, part) in plan.parts.iter_mut().enumerate().rev() {
            if !is_wanted(number) {
                continue;
            }
            // What failed, or was not tried, may be about something that others have put there.
            let is_done = |physical: &Physical| {
                let done = |sent: &&Sent| sent.part == number && sent.is_done;
                physical.phase == 0
                    && plan.sent.iter().filter(done).any(|sent| {
                        sent.physical.target == physical.target
                            && subject(&sent.physical.item) == subject(&physical.item)
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

    pub(super) fn next_step(&mut self, plan: &mut VirtualPlan, seen: Vec<Outcome>) -> Step {
        for outcome in &seen {
            plan.latest_ps.0 = plan.latest_ps.0.max(outcome.applied_ps);
            plan.latest_ps.1 = plan.latest_ps.1.max(outcome.known_ps);
        }
        match plan.stage {
            Stage::Begin => self.begin_phase_0(plan),
            Stage::Reserving => {
                if seen.iter().all(Outcome::is_ok) {
                    plan.stage = Stage::Doing;
                    return Step::Commit;
                }
                plan.take_results(seen);
                let failed = plan.parts.iter().position(|part| part.result.is_err());
                plan.abort(failed.unwrap_or(0), plan.parts.len());
                self.undo(plan, |_| true);
                plan.stage = Stage::Releasing;
                Step::Release
            }
            Stage::Releasing | Stage::Undoing | Stage::Over => self.finish(plan),
            Stage::Doing => {
                plan.take_results(seen);
                self.after_phase_0(plan)
            }
            Stage::Waiting(phase) => plan.do_phase(phase),
            Stage::Later(phase) => {
                plan.take_results(seen);
                self.next_phase(plan, phase)
            }
        }
    }

    fn begin_phase_0(&mut self, plan: &mut VirtualPlan) -> Step {
        let batches = plan.batches(0);
        if batches.is_empty() {
            self.complete(plan);
            return self.next_phase(plan, 0);
        }
        if plan.atomicity == Atomicity::DataplaneAtomic
            && batches.len() > 1
            && self.translation.visibility(Visibility::Moment) == Visibility::Items
        {
            let why = "the program runs at several targets, which take effect one after the other; \
                       packets cannot see the batch at one moment";
            let fault = Fault::Unsupported(why.to_string());
            let count = plan.parts.len();
            if let Some(part) = plan.parts.first_mut() {
                part.result = Err(fault);
            }
            plan.abort(0, count);
            self.undo(plan, |_| true);
            return self.finish(plan);
        }
        if plan.is_atomic() && batches.len() > 1 {
            plan.stage = Stage::Reserving;
            return Step::Reserve(batches);
        }
        plan.stage = Stage::Doing;
        Step::Submit(batches)
    }

    fn after_phase_0(&mut self, plan: &mut VirtualPlan) -> Step {
        let failed =
            plan.parts.iter().position(|part| part.result.is_err() && !part.undo.is_empty());
        let Some(first) = failed else {
            self.complete(plan);
            return self.next_phase(plan, 0);
        };
        let is_whole = plan.stops_on_error;
        if is_whole {
            plan.abort(first, plan.parts.len());
        }
        let failed: Vec<bool> =
            plan.parts.iter().map(|part| is_whole || part.result.is_err()).collect();
        let below = self.undo(plan, |number| failed[number]);
        plan.sent.retain(|sent| failed.get(sent.part) == Some(&false));
        self.complete(plan);
        if below.is_empty() {
            return self.next_phase(plan, 0);
        }
        let mut by_target: BTreeMap<TargetIndex, Vec<Item>> = BTreeMap::new();
        for physical in below {
            by_target.entry(physical.target).or_default().push(physical.item);
        }
        plan.running.clear();
        plan.stage = match plan.sent.is_empty() {
            true => Stage::Undoing,
            false => Stage::Later(0),
        };
        let batches = by_target.into_iter().map(|(target, items)| (target, Batch::of(items)));
        Step::Submit(batches.collect())
    }

    /// What follows a phase: an answer, the next phase, or the end.
    fn next_phase(&mut self, plan: &mut VirtualPlan, phase: u8) -> Step {
        let next = plan.sent.iter().map(|sent| sent.physical.phase).filter(|of| *of > phase).min();
        let is_due = phase >= self.translation.answer_after() || next.is_none();
        if is_due && !plan.is_answered {
            plan.stage = Stage::Later(phase);
            plan.running.clear();
            return self.answer(plan);
        }
        let Some(next) = next else { return Step::End };
        let barrier = self.translation.barrier_before(next);
        if barrier.is_empty() {
            return plan.do_phase(next);
        }
        plan.stage = Stage::Waiting(next);
        Step::Barrier(barrier)
    }

    fn finish(&mut self, plan: &mut VirtualPlan) -> Step {
        plan.stage = Stage::Over;
        match plan.is_answered {
            true => Step::End,
            false => self.answer(plan),
        }
    }

    fn answer(&mut self, plan: &mut VirtualPlan) -> Step {
        plan.is_answered = true;
        let mut results = Vec::with_capacity(plan.parts.len());
        for (number, part) in plan.parts.iter().enumerate() {
            results.push(match (&part.result, part.questions.is_empty()) {
                (Ok(_), false) => self.combined(plan, number, part).map(Reply::State),
                (result, _) => result.clone(),
            });
        }
        let (applied_ps, known_ps) = plan.latest_ps;
        Step::Answer(Outcome { results, rolled_back: plan.rolled_back, applied_ps, known_ps })
    }

    /// The answer to a question about cells.
    fn combined(
        &mut self,
        plan: &VirtualPlan,
        number: usize,
        part: &Part,
    ) -> Result<StateReply, Fault> {
        let mut answers = Vec::with_capacity(part.questions.len());
        for (question, (read, target)) in part.questions.iter().enumerate() {
            let of_it =
                plan.sent.iter().filter(|sent| (sent.part, sent.question) == (number, question));
            let replies = of_it.filter_map(|sent| sent.reply.clone()).collect();
            answers.push((target, self.translation.combine(read, replies)?));
        }
        match &part.result {
            Ok(Reply::State(StateReply::DirectCounters(_))) => {
                let value = |(target, reply): (&EntryTarget, StateReply)| match reply {
                    StateReply::DirectCounters(list) => {
                        list.first().map(|(_, value)| (target.clone(), *value))
                    }
                    _ => None,
                };
                Ok(StateReply::DirectCounters(answers.into_iter().filter_map(value).collect()))
            }
            Ok(Reply::State(StateReply::DirectMeters(_))) => {
                let value = |(target, reply): (&EntryTarget, StateReply)| match reply {
                    StateReply::DirectMeters(list) => {
                        list.first().map(|(_, value)| (target.clone(), *value))
                    }
                    _ => None,
                };
                Ok(StateReply::DirectMeters(answers.into_iter().filter_map(value).collect()))
            }
            Ok(Reply::State(StateReply::EntriesWithCells(_))) => {
                let value = |(target, reply): (&EntryTarget, StateReply)| match reply {
                    StateReply::EntriesWithCells(list) => list
                        .into_iter()
                        .next()
                        .map(|cells| EntryWithCells { target: target.clone(), ..cells }),
                    _ => None,
                };
                Ok(StateReply::EntriesWithCells(answers.into_iter().filter_map(value).collect()))
            }
            _ => answers.into_iter().next().map(|(_, reply)| reply).ok_or(Fault::Gone),
        }
    }
}

impl VirtualPlan {
    fn is_atomic(&self) -> bool {
        self.atomicity != Atomicity::ContinueOnError
    }

    /// No item is applied because of one.
    fn abort(&mut self, at: usize, count: usize) {
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

    /// The batches of a phase, one a target; notes what is in them.
    fn batches(&mut self, phase: u8) -> Vec<(TargetIndex, Batch)> {
        let mut by_target: BTreeMap<TargetIndex, Vec<usize>> = BTreeMap::new();
        for (place, sent) in self.sent.iter().enumerate() {
            if sent.physical.phase == phase {
                by_target.entry(sent.physical.target).or_default().push(place);
            }
        }
        let is_later = phase > 0;
        let atomicity = match self.atomicity {
            // What was decided in phase 0 is carried through.
            _ if is_later => Atomicity::ContinueOnError,
            Atomicity::DataplaneAtomic if self.is_phased || by_target.len() > 1 => {
                Atomicity::RollbackOnError
            }
            atomicity => atomicity,
        };
        self.running = by_target.into_iter().collect();
        let batch = |(target, places): &(TargetIndex, Vec<usize>)| {
            let items = places.iter().map(|place| self.sent[*place].physical.item.clone());
            (*target, Batch::of(items).with(atomicity))
        };
        self.running.iter().map(batch).collect()
    }

    fn do_phase(&mut self, phase: u8) -> Step {
        self.stage = Stage::Later(phase);
        Step::Submit(self.batches(phase))
    }

    /// Takes the results of what ran to the items that wanted it.
    fn take_results(&mut self, seen: Vec<Outcome>) {
        for ((_, places), outcome) in std::mem::take(&mut self.running).into_iter().zip(seen) {
            let mut results = outcome.results.into_iter();
            let mut last = Ok(Reply::Done);
            for place in places {
                last = results.next().unwrap_or(last);
                let sent = &mut self.sent[place];
                sent.is_done = last.is_ok() && !outcome.rolled_back;
                match (&last, self.parts.get_mut(sent.part)) {
                    (Ok(Reply::State(reply)), _) if sent.physical.item.is_read() => {
                        sent.reply = Some(reply.clone());
                    }
                    (Ok(reply @ (Reply::Queue(_) | Reply::Settings(_))), Some(part)) => {
                        part.result = Ok(reply.clone())
                    }
                    (Ok(_), _) => {}
                    (Err(fault), Some(part)) => {
                        let is_cause = part.result.is_ok()
                            || part.result == Err(Fault::ABORTED) && *fault != Fault::ABORTED;
                        if is_cause {
                            part.result = Err(reworded(fault, &part.object));
                        }
                    }
                    // What the whole batch needs was not done.
                    (Err(fault), None) => {
                        let writes = self.parts.iter_mut().filter(|part| part.is_write);
                        for part in writes.filter(|part| part.result.is_ok()) {
                            part.result = Err(fault.clone());
                        }
                    }
                }
            }
        }
    }
}

/// A question about many entries as questions about one each; others as they are.
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

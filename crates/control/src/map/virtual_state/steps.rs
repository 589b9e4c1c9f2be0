// SPDX-License-Identifier: Apache-2.0
//! The steps of a plan: phase 0 with its reads, reserved first where the batch asked to be atomic over several
//! targets, and undone where a part of it failed; then the later phases, with barriers before them.

use super::plan::{Stage, VirtualPlan};
use super::wording::reworded;
use super::{Translation, Virtual};
use crate::map::{Step, TargetIndex};
use crate::target::{Batch, Fault, Item, Outcome, Reply, Visibility};
use state::Atomicity;
use std::collections::BTreeMap;

impl<T: Translation> Virtual<T> {
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

    /// Returns the step after a phase: the answer, the next phase, or the end.
    fn next_phase(&mut self, plan: &mut VirtualPlan, phase: u8) -> Step {
        let next = plan.sent.iter().map(|sent| sent.phase).filter(|of| *of > phase).min();
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
}

impl VirtualPlan {
    /// Returns the batches of a phase, one a target, and records their items.
    fn batches(&mut self, phase: u8) -> Vec<(TargetIndex, Batch)> {
        // In the order of targets; there are few.
        let mut by_target: Vec<(TargetIndex, Vec<usize>)> = Vec::new();
        for (place, sent) in self.sent.iter().enumerate() {
            if sent.phase == phase {
                let target = sent.target;
                match by_target.binary_search_by_key(&target, |(target, _)| *target) {
                    Ok(at) => by_target[at].1.push(place),
                    Err(at) => by_target.insert(at, (target, vec![place])),
                }
            }
        }
        let is_later = phase > 0;
        let atomicity = match self.atomicity {
            // Phase 0 has decided: later phases go on after errors.
            _ if is_later => Atomicity::ContinueOnError,
            Atomicity::DataplaneAtomic if self.is_phased || by_target.len() > 1 => {
                Atomicity::RollbackOnError
            }
            atomicity => atomicity,
        };
        let sent = &mut self.sent;
        let batch = |(target, places): &(TargetIndex, Vec<usize>)| {
            let items = places.iter().filter_map(|place| match is_later {
                true => sent[*place].item.take(),
                false => sent[*place].item.clone(),
            });
            (*target, Batch::of(items).with(atomicity))
        };
        let batches = by_target.iter().map(batch).collect();
        self.running = by_target;
        batches
    }

    fn do_phase(&mut self, phase: u8) -> Step {
        self.stage = Stage::Later(phase);
        Step::Submit(self.batches(phase))
    }

    /// Hands the results of a step to the items that needed it.
    fn take_results(&mut self, seen: Vec<Outcome>) {
        for ((_, places), outcome) in std::mem::take(&mut self.running).into_iter().zip(seen) {
            let mut results = outcome.results.into_iter();
            let mut last = Ok(Reply::Done);
            for place in places {
                last = results.next().unwrap_or(last);
                let sent = &mut self.sent[place];
                sent.is_done = last.is_ok() && !outcome.rolled_back;
                match (&last, self.parts.get_mut(sent.part)) {
                    (Ok(Reply::State(reply)), _) if sent.is_read => {
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
                    // An item that the whole batch needs has failed.
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

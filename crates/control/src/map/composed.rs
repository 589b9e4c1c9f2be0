// SPDX-License-Identifier: Apache-2.0
//! The composition of two maps: the program as run of the outer map is the program as written of the inner one.

use super::{Absence, Added, ControlMap, Step, TargetIndex};
use crate::target::{Batch, Notification, Outcome, Visibility};
use ir::{Program, TableId};
use state::Subscription;
use std::collections::VecDeque;
use std::sync::Arc;

/// Two maps as one. The outer map has one target; the inner one's targets are those of the composition.
///
/// Batches of the inner map run one after the other; the outer map goes on when the inner one has ended.
#[derive(Clone, Debug)]
pub struct Composed<O, I> {
    outer: O,
    inner: I,
    /// The map whose own batch is not answered yet.
    pending: Option<Asking>,
}

#[derive(Clone, Copy, Debug)]
enum Asking {
    Outer,
    Inner,
}

impl<O: ControlMap, I: ControlMap> Composed<O, I> {
    /// `outer` over `inner`.
    pub fn new(outer: O, inner: I) -> Composed<O, I> {
        Composed { outer, inner, pending: None }
    }
}

/// The current work of the inner map.
#[derive(Debug)]
enum Inner<P> {
    /// A batch, with its answer once it has one.
    Batch(P, Option<Outcome>),
    /// A batch of the inner map itself.
    Question(P),
    /// A barrier at the inner map's targets.
    Barrier,
}

/// The plan of a batch of a composition.
#[derive(Debug)]
pub struct ComposedPlan<O, I> {
    /// `None` for a question of the inner map.
    outer: Option<O>,
    inner: Option<Inner<I>>,
    /// Batches of the outer map's step that the inner map has not begun.
    waiting: VecDeque<Batch>,
    /// What the outer map sees next.
    seen: Vec<Outcome>,
    /// Batches that the outer map has reserved: the inner map checks, and applies them on commit.
    reserved: Vec<Batch>,
}

impl<O, I> ComposedPlan<O, I> {
    fn new(outer: Option<O>) -> ComposedPlan<O, I> {
        let (inner, waiting) = (None, VecDeque::new());
        ComposedPlan { outer, inner, waiting, seen: Vec::new(), reserved: Vec::new() }
    }
}

impl<O: ControlMap, I: ControlMap> ControlMap for Composed<O, I> {
    type Plan = ComposedPlan<O::Plan, I::Plan>;

    fn program(&self) -> Arc<Program> {
        self.outer.program()
    }

    fn visibility(&self, below: Visibility) -> Visibility {
        self.outer.visibility(self.inner.visibility(below))
    }

    fn set_now_ps(&mut self, now_ps: u64) {
        self.outer.set_now_ps(now_ps);
        self.inner.set_now_ps(now_ps);
    }

    fn begin(&mut self, batch: Batch) -> Self::Plan {
        ComposedPlan::new(Some(self.outer.begin(batch)))
    }

    fn step(&mut self, plan: &mut Self::Plan, mut seen: Vec<Outcome>) -> Step {
        loop {
            match plan.inner.take() {
                Some(Inner::Question(mut inner)) => {
                    let step = self.inner.step(&mut inner, std::mem::take(&mut seen));
                    if !matches!(step, Step::End) {
                        plan.inner = Some(Inner::Question(inner));
                    }
                    return step;
                }
                Some(Inner::Barrier) => {
                    let now_ps = seen.iter().map(|outcome| outcome.known_ps).max().unwrap_or(0);
                    plan.seen.push(Outcome::empty(now_ps));
                    seen = Vec::new();
                }
                Some(Inner::Batch(mut inner, mut answer)) => {
                    let step = self.inner.step(&mut inner, std::mem::take(&mut seen));
                    match step {
                        Step::Answer(outcome) => {
                            answer = Some(outcome);
                            plan.inner = Some(Inner::Batch(inner, answer));
                        }
                        Step::End => {
                            plan.seen.push(answer.unwrap_or_else(|| Outcome::empty(0)));
                        }
                        step => {
                            plan.inner = Some(Inner::Batch(inner, answer));
                            return step;
                        }
                    }
                    continue;
                }
                None => {}
            }
            if let Some(batch) = plan.waiting.pop_front() {
                plan.inner = Some(Inner::Batch(self.inner.begin(batch), None));
                continue;
            }
            let Some(outer) = &mut plan.outer else { return Step::End };
            match self.outer.step(outer, std::mem::take(&mut plan.seen)) {
                Step::Submit(batches) => {
                    plan.waiting.extend(batches.into_iter().map(|(_, batch)| batch));
                }
                Step::Reserve(batches) => {
                    for (_, batch) in batches {
                        let outcome = self.inner.check(&batch);
                        if outcome.is_ok() {
                            plan.reserved.push(batch);
                        }
                        plan.seen.push(outcome);
                    }
                }
                Step::Commit => plan.waiting.extend(plan.reserved.drain(..)),
                Step::Release => plan.reserved.clear(),
                Step::Barrier(_) => {
                    plan.inner = Some(Inner::Barrier);
                    return Step::Barrier(self.inner.targets());
                }
                step @ (Step::Answer(_) | Step::End) => return step,
            }
        }
    }

    fn targets(&self) -> Vec<TargetIndex> {
        self.inner.targets()
    }

    fn queues_behind(&self, running: &Self::Plan, later: &Batch) -> bool {
        running.outer.as_ref().is_some_and(|outer| self.outer.queues_behind(outer, later))
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        self.outer.check(batch)
    }

    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification> {
        let inner = self.inner.notify(from, notification).into_iter();
        inner.flat_map(|notification| self.outer.notify(TargetIndex(0), notification)).collect()
    }

    fn background(&mut self) -> Option<Self::Plan> {
        if self.pending.is_some() {
            // One question at a time, so that its answer is known to be its.
            return None;
        }
        if let Some(outer) = self.outer.background() {
            self.pending = Some(Asking::Outer);
            return Some(ComposedPlan::new(Some(outer)));
        }
        let inner = self.inner.background()?;
        self.pending = Some(Asking::Inner);
        Some(ComposedPlan { inner: Some(Inner::Question(inner)), ..ComposedPlan::new(None) })
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        match self.pending.take() {
            Some(Asking::Inner) => {
                let found = self.inner.background_answer(outcome).into_iter();
                found.flat_map(|one| self.outer.notify(TargetIndex(0), one)).collect()
            }
            Some(Asking::Outer) | None => self.outer.background_answer(outcome),
        }
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.outer.subscribe(tables)
    }

    fn absence(&self) -> Absence {
        self.inner.absence()
    }

    fn added(&self) -> Vec<Added> {
        self.inner.added()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Control maps of any type as one type, so that they compose at run time.

use control::map::{Absence, Added, ControlMap, Step, TargetIndex};
use control::target::{Batch, Notification, Outcome, Visibility};
use ir::Program;
use std::any::Any;
use std::sync::Arc;

type AnyPlan = Box<dyn Any + Send>;

trait Object: Send {
    fn program(&self) -> Arc<Program>;
    fn targets(&self) -> Vec<TargetIndex>;
    fn visibility(&self, below: Visibility) -> Visibility;
    fn set_now_ps(&mut self, now_ps: u64);
    fn passes_to(&self, batch: &Batch) -> Option<TargetIndex>;
    fn pass(&mut self, batch: &mut Batch);
    fn passed(&mut self, outcome: &mut Outcome);
    fn begin(&mut self, batch: Batch) -> AnyPlan;
    fn step(&mut self, plan: &mut AnyPlan, seen: Vec<Outcome>) -> Step;
    fn queues_behind(&self, running: &AnyPlan, later: &Batch) -> bool;
    fn check(&mut self, batch: &Batch) -> Outcome;
    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification>;
    fn background(&mut self) -> Option<AnyPlan>;
    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification>;
    fn absence(&self) -> Absence;
    fn added(&self) -> Vec<Added>;
}

impl<M: ControlMap> Object for M
where
    M::Plan: 'static,
{
    fn program(&self) -> Arc<Program> {
        ControlMap::program(self)
    }

    fn targets(&self) -> Vec<TargetIndex> {
        ControlMap::targets(self)
    }

    fn visibility(&self, below: Visibility) -> Visibility {
        ControlMap::visibility(self, below)
    }

    fn set_now_ps(&mut self, now_ps: u64) {
        ControlMap::set_now_ps(self, now_ps);
    }

    fn passes_to(&self, batch: &Batch) -> Option<TargetIndex> {
        ControlMap::passes_to(self, batch)
    }

    fn pass(&mut self, batch: &mut Batch) {
        ControlMap::pass(self, batch);
    }

    fn passed(&mut self, outcome: &mut Outcome) {
        ControlMap::passed(self, outcome);
    }

    fn begin(&mut self, batch: Batch) -> AnyPlan {
        Box::new(ControlMap::begin(self, batch))
    }

    fn step(&mut self, plan: &mut AnyPlan, seen: Vec<Outcome>) -> Step {
        match plan.downcast_mut() {
            Some(plan) => ControlMap::step(self, plan, seen),
            None => Step::End,
        }
    }

    fn queues_behind(&self, running: &AnyPlan, later: &Batch) -> bool {
        running.downcast_ref().is_none_or(|plan| ControlMap::queues_behind(self, plan, later))
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        ControlMap::check(self, batch)
    }

    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification> {
        ControlMap::notify(self, from, notification)
    }

    fn background(&mut self) -> Option<AnyPlan> {
        ControlMap::background(self).map(|plan| Box::new(plan) as AnyPlan)
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        ControlMap::background_answer(self, outcome)
    }

    fn absence(&self) -> Absence {
        ControlMap::absence(self)
    }

    fn added(&self) -> Vec<Added> {
        ControlMap::added(self)
    }
}

/// A control map.
pub struct Erased(Box<dyn Object>);

impl Erased {
    pub fn new<M: ControlMap + 'static>(map: M) -> Erased
    where
        M::Plan: 'static,
    {
        Erased(Box::new(map))
    }
}

impl ControlMap for Erased {
    type Plan = AnyPlan;

    fn program(&self) -> Arc<Program> {
        self.0.program()
    }

    fn targets(&self) -> Vec<TargetIndex> {
        self.0.targets()
    }

    fn visibility(&self, below: Visibility) -> Visibility {
        self.0.visibility(below)
    }

    fn set_now_ps(&mut self, now_ps: u64) {
        self.0.set_now_ps(now_ps);
    }

    fn passes_to(&self, batch: &Batch) -> Option<TargetIndex> {
        self.0.passes_to(batch)
    }

    fn pass(&mut self, batch: &mut Batch) {
        self.0.pass(batch);
    }

    fn passed(&mut self, outcome: &mut Outcome) {
        self.0.passed(outcome);
    }

    fn begin(&mut self, batch: Batch) -> AnyPlan {
        self.0.begin(batch)
    }

    fn step(&mut self, plan: &mut AnyPlan, seen: Vec<Outcome>) -> Step {
        self.0.step(plan, seen)
    }

    fn queues_behind(&self, running: &AnyPlan, later: &Batch) -> bool {
        self.0.queues_behind(running, later)
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        self.0.check(batch)
    }

    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification> {
        self.0.notify(from, notification)
    }

    fn background(&mut self) -> Option<AnyPlan> {
        self.0.background()
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        self.0.background_answer(outcome)
    }

    fn absence(&self) -> Absence {
        self.0.absence()
    }

    fn added(&self) -> Vec<Added> {
        self.0.added()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The map that changes nothing.

use super::{ControlMap, Step, TargetIndex};
use crate::target::{Batch, Notification, Outcome};
use ir::Program;
use std::sync::Arc;

/// One target, unchanged.
#[derive(Clone, Debug)]
pub struct Identity {
    program: Arc<Program>,
}

impl Identity {
    /// The identity of a target's program.
    pub fn new(program: Arc<Program>) -> Identity {
        Identity { program }
    }
}

impl ControlMap for Identity {
    /// The batch, until it is submitted; then its outcome is the answer.
    type Plan = Option<Batch>;

    fn program(&self) -> Arc<Program> {
        self.program.clone()
    }

    fn passes_to(&self, _: &Batch) -> Option<TargetIndex> {
        Some(TargetIndex(0))
    }

    fn begin(&mut self, batch: Batch) -> Option<Batch> {
        Some(batch)
    }

    fn step(&mut self, plan: &mut Option<Batch>, mut seen: Vec<Outcome>) -> Step {
        match (plan.take(), seen.pop()) {
            (Some(batch), _) => Step::Submit(vec![(TargetIndex(0), batch)]),
            (None, Some(outcome)) => Step::Answer(outcome),
            (None, None) => Step::End,
        }
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        Outcome {
            results: batch.items.iter().map(|_| Ok(crate::target::Reply::Done)).collect(),
            ..Outcome::empty(0)
        }
    }

    fn notify(&mut self, _: TargetIndex, notification: Notification) -> Vec<Notification> {
        if let Notification::Swapped { program, .. } = &notification {
            self.program = program.clone();
        }
        vec![notification]
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Targets that are attached again: reads the state of each and writes what it lacks, which `reconcile` finds.

use super::{Below, Mapped};
use crate::map::{ControlMap, TargetIndex};
use crate::target::{Outcome, Ticket};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Reading,
    Writing,
}

/// A target that is being brought up to date.
#[derive(Debug)]
pub(super) struct Restoring {
    /// The request that is answered at the end.
    ticket: Ticket,
    stage: Stage,
    below_ticket: Ticket,
    outcome: Option<Outcome>,
}

impl Restoring {
    /// Begins with reading its state.
    pub fn new(ticket: Ticket, below_ticket: Ticket) -> Restoring {
        Restoring { ticket, stage: Stage::Reading, below_ticket, outcome: None }
    }

    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    pub fn below_ticket(&self) -> Ticket {
        self.below_ticket
    }

    /// Takes an answer of the target if it is for this.
    pub fn put_back(&mut self, below_ticket: Ticket, outcome: &mut Option<Outcome>) {
        if self.below_ticket == below_ticket {
            self.outcome = outcome.take();
        }
    }
}

impl<M: ControlMap> Mapped<M> {
    /// Goes on with targets that are back.
    pub(super) fn take_restoring(&mut self) -> bool {
        let mut has_moved = false;
        for index in 0..self.below.len() {
            has_moved |= self.restore_once(TargetIndex(index));
        }
        has_moved
    }

    fn restore_once(&mut self, index: TargetIndex) -> bool {
        let Below { target: Some(target), program, record, restoring, .. } =
            &mut self.below[index.0]
        else {
            return false;
        };
        let Some(mut current) = restoring.take() else { return false };
        let outcome = current.outcome.take().or_else(|| target.poll(current.below_ticket));
        let Some(outcome) = outcome else {
            *restoring = Some(current);
            return false;
        };
        let ticket = current.ticket;
        let answer = match (current.stage, record) {
            // There is nothing to be written.
            (_, None) => outcome,
            (Stage::Reading, Some(record)) => {
                let at_ps = outcome.known_ps;
                match record.lacks(outcome) {
                    Ok(batch) => {
                        let batch = batch.made_for(program.clone());
                        let below_ticket = target.submit(batch, at_ps);
                        let stage = Stage::Writing;
                        *restoring = Some(Restoring { stage, below_ticket, ..current });
                        return true;
                    }
                    Err(outcome) => outcome,
                }
            }
            (Stage::Writing, Some(record)) => {
                record.is_up_to_date();
                outcome
            }
        };
        self.answer(ticket, answer);
        true
    }
}

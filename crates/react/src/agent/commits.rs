// SPDX-License-Identifier: Apache-2.0
//! The writes of an agent: the flip of the working copy, and commits with what follows from their outcome.

use super::init_tables::Init;
use super::{Agent, Mistake};
use control::target::{Batch, Fault, Item, Outcome, Target, Ticket};
use state::Atomicity;

impl Agent {
    /// Asks for the end of all passes that may write the copy that is read next.
    pub(super) fn wait(&self, switch: &mut dyn Target, now_ps: u64) -> Ticket {
        match self.mistake {
            Mistake::NoWait => switch.submit(Batch::default(), now_ps),
            _ => switch.barrier(now_ps),
        }
    }

    /// The batch that flips the working copies of what the reactions of this dialogue take; `None` if there is none, or the
    /// last commit flipped them.
    pub(super) fn flip(&mut self) -> Option<Batch> {
        if self.is_flipped || !self.measurements.are_taken(&self.due) {
            return None;
        }
        self.flip_copies();
        let flips = self.inits.iter().filter(|init| self.is_flipped_by(init));
        let items = flips.map(|init| init.update(&self.committed, &self.working_copies));
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Whether a pipeline measures something that the reactions which are due take.
    fn is_flipped_by(&self, init: &Init) -> bool {
        init.groups().any(|group| self.measurements.is_taken(group, &self.due))
    }

    /// Makes the other copies of what the reactions that are due take those that packets write next. Legacy writes so far
    /// take effect before them.
    fn flip_copies(&mut self) {
        self.exchange_copies();
        for (register, cells) in self.legacy.take() {
            self.measurements.note_legacy(register, cells);
        }
        self.measurements.begin_copies(&self.due);
    }

    /// Exchanges the copies of what the reactions that are due take, to flip them or to undo a flip that failed.
    pub(super) fn exchange_copies(&mut self) {
        for (group, copy) in self.working_copies.iter_mut().enumerate() {
            *copy ^= u64::from(self.measurements.is_taken(group, &self.due));
        }
    }

    /// The batch of a commit; `None` if nothing changed. It flips the working copies for the next dialogue too, whose
    /// reactions are those that are due now, except behind `init`, which may find them flipped.
    pub(super) fn commit_batch(&mut self, now_ps: u64) -> Option<Batch> {
        let has_changed = self.decided.malleables != self.committed;
        if !has_changed && self.decided.updates.is_empty() {
            return None;
        }
        if !self.current.is_init {
            self.find_due(now_ps);
            self.is_flipped = self.measurements.are_taken(&self.due);
            if self.is_flipped {
                self.flip_copies();
            }
        }
        let mut items: Vec<Item> = self.decided.updates.drain(..).map(Item::from).collect();
        for init in &self.inits {
            let is_changed = init.differs(&self.decided.malleables, &self.committed);
            if is_changed || (!self.current.is_init && self.is_flipped_by(init)) {
                items.push(init.update(&self.decided.malleables, &self.working_copies).into());
            }
        }
        Some(Batch { items, atomicity: Atomicity::RollbackOnError, program: None })
    }

    /// Records the outcome of a commit.
    pub(super) fn record_commit(&mut self, outcome: &Outcome) {
        match outcome.first_fault() {
            None => {
                self.statistics.commits += 1;
                self.current.committed_ps = outcome.known_ps;
                self.committed.clone_from(&self.decided.malleables);
                self.tables.settle();
            }
            Some((_, fault)) => {
                self.statistics.failed_commits += 1;
                if !self.current.is_init && std::mem::take(&mut self.is_flipped) {
                    self.exchange_copies();
                }
                self.tables.forget();
                self.note_failure("a commit failed", fault);
            }
        }
    }

    /// Records why the dialogue failed, and logs it if it is new.
    pub(super) fn note_failure(&mut self, what: &str, fault: &Fault) {
        let line = format!("{what}: {fault}");
        if !self.failures.contains(&line) {
            self.failures.push(line.clone());
            self.log.push(line);
        }
        self.current.failure = Some(fault.to_string());
    }
}

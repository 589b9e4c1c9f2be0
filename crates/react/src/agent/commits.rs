// SPDX-License-Identifier: Apache-2.0
//! The writes of an agent: the flip of the working copy, and commits with what follows from their outcome.

use super::host::Decided;
use super::{Agent, Mistake};
use control::target::{Batch, Outcome, Target, Ticket};
use state::{Atomicity, Update};

impl Agent {
    /// Asks for the end of all passes that may write the copy that is read next.
    pub(super) fn wait(&self, switch: &mut dyn Target, now_ps: u64) -> Ticket {
        match self.mistake {
            Mistake::NoWait => switch.submit(Batch::default(), now_ps),
            _ => switch.barrier(now_ps),
        }
    }

    /// The copy that is read.
    pub(super) fn read_copy(&self) -> u64 {
        match self.mistake {
            Mistake::NoFlip => self.working_copy,
            _ => self.working_copy ^ 1,
        }
    }

    /// The batch that flips the working copy of measuring pipelines; `None` if there is none, or the last commit flipped it.
    pub(super) fn flip(&mut self) -> Option<Batch> {
        if !self.measurements.is_needed() || self.is_flipped {
            return None;
        }
        self.begin_copy();
        let flips = self.inits.iter().filter(|init| init.is_measuring);
        let items: Vec<Update> =
            flips.map(|init| init.update(&self.committed, self.working_copy)).collect();
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Makes the other copy the one that packets write next. Legacy writes so far take effect before it.
    fn begin_copy(&mut self) {
        self.working_copy ^= 1;
        for (register, cells) in self.legacy.take() {
            self.measurements.note_legacy(register, cells);
        }
    }

    /// The batch of a commit; `None` if nothing changed.
    pub(super) fn commit_batch(&mut self, decided: &Decided, flips: bool) -> Option<Batch> {
        let has_changed = decided.malleables != self.committed;
        if !has_changed && decided.updates.is_empty() {
            return None;
        }
        if flips {
            self.begin_copy();
        }
        let mut items: Vec<Update> = decided.updates.clone();
        for init in &self.inits {
            let is_changed = init.parameters.iter().any(|(malleable, _)| {
                malleable.is_some_and(|index| decided.malleables[index] != self.committed[index])
            });
            if is_changed || (flips && init.is_measuring) {
                items.push(init.update(&decided.malleables, self.working_copy));
            }
        }
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Records the outcome of a commit, which flipped the working copy or did not.
    pub(super) fn record_commit(&mut self, decided: &Decided, outcome: &Outcome, flips: bool) {
        match outcome.first_fault() {
            None => {
                self.statistics.commits += 1;
                self.current.committed_ps = outcome.known_ps;
                self.committed.clone_from(&decided.malleables);
                self.tables.settle();
            }
            Some((_, fault)) => {
                self.statistics.failed_commits += 1;
                if flips {
                    self.is_flipped = false;
                    self.working_copy ^= 1;
                }
                self.tables.forget();
                let cause = fault.to_string();
                self.current.failure = Some(cause.clone());
                if !self.failures.contains(&cause) {
                    self.log.push(format!("a commit failed: {cause}"));
                    self.failures.push(cause);
                }
            }
        }
    }
}

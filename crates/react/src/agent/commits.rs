// SPDX-License-Identifier: Apache-2.0
//! The writes of an agent: the flip of the working copy, and commits with what follows from their outcome.

use super::host::Decided;
use super::{Agent, Mistake};
use control::target::{Batch, Fault, Outcome, Target, Ticket};
use state::{Atomicity, Update};

impl Agent {
    /// Asks for the end of all passes that may write the copy that is read next.
    pub(super) fn wait(&self, switch: &mut dyn Target, now_ps: u64) -> Ticket {
        match self.mistake {
            Mistake::NoWait => switch.submit(Batch::default(), now_ps),
            _ => switch.barrier(now_ps),
        }
    }

    /// The copy of each group of measurements that is read.
    pub(super) fn read_copies(&self) -> Vec<u64> {
        match self.mistake {
            Mistake::NoFlip => self.working_copies.clone(),
            _ => self.working_copies.iter().map(|copy| copy ^ 1).collect(),
        }
    }

    /// The batch that flips the working copies of what the reactions of this dialogue take; `None` if there is none, or the
    /// last commit flipped them.
    pub(super) fn flip(&mut self) -> Option<Batch> {
        let groups = self.measurements.groups_of(&self.due);
        if groups.is_empty() || self.is_flipped {
            return None;
        }
        self.flip_copies(&groups);
        let flips = self.inits.iter().filter(|init| init.measures(&groups));
        let items: Vec<Update> =
            flips.map(|init| init.update(&self.committed, &self.working_copies)).collect();
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Makes the other copies of these groups those that packets write next. Legacy writes so far take effect before them.
    fn flip_copies(&mut self, groups: &[usize]) {
        for group in groups {
            self.working_copies[*group] ^= 1;
        }
        for (register, cells) in self.legacy.take() {
            self.measurements.note_legacy(register, cells);
        }
        self.measurements.begin_copies(groups);
    }

    /// The batch of a commit, which flips the working copies of these groups too; `None` if nothing changed.
    pub(super) fn commit_batch(&mut self, decided: &Decided, flips: &[usize]) -> Option<Batch> {
        let has_changed = decided.malleables != self.committed;
        if !has_changed && decided.updates.is_empty() {
            return None;
        }
        if !flips.is_empty() {
            self.flip_copies(flips);
        }
        let mut items: Vec<Update> = decided.updates.clone();
        for init in &self.inits {
            let is_changed = init.differs(&decided.malleables, &self.committed);
            if is_changed || init.measures(flips) {
                items.push(init.update(&decided.malleables, &self.working_copies));
            }
        }
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Records the outcome of a commit, which flipped the working copies of these groups.
    pub(super) fn record_commit(&mut self, decided: &Decided, outcome: &Outcome, flips: &[usize]) {
        match outcome.first_fault() {
            None => {
                self.statistics.commits += 1;
                self.current.committed_ps = outcome.known_ps;
                self.committed.clone_from(&decided.malleables);
                self.tables.settle();
            }
            Some((_, fault)) => {
                self.statistics.failed_commits += 1;
                if !flips.is_empty() {
                    self.is_flipped = false;
                    self.undo_flip(flips);
                }
                self.tables.forget();
                self.note_failure("a commit failed", fault);
            }
        }
    }

    /// Packets still write the copies of these groups that they wrote before a flip that failed.
    pub(super) fn undo_flip(&mut self, groups: &[usize]) {
        groups.iter().for_each(|group| self.working_copies[*group] ^= 1);
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

// SPDX-License-Identifier: Apache-2.0
//! Applies batches under a latency model. The driver works on one job at a time, in the order of their requests; the next
//! job begins when the previous one has ended.

use super::job::{Cells, Job, join};
use super::serve::Served;
use crate::control_request::{ControlWork, Request};
use crate::event::Event;
use crate::loaded_program::LoadedProgram;
use crate::switch::Switch;
use control::latency::cell_item;
use control::target::{Batch, Fault, Outcome, Reply};
use state::Atomicity;

impl Switch {
    /// Appends a batch to the driver's queue.
    pub(super) fn begin_job(&mut self, request: Request, batch: Batch) -> Served {
        let now_ps = self.core.now_ps;
        let Some(model) = &self.driver.model else { return None };
        let count = batch.items.len();
        let Some(program) = self.program_of(request.target).map(LoadedProgram::program) else {
            return Some((request, Outcome::failed(count, Fault::Gone, now_ps)));
        };
        let is_one_moment = model.is_atomic
            || count <= 1
                && batch
                    .items
                    .iter()
                    .all(|item| Cells::of(program, item).is_none_or(|cells| cells.count <= 1));
        if batch.atomicity == Atomicity::DataplaneAtomic && !is_one_moment {
            let why = "this device applies the items of a batch one by one; it cannot make them \
                       visible to packets at one moment";
            let fault = Fault::Unsupported(why.to_string());
            return Some((request, Outcome::aborted(count, 0, fault, now_ps)));
        }
        let number = self.driver.next_job;
        self.driver.next_job += 1;
        let batch = self.made_for_now(request.target, batch);
        let is_write = !batch.only_reads();
        let job = Job { request, batch, is_write, number, item: 0, cell: 0, results: Vec::new() };
        self.driver.jobs.push_back(job);
        if self.driver.jobs.len() == 1 {
            self.begin_first_job();
        }
        None
    }

    /// Schedules the first piece of the first job.
    fn begin_first_job(&mut self) {
        let (Some(model), Some(job)) = (&self.driver.model, self.driver.jobs.front()) else {
            return;
        };
        let seed = self.driver.seed;
        let Some(program) = job.batch.program.as_deref() else { return };
        let count = job.batch.items.len();
        let begin_ps =
            self.core.now_ps.saturating_add(model.batch.draw(job.random(seed, u64::MAX)));
        let first_ps = match model.is_atomic || count == 0 {
            true => (0..count).fold(begin_ps, |end_ps, at| {
                end_ps.saturating_add(job.whole_item_ps(model, seed, program, at))
            }),
            false => begin_ps.saturating_add(job.piece_ps(model, seed, program)),
        };
        let number = job.number;
        self.core.schedule(first_ps, Event::Control(ControlWork::Piece(number)));
    }

    /// Retries a job that waits for a pinned version.
    pub(super) fn resume_jobs(&mut self) {
        if std::mem::take(&mut self.driver.is_job_held)
            && let Some(job) = self.driver.jobs.front()
        {
            let (now_ps, number) = (self.core.now_ps, job.number);
            self.core.schedule(now_ps, Event::Control(ControlWork::Piece(number)));
        }
    }

    /// Returns whether the driver's queue has batches with updates.
    pub(super) fn has_writing_jobs(&self) -> bool {
        self.driver.jobs.iter().any(|job| job.is_write)
    }

    /// Applies the due piece of a job: the whole batch, an item or a cell.
    pub(super) fn next_piece(&mut self, number: u64) -> Served {
        let mut job = self.driver.jobs.pop_front_if(|job| job.number == number)?;
        let is_atomic = self.driver.model.as_ref().is_none_or(|model| model.is_atomic);
        let now_ps = self.core.now_ps;
        let count = job.batch.items.len();
        let target = job.request.target;
        if let Err(fault) = self.code_for(target, &job.batch) {
            return self.end_job(job, Outcome::failed(count, fault, now_ps));
        }
        if is_atomic || count == 0 {
            let batch = std::mem::take(&mut job.batch);
            return match self.apply(target, batch) {
                Ok(outcome) => self.end_job(job, outcome),
                Err(batch) => self.hold_job(job, batch),
            };
        }
        if (job.item, job.cell) == (0, 0) && job.batch.stops_on_error() {
            // No one else writes until this job ends, so the check stays valid.
            let checked = self.check(target, &job.batch);
            if !checked.is_ok() {
                return self.end_job(job, checked);
            }
        }
        let program = job.batch.program.as_deref();
        let cells = program.and_then(|program| Cells::of(program, &job.batch.items[job.item]));
        let cells = cells.filter(|cells| cells.count > 0);
        let item = &job.batch.items[job.item];
        let piece = match cells {
            Some(cells) => cell_item(item, job.cell as usize, cells.first + job.cell),
            None => item.clone(),
        };
        let outcome = match self.apply(target, Batch::one(piece)) {
            Ok(outcome) => outcome,
            Err(_) => {
                let batch = std::mem::take(&mut job.batch);
                return self.hold_job(job, batch);
            }
        };
        let result = outcome.results.into_iter().next().unwrap_or(Ok(Reply::Done));
        match job.cell {
            0 => job.results.push(result),
            _ => {
                if let Some(last) = job.results.last_mut() {
                    join(last, result);
                }
            }
        }
        job.cell += 1;
        if cells.is_none_or(|cells| job.cell >= cells.count) {
            (job.item, job.cell) = (job.item + 1, 0);
        }
        if job.item == count {
            let results = std::mem::take(&mut job.results);
            return self.end_job(job, Outcome { results, ..Outcome::empty(now_ps) });
        }
        self.schedule_piece(job);
        None
    }

    fn schedule_piece(&mut self, job: Job) {
        let Some(model) = &self.driver.model else { return };
        let Some(program) = job.batch.program.as_deref() else { return };
        let piece_ps = job.piece_ps(model, self.driver.seed, program);
        let due_ps = self.core.now_ps.saturating_add(piece_ps);
        self.core.schedule(due_ps, Event::Control(ControlWork::Piece(job.number)));
        self.driver.jobs.push_front(job);
    }

    /// Keeps a job for a retry when a pinned version is released.
    fn hold_job(&mut self, job: Job, batch: Batch) -> Served {
        self.driver.jobs.push_front(Job { batch, ..job });
        self.driver.is_job_held = true;
        None
    }

    fn end_job(&mut self, job: Job, mut outcome: Outcome) -> Served {
        if let Some(model) = &self.driver.model {
            let reply_ps = model.reply.draw(job.random(self.driver.seed, u64::MAX - 1));
            outcome.known_ps = outcome.applied_ps.saturating_add(reply_ps);
        }
        self.begin_first_job();
        if job.is_write && !self.has_writing_jobs() {
            // A reservation may wait for it.
            self.resume_held();
        }
        Some((job.request, outcome))
    }
}

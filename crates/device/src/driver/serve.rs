// SPDX-License-Identifier: Apache-2.0
//! Serves controllers' requests between two packets: batches, reservations and barriers. Batches that take time
//! go on in `run_jobs`.

use crate::control_request::{
    ControlWork, Mailbox, Request, TargetProgram, Wanted, outcome_of, state_batch,
};
use crate::driver::{Barrier, Reservation};
use crate::event::Event;
use crate::loaded_program::LoadedProgram;
use crate::packet::ProgramId;
use crate::switch::Switch;
use control::latency::BarrierKind;
use control::target::{Batch, Fault, Item, Outcome, Reply, Ticket};
use ir::Program;
use state::{Atomicity, BatchItem, BatchOutcome};
use std::sync::Arc;

/// A request and its answer, where it came at once.
pub(crate) type Served = Option<(Request, Outcome)>;

impl Switch {
    /// Serves requests that came in while packets ran.
    #[inline]
    pub fn serve_waiting(&mut self) {
        if self.driver.entry.note_time(self.core.now_ps) {
            self.serve_inbox();
        }
    }

    #[cold]
    fn serve_inbox(&mut self) {
        if self.driver.entry.take_release() {
            self.resume_held();
            self.resume_jobs();
        }
        while let Some(request) = self.driver.entry.take() {
            if let Some((request, outcome)) = self.serve(request) {
                request.answer(outcome);
            }
        }
    }

    /// Serves a request, at once if it is not made for later and takes no time.
    pub fn serve(&mut self, request: Request) -> Served {
        let at_ps = request.at_ps;
        if at_ps > self.core.now_ps {
            let work = ControlWork::Arrive(Box::new(request));
            self.core.schedule(at_ps, Event::Control(work));
            return None;
        }
        if self.is_held_up(&request) {
            self.hold(request);
            return None;
        }
        self.begin_request(request)
    }

    /// The code of the program that a target speaks of, unless that was unloaded.
    pub(super) fn code_of(&self, of: TargetProgram) -> Option<ProgramId> {
        match of {
            TargetProgram::Main => Some(self.programs.main_id()),
            TargetProgram::Loaded(name) => self.programs.code_of(name),
        }
    }

    /// The program that a target speaks of.
    pub(super) fn program_of(&self, of: TargetProgram) -> Option<&LoadedProgram> {
        self.programs.get(self.code_of(of)?)
    }

    /// The batch, made for the program that it meets now.
    pub(super) fn made_for_now(&self, of: TargetProgram, batch: Batch) -> Batch {
        match self.program_of(of).map(|program| program.program().clone()) {
            Some(program) => batch.made_for(program),
            None => batch,
        }
    }

    /// Keeps a request until nothing holds it up. Its items are of the program that runs now.
    fn hold(&mut self, mut request: Request) {
        let now = self.program_of(request.of).map(|program| program.program().clone());
        if let Wanted::Batch(batch) | Wanted::Reserve(batch) = &mut request.wanted
            && batch.program.is_none()
        {
            batch.program = now;
        }
        self.driver.held.push_back(request);
    }

    /// Work of the driver is due.
    pub fn control_due(&mut self, work: ControlWork) {
        let served = match work {
            ControlWork::Arrive(request) => self.serve(*request),
            ControlWork::Piece(job) => self.next_piece(job),
            ControlWork::BarrierDue(request) => {
                let now_ps = self.core.now_ps;
                Some((*request, Outcome::empty(now_ps)))
            }
            ControlWork::IdleCheck => {
                self.report_idle_entries();
                None
            }
        };
        if let Some((request, outcome)) = served {
            request.answer(outcome);
        }
    }

    /// Whether a reservation of another controller, or an own request before it, holds a request up.
    fn is_held_up(&self, request: &Request) -> bool {
        let is_own = |mailbox: &Arc<Mailbox>| Arc::ptr_eq(mailbox, &request.mailbox);
        if matches!(request.wanted, Wanted::Commit(_) | Wanted::Release(_)) {
            return false;
        }
        if self.driver.held.iter().any(|held| is_own(&held.mailbox)) {
            return true;
        }
        let writes = match &request.wanted {
            Wanted::Batch(batch) => !batch.only_reads(),
            Wanted::Reserve(_) => true,
            Wanted::Commit(_) | Wanted::Release(_) | Wanted::Barrier => false,
        };
        // What was checked has to stay possible: nothing else may be about to be written.
        let waits_for_jobs =
            matches!(request.wanted, Wanted::Reserve(_)) && self.has_writing_jobs();
        writes
            && (self.driver.reservation.is_some() || waits_for_jobs || !self.driver.held.is_empty())
    }

    fn begin_request(&mut self, mut request: Request) -> Served {
        let now_ps = self.core.now_ps;
        let wanted = std::mem::replace(&mut request.wanted, Wanted::Barrier);
        match wanted {
            Wanted::Batch(batch) => self.begin_batch(request, batch),
            Wanted::Reserve(batch) => {
                let outcome = self.check(request.of, &batch);
                if outcome.is_ok() {
                    let (mailbox, ticket) = (request.mailbox.clone(), request.ticket);
                    let batch = self.made_for_now(request.of, batch);
                    self.driver.reservation = Some(Reservation { mailbox, ticket, batch });
                    self.watch_all_writes();
                }
                Some((request, outcome))
            }
            Wanted::Commit(ticket) => match self.take_reservation(&request, ticket) {
                Some(reservation) => {
                    let served = self.begin_batch(request, reservation.batch);
                    self.resume_held();
                    served
                }
                None => Some((request, Outcome::failed(1, Fault::NotReserved, now_ps))),
            },
            Wanted::Release(ticket) => {
                if self.take_reservation(&request, ticket).is_some() {
                    self.resume_held();
                }
                request.wanted = Wanted::Release(ticket);
                Some((request, Outcome::empty(now_ps)))
            }
            Wanted::Barrier => self.begin_barrier(request),
        }
    }

    fn begin_batch(&mut self, mut request: Request, batch: Batch) -> Served {
        let now_ps = self.core.now_ps;
        if self.driver.model.is_some() {
            return self.begin_job(request, batch);
        }
        match self.apply(request.of, batch) {
            Ok(outcome) => Some((request, outcome)),
            Err(batch) => {
                request.wanted = Wanted::Batch(self.made_for_now(request.of, batch));
                request.at_ps = now_ps;
                // In front: later ones were held up because of it, or come after it.
                self.driver.held.push_front(request);
                self.watch_all_writes();
                None
            }
        }
    }

    fn take_reservation(&mut self, request: &Request, ticket: Ticket) -> Option<Reservation> {
        let is_it = self.driver.reservation.as_ref().is_some_and(|reservation| {
            reservation.ticket == ticket && Arc::ptr_eq(&reservation.mailbox, &request.mailbox)
        });
        let reservation = self.driver.reservation.take_if(|_| is_it);
        self.watch_all_writes();
        reservation
    }

    /// Serves requests that were held up, until one is held up again.
    pub fn resume_held(&mut self) {
        let mut held = std::mem::take(&mut self.driver.held);
        while let Some(request) = held.pop_front() {
            if self.is_held_up(&request) {
                self.hold(request);
            } else if let Some((request, outcome)) = self.begin_request(request) {
                request.answer(outcome);
            }
        }
        self.watch_all_writes();
    }

    /// Sees to it that other threads write past the driver only while nothing hangs on the order.
    pub fn watch_all_writes(&mut self) {
        let sees_all_writes = self.driver.reservation.is_some()
            || !self.driver.held.is_empty()
            || self.driver.model.is_some();
        for program in self.programs.iter().filter(|program| !program.is_leaving) {
            let sees_all_writes = sees_all_writes || self.listens_for_idle_entries(program.id());
            program.known.current_mut().sees_all_writes = sees_all_writes;
            if program.id() == self.programs.main_id() {
                self.driver.entry.main.current_mut().sees_all_writes = sees_all_writes;
            }
        }
    }

    /// Applies a batch now. It is handed back while too many versions are pinned.
    pub(super) fn apply(&mut self, of: TargetProgram, batch: Batch) -> Result<Outcome, Batch> {
        let now_ps = self.core.now_ps;
        let count = batch.items.len();
        let id = match self.code_for(of, &batch) {
            Ok(id) => id,
            Err(fault) => return Ok(Outcome::failed(count, fault, now_ps)),
        };
        if batch.items.iter().any(|item| matches!(item, Item::Device(_))) {
            return self.apply_mixed(of, batch);
        }
        let idle_ps = self.earliest_timeout_ps(id, &batch);
        let program = batch.program.clone();
        let written = self.write(id, state_batch(batch, now_ps));
        let outcome = outcome_of(written.map_err(|batch| Batch { program, ..batch })?, now_ps);
        if let Some(idle_ps) = idle_ps {
            self.check_idle_entries_at(idle_ps);
        }
        Ok(outcome)
    }

    /// The code of the program that a batch is for, or why it does not fit what runs here.
    pub(super) fn code_for(&self, of: TargetProgram, batch: &Batch) -> Result<ProgramId, Fault> {
        let program = self.program_of(of).ok_or(Fault::Gone)?;
        let is_other = |made_for: &Arc<Program>| !Arc::ptr_eq(made_for, program.program());
        match batch.program.as_ref().is_some_and(is_other) {
            true => Err(Fault::Swapped),
            false => Ok(program.id()),
        }
    }

    fn write(&mut self, id: ProgramId, batch: state::Batch) -> Result<BatchOutcome, Batch> {
        let handed_back = |batch: state::Batch| {
            let atomicity = batch.atomicity;
            Batch::of(batch.items).with(atomicity)
        };
        let Some(program) = self.programs.get_mut(id) else { return Err(handed_back(batch)) };
        program.forget_tables();
        let (store, cells) = program.state_mut();
        store.try_write_batch_in_place(cells, batch).map_err(handed_back)
    }

    /// Applies a batch with items about the device: those about state first, together. In the atomic modes
    /// everything is checked before anything is done.
    fn apply_mixed(&mut self, of: TargetProgram, batch: Batch) -> Result<Outcome, Batch> {
        let now_ps = self.core.now_ps;
        if batch.atomicity != Atomicity::ContinueOnError {
            let checked = self.check(of, &batch);
            if !checked.is_ok() {
                return Ok(checked);
            }
        }
        let of_state = batch.items.iter().filter(|item| matches!(item, Item::State(_))).cloned();
        let of_state = Batch::of(of_state).with(batch.atomicity);
        let Ok(state) = self.apply(of, of_state) else { return Err(batch) };
        let mut results = state.results.into_iter();
        let mut outcome = Outcome::empty(now_ps);
        for item in batch.items {
            let result = match item {
                Item::Device(item) => self.apply_to_device(of, item),
                Item::State(_) => results.next().unwrap_or(Ok(Reply::Done)),
            };
            outcome.results.push(result);
        }
        Ok(outcome)
    }

    /// What a batch would answer. Nothing changes.
    pub(super) fn check(&mut self, of: TargetProgram, batch: &Batch) -> Outcome {
        let now_ps = self.core.now_ps;
        let id = match self.code_for(of, batch) {
            Ok(id) => id,
            Err(fault) => return Outcome::failed(batch.items.len(), fault, now_ps),
        };
        let state = |item: &Item| match item {
            Item::State(item) => Some(item.clone()),
            Item::Device(_) => None,
        };
        let items: Vec<BatchItem> = batch.items.iter().filter_map(state).collect();
        let state_batch = state::Batch { items, atomicity: Atomicity::ContinueOnError, now_ps };
        let program = self.programs.get_mut(id).map(LoadedProgram::state_mut);
        let checked = program.map(|(store, cells)| store.check_batch(cells, state_batch).results);
        let mut checked = checked.unwrap_or_default().into_iter();
        let mut results = Vec::with_capacity(batch.items.len());
        for item in &batch.items {
            results.push(match item {
                Item::State(_) => match checked.next() {
                    Some(Ok(reply)) => Ok(Reply::State(reply)),
                    Some(Err(error)) => Err(Fault::Refused(error)),
                    None => Ok(Reply::Done),
                },
                Item::Device(item) => self.check_on_device(of, item).map(|()| Reply::Done),
            });
        }
        let failed = results.iter().position(Result::is_err);
        match failed.filter(|_| batch.stops_on_error()) {
            Some(at) => match results.swap_remove(at) {
                Err(fault) => Outcome::aborted(batch.items.len(), at, fault, now_ps),
                Ok(_) => Outcome::empty(now_ps),
            },
            None => Outcome { results, ..Outcome::empty(now_ps) },
        }
    }

    fn begin_barrier(&mut self, request: Request) -> Served {
        let now_ps = self.core.now_ps;
        let kind = self.driver.model.as_ref().map(|model| model.barrier);
        if let Some(BarrierKind::Bound(bound_ps)) = kind {
            let due_ps = now_ps.saturating_add(bound_ps);
            let work = ControlWork::BarrierDue(Box::new(request));
            self.core.schedule(due_ps, Event::Control(work));
            return None;
        }
        let passes = self.core.next_pass_epoch();
        if self.driver.barriers.is_empty() && passes.strong_count() == 0 {
            return Some((request, Outcome::empty(now_ps)));
        }
        self.driver.barriers.push_back(Barrier { request, passes });
        None
    }

    /// Answers barriers whose passes have ended.
    #[inline]
    pub fn check_barriers(&mut self) {
        while self.driver.barriers.front().is_some_and(|first| first.passes.strong_count() == 0)
            && let Some(Barrier { request, .. }) = self.driver.barriers.pop_front()
        {
            request.answer(Outcome::empty(self.core.now_ps));
        }
    }

    /// Whether a request waits for device time to pass: in the driver's queue, or for passes to end.
    pub fn takes_time(&self, ticket: Ticket, mailbox: &Arc<Mailbox>) -> bool {
        let is_it =
            |request: &Request| request.ticket == ticket && Arc::ptr_eq(&request.mailbox, mailbox);
        self.driver.jobs.iter().any(|job| is_it(&job.request))
            || self.driver.barriers.iter().any(|barrier| is_it(&barrier.request))
            || self.core.events.values().any(|event| match event {
                Event::Control(ControlWork::Arrive(request) | ControlWork::BarrierDue(request)) => {
                    is_it(request)
                }
                _ => false,
            })
    }
}

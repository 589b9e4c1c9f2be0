// SPDX-License-Identifier: Apache-2.0
//! Serves controllers' requests between two packets: batches, reservations and barriers. Batches under a latency model
//! continue in `run_jobs`.

use crate::control_request::{
    ControlWork, Request, RequestBody, TargetProgram, outcome_of, state_batch,
};
use crate::driver::Reservation;
use crate::event::Event;
use crate::loaded_program::LoadedProgram;
use crate::mailbox::Mailbox;
use crate::output::AppliedUpdate;
use crate::packet::ProgramId;
use crate::switch::Switch;
use control::target::{Batch, Fault, Item, Outcome, Reply, Ticket};
use ir::Program;
use state::{Atomicity, BatchItem, BatchOutcome, Read, Reply as StateReply};
use std::sync::Arc;

/// A request with its outcome; `None` if the answer comes later.
pub(crate) type Served = Option<(Request, Outcome)>;

impl Switch {
    /// Serves the requests that arrived while packets ran.
    #[inline]
    pub fn serve_waiting(&mut self) {
        if self.driver.inbox.note_time(self.core.now_ps) {
            self.serve_inbox();
        }
    }

    #[cold]
    fn serve_inbox(&mut self) {
        if self.driver.inbox.take_release() {
            self.resume_held();
            self.resume_jobs();
        }
        while let Some(request) = self.driver.inbox.take() {
            if let Some((request, outcome)) = self.serve(request) {
                request.answer(outcome);
            }
        }
    }

    /// Serves a request. Answers immediately unless it is for a later time, has to wait or takes time.
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

    /// Returns the code of a target's program, unless it was unloaded.
    pub(super) fn code_of(&self, target: TargetProgram) -> Option<ProgramId> {
        match target {
            TargetProgram::Main => Some(self.programs.main_id()),
            TargetProgram::Loaded(name) => self.programs.code_of(name),
        }
    }

    /// Returns a target's program.
    pub(super) fn program_of(&self, target: TargetProgram) -> Option<&LoadedProgram> {
        self.programs.get(self.code_of(target)?)
    }

    /// Binds a batch to the target's current program.
    pub(super) fn made_for_now(&self, target: TargetProgram, batch: Batch) -> Batch {
        match self.program_of(target).map(|program| program.program().clone()) {
            Some(program) => batch.made_for(program),
            None => batch,
        }
    }

    /// Keeps a request until it can be served. Binds its items to the current program.
    fn hold(&mut self, mut request: Request) {
        let now = self.program_of(request.target).map(|program| program.program().clone());
        if let RequestBody::Batch(batch)
        | RequestBody::AfterPasses(batch)
        | RequestBody::Reserve(batch) = &mut request.body
            && batch.program.is_none()
        {
            batch.program = now;
        }
        self.driver.held.push_back(request);
    }

    /// Runs scheduled work of the driver.
    pub fn control_due(&mut self, work: ControlWork) {
        let served = match work {
            ControlWork::Arrive(request) => self.serve(*request),
            ControlWork::Piece(job) => self.next_piece(job),
            ControlWork::BarrierDue(request) => self.end_barrier(*request),
            ControlWork::IdleCheck => {
                self.report_idle_entries();
                None
            }
        };
        if let Some((request, outcome)) = served {
            request.answer(outcome);
        }
    }

    /// Returns whether a request has to wait for a reservation of another controller, or for an earlier request of its
    /// own.
    fn is_held_up(&self, request: &Request) -> bool {
        let is_own = |mailbox: &Arc<Mailbox>| Arc::ptr_eq(mailbox, &request.mailbox);
        if matches!(request.body, RequestBody::Commit(_) | RequestBody::Release(_)) {
            return false;
        }
        if self.driver.held.iter().any(|held| is_own(&held.mailbox)) {
            return true;
        }
        let writes = match &request.body {
            RequestBody::Batch(batch) | RequestBody::AfterPasses(batch) => !batch.only_reads(),
            RequestBody::Reserve(_) => true,
            RequestBody::Commit(_) | RequestBody::Release(_) | RequestBody::Barrier => false,
        };
        // A checked batch has to stay valid, so a reservation waits for batches with updates.
        let waits_for_jobs =
            matches!(request.body, RequestBody::Reserve(_)) && self.has_writing_jobs();
        writes
            && (self.driver.reservation.is_some() || waits_for_jobs || !self.driver.held.is_empty())
    }

    fn begin_request(&mut self, mut request: Request) -> Served {
        let now_ps = self.core.now_ps;
        let body = std::mem::replace(&mut request.body, RequestBody::Barrier);
        match body {
            RequestBody::Batch(batch) => self.begin_batch(request, batch),
            RequestBody::AfterPasses(_) => {
                request.body = body;
                self.begin_barrier(request)
            }
            RequestBody::Reserve(batch) => {
                let outcome = self.check(request.target, &batch);
                if outcome.is_ok() {
                    let (mailbox, ticket) = (request.mailbox.clone(), request.ticket);
                    let batch = self.made_for_now(request.target, batch);
                    self.driver.reservation = Some(Reservation { mailbox, ticket, batch });
                    self.update_write_path();
                }
                Some((request, outcome))
            }
            RequestBody::Commit(ticket) => match self.take_reservation(&request, ticket) {
                Some(reservation) => {
                    let served = self.begin_batch(request, reservation.batch);
                    self.resume_held();
                    served
                }
                None => Some((request, Outcome::failed(1, Fault::NotReserved, now_ps))),
            },
            RequestBody::Release(ticket) => {
                if self.take_reservation(&request, ticket).is_some() {
                    self.resume_held();
                }
                request.body = RequestBody::Release(ticket);
                Some((request, Outcome::empty(now_ps)))
            }
            RequestBody::Barrier => self.begin_barrier(request),
        }
    }

    pub(super) fn begin_batch(&mut self, mut request: Request, batch: Batch) -> Served {
        let now_ps = self.core.now_ps;
        if self.driver.model.is_some() {
            return self.begin_job(request, batch);
        }
        if let Some(outcome) = self.read_registers(&mut request, &batch) {
            request.body = RequestBody::Batch(batch);
            return Some((request, outcome));
        }
        match self.apply(request.target, batch) {
            Ok(outcome) => Some((request, outcome)),
            Err(batch) => {
                request.body = RequestBody::Batch(self.made_for_now(request.target, batch));
                request.at_ps = now_ps;
                // In front, because the others wait for it or came later.
                self.driver.held.push_front(request);
                self.update_write_path();
                None
            }
        }
    }

    fn take_reservation(&mut self, request: &Request, ticket: Ticket) -> Option<Reservation> {
        let is_it = self.driver.reservation.as_ref().is_some_and(|reservation| {
            reservation.ticket == ticket && Arc::ptr_eq(&reservation.mailbox, &request.mailbox)
        });
        let reservation = self.driver.reservation.take_if(|_| is_it);
        self.update_write_path();
        reservation
    }

    /// Retries the waiting requests.
    pub fn resume_held(&mut self) {
        let mut held = std::mem::take(&mut self.driver.held);
        while let Some(request) = held.pop_front() {
            if self.is_held_up(&request) {
                self.hold(request);
            } else if let Some((request, outcome)) = self.begin_request(request) {
                request.answer(outcome);
            }
        }
        self.update_write_path();
    }

    /// Lets other threads write directly to the store only while no request depends on the order of writes.
    pub fn update_write_path(&mut self) {
        let serializes_writes = self.driver.reservation.is_some()
            || !self.driver.held.is_empty()
            || self.driver.model.is_some()
            || self.driver.records_updates;
        for program in self.programs.iter().filter(|program| !program.is_leaving) {
            let serializes_writes =
                serializes_writes || self.listens_for_idle_entries(program.id());
            program.shared_program.current_mut().serializes_writes = serializes_writes;
            if program.id() == self.programs.main_id() {
                self.driver.inbox.main.current_mut().serializes_writes = serializes_writes;
            }
        }
    }

    /// Returns the outcome of a batch that reads registers only, which needs no store; `None` for other batches.
    fn read_registers(&self, request: &mut Request, batch: &Batch) -> Option<Outcome> {
        if batch.stops_on_error() || batch.items.is_empty() {
            return None;
        }
        let id = self.code_for(request.target, batch).ok()?;
        let program = self.programs.get(id)?;
        let mut results = std::mem::take(&mut request.spare);
        results.truncate(batch.items.len());
        for (at, item) in batch.items.iter().enumerate() {
            let Item::State(BatchItem::Read(Read::Register { register, cells })) = item else {
                return None;
            };
            let mut values = match results.get_mut(at) {
                Some(Ok(Reply::State(StateReply::Registers(values)))) => std::mem::take(values),
                _ => Vec::new(),
            };
            values.clear();
            let all = program.cells();
            let read = all.read_register(program.program(), *register, *cells, &mut values);
            let reply = read.map(|()| Reply::State(StateReply::Registers(values)));
            let reply = reply.map_err(Fault::Refused);
            match results.get_mut(at) {
                Some(place) => *place = reply,
                None => results.push(reply),
            }
        }
        Some(Outcome { results, ..Outcome::empty(self.core.now_ps) })
    }

    /// Applies a batch now. Hands it back while too many versions are pinned.
    pub(super) fn apply(&mut self, target: TargetProgram, batch: Batch) -> Result<Outcome, Batch> {
        let now_ps = self.core.now_ps;
        let count = batch.items.len();
        let id = match self.code_for(target, &batch) {
            Ok(id) => id,
            Err(fault) => return Ok(Outcome::failed(count, fault, now_ps)),
        };
        if batch.items.iter().any(|item| matches!(item, Item::Device(_))) {
            return self.apply_mixed(target, batch);
        }
        let idle_ps = self.earliest_timeout_ps(id, &batch);
        let program = batch.program.clone();
        let recorded = self.driver.records_updates.then(|| batch.items.clone());
        let written = self.write(id, state_batch(batch, now_ps));
        let outcome = outcome_of(written.map_err(|batch| Batch { program, ..batch })?, now_ps);
        self.record(id, recorded.unwrap_or_default(), &outcome.results);
        if let Some(idle_ps) = idle_ps {
            self.check_idle_entries_at(idle_ps);
        }
        Ok(outcome)
    }

    /// Returns the code of the target's program. It is a fault if the batch was made for another program.
    pub(super) fn code_for(
        &self,
        target: TargetProgram,
        batch: &Batch,
    ) -> Result<ProgramId, Fault> {
        let program = self.program_of(target).ok_or(Fault::Gone)?;
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

    /// Applies a batch with device items, after all its state items together. In the atomic modes it checks every item
    /// first.
    fn apply_mixed(&mut self, target: TargetProgram, batch: Batch) -> Result<Outcome, Batch> {
        let now_ps = self.core.now_ps;
        if batch.atomicity != Atomicity::ContinueOnError {
            let checked = self.check(target, &batch);
            if !checked.is_ok() {
                return Ok(checked);
            }
        }
        let of_state = batch.items.iter().filter(|item| matches!(item, Item::State(_))).cloned();
        let of_state = Batch::of(of_state).with(batch.atomicity);
        let Ok(state) = self.apply(target, of_state) else { return Err(batch) };
        let mut results = state.results.into_iter();
        let mut outcome = Outcome::empty(now_ps);
        for item in batch.items {
            let result = match item {
                Item::Device(item) => {
                    let recorded = Item::from(item.clone());
                    let result = self.apply_to_device(target, item);
                    if let Some(id) = self.code_of(target) {
                        self.record(id, vec![recorded], std::slice::from_ref(&result));
                    }
                    result
                }
                Item::State(_) => results.next().unwrap_or(Ok(Reply::Done)),
            };
            outcome.results.push(result);
        }
        Ok(outcome)
    }

    /// Records the updates among these items that took effect.
    fn record(&mut self, id: ProgramId, items: Vec<Item>, results: &[Result<Reply, Fault>]) {
        if !self.driver.records_updates {
            return;
        }
        let Some(program) = self.programs.get(id).map(|program| program.program().clone()) else {
            return;
        };
        let time_ps = self.core.now_ps;
        for (item, result) in items.into_iter().zip(results) {
            if let (false, Ok(reply)) = (item.is_read(), result) {
                let (program, reply) = (program.clone(), reply.clone());
                self.driver.applied.push(AppliedUpdate { time_ps, program, item, reply });
            }
        }
    }

    /// Returns the outcome that a batch would have, without applying it.
    pub(super) fn check(&mut self, target: TargetProgram, batch: &Batch) -> Outcome {
        let now_ps = self.core.now_ps;
        let id = match self.code_for(target, batch) {
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
                Item::Device(item) => self.check_on_device(target, item).map(|()| Reply::Done),
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
}

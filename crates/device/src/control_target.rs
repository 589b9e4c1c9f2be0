// SPDX-License-Identifier: Apache-2.0
//! `DeviceTarget`: a device as a control target, from any thread. While the device runs packets on another thread, the
//! target never takes the switch's lock: batches of configuration go directly to the store, and the device's thread serves
//! all other requests between two bursts. While the device is idle, the controller's thread serves them.

use crate::control_inbox::ControlInbox;
use crate::control_request::{
    Request, RequestBody, SharedProgram, TargetProgram, outcome_of, state_batch,
};
use crate::mailbox::Mailbox;
use crate::shared_switch::Shared;
use control::target::{
    Batch, Fault, Item, Notification, Outcome, Reply, Target, Ticket, Visibility,
};
use ir::{Program, TableId};
use state::Subscription;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Interval at which a waiting controller checks whether its device is idle.
const IDLE_CHECK: Duration = Duration::from_millis(1);
/// After this time without an answer, a device that ran on another thread counts as idle.
const IDLE_AFTER: Duration = Duration::from_micros(50);

/// A controller's access to a program of a device, from any thread. [`crate::Device::target`] gives access to the main
/// program; after a swap it refuses batches made for the old one ([`Batch::made_for`]). [`crate::Device::target_of`]
/// gives access to one program and refuses items after that is unloaded. All targets of a device share its driver and
/// its latency model.
///
/// The driver answers the requests of one target in order, except those that wait for a latency model or a
/// reservation. Clones are separate targets. The first call of [`Target::notifications`] subscribes to notifications.
///
/// Without a latency model the items of a batch take effect at one moment between two packets, and a pass sees a batch
/// of configuration as a whole or not at all.
#[derive(Debug)]
pub struct DeviceTarget {
    shared: Weak<Shared>,
    inbox: Arc<ControlInbox>,
    /// The named program; `None` for the main program.
    shared_program: Option<Arc<SharedProgram>>,
    target: TargetProgram,
    visibility: Visibility,
    mailbox: Arc<Mailbox>,
    /// Answers to requests that the driver served immediately, and those that were in the mailbox.
    ready: VecDeque<(Ticket, Outcome)>,
    next_ticket: u64,
    is_listening: bool,
    /// [`Mailbox::answered`] when the mailbox was emptied last.
    seen: usize,
    /// Memory for the results of the next request.
    spare: Vec<Result<Reply, Fault>>,
    /// Since when requests wait for a device on another thread, as far as this target knows.
    unserved_since: Option<Instant>,
}

impl Clone for DeviceTarget {
    fn clone(&self) -> DeviceTarget {
        let shared_program = self.shared_program.clone();
        let (shared, inbox) = (self.shared.clone(), self.inbox.clone());
        DeviceTarget::new(shared, inbox, (self.target, shared_program), self.visibility)
    }
}

impl DeviceTarget {
    pub(crate) fn new(
        shared: Weak<Shared>,
        inbox: Arc<ControlInbox>,
        (target, shared_program): (TargetProgram, Option<Arc<SharedProgram>>),
        visibility: Visibility,
    ) -> DeviceTarget {
        DeviceTarget {
            shared,
            inbox,
            shared_program,
            target,
            visibility,
            mailbox: Arc::default(),
            ready: VecDeque::new(),
            next_ticket: 0,
            is_listening: false,
            seen: 0,
            spare: Vec::new(),
            unserved_since: None,
        }
    }

    fn program_state(&self) -> &SharedProgram {
        self.shared_program.as_deref().unwrap_or(&self.inbox.main)
    }

    fn request(&mut self, body: RequestBody, at_ps: u64) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let mailbox = self.mailbox.clone();
        let spare = std::mem::take(&mut self.spare);
        let request = Request { body, target: self.target, at_ps, ticket, mailbox, spare };
        if self.inbox.is_gone() {
            let outcome = Outcome::failed(request.item_count(), Fault::Gone, at_ps);
            request.answer(outcome);
        } else if let Some(request) = self.serve_here(request)
            && let Err(request) = self.write_beside(request)
        {
            self.inbox.put(request);
            self.unserved_since = None;
        }
        ticket
    }

    /// Serves a request on this thread while the device is idle. Hands it back while the device runs on another thread.
    fn serve_here(&mut self, request: Request) -> Option<Request> {
        if self.inbox.runs_beside() {
            return Some(request);
        }
        let shared = self.shared.upgrade();
        let Some(mut switch) = shared.as_ref().and_then(|shared| shared.try_run()) else {
            return Some(request);
        };
        // Earlier requests are served first.
        switch.serve_waiting();
        if let Some((request, outcome)) = switch.serve(request) {
            drop(switch);
            self.note_answered_here();
            self.ready.push_back((request.ticket, outcome));
        }
        None
    }

    /// Counts a request as answered whose answer does not come by the mailbox.
    fn note_answered_here(&mut self) {
        self.mailbox.note_answered();
        self.seen = self.seen.wrapping_add(1);
    }

    /// Takes an answer that is there.
    fn take_ready(&mut self, ticket: Ticket) -> Option<Outcome> {
        let answered = self.mailbox.answered();
        if answered != self.seen {
            self.seen = answered;
            self.mailbox.take(&mut self.ready);
        }
        let at = self.ready.iter().position(|(of, _)| *of == ticket)?;
        self.ready.remove(at).map(|(_, outcome)| outcome)
    }

    /// Serves waiting requests on this thread if the device is idle.
    fn serve_if_idle(&mut self) {
        if !self.inbox.runs_beside() {
            if self.inbox.has_waiting()
                && let Some(shared) = self.shared.upgrade()
            {
                shared.serve_if_idle();
            }
            return;
        }
        // What follows reads what the device's thread writes, so it comes seldom.
        let since = *self.unserved_since.get_or_insert_with(Instant::now);
        if since.elapsed() < IDLE_AFTER {
            return;
        }
        self.unserved_since = None;
        if self.inbox.has_waiting()
            && let Some(shared) = self.shared.upgrade()
            && let Some(mut switch) = shared.try_run()
        {
            self.inbox.set_runs_beside(false);
            switch.serve_waiting();
        }
    }

    /// Writes a batch of configuration while the device's thread runs packets. Hands the request back if it would
    /// overtake an earlier request of this target or needs the driver.
    fn write_beside(&mut self, mut request: Request) -> Result<(), Request> {
        let now_ps = self.inbox.now_ps();
        let RequestBody::Batch(batch) = &mut request.body else { return Err(request) };
        let is_plain = |item: &Item| match item {
            Item::State(item) => !item.touches_cells(),
            Item::Device(_) => false,
        };
        // This request is counted.
        let is_alone = self.next_ticket == self.mailbox.answered() as u64 + 1;
        if self.visibility == Visibility::Items
            || request.at_ps > now_ps
            || !is_alone
            || !batch.items.iter().all(is_plain)
        {
            return Err(request);
        }
        let current = self.shared_program.as_deref().unwrap_or(&self.inbox.main).current();
        if current.serializes_writes {
            drop(current);
            return Err(request);
        }
        let ours =
            batch.program.as_ref().is_none_or(|program| Arc::ptr_eq(program, &current.program));
        let outcome = if ours {
            let program = Some(current.program.clone());
            let written = state_batch(std::mem::take(batch), now_ps);
            match current.store.try_write_configuration(written) {
                Ok(outcome) => outcome_of(outcome, now_ps),
                Err(written) => {
                    drop(current);
                    request.body = RequestBody::Batch(Batch { program, ..target_batch(written) });
                    return Err(request);
                }
            }
        } else {
            Outcome::failed(batch.items.len(), Fault::Swapped, now_ps)
        };
        drop(current);
        self.note_answered_here();
        self.ready.push_back((request.ticket, outcome));
        Ok(())
    }
}

fn target_batch(batch: state::Batch) -> Batch {
    Batch::of(batch.items).with(batch.atomicity)
}

impl Target for DeviceTarget {
    fn program(&self) -> Arc<Program> {
        self.program_state().program()
    }

    fn now_ps(&self) -> u64 {
        self.inbox.now_ps()
    }

    fn next_event_ps(&self) -> Option<u64> {
        if self.inbox.runs_beside() {
            return None;
        }
        self.shared.upgrade()?.try_run()?.next_event_ps()
    }

    fn is_served_beside(&self) -> bool {
        self.inbox.runs_beside()
    }

    fn visibility(&self) -> Visibility {
        self.visibility
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.request(RequestBody::Batch(batch), at_ps)
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.request(RequestBody::Reserve(batch), at_ps)
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.request(RequestBody::Commit(reservation), at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        let ticket = self.request(RequestBody::Release(reservation), 0);
        self.ready.retain(|(of, _)| *of != ticket);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.request(RequestBody::Barrier, at_ps)
    }

    fn joins_barriers(&self) -> bool {
        !self.inbox.has_latency()
    }

    fn submit_after_passes(&mut self, batch: Batch, at_ps: u64) -> Result<Ticket, Batch> {
        Ok(self.request(RequestBody::AfterPasses(batch), at_ps))
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        self.take_ready(ticket).or_else(|| {
            self.serve_if_idle();
            self.take_ready(ticket)
        })
    }

    fn recycle(&mut self, outcome: Outcome) {
        self.spare = outcome.results;
    }

    fn notifications(&mut self) -> Vec<Notification> {
        if !self.is_listening
            && let Some(shared) = self.shared.upgrade()
        {
            self.is_listening = true;
            shared.run().listen(self.target, &self.mailbox);
        }
        self.mailbox.mail().notifications.drain(..).collect()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        let current = self.program_state().current();
        Some(current.store.subscribe(tables.iter().copied()))
    }

    fn takes_time(&mut self, ticket: Ticket) -> bool {
        if self.inbox.runs_beside() {
            return false;
        }
        // A dropped device does not answer.
        let Some(shared) = self.shared.upgrade() else { return true };
        let switch = shared.try_run();
        switch.is_some_and(|switch| switch.takes_time(ticket, &self.mailbox))
    }

    /// Blocks while the device runs on another thread, and while the request waits for another controller's reservation
    /// or for a pinned version.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            if self.shared.strong_count() == 0 {
                return Outcome::failed(1, Fault::Gone, self.now_ps());
            }
            let takes_time = self.takes_time(ticket);
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            if takes_time {
                return Outcome::failed(1, Fault::TakesTime, self.now_ps());
            }
            let timeout = if self.inbox.runs_beside() { IDLE_AFTER } else { IDLE_CHECK };
            self.mailbox.wait(ticket, timeout);
        }
    }
}

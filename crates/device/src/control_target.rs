// SPDX-License-Identifier: Apache-2.0
//! A device as a target of controllers, from any thread. Batches of configuration go straight to the store
//! of a device that is running; everything else is served between two packets, by the device's thread while
//! it runs and by the controller's own while the device is idle. Serving is in `driver`.

use crate::control_request::{
    Entry, Known, Mail, Mailbox, Request, TargetProgram, Wanted, outcome_of, state_batch,
};
use crate::shared_switch::Shared;
use control::target::{Batch, Fault, Item, Notification, Outcome, Target, Ticket, Visibility};
use ir::{Program, TableId};
use state::Subscription;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

/// How often a waiting controller looks whether its device is idle.
const IDLE_CHECK: Duration = Duration::from_millis(1);

/// A controller's access to a program of a device, from any thread: to the main program
/// ([`crate::Device::target`]), which may be another one after a swap, so that batches which were made for the
/// program before ([`Batch::made_for`]) are refused; or to one that is named ([`crate::Device::target_of`]),
/// whose items are refused when it is unloaded. All targets of a device share its driver and its latency model.
///
/// Requests of one target are answered in their order, but for those that a latency model or a reservation
/// holds up. Clones are targets of their own. The first call of [`Target::notifications`] begins to listen.
///
/// Without a latency model the items of a batch take effect at one moment between two packets, and a batch of
/// configuration is seen by a pass whole or not at all.
#[derive(Debug)]
pub struct DeviceTarget {
    shared: Weak<Shared>,
    entry: Arc<Entry>,
    /// Of a program that is named; `None` for the main program.
    known: Option<Arc<Known>>,
    of: TargetProgram,
    visibility: Visibility,
    mailbox: Arc<Mailbox>,
    /// Answers that came at once.
    ready: VecDeque<(Ticket, Outcome)>,
    next_ticket: u64,
    is_listening: bool,
}

impl Clone for DeviceTarget {
    fn clone(&self) -> DeviceTarget {
        let known = self.known.clone();
        let (shared, entry) = (self.shared.clone(), self.entry.clone());
        DeviceTarget::new(shared, entry, (self.of, known), self.visibility)
    }
}

impl DeviceTarget {
    pub(crate) fn new(
        shared: Weak<Shared>,
        entry: Arc<Entry>,
        (of, known): (TargetProgram, Option<Arc<Known>>),
        visibility: Visibility,
    ) -> DeviceTarget {
        DeviceTarget {
            shared,
            entry,
            known,
            of,
            visibility,
            mailbox: Arc::default(),
            ready: VecDeque::new(),
            next_ticket: 0,
            is_listening: false,
        }
    }

    fn known(&self) -> &Known {
        self.known.as_deref().unwrap_or(&self.entry.main)
    }

    fn request(&mut self, wanted: Wanted, at_ps: u64) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let mailbox = self.mailbox.clone();
        self.mailbox.outstanding.fetch_add(1, Ordering::Relaxed);
        let request = Request { wanted, of: self.of, at_ps, ticket, mailbox };
        let shared = self.shared.upgrade();
        let Some(shared) = shared.filter(|_| !self.entry.is_gone.load(Ordering::Acquire)) else {
            let outcome = Outcome::failed(request.item_count(), Fault::Gone, at_ps);
            request.answer(outcome);
            return ticket;
        };
        match shared.try_run() {
            Some(mut switch) => {
                // Those that came before are served first.
                switch.serve_waiting();
                if let Some((request, outcome)) = switch.serve(request) {
                    drop(switch);
                    self.mailbox.outstanding.fetch_sub(1, Ordering::Relaxed);
                    self.ready.push_back((request.ticket, outcome));
                }
            }
            None => {
                let request = match self.write_beside(request) {
                    Ok(()) => return ticket,
                    Err(request) => request,
                };
                self.entry.put(request);
                // The device may have become idle meanwhile.
                shared.serve_if_idle();
            }
        }
        ticket
    }

    /// Writes a batch of configuration while the device's thread runs packets, if nothing of this target is
    /// under way that it would overtake.
    fn write_beside(&mut self, mut request: Request) -> Result<(), Request> {
        let now_ps = self.entry.now_ps();
        let Wanted::Batch(batch) = &mut request.wanted else { return Err(request) };
        let is_plain = |item: &Item| match item {
            Item::State(item) => !item.touches_cells(),
            Item::Device(_) => false,
        };
        let is_alone = self.mailbox.outstanding.load(Ordering::Acquire) == 1;
        if self.visibility == Visibility::Items
            || request.at_ps > now_ps
            || !is_alone
            || !batch.items.iter().all(is_plain)
        {
            return Err(request);
        }
        let current = self.known.as_deref().unwrap_or(&self.entry.main).current();
        if current.sees_all_writes {
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
                    request.wanted = Wanted::Batch(Batch { program, ..target_batch(written) });
                    return Err(request);
                }
            }
        } else {
            Outcome::failed(batch.items.len(), Fault::Swapped, now_ps)
        };
        drop(current);
        self.mailbox.outstanding.fetch_sub(1, Ordering::Relaxed);
        self.ready.push_back((request.ticket, outcome));
        Ok(())
    }
}

fn target_batch(batch: state::Batch) -> Batch {
    Batch::of(batch.items).with(batch.atomicity)
}

impl Target for DeviceTarget {
    fn program(&self) -> Arc<Program> {
        self.known().program()
    }

    fn now_ps(&self) -> u64 {
        self.entry.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.visibility
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.request(Wanted::Batch(batch), at_ps)
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.request(Wanted::Reserve(batch), at_ps)
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.request(Wanted::Commit(reservation), at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        let ticket = self.request(Wanted::Release(reservation), 0);
        self.ready.retain(|(of, _)| *of != ticket);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.request(Wanted::Barrier, at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        if let Some(at) = self.ready.iter().position(|(of, _)| *of == ticket) {
            return self.ready.remove(at).map(|(_, outcome)| outcome);
        }
        if self.entry.has_waiting()
            && let Some(shared) = self.shared.upgrade()
        {
            shared.serve_if_idle();
        }
        let mut mail = self.mailbox.mail();
        let at = mail.outcomes.iter().position(|(of, _)| *of == ticket)?;
        mail.outcomes.remove(at).map(|(_, outcome)| outcome)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        if !self.is_listening
            && let Some(shared) = self.shared.upgrade()
        {
            self.is_listening = true;
            shared.run().listen(self.of, &self.mailbox);
        }
        self.mailbox.mail().notifications.drain(..).collect()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        let current = self.known().current();
        Some(current.store.subscribe(tables.iter().copied()))
    }

    fn takes_time(&mut self, ticket: Ticket) -> bool {
        // Of a device that is gone no answer comes.
        let Some(shared) = self.shared.upgrade() else { return true };
        let switch = shared.try_run();
        switch.is_some_and(|switch| switch.takes_time(ticket, &self.mailbox))
    }

    /// Blocks while the device runs on another thread, or while another controller's reservation or pinned
    /// versions hold the request up.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        loop {
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            let Some(shared) = self.shared.upgrade() else {
                return Outcome::failed(1, Fault::Gone, self.now_ps());
            };
            let takes_time =
                shared.try_run().is_some_and(|switch| switch.takes_time(ticket, &self.mailbox));
            drop(shared);
            if let Some(outcome) = self.poll(ticket) {
                return outcome;
            }
            if takes_time {
                return Outcome::failed(1, Fault::TakesTime, self.now_ps());
            }
            let mail = self.mailbox.mail();
            let is_there = |mail: &Mail| mail.outcomes.iter().any(|(of, _)| *of == ticket);
            if !is_there(&mail) {
                let waited = self.mailbox.arrived.wait_timeout(mail, IDLE_CHECK);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

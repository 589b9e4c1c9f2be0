// SPDX-License-Identifier: Apache-2.0
//! Requests that wait for the end of passes: barriers, alone and with a batch.

use super::serve::Served;
use crate::control_request::{ControlWork, Request, RequestBody};
use crate::driver::Barrier;
use crate::event::Event;
use crate::mailbox::Mailbox;
use crate::switch::Switch;
use control::latency::BarrierKind;
use control::target::{Outcome, Ticket};
use std::sync::Arc;

impl Switch {
    /// Serves a request when all passes have ended that have begun by now.
    pub(super) fn begin_barrier(&mut self, request: Request) -> Served {
        let now_ps = self.core.now_ps;
        if self.driver.model.is_none()
            && self.driver.barriers.is_empty()
            && !self.core.has_passes_in_epoch()
        {
            return self.end_barrier(request);
        }
        let kind = self.driver.model.as_ref().map(|model| model.barrier);
        if let Some(BarrierKind::Bound(bound_ps)) = kind {
            let due_ps = now_ps.saturating_add(bound_ps);
            let work = ControlWork::BarrierDue(Box::new(request));
            self.core.schedule(due_ps, Event::Control(work));
            return None;
        }
        let passes = self.core.next_pass_epoch();
        if self.driver.barriers.is_empty() && passes.strong_count() == 0 {
            return self.end_barrier(request);
        }
        self.driver.barriers.push_back(Barrier { request, passes });
        None
    }

    /// Serves a request whose passes have ended.
    pub(super) fn end_barrier(&mut self, mut request: Request) -> Served {
        match std::mem::replace(&mut request.body, RequestBody::Barrier) {
            RequestBody::AfterPasses(batch) => self.begin_batch(request, batch),
            body => {
                request.body = body;
                Some((request, Outcome::empty(self.core.now_ps)))
            }
        }
    }

    /// Answers the barriers whose passes have ended.
    #[inline]
    pub fn check_barriers(&mut self) {
        while self.driver.barriers.front().is_some_and(|first| first.passes.strong_count() == 0)
            && let Some(Barrier { request, .. }) = self.driver.barriers.pop_front()
        {
            if let Some((request, outcome)) = self.end_barrier(request) {
                request.answer(outcome);
            }
        }
    }

    /// Returns whether a request needs device time to pass: it is in the driver's queue, or waits for passes to end.
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

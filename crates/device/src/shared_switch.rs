// SPDX-License-Identifier: Apache-2.0
//! The lock around a switch that its device and its targets share. The holder serves the requests that arrived meanwhile
//! when it releases the lock.

use crate::control_request::{ControlInbox, try_lock};
use crate::switch::Switch;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A switch shared by its device and its targets.
#[derive(Debug)]
pub(crate) struct Shared {
    switch: Mutex<Switch>,
    pub inbox: Arc<ControlInbox>,
}

impl Shared {
    /// Shares a switch.
    pub fn new(switch: Switch) -> Shared {
        let inbox = switch.driver.inbox.clone();
        Shared { switch: Mutex::new(switch), inbox }
    }

    /// Takes the lock, waiting for it.
    pub fn run(&self) -> Running<'_> {
        let switch = self.switch.lock().unwrap_or_else(PoisonError::into_inner);
        Running { shared: self, switch: Some(switch) }
    }

    /// Takes the lock if it is free.
    pub fn try_run(&self) -> Option<Running<'_>> {
        try_lock(&self.switch).map(|switch| Running { shared: self, switch: Some(switch) })
    }

    /// Serves waiting requests, unless another thread holds the lock and will serve them.
    pub fn serve_if_idle(&self) {
        while self.inbox.has_waiting()
            && let Some(mut switch) = try_lock(&self.switch)
        {
            switch.serve_waiting();
            switch.publish();
        }
    }
}

/// The held lock. Its drop serves the requests that arrived meanwhile.
pub(crate) struct Running<'s> {
    shared: &'s Shared,
    /// `None` only during the drop.
    switch: Option<MutexGuard<'s, Switch>>,
}

const ALWAYS_THERE: &str = "the guard is present until the drop";

impl Deref for Running<'_> {
    type Target = Switch;

    #[inline]
    fn deref(&self) -> &Switch {
        self.switch.as_ref().expect(ALWAYS_THERE)
    }
}

impl DerefMut for Running<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Switch {
        self.switch.as_mut().expect(ALWAYS_THERE)
    }
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        self.publish();
        self.shared.inbox.note_time(self.core.now_ps);
        self.switch = None;
        if self.shared.inbox.has_waiting() {
            self.shared.serve_if_idle();
        }
    }
}

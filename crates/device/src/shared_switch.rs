// SPDX-License-Identifier: Apache-2.0
//! The lock around a switch that its device and its targets share. The holder serves the requests that arrived meanwhile
//! when it releases the lock. Threads that meet at the lock note that the device runs beside its controllers
//! ([`ControlInbox::runs_beside`]); targets then leave their requests in the inbox.

use crate::control_inbox::ControlInbox;
use crate::own_line::OwnLine;
use crate::switch::Switch;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A switch shared by its device and its targets.
#[derive(Debug)]
pub(crate) struct Shared {
    switch: OwnLine<Mutex<Switch>>,
    pub inbox: Arc<ControlInbox>,
}

impl Shared {
    /// Shares a switch.
    pub fn new(switch: Switch) -> Shared {
        let inbox = switch.driver.inbox.clone();
        Shared { switch: OwnLine(Mutex::new(switch)), inbox }
    }

    /// Takes the lock, waiting for it.
    #[inline]
    pub fn run(&self) -> Running<'_> {
        self.try_run().unwrap_or_else(|| {
            let switch = self.switch.0.lock().unwrap_or_else(PoisonError::into_inner);
            Running { shared: self, switch: Some(switch) }
        })
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_run(&self) -> Option<Running<'_>> {
        let switch = self.try_lock();
        if switch.is_none() {
            self.inbox.set_runs_beside(true);
        }
        switch.map(|switch| Running { shared: self, switch: Some(switch) })
    }

    /// Takes the lock if it is free. A poisoned lock is taken too: errors are values here, so a panic elsewhere leaves
    /// the switch consistent.
    #[inline]
    fn try_lock(&self) -> Option<MutexGuard<'_, Switch>> {
        match self.switch.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Serves waiting requests, unless another thread holds the lock and will serve them.
    pub fn serve_if_idle(&self) {
        while self.inbox.has_waiting()
            && let Some(mut switch) = self.try_lock()
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

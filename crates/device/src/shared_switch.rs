// SPDX-License-Identifier: Apache-2.0
//! The lock around a switch that its device and its targets share. Requests that arrive while the switch is
//! in use are served when it is given back.

use crate::control_request::{ControlInbox, try_lock};
use crate::switch::Switch;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A switch that its device and its targets share.
#[derive(Debug)]
pub(crate) struct Shared {
    switch: Mutex<Switch>,
    pub inbox: Arc<ControlInbox>,
}

impl Shared {
    /// A switch to share.
    pub fn new(switch: Switch) -> Shared {
        let inbox = switch.driver.inbox.clone();
        Shared { switch: Mutex::new(switch), inbox }
    }

    /// The switch, as soon as it is free.
    pub fn run(&self) -> Running<'_> {
        let switch = self.switch.lock().unwrap_or_else(PoisonError::into_inner);
        Running { shared: self, switch: Some(switch) }
    }

    /// The switch, if it is free.
    pub fn try_run(&self) -> Option<Running<'_>> {
        try_lock(&self.switch).map(|switch| Running { shared: self, switch: Some(switch) })
    }

    /// Serves requests that wait, unless the one who has the switch will.
    pub fn serve_if_idle(&self) {
        while self.inbox.has_waiting()
            && let Some(mut switch) = try_lock(&self.switch)
        {
            switch.serve_waiting();
            switch.publish();
        }
    }
}

/// The switch in use. When it is given back, requests that arrived meanwhile are served.
pub(crate) struct Running<'s> {
    shared: &'s Shared,
    /// `None` only while it is given back.
    switch: Option<MutexGuard<'s, Switch>>,
}

const ALWAYS_THERE: &str = "the switch is there until it is given back";

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

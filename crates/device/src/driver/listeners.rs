// SPDX-License-Identifier: Apache-2.0
//! Controllers that listen for notifications. Sending is decided in `notifying`.

use crate::control_request::{Mailbox, TargetProgram};
use control::target::Notification;
use std::sync::{Arc, Weak};

/// Controllers that listen, and what they have seen.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    /// With the program that each listens to.
    mailboxes: Vec<(TargetProgram, Weak<Mailbox>)>,
    pub digests_seen: usize,
    pub packets_seen: usize,
    /// When entries are looked at next.
    pub idle_check_ps: Option<u64>,
}

impl Listeners {
    /// Adds a controller that listens to a program.
    pub fn add(&mut self, of: TargetProgram, mailbox: &Arc<Mailbox>) {
        self.mailboxes.push((of, Arc::downgrade(mailbox)));
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.mailboxes.is_empty()
    }

    /// Whether a controller listens to one of these programs.
    pub fn any(&self, is_one: impl Fn(TargetProgram) -> bool) -> bool {
        self.mailboxes.iter().any(|(of, _)| is_one(*of))
    }

    /// Sends a notification to those that listen to one of these programs and are still there.
    pub fn notify(&mut self, notification: &Notification, is_one: impl Fn(TargetProgram) -> bool) {
        self.mailboxes.retain(|(of, mailbox)| match mailbox.upgrade() {
            Some(mailbox) => {
                if is_one(*of) {
                    mailbox.notify(notification.clone());
                }
                true
            }
            None => false,
        });
    }
}

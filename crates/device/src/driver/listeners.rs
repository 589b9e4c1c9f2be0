// SPDX-License-Identifier: Apache-2.0
//! `Listeners`: the controllers that receive notifications. `notifying` decides who receives what.

use crate::control_request::TargetProgram;
use crate::mailbox::Mailbox;
use control::target::Notification;
use std::sync::{Arc, Weak};

/// Controllers that receive notifications, and how much they have received.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    /// The mailbox of each controller with the program that it listens to.
    mailboxes: Vec<(TargetProgram, Weak<Mailbox>)>,
    pub digests_seen: usize,
    pub packets_seen: usize,
    /// Time of the next check for idle entries.
    pub idle_check_ps: Option<u64>,
}

impl Listeners {
    /// Adds a controller that listens to a program.
    pub fn add(&mut self, target: TargetProgram, mailbox: &Arc<Mailbox>) {
        self.mailboxes.push((target, Arc::downgrade(mailbox)));
    }

    /// Returns whether no controller listens.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.mailboxes.is_empty()
    }

    /// Returns whether a controller listens to one of these programs.
    pub fn any(&self, is_one: impl Fn(TargetProgram) -> bool) -> bool {
        self.mailboxes.iter().any(|(target, _)| is_one(*target))
    }

    /// Sends a notification to the controllers that listen to one of these programs, and forgets dropped ones.
    pub fn notify(&mut self, notification: &Notification, is_one: impl Fn(TargetProgram) -> bool) {
        self.mailboxes.retain(|(target, mailbox)| match mailbox.upgrade() {
            Some(mailbox) => {
                if is_one(*target) {
                    mailbox.notify(notification.clone());
                }
                true
            }
            None => false,
        });
    }
}

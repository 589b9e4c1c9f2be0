// SPDX-License-Identifier: Apache-2.0
//! Controllers that listen for notifications. What they are told is in `notifying`.

use crate::control_request::Mailbox;
use control::target::Notification;
use std::sync::Weak;

/// Controllers that listen, and what they have seen.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    pub mailboxes: Vec<Weak<Mailbox>>,
    pub digests_seen: usize,
    pub packets_seen: usize,
    /// When entries are looked at next.
    pub idle_check_ps: Option<u64>,
}

impl Listeners {
    /// Sends a notification to all of them that are still there.
    pub fn notify(&mut self, notification: &Notification) {
        self.mailboxes.retain(|mailbox| match mailbox.upgrade() {
            Some(mailbox) => {
                mailbox.notify(notification.clone());
                true
            }
            None => false,
        });
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `Mailbox`: answers and notifications for one controller. The controller polls without the lock while there is none.

use control::target::{Batch, Notification, Outcome, Ticket};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub ticket: Ticket,
    pub outcome: Outcome,
    /// The batch that is answered. The thread that made it frees it.
    pub spent: Batch,
}

#[derive(Debug, Default)]
pub(crate) struct Mail {
    answers: VecDeque<Answer>,
    pub notifications: VecDeque<Notification>,
    /// Threads that wait for an answer.
    waiters: usize,
}

/// Answers and notifications for one controller.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    arrived: Condvar,
    /// Number of answers that were not taken.
    answers: AtomicUsize,
    /// Number of requests that the device has not answered yet.
    outstanding: AtomicUsize,
}

impl Mailbox {
    pub fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request whose answer is missing.
    pub fn begin(&self) {
        self.outstanding.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request as answered whose answer does not come by the mailbox.
    pub fn end(&self) {
        self.outstanding.fetch_sub(1, Ordering::Release);
    }

    /// Returns the number of requests that the device has not answered yet.
    pub fn outstanding(&self) -> usize {
        self.outstanding.load(Ordering::Acquire)
    }

    /// Puts the answer to a request, if it has one.
    pub fn put(&self, answer: Option<Answer>) {
        let mut mail = self.mail();
        if let Some(answer) = answer {
            mail.answers.push_back(answer);
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
        self.end();
        let has_waiters = mail.waiters > 0;
        drop(mail);
        if has_waiters {
            self.arrived.notify_all();
        }
    }

    /// Takes the answer to a request, if it is there.
    pub fn take(&self, ticket: Ticket) -> Option<Outcome> {
        if self.answers.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut mail = self.mail();
        let at = mail.answers.iter().position(|answer| answer.ticket == ticket)?;
        let answer = mail.answers.remove(at);
        self.answers.fetch_sub(1, Ordering::Relaxed);
        drop(mail);
        answer.map(|Answer { outcome, spent, .. }| {
            drop(spent);
            outcome
        })
    }

    /// Waits for the answer to a request, at most for this time.
    pub fn wait(&self, ticket: Ticket, timeout: Duration) {
        let mut mail = self.mail();
        if mail.answers.iter().any(|answer| answer.ticket == ticket) {
            return;
        }
        mail.waiters += 1;
        let waited = self.arrived.wait_timeout(mail, timeout);
        waited.unwrap_or_else(PoisonError::into_inner).0.waiters -= 1;
    }

    /// Adds a notification.
    pub fn notify(&self, notification: Notification) {
        self.mail().notifications.push_back(notification);
    }
}

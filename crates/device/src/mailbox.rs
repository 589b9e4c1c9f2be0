// SPDX-License-Identifier: Apache-2.0
//! `Mailbox`: answers and notifications for one controller. The controller polls without the lock while there is none.

use crate::own_line::OwnLine;
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
    answers: Vec<Answer>,
    pub notifications: VecDeque<Notification>,
    /// Threads that wait for an answer.
    waiters: usize,
}

/// Answers and notifications for one controller.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    arrived: Condvar,
    /// Number of requests that are answered. The controller polls it, so nothing else is in its line.
    answered: OwnLine<AtomicUsize>,
}

impl Mailbox {
    pub fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of requests that are answered.
    pub fn answered(&self) -> usize {
        self.answered.0.load(Ordering::Acquire)
    }

    /// Counts a request as answered whose answer, if it has one, does not come by the mailbox.
    pub fn note_answered(&self) {
        // The controller takes the lock when it sees this.
        self.answered.0.fetch_add(1, Ordering::Release);
    }

    /// Puts the answer to a request.
    pub fn put(&self, answer: Answer) {
        let mut mail = self.mail();
        mail.answers.push(answer);
        let has_waiters = mail.waiters > 0;
        drop(mail);
        self.note_answered();
        if has_waiters {
            self.arrived.notify_all();
        }
    }

    /// Moves the answers behind those of a list.
    pub fn take(&self, answers: &mut VecDeque<(Ticket, Outcome)>) {
        let mut mail = self.mail();
        let found = mail.answers.drain(..).map(|Answer { ticket, outcome, spent }| {
            drop(spent);
            (ticket, outcome)
        });
        answers.extend(found);
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

// SPDX-License-Identifier: Apache-2.0
//! The driver of a device: the state of controllers' requests. `serve` answers them between two packets, either
//! immediately or, in `run_jobs`, after the time that a latency model gives; `notifying` sends notifications.

mod barriers;
mod job;
mod listeners;
mod notifying;
mod queues;
mod run_jobs;
mod serve;

use crate::control_inbox::ControlInbox;
use crate::control_request::Request;
use crate::mailbox::Mailbox;
use crate::output::AppliedUpdate;
use crate::packet::PassEpoch;
use control::latency::LatencyModel;
use control::target::{Batch, DeviceItem, Ticket};
use ir::Program;
use job::Job;
use listeners::Listeners;
use state::Store;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// A checked batch that its controller may commit.
#[derive(Debug)]
pub(crate) struct Reservation {
    pub mailbox: Arc<Mailbox>,
    pub ticket: Ticket,
    pub batch: Batch,
}

/// A barrier and the epoch of passes that it waits for.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub request: Request,
    pub passes: Weak<PassEpoch>,
}

#[derive(Debug)]
pub(crate) struct Driver {
    pub model: Option<LatencyModel>,
    pub seed: u64,
    /// The queue of requests, shared with targets on other threads.
    pub inbox: Arc<ControlInbox>,
    /// Batches in order of arrival; the driver works on the first one.
    pub jobs: VecDeque<Job>,
    pub next_job: u64,
    /// Whether the first job waits for a pinned version.
    pub is_job_held: bool,
    pub reservation: Option<Reservation>,
    /// Requests that wait for a reservation or for a pinned version, in order.
    pub held: VecDeque<Request>,
    /// In the order of their requests.
    pub barriers: VecDeque<Barrier>,
    pub listeners: Listeners,
    /// Settings of queues and packet generator by controllers, in order of effect.
    pub settings: Vec<DeviceItem>,
    /// Whether `applied` is filled.
    pub records_updates: bool,
    /// The updates since the device's caller took them.
    pub applied: Vec<AppliedUpdate>,
}

impl Driver {
    pub fn new(
        model: Option<LatencyModel>,
        seed: u64,
        program: &Arc<Program>,
        store: &Arc<Store>,
    ) -> Driver {
        let inbox = Arc::new(ControlInbox::new(program.clone(), store.clone()));
        inbox.watch(store);
        inbox.set_has_latency(model.is_some());
        Driver {
            model,
            seed,
            inbox,
            jobs: VecDeque::new(),
            next_job: 0,
            is_job_held: false,
            reservation: None,
            held: VecDeque::new(),
            barriers: VecDeque::new(),
            listeners: Listeners::default(),
            settings: Vec::new(),
            records_updates: false,
            applied: Vec::new(),
        }
    }
}

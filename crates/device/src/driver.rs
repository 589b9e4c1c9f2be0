// SPDX-License-Identifier: Apache-2.0
//! The driver of a device: what it keeps of controllers' requests. `serve` answers them between two packets, at
//! once or, in `run_jobs`, in the time that a latency model gives; `notifying` tells listeners what happens. How
//! requests come here is in `control_request`.

mod job;
mod listeners;
mod notifying;
mod queues;
mod run_jobs;
mod serve;

use crate::control_request::{Entry, Mailbox, Request};
use crate::packet::PassEpoch;
use control::latency::LatencyModel;
use control::target::{Batch, DeviceItem, Ticket};
use ir::Program;
use job::Job;
use listeners::Listeners;
use state::Store;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// A batch that was checked and is kept for its controller.
#[derive(Debug)]
pub(crate) struct Reservation {
    pub mailbox: Arc<Mailbox>,
    pub ticket: Ticket,
    pub batch: Batch,
}

/// A barrier and the passes that it waits for.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub request: Request,
    pub passes: Weak<PassEpoch>,
}

#[derive(Debug)]
pub(crate) struct Driver {
    pub model: Option<LatencyModel>,
    pub seed: u64,
    /// Where requests come in, and what other threads may do meanwhile.
    pub entry: Arc<Entry>,
    /// In order; the first one has the driver.
    pub jobs: VecDeque<Job>,
    pub next_job: u64,
    /// Whether pinned versions hold the first job up.
    pub is_job_held: bool,
    pub reservation: Option<Reservation>,
    /// Requests behind a reservation, or behind pinned versions, in order.
    pub held: VecDeque<Request>,
    /// In the order of their requests.
    pub barriers: VecDeque<Barrier>,
    pub listeners: Listeners,
    /// What controllers have set of queues and packet generator, in the order of its effect.
    pub settings: Vec<DeviceItem>,
}

impl Driver {
    pub fn new(
        model: Option<LatencyModel>,
        seed: u64,
        program: &Arc<Program>,
        store: &Arc<Store>,
    ) -> Driver {
        let entry = Arc::new(Entry::new(program.clone(), store.clone()));
        entry.watch(store);
        Driver {
            model,
            seed,
            entry,
            jobs: VecDeque::new(),
            next_job: 0,
            is_job_held: false,
            reservation: None,
            held: VecDeque::new(),
            barriers: VecDeque::new(),
            listeners: Listeners::default(),
            settings: Vec::new(),
        }
    }
}

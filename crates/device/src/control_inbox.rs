// SPDX-License-Identifier: Apache-2.0
//! `ControlInbox`: the queue of requests from targets on any thread to the driver, and what targets know of the device
//! without its lock. What the device writes with each burst and what targets write have cache lines of their own, so that
//! packets and controllers cost each other only what they exchange.

use crate::control_request::{Request, SharedProgram};
use crate::own_line::OwnLine;
use ir::Program;
use state::Store;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The queue of requests from targets to the driver.
#[derive(Debug)]
pub(crate) struct ControlInbox {
    /// The main program.
    pub main: SharedProgram,
    /// Whether the driver should retry requests that were waiting for a pinned version.
    looks_again: AtomicBool,
    is_gone: AtomicBool,
    /// Whether a latency model gives requests their times.
    has_latency: AtomicBool,
    /// Whether the device runs packets on another thread than that of a target: one has met the other at the lock.
    runs_beside: OwnLine<AtomicBool>,
    /// In order of arrival.
    requests: OwnLine<Mutex<VecDeque<Request>>>,
    /// Number of requests so far, and of settings of `looks_again`. The device reads it with each burst.
    arrived: OwnLine<AtomicUsize>,
    /// How many of them the driver has taken. Only the holder of the switch's lock writes it.
    taken: OwnLine<AtomicUsize>,
    now_ps: OwnLine<AtomicU64>,
}

impl ControlInbox {
    /// Makes the inbox of a device that runs this program.
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> ControlInbox {
        ControlInbox {
            main: SharedProgram::new(program, store),
            looks_again: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            has_latency: AtomicBool::new(false),
            runs_beside: OwnLine::default(),
            requests: OwnLine::default(),
            arrived: OwnLine::default(),
            taken: OwnLine::default(),
            now_ps: OwnLine::default(),
        }
    }

    /// Returns the device's time in picoseconds. A thread that calls it often slows the device down.
    pub fn now_ps(&self) -> u64 {
        self.now_ps.0.load(Ordering::Relaxed)
    }

    /// Publishes the device's time to targets. Returns whether requests wait.
    #[inline]
    pub fn note_time(&self, now_ps: u64) -> bool {
        if self.now_ps() != now_ps {
            self.now_ps.0.store(now_ps, Ordering::Relaxed);
        }
        self.has_waiting()
    }

    /// Returns whether requests wait.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.arrived.0.load(Ordering::SeqCst) != self.taken.0.load(Ordering::SeqCst)
    }

    /// Takes the first request. For the holder of the switch's lock.
    pub fn take(&self) -> Option<Request> {
        if !self.has_waiting() {
            return None;
        }
        let request = self.requests.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if request.is_some() {
            self.note_taken();
        }
        request
    }

    fn note_taken(&self) {
        let taken = self.taken.0.load(Ordering::Relaxed);
        self.taken.0.store(taken.wrapping_add(1), Ordering::SeqCst);
    }

    /// Appends a request.
    pub fn put(&self, request: Request) {
        let mut requests = self.requests.0.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push_back(request);
        drop(requests);
        // Last, so that the driver finds the lock free.
        self.arrived.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Makes the driver retry waiting requests when a pinned version of this store is released.
    pub fn watch(self: &Arc<ControlInbox>, store: &Store) {
        let inbox = Arc::downgrade(self);
        store.on_release(move || {
            if let Some(inbox) = inbox.upgrade()
                && !inbox.looks_again.swap(true, Ordering::SeqCst)
            {
                inbox.arrived.0.fetch_add(1, Ordering::SeqCst);
            }
        });
    }

    /// Returns whether a pinned version was released since the last call. For the holder of the switch's lock.
    pub fn take_release(&self) -> bool {
        let is_released = self.looks_again.load(Ordering::SeqCst)
            && self.looks_again.swap(false, Ordering::SeqCst);
        if is_released {
            self.note_taken();
        }
        is_released
    }

    /// Returns whether the device runs packets on another thread than that of a target, as far as is known.
    #[inline]
    pub fn runs_beside(&self) -> bool {
        self.runs_beside.0.load(Ordering::Relaxed)
    }

    /// Notes whether the device runs packets on another thread than that of a target.
    pub fn set_runs_beside(&self, runs_beside: bool) {
        self.runs_beside.0.store(runs_beside, Ordering::Relaxed);
    }

    /// Returns whether a latency model gives requests their times.
    pub fn has_latency(&self) -> bool {
        self.has_latency.load(Ordering::Relaxed)
    }

    /// Notes whether a latency model gives requests their times.
    pub fn set_has_latency(&self, has_latency: bool) {
        self.has_latency.store(has_latency, Ordering::Relaxed);
    }

    /// Refuses all further requests, as the device is dropped.
    pub fn close(&self) {
        self.is_gone.store(true, Ordering::Release);
    }

    /// Returns whether the device was dropped.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! [`Others`]: what runs the workers beside the first one: a thread each, or on the caller's thread a schedule that chooses
//! who takes the next step. Both run the same workers.

use super::worker::{Progress, Worker};
use crate::work::Work;
use std::fmt;
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

/// Chooses among so many alternatives.
pub type Schedule = Box<dyn FnMut(usize) -> usize>;

/// Polls without success after which a worker lets other threads run.
const SPINS: u32 = 100;
/// Polls without success after which a worker sleeps.
const YIELDS: u32 = 200;
/// The longest sleep of a worker.
const SLEEP: Duration = Duration::from_micros(100);

/// Waiting for other workers: at first attentive, later cheap.
#[derive(Debug, Default)]
pub(super) struct Patience(u32);

impl Patience {
    /// Waits a little, longer each time.
    pub(super) fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            0..SPINS => std::hint::spin_loop(),
            SPINS..YIELDS => std::thread::yield_now(),
            _ => std::thread::park_timeout(SLEEP),
        }
    }

    /// Something came.
    pub(super) fn reset(&mut self) {
        self.0 = 0;
    }
}

/// The workers beside the first one.
pub(super) enum Others<W: Work> {
    Threads { handles: Vec<JoinHandle<Worker<W>>>, patience: Patience },
    Scheduled { workers: Vec<Worker<W>>, schedule: Schedule },
}

impl<W: Work> fmt::Debug for Others<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, count) = match self {
            Others::Threads { handles, .. } => ("Threads", handles.len()),
            Others::Scheduled { workers, .. } => ("Scheduled", workers.len()),
        };
        formatter.debug_tuple(name).field(&count).finish()
    }
}

impl<W: Work + Send + 'static> Others<W>
where
    W::Packet: Send,
{
    /// Gives each worker a thread.
    ///
    /// # Errors
    ///
    /// The system has no further thread.
    pub(super) fn on_threads(workers: Vec<Worker<W>>) -> std::io::Result<Others<W>> {
        let spawn = |(worker, number): (Worker<W>, usize)| {
            let name = format!("pipeline {number}");
            std::thread::Builder::new().name(name).spawn(move || run(worker))
        };
        let handles = workers.into_iter().zip(1..).map(spawn).collect::<Result<_, _>>()?;
        Ok(Others::Threads { handles, patience: Patience::default() })
    }
}

/// Runs a worker to its end.
fn run<W: Work>(mut worker: Worker<W>) -> Worker<W> {
    let mut patience = Patience::default();
    loop {
        match worker.step() {
            Progress::Worked => patience.reset(),
            Progress::Idle => patience.wait(),
            Progress::Ended => return worker,
        }
    }
}

impl<W: Work> Others<W> {
    /// Lets them work between two steps of the first worker, which is idle or not.
    ///
    /// # Panics
    ///
    /// A worker has panicked, or with a schedule: nobody can go on.
    pub(super) fn work(&mut self, first_is_idle: bool) {
        match self {
            Others::Threads { handles, patience } => {
                if !first_is_idle {
                    return patience.reset();
                }
                if let Some(at) = handles.iter().position(JoinHandle::is_finished)
                    && let Err(panic) = handles.swap_remove(at).join()
                {
                    std::panic::resume_unwind(panic);
                }
                patience.wait();
            }
            Others::Scheduled { workers, schedule } => loop {
                let able = workers.iter_mut().filter(|worker| worker.can_work());
                let mut able: Vec<&mut Worker<W>> = able.collect();
                assert!(!(first_is_idle && able.is_empty()), "no worker can go on");
                let stays = usize::from(!first_is_idle);
                match schedule(able.len() + stays) {
                    chosen if chosen < able.len() => able[chosen].step(),
                    _ => return,
                };
                if first_is_idle {
                    return;
                }
            },
        }
    }

    /// Wakes those that sleep.
    pub(super) fn wake(&self) {
        if let Others::Threads { handles, .. } = self {
            handles.iter().map(JoinHandle::thread).for_each(Thread::unpark);
        }
    }

    /// Waits for their end, after they were told, and returns them.
    pub(super) fn end(&mut self) -> Vec<Worker<W>> {
        match self {
            Others::Threads { handles, .. } => {
                let joined = handles.drain(..).map(|handle| {
                    handle.thread().unpark();
                    handle.join()
                });
                joined.filter_map(Result::ok).collect()
            }
            Others::Scheduled { workers, .. } => std::mem::take(workers),
        }
    }
}

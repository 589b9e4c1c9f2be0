// SPDX-License-Identifier: Apache-2.0
//! Writes from other threads while a device forwards: batches of configuration go straight to the
//! current program's store, batches that touch registers, counters or meters to the device, which
//! carries them out between two packets. How a store carries a batch out is not here.

use ir::Program;
use state::{Batch, BatchItem, BatchOutcome, Store};
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

/// Why a batch was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It was made for a program that the device has not as its current one (any more): its tables and
    /// registers are others now. Make it anew for [`ControlHandle::program`].
    Swapped,
    /// The device is gone.
    DeviceGone,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Refusal::Swapped => "the device runs another program now; make the batch anew for it",
            Refusal::DeviceGone => "the device is gone",
        })
    }
}

impl std::error::Error for Refusal {}

type Answer = Result<BatchOutcome, Refusal>;

/// A batch on its way to the device.
#[derive(Debug)]
struct Message {
    program: Arc<Program>,
    batch: Batch,
    answer: Sender<Answer>,
}

/// The program that new packets meet, and its store.
#[derive(Debug)]
pub(crate) struct Current {
    pub program: Arc<Program>,
    pub store: Arc<Store>,
}

#[derive(Debug)]
struct Shared {
    /// Writers of configuration hold it for reading, a swap holds it for writing.
    current: RwLock<Current>,
    /// Messages sent and not yet answered.
    waiting: AtomicUsize,
    now_ps: AtomicU64,
}

/// A control plane's access to a device from any thread. Programs may be swapped meanwhile, so every
/// batch says for which program it was made.
#[derive(Clone, Debug)]
pub struct ControlHandle {
    shared: Arc<Shared>,
    sender: Sender<Message>,
}

/// What became of a batch.
#[derive(Debug)]
pub enum WriteOutcome {
    /// It was carried out.
    Done(BatchOutcome),
    /// The device will carry it out between two packets.
    Pending(Pending),
}

impl WriteOutcome {
    /// Waits until the device has carried it out, if that is still to come. The device does so when it
    /// next forwards or its clock is advanced, on the thread that does that.
    pub fn wait(self) -> Result<BatchOutcome, Refusal> {
        match self {
            WriteOutcome::Done(outcome) => Ok(outcome),
            WriteOutcome::Pending(pending) => pending.wait(),
        }
    }
}

/// The answer to a batch that the device carries out.
#[derive(Debug)]
pub struct Pending {
    answer: Receiver<Answer>,
}

impl Pending {
    /// Waits for it.
    pub fn wait(self) -> Result<BatchOutcome, Refusal> {
        self.answer.recv().unwrap_or(Err(Refusal::DeviceGone))
    }

    /// The answer, if it is there.
    pub fn poll(&self) -> Option<Result<BatchOutcome, Refusal>> {
        match self.answer.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Refusal::DeviceGone)),
        }
    }
}

impl ControlHandle {
    /// The program that new packets meet.
    pub fn program(&self) -> Arc<Program> {
        self.shared.current.read().unwrap_or_else(PoisonError::into_inner).program.clone()
    }

    /// Carries out a batch made for a program, at the device's time whatever the batch says. A batch
    /// of configuration only is visible to packets when this returns.
    pub fn write(&self, program: &Arc<Program>, mut batch: Batch) -> Result<WriteOutcome, Refusal> {
        if batch.items.iter().any(BatchItem::touches_cells) {
            let (answer, receiver) = channel();
            let message = Message { program: program.clone(), batch, answer };
            self.shared.waiting.fetch_add(1, Ordering::Release);
            if self.sender.send(message).is_err() {
                self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                return Err(Refusal::DeviceGone);
            }
            return Ok(WriteOutcome::Pending(Pending { answer: receiver }));
        }
        let current = self.shared.current.read().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current.program, program) {
            return Err(Refusal::Swapped);
        }
        batch.now_ps = self.shared.now_ps.load(Ordering::Relaxed);
        Ok(WriteOutcome::Done(current.store.write_configuration(batch)))
    }
}

/// The device's end.
#[derive(Debug)]
pub(crate) struct ControlReceiver {
    shared: Arc<Shared>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
}

impl ControlReceiver {
    pub fn new(program: Arc<Program>, store: Arc<Store>) -> ControlReceiver {
        let (sender, receiver) = channel();
        let shared = Shared {
            current: RwLock::new(Current { program, store }),
            waiting: AtomicUsize::new(0),
            now_ps: AtomicU64::new(0),
        };
        ControlReceiver { shared: Arc::new(shared), sender, receiver }
    }

    pub fn handle(&self) -> ControlHandle {
        ControlHandle { shared: self.shared.clone(), sender: self.sender.clone() }
    }

    /// Tells handles the time; says whether batches wait.
    #[inline]
    pub fn note_time(&self, now_ps: u64) -> bool {
        self.shared.now_ps.store(now_ps, Ordering::Relaxed);
        self.shared.waiting.load(Ordering::Acquire) > 0
    }

    /// Carries out the batches that wait for this program.
    pub fn carry_out(&self, program: &Arc<Program>, mut write: impl FnMut(Batch) -> BatchOutcome) {
        while let Ok(message) = self.receiver.try_recv() {
            let answer = match Arc::ptr_eq(&message.program, program) {
                true => Ok(write(message.batch)),
                false => Err(Refusal::Swapped),
            };
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            // Whoever asked may not be interested any more.
            let _ = message.answer.send(answer);
        }
    }

    /// Keeps writers out while programs are swapped.
    pub fn current(&self) -> RwLockWriteGuard<'_, Current> {
        self.shared.current.write().unwrap_or_else(PoisonError::into_inner)
    }
}

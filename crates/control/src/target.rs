// SPDX-License-Identifier: Apache-2.0
//! Targets: a program as written, with the requests that a controller makes of it and the notifications
//! that come back. A device implements [`Target`], and so does a control map in front of other targets
//! (`map`). Names are resolved in `resolve`; latency models are in `latency`.

mod batch;
mod notification;
mod prepared;

pub use batch::{
    Batch, DeviceItem, Fault, GeneratorTimer, Item, Outcome, QueueState, Reply, item_touches_cells,
};
pub use notification::Notification;
pub use prepared::{Prepared, prepare_default_action, prepare_entry, prepare_register};

use ir::{Program, TableId};
use state::Subscription;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of a request; a target's tickets never repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What a batch looks like to packets that run while it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// Each item takes effect at its own moment, and a range cell by cell. A pass may see some items and
    /// not others.
    Items,
    /// All items take effect at one moment, but a pass that runs at that moment may have read older state
    /// before it: a packet between ingress and egress, or a pass that takes time.
    Moment,
    /// A pass sees the whole batch or nothing of it.
    Pass,
}

/// A program as written that takes batches.
///
/// Requests never block. A target answers them in the order of their arrival unless its documentation says
/// otherwise; [`Target::poll`] returns an answer once. `at_ps` is the controller's time in picoseconds: a
/// time that the target has passed means now, a later one is waited for.
pub trait Target: Send {
    /// The program that batches speak of: tables, registers and the rest are addressed by its handles.
    fn program(&self) -> Arc<Program>;

    /// The target's time in picoseconds.
    fn now_ps(&self) -> u64;

    /// What packets see of a batch.
    fn visibility(&self) -> Visibility;

    /// Says whose requests come from now on. A target in which requests wait for one another lets controllers take turns.
    fn set_controller(&mut self, _controller: u32) {}

    /// Submits a batch.
    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket;

    /// Asks to check a batch without applying it. When every result of the outcome is good, the target keeps
    /// the batch and refuses other writes until [`Target::commit`] or [`Target::release`] of this ticket.
    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket;

    /// Applies a reserved batch. Only the loss of the target makes it fail.
    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket;

    /// Releases a reservation.
    fn release(&mut self, reservation: Ticket);

    /// Asks for an outcome without results once every pass that has begun by now has ended.
    fn barrier(&mut self, at_ps: u64) -> Ticket;

    /// Whether [`Target::submit_after_passes`] takes batches now.
    fn joins_barriers(&self) -> bool {
        false
    }

    /// A barrier and a batch in one request: the batch is served once every pass that has begun by now has ended.
    ///
    /// # Errors
    ///
    /// The batch, where the target takes a barrier and a batch one after the other only; the default.
    fn submit_after_passes(&mut self, batch: Batch, _at_ps: u64) -> Result<Ticket, Batch> {
        Err(batch)
    }

    /// The answer to a request, if it is there.
    fn poll(&mut self, ticket: Ticket) -> Option<Outcome>;

    /// Gives an outcome back, whose memory a later one may use. The default frees it.
    fn recycle(&mut self, _outcome: Outcome) {}

    /// Returns the notifications since the last call, in order.
    fn notifications(&mut self) -> Vec<Notification>;

    /// Subscribes to changes of these tables of the current program, by any controller. `None`: the target has no
    /// subscriptions. A swap of the program ends the subscription ([`Subscription::is_over`]).
    fn subscribe(&mut self, _tables: &[TableId]) -> Option<Subscription> {
        None
    }

    /// A time before which no answer comes, in picoseconds: the target's next event. `None` if it is not known.
    fn next_event_ps(&self) -> Option<u64> {
        None
    }

    /// Whether another thread serves requests now, so that an answer may come at any moment of the clock.
    fn is_served_beside(&self) -> bool {
        false
    }

    /// Whether an unanswered request waits for simulated time, so that [`Target::wait`] cannot succeed. The default
    /// says so.
    fn takes_time(&mut self, _ticket: Ticket) -> bool {
        true
    }

    /// Waits for an answer where it comes without simulated time, and gives [`Fault::TakesTime`] for each
    /// item where it does not. The default polls once.
    fn wait(&mut self, ticket: Ticket) -> Outcome {
        self.poll(ticket).unwrap_or_else(|| Outcome::failed(1, Fault::TakesTime, self.now_ps()))
    }

    /// Submits a batch at the target's time and waits for it.
    fn execute(&mut self, batch: Batch) -> Outcome {
        let now_ps = self.now_ps();
        let ticket = self.submit(batch, now_ps);
        self.wait(ticket)
    }
}

/// Implements [`Target`] for a holder of a target; `$held` reaches it.
macro_rules! held_target {
    ($holder:ty, $self:ident => $held:expr) => {
        impl<T: Target + ?Sized> Target for $holder {
            fn program(&$self) -> Arc<Program> {
                $held.program()
            }

            fn now_ps(&$self) -> u64 {
                $held.now_ps()
            }

            fn visibility(&$self) -> Visibility {
                $held.visibility()
            }

            fn set_controller(&mut $self, controller: u32) {
                $held.set_controller(controller);
            }

            fn submit(&mut $self, batch: Batch, at_ps: u64) -> Ticket {
                $held.submit(batch, at_ps)
            }

            fn reserve(&mut $self, batch: Batch, at_ps: u64) -> Ticket {
                $held.reserve(batch, at_ps)
            }

            fn commit(&mut $self, reservation: Ticket, at_ps: u64) -> Ticket {
                $held.commit(reservation, at_ps)
            }

            fn release(&mut $self, reservation: Ticket) {
                $held.release(reservation);
            }

            fn barrier(&mut $self, at_ps: u64) -> Ticket {
                $held.barrier(at_ps)
            }

            fn joins_barriers(&$self) -> bool {
                $held.joins_barriers()
            }

            fn submit_after_passes(
                &mut $self,
                batch: Batch,
                at_ps: u64,
            ) -> Result<Ticket, Batch> {
                $held.submit_after_passes(batch, at_ps)
            }

            fn poll(&mut $self, ticket: Ticket) -> Option<Outcome> {
                $held.poll(ticket)
            }

            fn recycle(&mut $self, outcome: Outcome) {
                $held.recycle(outcome);
            }

            fn notifications(&mut $self) -> Vec<Notification> {
                $held.notifications()
            }

            fn subscribe(&mut $self, tables: &[TableId]) -> Option<Subscription> {
                $held.subscribe(tables)
            }

            fn next_event_ps(&$self) -> Option<u64> {
                $held.next_event_ps()
            }

            fn is_served_beside(&$self) -> bool {
                $held.is_served_beside()
            }

            fn takes_time(&mut $self, ticket: Ticket) -> bool {
                $held.takes_time(ticket)
            }

            fn wait(&mut $self, ticket: Ticket) -> Outcome {
                $held.wait(ticket)
            }

            fn execute(&mut $self, batch: Batch) -> Outcome {
                $held.execute(batch)
            }
        }
    };
}

held_target!(Box<T>, self => (**self));
// Holders of one target take turns; each gets the answers to its own tickets, and the first one that asks gets a
// notification.
held_target!(Arc<Mutex<T>>, self => self.lock().unwrap_or_else(PoisonError::into_inner));
held_target!(OfController<T>, self => self.lock());

/// A controller's access to a target that several controllers share, on any thread.
pub struct OfController<T: ?Sized> {
    number: u32,
    target: Arc<Mutex<T>>,
}

impl<T: Target + ?Sized> OfController<T> {
    /// The access of the controller with this number. Controllers of one number are one to the target.
    pub fn new(target: &Arc<Mutex<T>>, number: u32) -> OfController<T> {
        OfController { number, target: target.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        let mut target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        target.set_controller(self.number);
        target
    }
}

impl fmt::Debug for dyn Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "target of `{}`", self.program().architecture)
    }
}

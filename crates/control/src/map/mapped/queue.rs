// SPDX-License-Identifier: Apache-2.0
//! Requests that wait for plans before them. Batches that wait one behind the other begin as one plan where none of them
//! depends on the end of another, so a map that needs a barrier for each plan needs one for all of them.

use crate::target::{Batch, Item, Ticket};
use state::{Atomicity, BatchItem};
use std::collections::VecDeque;

/// Most items of batches that begin as one plan.
const MAX_JOINED_ITEMS: usize = 256;

/// A request that waits for plans before it.
#[derive(Debug)]
pub(super) enum Queued {
    Batch(Ticket, Batch, u64),
    Barrier(Ticket, u64),
}

/// Batches that begin as one, with the number of items of each.
#[derive(Debug)]
pub(super) struct Joined {
    pub askers: Vec<(Ticket, usize)>,
    pub batch: Batch,
    pub at_ps: u64,
}

impl Joined {
    /// One batch.
    pub fn one(ticket: Ticket, batch: Batch, at_ps: u64) -> Joined {
        Joined { askers: vec![(ticket, batch.items.len())], batch, at_ps }
    }

    /// Takes the batches at the front of the queue that may begin with this one, and that are free to begin at their times.
    pub fn take_followers(
        &mut self,
        queue: &mut VecDeque<Queued>,
        is_free: impl Fn(&Batch, u64) -> bool,
    ) {
        if !may_join(&self.batch) || !is_free(&self.batch, self.at_ps) {
            return;
        }
        while let Some(Queued::Batch(_, batch, at_ps)) = queue.front()
            && may_join(batch)
            && is_free(batch, *at_ps)
            && self.batch.items.len() + batch.items.len() <= MAX_JOINED_ITEMS
            && let Some(Queued::Batch(ticket, batch, at_ps)) = queue.pop_front()
        {
            self.askers.push((ticket, batch.items.len()));
            self.batch.items.extend(batch.items);
            self.at_ps = self.at_ps.max(at_ps);
        }
    }
}

/// Whether a batch has the same effect and results at the same moment as another one that may join: each of its items stands
/// for itself and changes configuration. What reads, or writes cells, may need rows that earlier plans write last.
fn may_join(batch: &Batch) -> bool {
    let is_configuration = |item: &Item| match item {
        Item::State(BatchItem::Update(update)) => !update.touches_cells(),
        _ => false,
    };
    batch.atomicity == Atomicity::ContinueOnError && batch.items.iter().all(is_configuration)
}

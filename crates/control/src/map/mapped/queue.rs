// SPDX-License-Identifier: Apache-2.0
//! Requests that wait for plans before them. Controllers take turns, so that one with many requests does not hold up the
//! others. Batches of one controller that wait one behind the other begin as one plan where none of them depends on the end
//! of another, so a map that needs a barrier for each plan needs one for all of them.

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

/// The waiting requests of one controller, in order.
#[derive(Debug)]
pub(super) struct Line {
    controller: u32,
    pub requests: VecDeque<Queued>,
}

/// The waiting requests of all controllers. Each controller with requests has one line; the first one's turn is next.
#[derive(Debug, Default)]
pub(super) struct Turns(VecDeque<Line>);

impl Turns {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.0.iter().map(|line| line.requests.len()).sum()
    }

    /// Appends a request to the line of its controller.
    pub fn push(&mut self, controller: u32, request: Queued) {
        match self.0.iter_mut().find(|line| line.controller == controller) {
            Some(line) => line.requests.push_back(request),
            None => self.0.push_back(Line { controller, requests: [request].into() }),
        }
    }

    /// Returns the request whose turn is next.
    pub fn first(&self) -> Option<&Queued> {
        self.0.front()?.requests.front()
    }

    /// Takes the line whose turn it is. [`Turns::end_turn`] puts it back.
    pub fn begin_turn(&mut self) -> Option<Line> {
        self.0.pop_front()
    }

    /// Puts a line behind those of the other controllers.
    pub fn end_turn(&mut self, line: Line) {
        if !line.requests.is_empty() {
            self.0.push_back(line);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn order(requests: &[(u32, u64)]) -> Vec<u64> {
        let mut turns = Turns::default();
        for (controller, ticket) in requests {
            turns.push(*controller, Queued::Barrier(Ticket(*ticket), 0));
        }
        assert_eq!(turns.len(), requests.len());
        let mut order = Vec::new();
        while let Some(mut line) = turns.begin_turn() {
            if let Some(Queued::Barrier(ticket, _)) = line.requests.pop_front() {
                order.push(ticket.0);
            }
            turns.end_turn(line);
        }
        assert!(turns.is_empty());
        order
    }

    #[test]
    fn controllers_take_turns_and_keep_their_order() {
        assert_eq!(order(&[(7, 0), (7, 1), (7, 2)]), [0, 1, 2]);
        assert_eq!(order(&[(7, 0), (7, 1), (7, 2), (3, 3)]), [0, 3, 1, 2]);
        assert_eq!(order(&[(7, 0), (7, 1), (3, 2), (3, 3), (5, 4)]), [0, 2, 4, 1, 3]);
    }
}

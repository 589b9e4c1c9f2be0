// SPDX-License-Identifier: Apache-2.0
//! `Copies`: copies of a part of the forwarding side (a table, a profile, the replication engine). Versions share a
//! part while it does not change. To change it, the writer brings a spare copy up to date by replaying missed
//! changes, or makes a new copy. `publication` has the versions.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A part that changes step by step. Copies that replay the same changes are equal.
pub(super) trait Replay: Clone {
    type Change;

    fn replay(&mut self, change: &Self::Change);

    /// Returns the approximate number of changes that made it, a measure of the cost of a copy.
    fn size(&self) -> usize;
}

/// Counts the copies in memory.
#[derive(Debug)]
struct CopyCounter(Arc<AtomicUsize>);

impl CopyCounter {
    fn new(copies: &Arc<AtomicUsize>) -> CopyCounter {
        copies.fetch_add(1, Ordering::Relaxed);
        CopyCounter(copies.clone())
    }
}

impl Clone for CopyCounter {
    fn clone(&self) -> CopyCounter {
        CopyCounter::new(&self.0)
    }
}

impl Drop for CopyCounter {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One copy of a part, as versions share it.
#[derive(Clone, Debug)]
pub(crate) struct Part<P> {
    content: P,
    /// The number of changes applied to it.
    position: u64,
    _counter: CopyCounter,
}

impl<P> Deref for Part<P> {
    type Target = P;

    #[inline(always)]
    fn deref(&self) -> &P {
        &self.content
    }
}

/// Largest number of spare copies of a part.
const MAX_SPARES: usize = 2;

/// The second spare is dropped after this many batches that did not need it, or more for a large part: about as many
/// as cost what a copy costs.
const MIN_UNNEEDED: usize = 16;
const SIZE_PER_UNNEEDED: usize = 8;

/// Number of changes that a spare may miss before it is dropped, or more for a large part: beyond that a copy is
/// cheaper.
const MIN_MISSED: usize = 4096;
const SIZE_PER_MISSED: usize = 8;

/// The spare copies of a part, and the changes that they missed.
#[derive(Debug)]
pub(super) struct Copies<P: Replay> {
    alive: Arc<AtomicUsize>,
    /// The latest changes, up to the position of the current copy.
    log: VecDeque<P::Change>,
    /// Spare copies, which no version shares; the one that missed most changes is first.
    spares: Vec<Arc<Part<P>>>,
    /// Number of consecutive batches that left a spare unused.
    unneeded: usize,
}

impl<P: Replay> Copies<P> {
    /// Makes a part with this content and no spares.
    pub(super) fn of(content: P) -> (Copies<P>, Arc<Part<P>>) {
        let alive = Arc::new(AtomicUsize::new(0));
        let part = Part { content, position: 0, _counter: CopyCounter::new(&alive) };
        let (log, spares) = (VecDeque::new(), Vec::new());
        (Copies { alive, log, spares, unneeded: 0 }, Arc::new(part))
    }

    /// Returns the number of copies in memory, including those that only readers hold.
    pub(super) fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }

    /// Changes the current copy in `place`. If a version shares it, replaces it by another copy first. Returns
    /// whether that was a new copy.
    pub(super) fn change(&mut self, place: &mut Arc<Part<P>>, change: P::Change) -> bool {
        let is_new = Arc::get_mut(place).is_none() && self.replace(place);
        let Some(part) = Arc::get_mut(place) else { unreachable!("it was replaced") };
        part.content.replay(&change);
        part.position += 1;
        self.log.push_back(change);
        is_new
    }

    /// Returns the content of the copy in `place` for changes that need no replay, if no version shares it.
    pub(super) fn content_mut(place: &mut Arc<Part<P>>) -> Option<&mut P> {
        Arc::get_mut(place).map(|part| &mut part.content)
    }

    /// Replaces a shared copy by an equal one. Returns whether that is a new copy.
    fn replace(&mut self, place: &mut Arc<Part<P>>) -> bool {
        let end = place.position;
        let first = self.first(end);
        // The latest one: if two copies alternate, both stay in the processor's cache.
        while let Some(mut spare) = self.spares.pop() {
            if let Some(part) = Arc::get_mut(&mut spare)
                && part.position >= first
            {
                let missed = (part.position - first) as usize..;
                self.log.range(missed).for_each(|change| part.content.replay(change));
                part.position = end;
                self.drop_unneeded(part.size());
                *place = spare;
                return false;
            }
        }
        self.unneeded = 0;
        *place = Arc::new(Part::clone(place));
        true
    }

    /// Returns the position of the first change in the log, if the current copy is at `end`.
    fn first(&self, end: u64) -> u64 {
        end - self.log.len() as u64
    }

    fn drop_unneeded(&mut self, size: usize) {
        self.unneeded = if self.spares.is_empty() { 0 } else { self.unneeded + 1 };
        if self.unneeded > MIN_UNNEEDED.max(size / SIZE_PER_UNNEEDED) {
            self.spares.remove(0);
            self.unneeded = 0;
        }
    }

    /// Puts the current copy in `place`. Keeps an older copy there as a spare if no version shares it.
    pub(super) fn take_back(&mut self, place: &mut Arc<Part<P>>, current: &Arc<Part<P>>) {
        if Arc::ptr_eq(place, current) {
            return;
        }
        let mut old = std::mem::replace(place, current.clone());
        if Arc::get_mut(&mut old).is_some() && old.position >= self.first(current.position) {
            let at = self.spares.partition_point(|spare| spare.position <= old.position);
            self.spares.insert(at, old);
            if self.spares.len() > MAX_SPARES {
                self.spares.remove(0);
            }
        }
    }

    /// Removes changes from the log that all spares and all copies at these positions have, and drops spares that
    /// missed too many.
    pub(super) fn forget(&mut self, current: &Part<P>, positions: impl Iterator<Item = u64>) {
        let most = MIN_MISSED.max(current.size() / SIZE_PER_MISSED) as u64;
        let is_late = |position: u64| current.position - position > most;
        self.spares.retain(|spare| !is_late(spare.position));
        let spares = self.spares.iter().map(|spare| spare.position);
        let needed = spares.chain(positions).filter(|position| !is_late(*position)).min();
        let needed = needed.unwrap_or(current.position);
        let unneeded = needed.saturating_sub(self.first(current.position));
        self.log.drain(..(unneeded as usize).min(self.log.len()));
        if self.log.is_empty() && self.log.capacity() > MIN_MISSED {
            self.log = VecDeque::new();
        }
    }
}

impl<P> Part<P> {
    pub(super) fn position(&self) -> u64 {
        self.position
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `Ledger`: counts the living versions of a store and the pinned ones among them, and wakes threads that wait for a
//! release. A version lives while an object of it exists on either side; `store` and `forwarding` own the objects.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What pinned versions have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionStatistics {
    /// Older versions that readers hold now, on either side.
    pub pinned: usize,
    /// Largest number that readers held after a batch.
    pub most_pinned: usize,
    /// Batches that were refused, or had to wait, because too many versions were pinned.
    pub refused_batches: u64,
    /// Batches that changed a copy because readers held the current version.
    pub copies: u64,
    /// Tables of the forwarding side that were copied as a whole.
    pub copied_tables: u64,
}

type Callback = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Records {
    /// Versions that are alive, with how many objects there are of each. Mostly one or two.
    alive: Vec<(u64, u32)>,
    statistics: VersionStatistics,
    /// Number of released versions.
    releases: u64,
    /// Threads that wait for that.
    waiting: usize,
    /// Whether a batch was refused since the last release.
    is_awaited: bool,
    callback: Option<Callback>,
}

/// The versions of one store.
#[derive(Default)]
pub(crate) struct Ledger {
    records: Mutex<Records>,
    /// How many versions are alive, as of the latest change.
    alive: AtomicUsize,
    released: Condvar,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = self.records();
        let mut debug = formatter.debug_struct("Ledger");
        debug.field("alive", &records.alive).field("statistics", &records.statistics);
        debug.finish_non_exhaustive()
    }
}

impl Records {
    fn add(&mut self, version: u64) {
        match self.alive.iter_mut().rev().find(|(other, _)| *other == version) {
            Some((_, objects)) => *objects += 1,
            None => self.alive.push((version, 1)),
        }
    }

    /// Whether it was the last object of the version.
    fn remove(&mut self, version: u64) -> bool {
        let Some(at) = self.alive.iter().rposition(|(other, _)| *other == version) else {
            return false;
        };
        self.alive[at].1 -= 1;
        let is_last = self.alive[at].1 == 0;
        if is_last {
            self.alive.swap_remove(at);
        }
        is_last
    }

    fn pinned(&self, current: u64) -> usize {
        self.alive.iter().filter(|(version, _)| *version != current).count()
    }
}

impl Ledger {
    fn records(&self) -> MutexGuard<'_, Records> {
        // No code panics under the lock.
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether more than `most` versions may be pinned; some may live only because the writer has not taken
    /// them back yet.
    pub(crate) fn may_refuse(&self, most: usize) -> bool {
        self.alive.load(Ordering::Relaxed) > most + 1
    }

    /// If more than `most` versions are pinned, records that a batch waits for a release, and returns the argument of
    /// [`Ledger::wait`].
    pub(crate) fn refuse(&self, current: u64, most: usize) -> Option<u64> {
        let mut records = self.records();
        let refuses = records.pinned(current) > most;
        records.is_awaited |= refuses;
        refuses.then_some(records.releases)
    }

    /// Counts a refused batch.
    pub(crate) fn count_refusal(&self) {
        self.records().statistics.refused_batches += 1;
    }

    /// Waits until a version dies after [`Ledger::refuse`] gave this number, or until a time.
    pub(crate) fn wait(&self, releases: u64, until: Option<Instant>) -> bool {
        let mut records = self.records();
        records.waiting += 1;
        while records.releases == releases {
            records = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.released.wait(records).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(rest) => {
                    let waited = self.released.wait_timeout(records, rest);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        records.waiting -= 1;
        records.releases != releases
    }

    pub(crate) fn set_callback(&self, callback: Callback) {
        self.records().callback = Some(callback);
    }

    /// Records the cost of a batch.
    pub(crate) fn note_batch(&self, current: u64, is_copied: bool, copied_tables: usize) {
        if !is_copied && self.alive.load(Ordering::Relaxed) <= 1 {
            return;
        }
        let mut records = self.records();
        let pinned = records.pinned(current);
        let statistics = &mut records.statistics;
        statistics.most_pinned = statistics.most_pinned.max(pinned);
        statistics.copies += u64::from(is_copied);
        statistics.copied_tables += copied_tables as u64;
    }

    pub(crate) fn statistics(&self, current: u64) -> VersionStatistics {
        let records = self.records();
        VersionStatistics { pinned: records.pinned(current), ..records.statistics }
    }

    fn release(&self, version: u64) {
        let mut records = self.records();
        if !records.remove(version) {
            return;
        }
        self.alive.store(records.alive.len(), Ordering::Relaxed);
        records.releases += 1;
        // Without waiting threads it would be a needless system call.
        if records.waiting > 0 {
            self.released.notify_all();
        }
        if std::mem::take(&mut records.is_awaited)
            && let Some(callback) = records.callback.clone()
        {
            drop(records);
            callback();
        }
    }
}

/// An object of a version: the version is alive as long as one of its tokens is.
#[derive(Debug)]
pub(crate) struct VersionToken {
    ledger: Arc<Ledger>,
    version: u64,
    is_counted: bool,
}

impl VersionToken {
    pub(crate) fn new(ledger: &Arc<Ledger>, version: u64) -> VersionToken {
        let mut records = ledger.records();
        records.add(version);
        ledger.alive.store(records.alive.len(), Ordering::Relaxed);
        drop(records);
        VersionToken { ledger: ledger.clone(), version, is_counted: true }
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Moves the object to another version.
    pub(crate) fn set_version(&mut self, version: u64) {
        let mut records = self.ledger.records();
        if self.is_counted {
            records.remove(self.version);
        }
        records.add(version);
        self.ledger.alive.store(records.alive.len(), Ordering::Relaxed);
        drop(records);
        self.version = version;
        self.is_counted = true;
    }

    /// Removes the object from its version until [`VersionToken::set_version`].
    pub(crate) fn retire(&mut self) {
        if std::mem::take(&mut self.is_counted) {
            self.ledger.release(self.version);
        }
    }
}

impl Clone for VersionToken {
    fn clone(&self) -> VersionToken {
        VersionToken::new(&self.ledger, self.version)
    }
}

impl Drop for VersionToken {
    fn drop(&mut self) {
        self.retire();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(ledger: &Ledger, current: u64) -> usize {
        ledger.statistics(current).pinned
    }

    #[test]
    fn versions_count_once_however_many_objects_they_have() {
        let ledger = Arc::new(Ledger::default());
        let mut current = VersionToken::new(&ledger, 0);
        assert_eq!(pinned(&ledger, 0), 0);
        let one = current.clone();
        let other = VersionToken::new(&ledger, 0);
        current.set_version(1);
        assert_eq!((pinned(&ledger, 1), one.version(), current.version()), (1, 0, 1));
        drop(one);
        assert_eq!(pinned(&ledger, 1), 1);
        drop(other);
        assert_eq!(pinned(&ledger, 1), 0);
        current.retire();
        current.set_version(2);
        assert_eq!(pinned(&ledger, 1), 1);
    }

    #[test]
    fn a_release_wakes_those_who_were_refused() {
        let ledger = Arc::new(Ledger::default());
        let called = Arc::new(AtomicUsize::new(0));
        let count = called.clone();
        ledger.set_callback(Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        let tokens: Vec<_> = (0..3).map(|version| VersionToken::new(&ledger, version)).collect();
        let [one, other, _current] = tokens.try_into().expect("three");
        assert_eq!(ledger.refuse(2, 2), None);
        let ticket = ledger.refuse(2, 1).expect("two are pinned");
        let soon = Instant::now() + Duration::from_millis(1);
        assert!(!ledger.wait(ticket, Some(soon)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ledger.wait(ticket, None));
            drop(one);
            assert!(waiting.join().expect("it returns"));
        });
        assert_eq!(called.load(Ordering::Relaxed), 1);
        // No batch waits any more.
        drop(other);
        assert_eq!(called.load(Ordering::Relaxed), 1);
    }
}

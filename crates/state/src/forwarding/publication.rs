// SPDX-License-Identifier: Apache-2.0
//! `Publication`: publishes versions of the forwarding side by a pointer that the writer swaps. Neither readers nor
//! the writer wait for each other: readers keep the versions that they hold. `parts` changes the parts.

use super::ForwardingState;
use super::parts::Parts;
use crate::Configuration;
use crate::change::Change;
use crate::versions::Ledger;
use arc_swap::{ArcSwapOption, Cache};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of versions before the current one that the writer takes back when their readers release them: as many as a
/// control thread makes while a reader waits for its processor. Readers free older versions.
const LATE_VERSIONS: u64 = 4096;

/// A cached version for repeated reads: one load while there is no newer version. It pins its version until the next
/// read, so a thread that also writes must drop it before it writes.
#[derive(Debug)]
pub struct ForwardingCache(Cache<Arc<Published>, Option<Arc<ForwardingState>>>);

impl ForwardingCache {
    /// Returns the current version; `None` if it has to be built.
    #[inline]
    pub fn get(&mut self) -> Option<&Arc<ForwardingState>> {
        self.0.load().as_ref()
    }
}

type Published = ArcSwapOption<ForwardingState>;

/// The state of the writer.
#[derive(Debug)]
struct Writer {
    parts: Parts,
    /// Versions that late readers may still hold, the oldest first.
    retired: Vec<Arc<ForwardingState>>,
    /// The base of the next version: it has the parts of the current version and no readers.
    spare: Option<Arc<ForwardingState>>,
}

/// The published version, once one was requested.
#[derive(Debug)]
pub(crate) struct Publication {
    published: Arc<Published>,
    /// Present while a version is published.
    writer: Mutex<Option<Writer>>,
    ledger: Arc<Ledger>,
    advisor: OnceLock<fn(usize, usize)>,
}

impl Publication {
    /// Makes a publication without a version. The ledger counts versions.
    pub(crate) fn new(ledger: Arc<Ledger>) -> Publication {
        Publication {
            published: Arc::default(),
            writer: Mutex::default(),
            ledger,
            advisor: OnceLock::new(),
        }
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the function that the writer calls for large memory that lookups go to.
    pub(crate) fn set_advisor(&self, advisor: fn(usize, usize)) {
        // The first one stays.
        let _ = self.advisor.set(advisor);
    }

    /// The published version. Never waits for a writer.
    pub(crate) fn load(&self) -> Option<Arc<ForwardingState>> {
        self.published.load_full()
    }

    /// Keeps the published version, if there is one.
    pub(crate) fn cache(&self) -> ForwardingCache {
        ForwardingCache(Cache::new(self.published.clone()))
    }

    pub(crate) fn exists(&self) -> bool {
        self.published.load().is_some()
    }

    /// Copies in memory of the part of which there are most, those included that only readers hold.
    pub(crate) fn copies(&self) -> usize {
        self.writer().as_ref().map_or(0, |writer| writer.parts.most_copies())
    }

    /// Builds the first version, unless another thread has built it. The caller must hold off writers of the master.
    pub(crate) fn begin(&self, configuration: &Configuration) -> Arc<ForwardingState> {
        let mut writer = self.writer();
        self.load().unwrap_or_else(|| {
            let advisor = self.advisor.get().copied();
            let (parts, state) = Parts::build(configuration, &self.ledger, advisor);
            *writer = Some(Writer { parts, retired: Vec::new(), spare: None });
            let state = Arc::new(state);
            self.published.store(Some(state.clone()));
            state
        })
    }

    /// Publishes the version after these changes. Returns the number of tables that it had to copy. Readers of the
    /// current version keep it.
    pub(crate) fn publish(&self, changes: Vec<Change>, version: u64) -> usize {
        let mut writer = self.writer();
        let (Some(writer), Some(current)) = (&mut *writer, self.load()) else { return 0 };
        writer.take_back(&current);
        let spare = writer.spare.take();
        let mut next = spare.unwrap_or_else(|| Arc::new(ForwardingState::clone(&current)));
        drop(current);
        // No other reference exists, so this does not copy.
        let state = Arc::make_mut(&mut next);
        let replayed = writer.parts.replay(state, changes);
        state.set_version(version);
        if let Some(advisor) = self.advisor.get() {
            writer.parts.advise(state, &replayed, *advisor);
        }
        writer.retired.extend(self.published.swap(Some(next.clone())));
        writer.take_back(&next);
        writer.retired.retain(|late| late.version() + LATE_VERSIONS >= version);
        writer.parts.forget(&replayed, &next, &writer.retired);
        replayed.copied_tables
    }

    /// As `publish`, but changes the current version in place unless a reader holds it. The caller must hold off
    /// calls of `begin` while no version is published.
    pub(crate) fn publish_in_place(&self, changes: Vec<Change>, version: u64) -> usize {
        let Some(mut current) = self.published.swap(None) else { return 0 };
        let Some(state) = Arc::get_mut(&mut current) else {
            self.published.store(Some(current));
            return self.publish(changes, version);
        };
        let mut writer = self.writer();
        let Some(writer) = &mut *writer else { return 0 };
        writer.take_back(state);
        // It shares the parts of the current version, which have to be changed in place.
        writer.spare = None;
        let replayed = writer.parts.replay(state, changes);
        state.set_version(version);
        if let Some(advisor) = self.advisor.get() {
            writer.parts.advise(state, &replayed, *advisor);
        }
        writer.parts.forget(&replayed, state, &writer.retired);
        self.published.store(Some(current));
        replayed.copied_tables
    }

    /// Drops the writer's references to all older versions, so that the ledger counts only those that readers hold.
    pub(crate) fn release_retired(&self) {
        let mut writer = self.writer();
        if let (Some(writer), Some(current)) = (&mut *writer, self.load()) {
            writer.take_back(&current);
            writer.retired.clear();
        }
    }

    /// Takes back versions without readers, so that the ledger counts only those that readers hold.
    pub(crate) fn take_back(&self) {
        let mut writer = self.writer();
        if let (Some(writer), Some(current)) = (&mut *writer, self.load()) {
            writer.take_back(&current);
        }
    }

    /// Withdraws the published version until [`Publication::begin`].
    pub(crate) fn withdraw(&mut self) {
        self.published.store(None);
        *self.writer.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Writer {
    /// Takes back retired versions without readers and keeps one for the next version.
    fn take_back(&mut self, current: &ForwardingState) {
        let Writer { parts, retired, spare } = self;
        retired.retain_mut(|version| {
            let Some(state) = Arc::get_mut(version) else { return true };
            parts.take_back(state, current);
            state.token.retire();
            spare.get_or_insert_with(|| version.clone());
            false
        });
    }
}

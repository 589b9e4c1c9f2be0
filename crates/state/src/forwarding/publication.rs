// SPDX-License-Identifier: Apache-2.0
//! How versions of the forwarding side reach packets: two copies, of which packets read one while the
//! writer changes the other, and a pointer that is swapped between them. What a change does to a copy
//! is `change`'s matter.

use super::ForwardingState;
use crate::Configuration;
use crate::change::Change;
use arc_swap::{ArcSwapOption, Cache, Guard};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How often the writer looks again at once whether readers have left the spare copy.
const SPINS: usize = 200;

/// How often it then lets others run before it looks again.
const YIELDS: usize = 200;

/// How long it then sleeps before it looks again: the reader may wait for a processor.
const SLEEP: Duration = Duration::from_micros(100);

/// How often it sleeps, and how many entries make it one time more: waiting for longer than copying
/// takes is not worth it.
const LEAST_SLEEPS: usize = 20;
const ENTRIES_A_SLEEP: usize = 1000;

/// Changes that the spare copy may miss before it is given up: then copying is the cheaper way.
const LEAST_MISSED_CHANGES: usize = 4096;
const ENTRIES_A_MISSED_CHANGE: usize = 8;

/// A version that is looked at for a moment: cheaper to come by than a share of it, and to be given back
/// soon, as others wait for it.
#[derive(Debug)]
pub struct ForwardingGuard(Guard<Option<Arc<ForwardingState>>>);

impl ForwardingGuard {
    fn of(state: Arc<ForwardingState>) -> ForwardingGuard {
        ForwardingGuard(Guard::from_inner(Some(state)))
    }

    /// A share of the version, for whoever needs it for longer.
    pub fn into_shared(self) -> Arc<ForwardingState> {
        Guard::into_inner(self.0).expect(ALWAYS_THERE)
    }
}

const ALWAYS_THERE: &str = "guards are made of versions";

impl Deref for ForwardingGuard {
    type Target = ForwardingState;

    fn deref(&self) -> &ForwardingState {
        self.0.as_ref().expect(ALWAYS_THERE)
    }
}

/// A share of the version for whoever asks again and again: as long as there is no newer one, that is one load.
/// Writers do not get the copy back that it holds, so it is for whoever writes as well, and drops it before.
#[derive(Debug)]
pub struct ForwardingCache(Cache<Arc<Published>, Option<Arc<ForwardingState>>>);

impl ForwardingCache {
    /// The current version; `None` when it is to be built anew.
    #[inline]
    pub fn get(&mut self) -> Option<&Arc<ForwardingState>> {
        self.0.load().as_ref()
    }
}

type Published = ArcSwapOption<ForwardingState>;

/// What only the writer touches.
#[derive(Debug, Default)]
struct Writer {
    /// The copy that was published before, which late readers may still hold.
    spare: Option<Arc<ForwardingState>>,
    /// What was done to the published copy and not yet to the spare one.
    missed: Vec<Change>,
}

/// The published version, if anybody ever asked for one.
#[derive(Debug, Default)]
pub(crate) struct Publication {
    published: Arc<Published>,
    writer: Mutex<Writer>,
    copies: Arc<AtomicUsize>,
    advisor: OnceLock<fn(usize, usize)>,
}

impl Publication {
    /// From now on somebody is told, by the writer, of large memory that lookups go to.
    pub(crate) fn set_advisor(&self, advisor: fn(usize, usize)) {
        // One is enough.
        let _ = self.advisor.set(advisor);
    }

    fn advise(&self, state: &mut ForwardingState) {
        if let Some(advisor) = self.advisor.get() {
            state.advise(*advisor);
        }
    }

    /// The published version. Never waits for a writer.
    pub(crate) fn load(&self) -> Option<Arc<ForwardingState>> {
        self.published.load_full()
    }

    /// The same for a moment, or what `begin` makes.
    pub(crate) fn guard(&self, begin: impl FnOnce() -> Arc<ForwardingState>) -> ForwardingGuard {
        let published = self.published.load();
        match published.is_some() {
            true => ForwardingGuard(published),
            false => ForwardingGuard::of(begin()),
        }
    }

    /// Keeps the published version, if there is one.
    pub(crate) fn cache(&self) -> ForwardingCache {
        ForwardingCache(Cache::new(self.published.clone()))
    }

    pub(crate) fn exists(&self) -> bool {
        self.published.load().is_some()
    }

    /// Copies in memory, those included that only readers hold.
    pub(crate) fn copies(&self) -> usize {
        self.copies.load(Ordering::Relaxed)
    }

    /// Builds the first version, unless another thread was faster. The caller keeps writers of the
    /// master out.
    pub(crate) fn begin(&self, configuration: &Configuration) -> Arc<ForwardingState> {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.load().unwrap_or_else(|| {
            let mut state = ForwardingState::build(configuration, &self.copies);
            self.advise(&mut state);
            let state = Arc::new(state);
            self.published.store(Some(state.clone()));
            state
        })
    }

    /// Publishes the version after these changes of `entries` entries altogether. Readers of the
    /// current version are left alone.
    pub(crate) fn publish(&self, changes: Vec<Change>, version: u64, entries: usize) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut next) = self.take_spare(&mut writer, entries) else { return };
        // It is nobody else's, so this copies nothing.
        let state = Arc::make_mut(&mut next);
        for change in &changes {
            state.repeat(change);
        }
        state.set_version(version);
        self.advise(state);
        writer.spare = self.published.swap(Some(next));
        writer.missed = changes;
        writer.give_up_if_late(entries);
    }

    /// The same where nobody can ask for the version meanwhile: it is changed in place, unless somebody
    /// holds it.
    pub(crate) fn publish_in_place(&mut self, changes: Vec<Change>, version: u64, entries: usize) {
        let Some(mut current) = self.published.swap(None) else { return };
        let Some(state) = Arc::get_mut(&mut current) else {
            self.published.store(Some(current));
            return self.publish(changes, version, entries);
        };
        for change in &changes {
            state.repeat(change);
        }
        state.set_version(version);
        self.advise(state);
        self.published.store(Some(current));
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if writer.spare.is_some() {
            writer.missed.extend(changes);
            writer.give_up_if_late(entries);
        }
    }

    /// Forgets the published version, until [`Publication::begin`].
    pub(crate) fn withdraw(&mut self) {
        self.published.store(None);
        *self.writer.get_mut().unwrap_or_else(PoisonError::into_inner) = Writer::default();
    }

    /// A copy of the published version that nobody else holds: the spare one when its readers leave
    /// soon, else a new one.
    fn take_spare(&self, writer: &mut Writer, entries: usize) -> Option<Arc<ForwardingState>> {
        let missed = std::mem::take(&mut writer.missed);
        if let Some(mut spare) = writer.spare.take()
            && let Some(state) = wait_for_readers(&mut spare, entries)
        {
            for change in &missed {
                state.repeat(change);
            }
            return Some(spare);
        }
        self.load().map(|current| Arc::new(ForwardingState::clone(&current)))
    }
}

impl Writer {
    fn give_up_if_late(&mut self, entries: usize) {
        if self.missed.len() > LEAST_MISSED_CHANGES.max(entries / ENTRIES_A_MISSED_CHANGE) {
            *self = Writer::default();
        }
    }
}

/// The copy for changing, once nobody else holds it. Readers hold a version for microseconds; one that
/// holds it for longer is not waited for.
fn wait_for_readers(
    spare: &mut Arc<ForwardingState>,
    entries: usize,
) -> Option<&mut ForwardingState> {
    let sleeps = LEAST_SLEEPS.max(entries / ENTRIES_A_SLEEP);
    for attempt in 0..SPINS + YIELDS + sleeps {
        if Arc::get_mut(spare).is_some() {
            break;
        }
        if attempt < SPINS {
            std::hint::spin_loop();
        } else if attempt < SPINS + YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(SLEEP);
        }
    }
    Arc::get_mut(spare)
}

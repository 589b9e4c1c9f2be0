// SPDX-License-Identifier: Apache-2.0
//! Who watches a run of a compiled program: observers, and those that look at the devices besides.

use super::handler_runs::{InterceptedEvent, Replayed};
use super::simulation::CompiledSimulation;
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Progress};

/// An observer that looks at the devices after each handler.
pub(super) trait Watcher: Observer {
    /// An event leaves the network at a switch by a port although no handler generated it: it has no
    /// handler, or P4 of the user's sends it there.
    fn is_to_leave(&mut self, at: (u32, u32), bytes: Vec<u8>);

    /// P4 of the user's took an event that had arrived.
    fn intercepted(&mut self, event: InterceptedEvent);

    /// Whether it looks at all: otherwise [`Watcher::after_dispatches`] is not called, and a handler
    /// that cannot have run stops the run.
    fn judges(&self) -> bool;

    /// Handlers ran, all that a device ran at one time for one packet, and were observed. False stops
    /// the run there.
    fn after_dispatches(&mut self, simulation: &CompiledSimulation, ran: &[Replayed]) -> bool;
}

/// An observer that does not look.
pub(super) struct Plain<'o>(pub(super) &'o mut dyn Observer);

impl Observer for Plain<'_> {
    fn wants(&self) -> bool {
        self.0.wants()
    }

    fn wants_accesses(&self) -> bool {
        self.0.wants_accesses()
    }

    fn observe(&mut self, observation: Observation) {
        self.0.observe(observation);
    }

    fn progress(&mut self, progress: Progress) {
        self.0.progress(progress);
    }
}

impl Watcher for Plain<'_> {
    fn is_to_leave(&mut self, _: (u32, u32), _: Vec<u8>) {}

    fn intercepted(&mut self, _: InterceptedEvent) {}

    fn judges(&self) -> bool {
        false
    }

    fn after_dispatches(&mut self, _: &CompiledSimulation, _: &[Replayed]) -> bool {
        true
    }
}

/// The observer and what it wants.
pub(super) struct Watch<'o> {
    pub(super) observer: &'o mut dyn Watcher,
    /// Anything at all.
    pub(super) wanted: bool,
    /// Each access to a cell and each lookup.
    pub(super) tells_accesses: bool,
    /// To look at the devices after each handler.
    pub(super) judges: bool,
}

impl Watch<'_> {
    pub(super) fn new(observer: &mut dyn Watcher) -> Watch<'_> {
        let wanted = observer.wants();
        let tells_accesses = wanted && observer.wants_accesses();
        Watch { wanted, tells_accesses, judges: observer.judges(), observer }
    }

    pub(super) fn see(
        &mut self,
        time_ps: u64,
        switch: u32,
        kind: impl FnOnce() -> ObservationKind,
    ) {
        if self.wanted {
            self.observer.observe(Observation { time_ps, switch, kind: kind() });
        }
    }
}

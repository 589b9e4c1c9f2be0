// SPDX-License-Identifier: Apache-2.0
//! Distributes the observations of one run to several observers.

use crate::simulation::{Observation, ObservationKind, Observer, Progress};

/// Hands each observation to all of them, in order.
#[derive(Default)]
pub struct Observers<'o> {
    list: Vec<&'o mut dyn Observer>,
}

impl<'o> Observers<'o> {
    /// None yet.
    pub fn new() -> Observers<'o> {
        Observers::default()
    }

    /// Adds one.
    pub fn push(&mut self, observer: &'o mut dyn Observer) {
        self.list.push(observer);
    }
}

impl Observer for Observers<'_> {
    fn wants(&self) -> bool {
        self.list.iter().any(|observer| observer.wants())
    }

    fn wants_accesses(&self) -> bool {
        self.list.iter().any(|observer| observer.wants_accesses())
    }

    fn observe(&mut self, observation: Observation) {
        let access = matches!(
            observation.kind,
            ObservationKind::Accessed { .. } | ObservationKind::LookedUp { .. }
        );
        for observer in &mut self.list {
            // Other observers do not get what only one requested.
            if observer.wants() && (!access || observer.wants_accesses()) {
                observer.observe(observation.clone());
            }
        }
    }

    fn progress(&mut self, progress: Progress) {
        self.list.iter_mut().for_each(|observer| observer.progress(progress));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    struct CountingObserver {
        wants: bool,
        accesses: bool,
        seen: usize,
    }

    impl Observer for CountingObserver {
        fn wants(&self) -> bool {
            self.wants
        }

        fn wants_accesses(&self) -> bool {
            self.accesses
        }

        fn observe(&mut self, _: Observation) {
            self.seen += 1;
        }
    }

    #[test]
    fn each_gets_what_it_wants() {
        let new = |wants, accesses| CountingObserver { wants, accesses, seen: 0 };
        let mut list = [new(true, true), new(true, false), new(false, true)];
        let mut observers = Observers::new();
        list.iter_mut().for_each(|observer| observers.push(observer));
        assert!(observers.wants() && observers.wants_accesses());
        let all = example::observations();
        all.iter().cloned().for_each(|observation| observers.observe(observation));
        assert_eq!(list.map(|observer| observer.seen), [all.len(), all.len() - 3, 0]);
        assert!(!Observers::new().wants());
    }
}

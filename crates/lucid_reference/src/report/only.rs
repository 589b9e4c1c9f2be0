// SPDX-License-Identifier: Apache-2.0
//! A filter of observations by events: handlers of these events with their effects, and what happens to the events
//! themselves.

use crate::simulation::{Observation, ObservationKind, Observer, Occurrence};
use lucid::core::{EventId, Program};
use std::collections::HashSet;

/// Hands on the observations that are about some events. Without events it hands on all.
pub struct OnlyEvents<O> {
    observer: O,
    events: Option<HashSet<EventId>>,
    /// The last handler that ran, if it is of one of the events: its effects follow.
    handler: Option<Occurrence>,
}

/// Returns the events of these names: full ones, or as they are declared.
///
/// # Errors
///
/// A name that no event has, with the nearest name.
pub fn events_named(program: &Program, names: &[String]) -> Result<HashSet<EventId>, String> {
    let mut events = HashSet::new();
    for name in names {
        let before = events.len();
        for (number, event) in (0..).zip(&program.events) {
            if *event.name == **name || *event.declared_name == **name {
                events.insert(EventId(number));
            }
        }
        let is_known = program
            .events
            .iter()
            .any(|event| *event.name == **name || *event.declared_name == **name);
        if events.len() == before && !is_known {
            let all = program.events.iter().map(|event| &*event.declared_name);
            let nearest = source::nearest(name, all);
            let nearest = nearest.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!("the program has no event `{name}`{nearest}"));
        }
    }
    Ok(events)
}

impl<O> OnlyEvents<O> {
    /// A filter in front of an observer.
    pub fn new(observer: O, events: HashSet<EventId>) -> OnlyEvents<O> {
        let events = Some(events).filter(|events| !events.is_empty());
        OnlyEvents { observer, events, handler: None }
    }

    /// The observer behind the filter.
    pub fn into_inner(self) -> O {
        self.observer
    }

    fn is_about(&mut self, kind: &ObservationKind) -> bool {
        let Some(events) = &self.events else { return true };
        let by_handler = |by: &Occurrence| self.handler == Some(*by);
        match kind {
            ObservationKind::Handled { occurrence, event, .. } => {
                let is_chosen = events.contains(&event.event);
                self.handler = is_chosen.then_some(*occurrence);
                is_chosen
            }
            ObservationKind::Generated { by, event, .. } => {
                by_handler(by) || events.contains(&event.event)
            }
            ObservationKind::Left { event, .. } => events.contains(&event.event),
            ObservationKind::Dropped { event, .. } => {
                event.as_ref().is_some_and(|event| events.contains(&event.event))
            }
            ObservationKind::Printed { by, .. }
            | ObservationKind::OutOfRange { by, .. }
            | ObservationKind::TableFull { by, .. }
            | ObservationKind::Accessed { by, .. }
            | ObservationKind::LookedUp { by, .. }
            | ObservationKind::Called { by, .. } => by_handler(by),
            ObservationKind::LeftAsBytes { .. }
            | ObservationKind::Commanded { .. }
            | ObservationKind::Link { .. } => false,
        }
    }
}

impl<O: Observer> Observer for OnlyEvents<O> {
    fn wants(&self) -> bool {
        self.observer.wants()
    }

    fn wants_accesses(&self) -> bool {
        self.observer.wants_accesses()
    }

    fn observe(&mut self, observation: Observation) {
        if self.is_about(&observation.kind) {
            self.observer.observe(observation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::text::{Detail, TextLog};

    fn seen(names: &[&str]) -> Result<String, String> {
        let program = example::program();
        let names: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
        let events = events_named(&program, &names)?;
        let mut text = String::new();
        let log = TextLog::new(&program, Detail::Everything, |line| text.push_str(line));
        let mut filter = OnlyEvents::new(log, events);
        example::observations().into_iter().for_each(|observation| filter.observe(observation));
        filter.into_inner().finish();
        Ok(text)
    }

    #[test]
    fn only_some_events() {
        testing::assert_snapshot!(seen(&["reply"]).expect("an event"));
    }

    #[test]
    fn all_events_are_the_whole_log() {
        let all = seen(&[]).expect("no name");
        assert!(all.contains("command ") && all.contains("link "), "{all}");
        let both = seen(&["reply", "request", "reply"]).expect("events");
        assert!(both.contains("request(") && !both.contains("command "), "{both}");
    }

    #[test]
    fn unknown_events_are_errors() {
        let expected = "the program has no event `rely`; did you mean `reply`?";
        assert_eq!(seen(&["rely"]).expect_err("a wrong name"), expected);
    }
}

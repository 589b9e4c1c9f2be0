// SPDX-License-Identifier: Apache-2.0
//! Events that were still pending at the end of a run: generated and not yet handled, or inputs to
//! come.

use super::values::event_text;
use crate::interpreter::EventValue;
use crate::simulation::{Destination, Observation, ObservationKind, Observer, Occurrence};
use lucid::core::Program;
use source::quantity::nanoseconds;
use std::collections::HashMap;
use std::sync::Arc;

/// Events that are generated and not yet handled.
#[derive(Debug, Default)]
pub struct PendingEvents {
    events: HashMap<Occurrence, PendingEvent>,
}

/// A generated event: when it is due, in picoseconds, and where.
#[derive(Debug)]
struct PendingEvent {
    time_ps: u64,
    at: PendingEnd,
    event: Arc<EventValue>,
}

#[derive(Debug)]
enum PendingEnd {
    /// To be handled by this switch.
    Arrives(u32),
    /// To leave the network at this switch.
    Leaves(u32),
}

impl Observer for PendingEvents {
    fn observe(&mut self, observation: Observation) {
        match observation.kind {
            ObservationKind::Generated { occurrence, event, destination, .. } => {
                let from = observation.switch;
                let (time_ps, at) = match destination {
                    Destination::Recirculated { due_ps } => (due_ps, PendingEnd::Arrives(from)),
                    Destination::Switch { switch, arrives_ps } => {
                        (arrives_ps, PendingEnd::Arrives(switch))
                    }
                    Destination::Port { to: Some((switch, _)), arrives_ps, .. } => {
                        (arrives_ps, PendingEnd::Arrives(switch))
                    }
                    Destination::Port { to: None, arrives_ps, .. } => {
                        (arrives_ps, PendingEnd::Leaves(from))
                    }
                };
                self.events.insert(occurrence, PendingEvent { time_ps, at, event });
            }
            ObservationKind::Handled { occurrence, .. }
            | ObservationKind::Left { occurrence, .. }
            | ObservationKind::Dropped { occurrence, .. } => {
                self.events.remove(&occurrence);
            }
            _ => {}
        }
    }
}

impl PendingEvents {
    /// Nothing yet.
    pub fn new() -> PendingEvents {
        PendingEvents::default()
    }

    /// The number of pending events.
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// What was still to happen when the run was over at a time in picoseconds: events, and inputs from a
    /// time on. Nothing if all was done.
    pub fn text(
        &self,
        program: &Program,
        end_ps: u64,
        next_input_ps: Option<u64>,
    ) -> Option<String> {
        let next = self.events.iter().min_by_key(|(occurrence, due)| (due.time_ps, **occurrence));
        let events = next.map(|(_, due)| {
            let what = match due.at {
                PendingEnd::Arrives(switch) => format!("at switch {switch}"),
                PendingEnd::Leaves(switch) => format!("to leave at switch {switch}"),
            };
            let one = event_text(program, &due.event);
            let due = format!("{one}, due {what} at {} ns", nanoseconds(due.time_ps));
            match self.events.len() {
                1 => format!("1 event was waiting: {due}"),
                count => format!("{count} events were waiting, the next: {due}"),
            }
        });
        let inputs = next_input_ps
            .map(|time_ps| format!("inputs were to come, the next at {} ns", nanoseconds(time_ps)));
        let parts: Vec<String> = events.into_iter().chain(inputs).collect();
        let end = nanoseconds(end_ps);
        (!parts.is_empty()).then(|| format!("the run was over at {end} ns; {}", parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn check(seen: usize, next_input_ps: Option<u64>, expected: Option<&str>) {
        let mut waiting = PendingEvents::new();
        for observation in example::observations().into_iter().take(seen) {
            waiting.observe(observation);
        }
        let text = waiting.text(&example::program(), 1_000_500, next_input_ps);
        assert_eq!(text.as_deref(), expected);
    }

    #[test]
    fn what_was_still_to_happen() {
        let all = example::observations();
        let generated = |one: &Observation| matches!(one.kind, ObservationKind::Generated { .. });
        let first = all.iter().position(generated).expect("one") + 1;
        check(0, None, None);
        check(
            first,
            None,
            Some(
                "the run was over at 1000.5 ns; 1 event was waiting: request(src=2, ok=false), due \
                 at switch 1 at 700.5 ns",
            ),
        );
        check(
            first + 3,
            Some(2_000_000),
            Some(
                "the run was over at 1000.5 ns; 4 events were waiting, the next: reply(value=9), due \
                 to leave at switch 0 at 700 ns; inputs were to come, the next at 2000 ns",
            ),
        );
        check(
            all.len(),
            Some(2_000_000),
            Some("the run was over at 1000.5 ns; inputs were to come, the next at 2000 ns"),
        );
        check(all.len(), None, None);
    }
}

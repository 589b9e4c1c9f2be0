// SPDX-License-Identifier: Apache-2.0
//! Warns about events for a switch by its number that take another path because a link is down. The paths are those of
//! [`Links`]; a detour is judged by the links that are up when the event is generated.

use crate::simulation::{Destination, Observation, ObservationKind, Observer, Setup, codes};
use lucid::core::EventId;
use network::links::{End, Links};
use source::quantity::nanoseconds;
use source::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// Collects detours from the observations of a run.
pub struct Detours<'s> {
    setup: &'s Setup,
    links: Links,
    /// Links that are down.
    down: u32,
    /// By event.
    found: BTreeMap<EventId, Detour>,
}

/// Events of one name that took another path.
struct Detour {
    /// The first: its time in picoseconds, from and to which switch, and the link that was down.
    time_ps: u64,
    from: u32,
    to: u32,
    link: [End; 2],
    count: u64,
}

impl<'s> Detours<'s> {
    /// None yet.
    pub fn new(setup: &'s Setup) -> Detours<'s> {
        Detours { setup, links: setup.topology(), down: 0, found: BTreeMap::new() }
    }

    /// A warning for each event that took another path.
    pub fn warnings(&self) -> Diagnostics {
        let mut warnings = Diagnostics::new();
        for (event, detour) in &self.found {
            let declared = &self.setup.program().events[event.0 as usize];
            let name = &declared.declared_name;
            let Detour { time_ps, from, to, link: [one, other], count } = detour;
            let events = match count {
                1 => format!("1 event `{name}`"),
                count => format!("{count} events `{name}`"),
            };
            let message = format!(
                "{events} took another path, because a link was down: the first at {} ns from switch \
                 {from} to switch {to}, where {}:{} - {}:{} was down",
                nanoseconds(*time_ps),
                one.0,
                one.1,
                other.0,
                other.1
            );
            warnings.push(
                Diagnostic::warning(codes::DETOUR, declared.span, message)
                    .note(
                        "an event for a switch by its number takes a shortest path of links that are up, so it \
                         does not meet the broken link",
                    )
                    .help(format!(
                        "to lose it with the link, generate it for the link's port: `generate_port({}, \
                         {name}(...))`",
                        one.1
                    )),
            );
        }
        warnings
    }
}

impl Observer for Detours<'_> {
    fn observe(&mut self, observation: Observation) {
        match observation.kind {
            ObservationKind::Link { ends, up } => {
                self.links.set_up(ends[0], up, observation.time_ps);
                self.down = if up { self.down.saturating_sub(1) } else { self.down + 1 };
            }
            ObservationKind::Generated {
                event,
                destination: Destination::Switch { switch: to, .. },
                ..
            } if self.down > 0 => {
                let from = observation.switch;
                let Some(link) = self.links.detour(from, to) else { return };
                let time_ps = observation.time_ps;
                let new = Detour { time_ps, from, to, link, count: 0 };
                self.found.entry(event.event).or_insert(new).count += 1;
            }
            _ => {}
        }
    }
}

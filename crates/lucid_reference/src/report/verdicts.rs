// SPDX-License-Identifier: Apache-2.0
//! Verdicts on the expectations of a specification: whether each held, and otherwise the nearest miss.
//! `expected` resolves names and types before the run; `Verdicts` observes the run.

use super::counters::{counter, total};
use super::expected::{Check, CheckKind, Events, prepare};
use super::values::{cell_text, event_text, global_name, happening_text, real_port};
use crate::interpreter::EventValue;
use crate::simulation::{Counts, Destination, Observation, ObservationKind, Observer, Stage};
use crate::specification::{Count, Expectation, LifecycleStep};
use lucid::core::{GlobalId, Program};
use source::quantity::nanoseconds;
use source::{Diagnostics, Span};
use std::collections::BTreeMap;

/// Whether an expectation held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its number in the list, from 0.
    pub index: usize,
    /// Where it stands in the specification.
    pub span: Span,
    /// Whether it held.
    pub passed: bool,
    /// What was expected.
    pub expected: String,
    /// What happened instead, with the nearest miss; empty if it held.
    pub found: Vec<String>,
}

/// The cells of an array: switch, array, index; two values in a pair array. `None` where there is no
/// such cell.
pub type ReadCell<'s> = dyn Fn(u32, GlobalId, u64) -> Option<Vec<u128>> + 's;

/// Observes a run for its expectations.
pub struct Verdicts<'p> {
    program: &'p Program,
    checks: Vec<Check>,
    progress: Vec<Progress>,
    /// Verdicts on arrays, by number of the expectation.
    arrays: BTreeMap<usize, Vec<String>>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    matched: u64,
    /// The last one that matched, for what was too many.
    last: Option<String>,
    nearest: Option<NearMiss>,
}

/// Something that did not match, and in how many respects.
#[derive(Clone, Debug)]
struct NearMiss {
    distance: usize,
    text: String,
}

impl<'p> Verdicts<'p> {
    /// Looks up the names of expectations; the error says which of them make no sense.
    pub fn new(
        program: &'p Program,
        expectations: &[Expectation],
    ) -> Result<Verdicts<'p>, Diagnostics> {
        let checks = prepare(program, expectations)?;
        let progress = vec![Progress::default(); checks.len()];
        Ok(Verdicts { program, checks, progress, arrays: BTreeMap::new() })
    }

    /// Times in picoseconds, in order, at which [`Verdicts::look`] must read arrays.
    pub fn times(&self) -> Vec<u64> {
        let mut times: Vec<u64> = self
            .checks
            .iter()
            .filter_map(|check| match &check.kind {
                CheckKind::Array { at_ps, .. } => *at_ps,
                _ => None,
            })
            .collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// Looks at arrays at one of the times, when everything up to and at this time has happened.
    pub fn look(&mut self, time_ps: u64, cell: &ReadCell<'_>) {
        self.look_where(|at_ps| at_ps == Some(time_ps), cell);
    }

    fn look_where(&mut self, wanted: impl Fn(Option<u64>) -> bool, cell: &ReadCell<'_>) {
        for check in &self.checks {
            let CheckKind::Array { global, switch, start, values, at_ps } = &check.kind else {
                continue;
            };
            if !wanted(*at_ps) || self.arrays.contains_key(&check.index) {
                continue;
            }
            let mut wrong = Vec::new();
            let mut count = 0;
            for (expected, index) in values.iter().zip(*start..) {
                let found = cell(*switch, *global, index);
                if found.as_ref() == Some(expected) {
                    continue;
                }
                count += 1;
                if wrong.len() < MAX_CELLS {
                    let name = global_name(self.program, *global);
                    let found = found.map_or("not there".to_string(), |found| cell_text(&found));
                    let expected = cell_text(expected);
                    wrong.push(format!("{name}[{index}] is {found}, not {expected}"));
                }
            }
            if count > wrong.len() {
                wrong.push(format!("and {} more cells differ", count - wrong.len()));
            }
            self.arrays.insert(check.index, wrong);
        }
    }

    /// The verdicts after the run, one for each expectation.
    pub fn finish(mut self, counts: &[Counts], cell: &ReadCell<'_>) -> Vec<Verdict> {
        // Also those whose time was not reached.
        self.look_where(|_| true, cell);
        let mut verdicts = Vec::new();
        for (check, progress) in self.checks.iter().zip(&self.progress) {
            let found = match &check.kind {
                CheckKind::Array { .. } => self.arrays.remove(&check.index).unwrap_or_default(),
                CheckKind::Events(events) => events_found(events, progress),
                CheckKind::Counter { name, switch, count } => {
                    let counts = match switch {
                        Some(switch) => counts.get(*switch as usize).copied().unwrap_or_default(),
                        None => total(counts),
                    };
                    let value = counter(&counts, name).unwrap_or(0);
                    match holds(*count, value) {
                        true => Vec::new(),
                        false => vec![format!("it is {value}")],
                    }
                }
            };
            verdicts.push(Verdict {
                index: check.index,
                span: check.span,
                passed: found.is_empty(),
                expected: check.text.clone(),
                found,
            });
        }
        verdicts
    }

    fn see(&mut self, observation: &Observation, seen: SeenEvent<'_>) {
        for (check, progress) in self.checks.iter().zip(&mut self.progress) {
            let CheckKind::Events(events) = &check.kind else { continue };
            let Some(expected) = events.arguments_of(seen.event.event) else { continue };
            let mut differs = Vec::new();
            if events.what != seen.what {
                differs.push(format!("it was {}", happening_text(seen.what)));
            }
            if let Some(switch) = events.switch.filter(|switch| *switch != observation.switch) {
                differs.push(format!("the switch is {}, not {switch}", observation.switch));
            }
            if let Some(port) = events.port.filter(|port| seen.port != Some(*port)) {
                differs.push(match seen.port {
                    Some(found) => format!("the port is {found}, not {port}"),
                    None => format!("it has no port, not port {port}"),
                });
            }
            let time = nanoseconds(observation.time_ps);
            if let Some(after) = events.after_ps.filter(|after| observation.time_ps < *after) {
                differs.push(format!("it is at {time} ns, before {} ns", nanoseconds(after)));
            }
            if let Some(before) = events.before_ps.filter(|before| observation.time_ps > *before) {
                differs.push(format!("it is at {time} ns, after {} ns", nanoseconds(before)));
            }
            for difference in expected.differences(self.program, seen.event) {
                differs.push(difference);
            }
            if differs.is_empty() {
                progress.matched += 1;
                // Only the first excess event is reported.
                if events.count.most.is_some_and(|most| progress.matched == most + 1) {
                    progress.last = Some(described(self.program, observation, &seen));
                }
                continue;
            }
            let distance = differs.len() + if events.what == seen.what { 0 } else { 1 };
            if progress.nearest.as_ref().is_none_or(|nearest| distance < nearest.distance) {
                let text = format!(
                    "{}: {}",
                    described(self.program, observation, &seen),
                    differs.join("; ")
                );
                progress.nearest = Some(NearMiss { distance, text });
            }
        }
    }
}

/// Reported differing cells of one expectation.
const MAX_CELLS: usize = 5;

/// Something that happened to an event.
struct SeenEvent<'o> {
    what: LifecycleStep,
    event: &'o EventValue,
    port: Option<u32>,
}

impl Observer for Verdicts<'_> {
    fn wants(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.kind, CheckKind::Events(_)))
    }

    fn observe(&mut self, observation: Observation) {
        let seen = match &observation.kind {
            // An egress handler runs besides the event's own handling.
            ObservationKind::Handled { stage: Stage::Egress, .. } => return,
            ObservationKind::Handled { event, port, .. } => {
                SeenEvent { what: LifecycleStep::Handled, event, port: Some(*port) }
            }
            ObservationKind::Generated { event, destination, .. } => {
                let port = match destination {
                    Destination::Port { port, .. } => real_port(*port),
                    _ => None,
                };
                SeenEvent { what: LifecycleStep::Generated, event, port }
            }
            ObservationKind::Left { event, port, .. } => {
                SeenEvent { what: LifecycleStep::Left, event, port: real_port(*port) }
            }
            ObservationKind::Dropped { event: Some(event), .. } => {
                SeenEvent { what: LifecycleStep::Dropped, event, port: None }
            }
            _ => return,
        };
        self.see(&observation, seen);
    }
}

fn described(program: &Program, observation: &Observation, seen: &SeenEvent<'_>) -> String {
    let port = seen.port.map_or(String::new(), |port| format!(" port {port}"));
    format!(
        "{} {} at switch {}{port}, {} ns",
        happening_text(seen.what),
        event_text(program, seen.event),
        observation.switch,
        nanoseconds(observation.time_ps)
    )
}

fn events_found(events: &Events, progress: &Progress) -> Vec<String> {
    if holds(events.count, progress.matched) {
        return Vec::new();
    }
    let times = match progress.matched {
        0 => "it never happened".to_string(),
        1 => "it happened once".to_string(),
        count => format!("it happened {count} times"),
    };
    let mut found = vec![times];
    if progress.matched < events.count.least {
        match &progress.nearest {
            Some(nearest) => found.push(format!("nearest: {}", nearest.text)),
            None => found.push("nothing happened to such an event".to_string()),
        }
    } else if let Some(last) = &progress.last {
        found.push(format!("one too many: {last}"));
    }
    found
}

fn holds(count: Count, value: u64) -> bool {
    value >= count.least && count.most.is_none_or(|most| value <= most)
}

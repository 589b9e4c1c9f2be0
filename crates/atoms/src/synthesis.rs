// SPDX-License-Identifier: Apache-2.0
//! [`map`]: searches a configuration of a template that does what a codelet does, by counterexample-guided synthesis: one
//! solver proposes configurations that serve the points found so far, another searches a point that the proposal does not
//! serve. No proposal means that no configuration serves the points.

mod circuit;
mod encode;
mod propose;
mod solver;
#[cfg(test)]
mod tests;
mod verify;

pub use solver::Budget;

use crate::codelet::{Codelet, Point};
use crate::samples::visit_samples;
use crate::setting::{Connections, Setting};
use crate::template::{Configuration, Template};
use propose::{Proposal, Proposer};
use solver::Meter;
use verify::{Verified, find_change, verify};

/// Random points on which a proposal is tried before the solver is asked.
const SAMPLES: usize = 500;
/// Points that a proposal fails on, added at once.
const POINTS_A_ROUND: usize = 2;

/// Whether a template can do what a codelet does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This configuration does it for all values.
    Yes(Configuration),
    /// No configuration does it for all of these values, of the codelet padded for the template.
    No(Vec<Point>),
    /// The budget ended before an answer.
    Unknown,
}

/// A verdict and the work for it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// Conflicts in the solver.
    pub conflicts: u64,
    /// Proposals that were tried.
    pub proposals: u64,
}

/// Searches a configuration of `template` for `codelet`.
pub fn map(
    codelet: &Codelet,
    template: &Template,
    setting: &Setting,
    budget: Budget<'_>,
) -> Answer {
    let meter = Meter::new(budget);
    let codelet = setting.pad(codelet, template);
    let mut search = Search {
        meter: &meter,
        setting,
        codelet: &codelet,
        template,
        points: Vec::new(),
        proposals: 0,
    };
    let verdict = search.run();
    let proposals = search.proposals;
    Answer { verdict, conflicts: meter.spent(), proposals }
}

/// A search for one padded codelet and one template.
struct Search<'a> {
    meter: &'a Meter<'a>,
    setting: &'a Setting,
    codelet: &'a Codelet,
    template: &'a Template,
    points: Vec<Point>,
    proposals: u64,
}

impl Search<'_> {
    fn run(&mut self) -> Verdict {
        let mut changing = vec![false; self.codelet.states.len()];
        if self.codelet.states.len() > self.template.states.len() {
            let mut changes = Vec::new();
            for (state, changing) in changing.iter_mut().enumerate() {
                match find_change(self.meter, self.setting, self.codelet, state) {
                    Verified::Serves => {}
                    Verified::Unknown => return Verdict::Unknown,
                    Verified::Fails(point) => {
                        *changing = true;
                        changes.push(point);
                    }
                }
            }
            if changes.len() > self.template.states.len() {
                return Verdict::No(changes);
            }
        }
        let connections = Connections::new(self.setting, self.codelet, self.template, &changing);
        let (mut reasons, mut unknown) = (Vec::new(), false);
        for states in &connections.states {
            match self.with_states(states) {
                Verdict::Yes(configuration) => return Verdict::Yes(configuration),
                Verdict::No(points) => reasons.extend(points),
                Verdict::Unknown => unknown = true,
            }
        }
        if unknown {
            return Verdict::Unknown;
        }
        reasons.sort();
        reasons.dedup();
        Verdict::No(reasons)
    }

    /// Searches with one placement of the state variables.
    fn with_states(&mut self, states: &[usize]) -> Verdict {
        let inputs = Connections::inputs(self.setting, self.codelet, self.template);
        let mut proposer =
            Proposer::new(self.meter, self.setting, self.codelet, self.template, states, &inputs);
        for point in &self.points {
            proposer.add(point);
        }
        loop {
            let configuration = match proposer.propose() {
                Proposal::Try(configuration) => configuration,
                Proposal::Nothing => return Verdict::No(proposer.reason()),
                Proposal::Unknown => return Verdict::Unknown,
            };
            self.proposals += 1;
            let mut failures = self.failing_samples(&configuration);
            if failures.is_empty() {
                let (meter, setting) = (self.meter, self.setting);
                match verify(meter, setting, self.codelet, self.template, &configuration) {
                    Verified::Serves => return Verdict::Yes(configuration),
                    Verified::Unknown => return Verdict::Unknown,
                    Verified::Fails(point) => failures.push(point),
                }
            }
            for point in failures {
                proposer.add(&point);
                self.points.push(point);
            }
        }
    }

    /// Returns some samples that a configuration does not serve.
    fn failing_samples(&self, configuration: &Configuration) -> Vec<Point> {
        let words = self.setting.words;
        let mut failures = Vec::new();
        visit_samples(self.setting, self.codelet, SAMPLES, |point| {
            let found = self.template.next(configuration, words, &point);
            if found != self.codelet.next(words, &point) {
                failures.push(point);
            }
            failures.len() < POINTS_A_ROUND
        });
        failures
    }
}

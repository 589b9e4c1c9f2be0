// SPDX-License-Identifier: Apache-2.0
//! Checks loops and comprehensions. A loop with few rounds is followed round by round, which is exact. For a
//! loop with a variable or large number of rounds, the check takes one symbolic round, then the first round
//! against the code before the loop, and a round against its predecessor; this suffices because a place with
//! a loop variable only moves forward from round to round. It is conservative for loops of no round or one:
//! the check assumes at least two.

use super::body_check::BodyCheck;
use super::effect::{Flow, OrderConstraint, PassedPlace, Reason, merge};
use super::place::Place;
use crate::check::Size;
use crate::syntax::ast::NodeId;

/// Limit of rounds up to which the check unrolls loops, multiplied over nested loops.
pub(crate) const FOLLOWED_ROUNDS: u128 = 256;

impl<'p> BodyCheck<'_, 'p> {
    /// Runs a body once for each value of a variable below its bound.
    pub(crate) fn repeated(
        &mut self,
        variable: NodeId,
        flow: &mut Flow,
        body: &mut dyn FnMut(&mut Self, &mut Flow),
    ) {
        if flow.stopped {
            return;
        }
        match self.bound(variable) {
            Some(rounds) if rounds.saturating_mul(self.unrolled) <= FOLLOWED_ROUNDS => {
                let unrolled = self.unrolled;
                self.unrolled *= rounds.max(1);
                for round in 0..rounds {
                    self.rounds.insert(variable, Size::constant(round));
                    body(self, flow);
                }
                self.rounds.remove(&variable);
                self.unrolled = unrolled;
            }
            _ => self.any_round(variable, flow, body),
        }
    }

    fn any_round(
        &mut self,
        variable: NodeId,
        flow: &mut Flow,
        body: &mut dyn FnMut(&mut Self, &mut Flow),
    ) {
        let outer_first = std::mem::take(&mut self.first);
        let outer_returned = std::mem::take(&mut self.returned);
        let (demands, touches) = (self.demands.len(), self.touches.len());
        let event_demands = self.event_demands.len();
        let mut round = Flow::default();
        body(self, &mut round);
        let first = std::mem::replace(&mut self.first, outer_first);
        let returned = std::mem::replace(&mut self.returned, outer_returned);
        self.ask_for_all_rounds(variable, demands, event_demands);
        let (demands, event_demands) = (self.demands.len(), self.event_demands.len());

        // The first round behind what came before the loop.
        let zero = Size::constant(0);
        let mut late = Vec::new();
        for access in &first {
            let place = access.place.at_round(variable, &zero);
            merge(&mut late, self.enter(flow, &place, &access.site, false));
        }
        // A round behind the one before it.
        let next = self.loop_variable(variable).plus(&Size::constant(1));
        for access in &first {
            let place = access.place.at_round(variable, &next);
            for passed in &round.passed {
                self.require(OrderConstraint {
                    before: passed.place.clone(),
                    after: place.clone(),
                    strict: true,
                    reason: Reason::Sequence {
                        first: passed.site.clone(),
                        second: access.site.clone(),
                        next_round: true,
                    },
                });
            }
        }

        // From outside, a round may have been any.
        let any = |passed: PassedPlace| PassedPlace {
            place: passed.place.of_all_rounds(variable),
            site: passed.site,
        };
        if !returned.is_empty() {
            merge(&mut self.returned, flow.passed.iter().cloned());
            merge(&mut self.returned, returned.into_iter().map(any));
        }
        if !round.passed.is_empty() {
            if !self.end_declared {
                flow.passed = late;
            }
            merge(&mut flow.passed, round.passed.into_iter().map(any));
        }
        self.ask_for_all_rounds(variable, demands, event_demands);
        for touch in &mut self.touches[touches..] {
            touch.any_round(variable);
        }
    }
    /// Makes what a round asks of the callers, from these numbers on, what all rounds ask.
    fn ask_for_all_rounds(&mut self, variable: NodeId, demands: usize, event_demands: usize) {
        let mut asked = self.demands.split_off(demands);
        asked.extend(self.event_demands.split_off(event_demands));
        for demand in asked {
            let before: Place = demand.before.of_all_rounds(variable);
            let after = demand.after.of_all_rounds(variable);
            self.require(OrderConstraint { before, after, ..demand });
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `if` and `switch` in the flow analysis: what holds on each branch, and the decisions that paths are named by.

use super::Flow;
use super::conditions::Test;
use super::facts::{Arrival, Decision, FlowFacts, join};
use super::tables;
use crate::ast::{Expression, ExpressionKind, SwitchCase};
use crate::typed::{Constant, Definition};

impl<'a> Flow<'a> {
    /// The test of a condition.
    fn test(
        &self,
        condition: &'a Expression,
        state: &Option<FlowFacts>,
    ) -> Option<std::rc::Rc<Test>> {
        let known = state.as_ref()?;
        Some(known.resolved(&Test::of(self.program, condition)?))
    }

    /// Follows a condition to what is known where it holds and where it does not.
    pub(super) fn condition(
        &mut self,
        condition: &'a Expression,
        state: &mut Option<FlowFacts>,
    ) -> (Option<FlowFacts>, Option<FlowFacts>) {
        if let ExpressionKind::Unary(crate::ast::UnaryOperator::Not, inner) = &condition.kind {
            let (holds, fails) = self.condition(inner, state);
            return (fails, holds);
        }
        if let Some((table, site, Some(asked @ ("hit" | "miss")))) = self.application(condition) {
            let outcomes = self.apply(table, site, state);
            let hit = tables::all_of(&outcomes, |it| it.on_hit);
            let miss = tables::all_of(&outcomes, |it| it.on_miss);
            return if asked == "hit" { (hit, miss) } else { (miss, hit) };
        }
        self.read(condition, state);
        self.assume(condition, state);
        let (mut holds, mut fails) = (state.clone(), state.take());
        if let Some(test) = self.test(condition, &holds) {
            holds.iter_mut().for_each(|known| known.assume(&test, true));
            fails.iter_mut().for_each(|known| known.assume(&test, false));
        }
        (holds, fails)
    }

    pub(super) fn join_branches(
        &self,
        condition: &'a Expression,
        holds: Option<FlowFacts>,
        fails: Option<FlowFacts>,
    ) -> Option<FlowFacts> {
        let test = match (&holds, &fails) {
            (Some(known), Some(fails)) if !known.is_like(fails) => self.test(condition, &holds),
            _ => None,
        };
        let decision = |outcome: bool, text: &str| Decision {
            span: condition.span,
            text: text.into(),
            test: test.clone().map(|test| (test, outcome)),
        };
        join([
            (holds, Some(decision(true, "this is true"))),
            (fails, Some(decision(false, "this is false"))),
        ])
    }

    pub(super) fn switch(
        &mut self,
        subject: &'a Expression,
        cases: &'a [SwitchCase],
        state: &mut Option<FlowFacts>,
    ) {
        let application = self.application(subject).filter(|it| it.2 == Some("action_run"));
        let outcomes = match application {
            Some((table, site, _)) => Some(self.apply(table, site, state)),
            None => {
                self.read(subject, state);
                None
            }
        };
        let mut arrivals: Vec<Arrival> = Vec::new();
        let mut seen: Vec<&'a Expression> = Vec::new();
        let mut group: Vec<&'a Expression> = Vec::new();
        let decided = |flow: &Flow<'a>, labels: &[&'a Expression], outcome: bool| {
            let values = labels.iter().map(|label| flow.program.constants.get(&label.id).cloned());
            let values = values.collect::<Option<Vec<Constant>>>()?;
            Some((Test::one_of(flow.program, subject, values)?, outcome))
        };
        let among = |flow: &Flow<'a>, outcome: &tables::Outcome, labels: &[&'a Expression]| {
            labels.iter().any(|label| {
                match (flow.program.definitions.get(&label.id), outcome.action) {
                    (Some(Definition::Node(node)), Some(action)) => *node == action,
                    _ => false,
                }
            })
        };
        let excluded = |flow: &Flow<'a>, labels: &[&'a Expression], outcome: bool| {
            let constants = &flow.program.constants;
            let value = constants.get(&subject.id);
            let is_among = labels.iter().any(|label| constants.get(&label.id) == value);
            value.is_some() && is_among != outcome
        };
        let begin = |flow: &Flow<'a>, labels: &[&'a Expression], outcome: bool| match &outcomes {
            Some(outcomes) => tables::all_of(outcomes, |it| among(flow, it, labels) == outcome),
            None if excluded(flow, labels, outcome) => None,
            None => {
                let mut state = state.clone();
                if let (Some(known), Some((test, outcome))) =
                    (&mut state, decided(flow, labels, outcome))
                {
                    known.assume(&test, outcome);
                }
                state
            }
        };
        let mut is_complete = false;
        for case in cases {
            let is_default = matches!(case.label.kind, ExpressionKind::Default);
            is_complete |= is_default;
            if !is_default {
                seen.push(&case.label);
                group.push(&case.label);
            }
            let Some(body) = &case.body else { continue };
            let (labels, outcome) = if is_default { (&seen, false) } else { (&group, true) };
            let mut branch = begin(self, labels, outcome);
            let decision = Decision {
                span: case.label.span,
                text: "this case is taken".into(),
                test: decided(self, labels, outcome),
            };
            // A case that guards against later changes is no mistake.
            let quiet = self.quiet;
            self.quiet |= branch.is_none() && (is_default || outcomes.is_none());
            self.block(body, &mut branch);
            self.quiet = quiet;
            arrivals.push((branch, Some(decision)));
            group.clear();
        }
        if !is_complete {
            let decision = Decision {
                span: subject.span,
                text: "no case is taken".into(),
                test: decided(self, &seen, false),
            };
            arrivals.push((begin(self, &seen, false), Some(decision)));
        }
        *state = join(arrivals);
    }
}

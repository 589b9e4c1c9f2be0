// SPDX-License-Identifier: Apache-2.0
//! `FlowFacts`: what is known at one point of a program: variables without a value on some path, each with
//! the decisions that lead there, and headers that are invalid on every path. A condition that
//! excludes all of these paths gives the variable its value back.

use super::conditions::Test;
use crate::check::locations::Location;
use crate::typed::Constant;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::rc::Rc;

/// Paths without a value that the analysis keeps for each variable; it drops further ones.
const MAX_PATHS: usize = 8;

/// Decisions that are remembered of each path.
const MAX_DECISIONS: usize = 12;

/// Outcomes of conditions that are remembered.
const MAX_OUTCOMES: usize = 32;

/// Locations whose values are remembered.
const MAX_VALUES: usize = 32;

/// A decision on a path: its place, what it decided, and the condition behind it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) span: Span,
    /// In words that follow "if"; empty for a value that was assigned on the path.
    pub(super) text: Rc<str>,
    /// The condition and its outcome, while nothing it reads has changed.
    pub(super) test: Option<(Rc<Test>, bool)>,
}

/// The paths on which a variable has no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unset {
    /// The decisions of each, the innermost first.
    pub(super) paths: Vec<Vec<Decision>>,
    /// Whether it has a value on others.
    pub(super) is_partial: bool,
}

impl Unset {
    fn always() -> Unset {
        Unset { paths: vec![Vec::new()], is_partial: false }
    }
}

/// The facts of the flow analysis at one point of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FlowFacts {
    /// Scalars without a value on some path to this point.
    unset: FxHashMap<Location, Unset>,
    /// Headers that no path to this point leaves valid.
    invalid: FxHashSet<Location>,
    /// What every path to this point has assigned last.
    values: FxHashMap<Location, Value>,
    /// Outcomes of conditions on every path to this point.
    outcomes: Vec<(Rc<Test>, bool)>,
}

/// What is known of an assigned value.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Known(Constant),
    /// The result of a condition.
    Result(Rc<Test>),
}

impl FlowFacts {
    /// Declares a scalar without a value.
    pub(super) fn declare(&mut self, place: Location) {
        self.unset.insert(place, Unset::always());
    }

    pub(super) fn write(&mut self, place: &Location) {
        self.invalid.retain(|invalid| !invalid.overlaps(place));
        self.unset.retain(|unset, _| !unset.overlaps(place));
        self.forget_tests(place);
    }

    /// A condition has found the header valid.
    pub(super) fn make_valid(&mut self, header: &Location) {
        self.invalid.retain(|invalid| !invalid.overlaps(header));
    }

    pub(super) fn invalidate(&mut self, place: Location) {
        self.forget_tests(&place);
        self.invalid.insert(place);
    }

    /// Remembers the constant that a location gets, or the condition whose result it gets.
    pub(super) fn assign(
        &mut self,
        place: Location,
        constant: Option<&Constant>,
        condition: Option<Rc<Test>>,
    ) {
        let value = match (constant, condition) {
            (Some(constant), _) => Value::Known(constant.clone()),
            (None, Some(condition)) if !condition.reads(&place) => Value::Result(condition),
            _ => return,
        };
        if self.values.len() < MAX_VALUES {
            self.values.insert(place, value);
        }
    }

    /// The test with flags replaced by the conditions whose results they hold.
    pub(super) fn resolved(&self, test: &Rc<Test>) -> Rc<Test> {
        Test::resolved(test, &|place| match self.values.get(place) {
            Some(Value::Result(condition)) => Some(condition.clone()),
            _ => None,
        })
    }

    /// The outcomes of conditions that read the place are no longer known.
    fn forget_tests(&mut self, place: &Location) {
        self.values.retain(|assigned, value| {
            !assigned.overlaps(place)
                && !matches!(value, Value::Result(condition) if condition.reads(place))
        });
        self.outcomes.retain(|(test, _)| !test.reads(place));
        let decisions = self.unset.values_mut().flat_map(|unset| unset.paths.iter_mut().flatten());
        for decision in decisions {
            if decision.test.as_ref().is_some_and(|(test, _)| test.reads(place)) {
                decision.test = None;
            }
        }
    }

    pub(super) fn unset(&self, place: &Location) -> Option<&Unset> {
        self.unset.get(place)
    }

    pub(super) fn is_invalid(&self, header: &Location) -> bool {
        self.invalid.iter().any(|invalid| invalid.holds(header))
    }

    /// Leaves out the paths that the outcome of a condition excludes.
    pub(super) fn assume(&mut self, test: &Rc<Test>, outcome: bool) {
        if self.unset.is_empty() {
            return;
        }
        let mut known = Test::literals(test, outcome);
        known.extend(self.outcomes.iter().cloned());
        known.truncate(MAX_OUTCOMES);
        let is_excluded = |decision: &Decision| match &decision.test {
            Some((test, outcome)) => test.outcome(&known).is_some_and(|found| found != *outcome),
            None => false,
        };
        self.unset.retain(|_, unset| {
            unset.paths.retain(|path| !path.iter().any(is_excluded));
            !unset.paths.is_empty()
        });
        self.outcomes = known;
    }

    /// Takes back what a loop's body may change, before its first round: the variables that have no value stay.
    pub(super) fn loosen(&mut self, after: FlowFacts, changed: &[Location]) {
        self.invalid.retain(|place| after.invalid.contains(place));
        changed.iter().for_each(|place| self.forget_tests(place));
    }

    /// Whether both hold the same but for the decisions of paths.
    pub(super) fn is_like(&self, other: &FlowFacts) -> bool {
        self.invalid == other.invalid
            && self.unset.len() == other.unset.len()
            && self.unset.keys().all(|place| other.unset.contains_key(place))
    }
}

/// A path that ends where others end: what is known there, and the decision that it was taken by.
pub(super) type Arrival = (Option<FlowFacts>, Option<Decision>);

/// What is known where paths meet; nothing when none of them gets there.
pub(super) fn join(arrivals: impl IntoIterator<Item = Arrival>) -> Option<FlowFacts> {
    let mut arrivals: Vec<(FlowFacts, Option<Decision>)> =
        arrivals.into_iter().filter_map(|(facts, decision)| Some((facts?, decision))).collect();
    if arrivals.len() < 2 {
        return arrivals.pop().map(|(facts, _)| facts);
    }
    let mut unset: FxHashMap<Location, Unset> = FxHashMap::default();
    for (facts, _) in &arrivals {
        for place in facts.unset.keys() {
            if !unset.contains_key(place) {
                unset.insert(place.clone(), meet(place, &arrivals));
            }
        }
    }
    let (first, _) = arrivals.swap_remove(0);
    let mut invalid = first.invalid;
    for (facts, _) in &arrivals {
        invalid.retain(|place| facts.invalid.contains(place));
    }
    let mut values = first.values;
    for (facts, _) in &arrivals {
        values.retain(|place, value| facts.values.get(place) == Some(value));
    }
    let mut outcomes = first.outcomes;
    for (facts, _) in &arrivals {
        outcomes.retain(|outcome| facts.outcomes.contains(outcome));
    }
    Some(FlowFacts { unset, invalid, values, outcomes })
}

/// The paths on which a variable has no value where paths meet.
fn meet(place: &Location, arrivals: &[(FlowFacts, Option<Decision>)]) -> Unset {
    let first = arrivals[0].0.unset.get(place);
    if let Some(first) = first
        && arrivals.iter().all(|(facts, _)| facts.unset.get(place) == Some(first))
    {
        return first.clone();
    }
    let mut met = Unset { paths: Vec::new(), is_partial: false };
    for (facts, decision) in arrivals {
        let Some(unset) = facts.unset.get(place) else {
            met.is_partial = true;
            continue;
        };
        met.is_partial |= unset.is_partial;
        let assigned = facts.values.iter().filter_map(|(place, value)| {
            let is_common =
                arrivals.iter().all(|(facts, _)| facts.values.get(place) == Some(value));
            let Value::Known(constant) = value else { return None };
            let test = Some(Test::is(place.clone(), constant.clone())).filter(|_| !is_common)?;
            Some(Decision { span: Span::NONE, text: "".into(), test: Some(test) })
        });
        let mut decisions: Vec<Decision> = assigned.collect();
        decisions.extend(decision.clone());
        for path in &unset.paths {
            let mut path = path.clone();
            for decision in &decisions {
                if path.len() < MAX_DECISIONS && !path.contains(decision) {
                    path.push(decision.clone());
                }
            }
            if met.paths.len() < MAX_PATHS && !met.paths.contains(&path) {
                met.paths.push(path);
            }
        }
    }
    met
}

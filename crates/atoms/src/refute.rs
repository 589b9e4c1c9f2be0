// SPDX-License-Identifier: Apache-2.0
//! [`refutes`]: whether no configuration of a template serves some points, without a solver. Follows the decision tree with
//! sets of points: a test splits the points into those that go to each branch in all ways that its holes allow, and an
//! assignment serves those sets of points for which its holes can give the wanted values.

mod values;

use crate::codelet::{Codelet, Point};
use crate::setting::{Connections, Setting};
use crate::template::{Statement, Template};
use std::collections::{BTreeSet, HashMap};
use values::Values;

/// Most points: a set of points is a word of so many bits.
pub const MAX_POINTS: usize = 128;
/// Most splits that are tried.
const MAX_STEPS: u64 = 20_000_000;

/// A set of points.
type Mask = u128;

/// Whether points show that no configuration exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refutation {
    /// No configuration serves all points.
    Holds,
    /// A configuration serves all points, as far as this search sees.
    Fails,
    /// The template, or the number of points, is beyond this search.
    Undecided,
}

/// The search meets an expression or a number of cases that it does not decide.
#[derive(Debug)]
struct TooHard;

/// Searches a configuration of `template` that does what `codelet` does for all of `points`, which belong to the codelet
/// padded for the template.
pub fn refutes(
    codelet: &Codelet,
    template: &Template,
    setting: &Setting,
    points: &[Point],
) -> Refutation {
    let codelet = setting.pad(codelet, template);
    let is_possible = |point: &Point| {
        let mut computed = point.clone();
        codelet.compute_inputs(setting.words, &mut computed);
        computed == *point
    };
    if !points.iter().all(is_possible) {
        return Refutation::Fails;
    }
    let changing: Vec<bool> = (0..codelet.states.len())
        .map(|state| {
            let changes =
                |point: &Point| codelet.next(setting.words, point)[state] != point.states[state];
            points.iter().any(changes)
        })
        .collect();
    for placed in &Connections::new(setting, &codelet, template, &changing).states {
        match refutes_placed(&codelet, template, setting, placed, points) {
            Refutation::Holds => {}
            other => return other,
        }
    }
    Refutation::Holds
}

/// Searches a configuration for a padded codelet with its state variables at these places.
fn refutes_placed(
    codelet: &Codelet,
    template: &Template,
    setting: &Setting,
    placed: &[usize],
    points: &[Point],
) -> Refutation {
    if points.len() > MAX_POINTS {
        return Refutation::Undecided;
    }
    let nexts: Vec<Vec<u32>> =
        points.iter().map(|point| codelet.next(setting.words, point)).collect();
    let mut wirings: Vec<Vec<usize>> = vec![Vec::new()];
    for each in Connections::inputs(setting, codelet, template) {
        let longer = |wiring: &Vec<usize>| {
            each.iter().map(|input| [wiring.as_slice(), &[*input]].concat()).collect::<Vec<_>>()
        };
        wirings = wirings.iter().flat_map(longer).collect();
    }
    let column = |of: &dyn Fn(usize) -> u32| (0..points.len()).map(of).collect::<Vec<u32>>();
    // Two wirings that give the same values at all points are one.
    let mut seen = BTreeSet::new();
    for wiring in &wirings {
        let inputs: Vec<Vec<u32>> =
            wiring.iter().map(|input| column(&|point| points[point].inputs[*input])).collect();
        if !seen.insert(inputs.clone()) {
            continue;
        }
        let states = placed.iter().map(|at| column(&|point| points[point].states[*at])).collect();
        let mut tree = Tree {
            values: Values::new(template, *setting, states, inputs, points.len()),
            targets: placed.iter().map(|at| column(&|point| nexts[point][*at])).collect(),
            tests: HashMap::new(),
            served: HashMap::new(),
            known: HashMap::new(),
            steps: MAX_STEPS,
        };
        let all = (0..template.states.len()).collect();
        match tree.block(&template.body, mask_of(points.len()), &all) {
            Ok(false) => {}
            Ok(true) => return Refutation::Fails,
            Err(TooHard) => return Refutation::Undecided,
        }
    }
    Refutation::Holds
}

/// Returns the set of the first points.
fn mask_of(count: usize) -> Mask {
    (0..count).fold(0, |mask, point| mask | 1 << point)
}

/// A decision tree at points.
struct Tree<'t> {
    values: Values<'t>,
    /// For each state variable, the value that each point wants.
    targets: Vec<Vec<u32>>,
    /// The sets of points for which a condition can be true.
    tests: HashMap<usize, Vec<Mask>>,
    /// The sets of points that an assignment can serve, without those within others.
    served: HashMap<(usize, usize), Vec<Mask>>,
    /// Whether a statement can serve a set, by its address.
    known: HashMap<(*const Statement, Mask), bool>,
    /// Splits that may still be tried.
    steps: u64,
}

impl Tree<'_> {
    /// Whether a block can give the points the wanted values of these state variables.
    fn block(
        &mut self,
        block: &[Statement],
        mask: Mask,
        states: &BTreeSet<usize>,
    ) -> Result<bool, TooHard> {
        if mask == 0 {
            return Ok(true);
        }
        let mut left = states.clone();
        for statement in block {
            for state in assigned(statement) {
                left.remove(&state);
            }
        }
        for state in left {
            if mask & !self.values.equal(self.values.state(state), &self.targets[state]) != 0 {
                return Ok(false);
            }
        }
        for statement in block {
            if !self.statement(statement, mask)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn statement(&mut self, statement: &Statement, mask: Mask) -> Result<bool, TooHard> {
        let key = (std::ptr::from_ref(statement), mask);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let serves = match statement {
            Statement::Assign { state, value } => {
                let index = (*state, value.index());
                if !self.served.contains_key(&index) {
                    let masks = self.values.serving(*value, &self.targets[*state])?;
                    self.served.insert(index, greatest(&masks));
                }
                self.served[&index].iter().any(|served| mask & !served == 0)
            }
            Statement::If { test, then, otherwise } => {
                if !self.tests.contains_key(&test.index()) {
                    let masks = self.values.truths(*test)?;
                    self.tests.insert(test.index(), masks.into_iter().collect());
                }
                let splits: BTreeSet<Mask> =
                    self.tests[&test.index()].iter().map(|truth| truth & mask).collect();
                let states = assigned(statement);
                let mut found = false;
                for split in splits {
                    self.steps = self.steps.checked_sub(1).ok_or(TooHard)?;
                    if self.block(then, split, &states)?
                        && self.block(otherwise, mask & !split, &states)?
                    {
                        found = true;
                        break;
                    }
                }
                found
            }
        };
        self.known.insert(key, serves);
        Ok(serves)
    }
}

/// Returns the state variables that a statement assigns on some path.
fn assigned(statement: &Statement) -> BTreeSet<usize> {
    match statement {
        Statement::Assign { state, .. } => BTreeSet::from([*state]),
        Statement::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).flat_map(assigned).collect()
        }
    }
}

/// Returns the sets that are within no other.
fn greatest(masks: &BTreeSet<Mask>) -> Vec<Mask> {
    let within = |mask: Mask, other: Mask| mask != other && mask & !other == 0;
    let all = masks.iter().copied();
    all.filter(|mask| !masks.iter().any(|other| within(*mask, *other))).collect()
}

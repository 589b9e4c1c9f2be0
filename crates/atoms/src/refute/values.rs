// SPDX-License-Identifier: Apache-2.0
//! [`Values`]: which values the expressions of a template can have at points, for all ways to fill their holes. A constant
//! hole has too many values to list; comparisons with it depend on few of them, and sums and products are solved for it.

use super::{Mask, TooHard, mask_of};
use crate::graph::{Node, NodeId};
use crate::setting::{Domain, Setting};
use crate::template::{Hole, Template};
use crate::words::{Binary, Unary};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Most lists of values of one expression.
const MAX_VECTORS: usize = 20_000;
/// Constants are listed if there are at most so many.
const MAX_CONSTANTS: u64 = 64;

/// A value for each point.
type Vector = Vec<u32>;
type Vectors = Rc<BTreeSet<Vector>>;

/// The values of expressions at points.
pub struct Values<'t> {
    template: &'t Template,
    setting: Setting,
    states: Vec<Vector>,
    inputs: Vec<Vector>,
    points: usize,
    known: HashMap<NodeId, Option<Vectors>>,
}

impl<'t> Values<'t> {
    /// Creates the values for state variables and inputs with these values at the points.
    pub fn new(
        template: &'t Template,
        setting: Setting,
        states: Vec<Vector>,
        inputs: Vec<Vector>,
        points: usize,
    ) -> Self {
        Values { template, setting, states, inputs, points, known: HashMap::new() }
    }

    /// Returns a state variable's value at each point.
    pub fn state(&self, state: usize) -> &Vector {
        &self.states[state]
    }

    /// Returns the points at which two vectors are equal.
    pub fn equal(&self, left: &[u32], right: &[u32]) -> Mask {
        let pairs = left.iter().zip(right).enumerate();
        pairs.fold(0, |mask, (point, (left, right))| mask | Mask::from(left == right) << point)
    }

    /// Returns the sets of points at which a condition can be true.
    pub fn truths(&mut self, test: NodeId) -> Result<BTreeSet<Mask>, TooHard> {
        let (vectors, all) = (self.vectors(test)?, mask_of(self.points));
        let zero = vec![0; self.points];
        Ok(vectors.iter().map(|vector| all & !self.equal(vector, &zero)).collect())
    }

    /// Returns sets of points at which an expression can have the wanted values; each set is within one of these.
    pub fn serving(&mut self, id: NodeId, target: &[u32]) -> Result<BTreeSet<Mask>, TooHard> {
        if let Ok(vectors) = self.vectors(id) {
            return Ok(vectors.iter().map(|vector| self.equal(vector, target)).collect());
        }
        let words = self.setting.words;
        match self.template.graph.node(id).clone() {
            Node::Constant(hole) => {
                let range = self.range(hole.index());
                Ok(self.groups(target, |wanted| range.contains(words, wanted)))
            }
            Node::Choice(_, alternatives) => {
                let mut all = BTreeSet::new();
                for alternative in alternatives {
                    all.extend(self.serving(alternative, target)?);
                }
                Ok(all)
            }
            Node::Unary(operator @ (Unary::Negate | Unary::Complement), operand) => {
                let inner: Vector =
                    target.iter().map(|each| words.unary(operator, *each)).collect();
                self.serving(operand, &inner)
            }
            Node::Binary(operator, left, right) => {
                self.serving_binary(&[operator], left, right, target)
            }
            Node::Operation(_, operators, left, right) => {
                self.serving_binary(&operators, left, right, target)
            }
            Node::Select(condition, then, otherwise) => {
                let truths = self.truths(condition)?;
                let (then, otherwise) =
                    (self.serving(then, target)?, self.serving(otherwise, target)?);
                let mut all = BTreeSet::new();
                for truth in truths {
                    for (then, otherwise) in pairs(&then, &otherwise) {
                        all.insert((then & truth) | (otherwise & !truth));
                    }
                }
                Ok(all)
            }
            _ => Err(TooHard),
        }
    }

    /// Returns the points grouped by the value that they want, those groups that can have theirs.
    fn groups(&self, target: &[u32], possible: impl Fn(u32) -> bool) -> BTreeSet<Mask> {
        let mut groups: BTreeMap<u32, Mask> = BTreeMap::new();
        for (point, wanted) in target.iter().enumerate().filter(|(_, wanted)| possible(**wanted)) {
            *groups.entry(*wanted).or_default() |= 1 << point;
        }
        groups.into_values().chain([0]).collect()
    }

    fn serving_binary(
        &mut self,
        operators: &[Binary],
        left: NodeId,
        right: NodeId,
        target: &[u32],
    ) -> Result<BTreeSet<Mask>, TooHard> {
        let mut all = BTreeSet::new();
        let (lefts, rights) = (self.alternatives(left), self.alternatives(right));
        for operator in operators {
            for (left, right) in pairs(&lefts, &rights) {
                all.extend(self.serving_pair(*operator, *left, *right, target)?);
            }
        }
        Ok(all)
    }

    fn serving_pair(
        &mut self,
        operator: Binary,
        left: NodeId,
        right: NodeId,
        target: &[u32],
    ) -> Result<BTreeSet<Mask>, TooHard> {
        let words = self.setting.words;
        let combine = |operator, a: &[u32], b: &[u32]| -> Vector {
            a.iter().zip(b).map(|(a, b)| words.binary(operator, *a, *b)).collect()
        };
        let mut all = BTreeSet::new();
        match (self.vectors(left), self.vectors(right)) {
            (Ok(lefts), Ok(rights)) => {
                for (left, right) in pairs(&*lefts, &*rights) {
                    all.insert(self.equal(&combine(operator, left, right), target));
                }
            }
            (Ok(lefts), Err(TooHard)) => {
                for left in lefts.iter() {
                    all.extend(match operator {
                        Binary::Add => {
                            self.serving(right, &combine(Binary::Subtract, target, left))?
                        }
                        Binary::Subtract => {
                            self.serving(right, &combine(Binary::Subtract, left, target))?
                        }
                        Binary::Xor => self.serving(right, &combine(Binary::Xor, target, left))?,
                        Binary::Multiply => self.factors(left, right, target)?,
                        _ => return Err(TooHard),
                    });
                }
            }
            (Err(TooHard), Ok(rights)) => {
                for right in rights.iter() {
                    all.extend(match operator {
                        Binary::Add => {
                            self.serving(left, &combine(Binary::Subtract, target, right))?
                        }
                        Binary::Subtract => {
                            self.serving(left, &combine(Binary::Add, target, right))?
                        }
                        Binary::Xor => self.serving(left, &combine(Binary::Xor, target, right))?,
                        Binary::Multiply => self.factors(right, left, target)?,
                        _ => return Err(TooHard),
                    });
                }
            }
            (Err(TooHard), Err(TooHard)) => {
                let (Some(left), Some(right)) = (self.constant(left), self.constant(right)) else {
                    return Err(TooHard);
                };
                let range = match operator {
                    Binary::Add => {
                        Domain { low: left.low + right.low, high: left.high + right.high }
                    }
                    Binary::Subtract => {
                        Domain { low: left.low - right.high, high: left.high - right.low }
                    }
                    _ => return Err(TooHard),
                };
                let turn = 1i64 << words.width_bits();
                all = self.groups(target, |wanted| {
                    let number = words.signed(wanted);
                    [number - turn, number, number + turn]
                        .iter()
                        .any(|each| (range.low..=range.high).contains(each))
                });
            }
        }
        Ok(all)
    }

    /// Returns the sets of points at which `factor * constant` can have the wanted values, for any constant. At each point
    /// the constants that do are all of some residue modulo a power of two; such sets contain each other or share
    /// nothing, so one member of each is enough to try.
    fn factors(
        &self,
        factor: &[u32],
        constant: NodeId,
        target: &[u32],
    ) -> Result<BTreeSet<Mask>, TooHard> {
        let words = self.setting.words;
        if !self.constant(constant).is_some_and(|range| range.is_full(words)) {
            return Err(TooHard);
        }
        let mut constants = BTreeSet::from([0]);
        for (factor, target) in factor.iter().zip(target).filter(|(factor, _)| **factor != 0) {
            let zeros = factor.trailing_zeros();
            if target.trailing_zeros() >= zeros {
                constants.insert(
                    words.word(i64::from((target >> zeros).wrapping_mul(inverse(factor >> zeros)))),
                );
            }
        }
        let product = |constant: u32| -> Vector {
            factor.iter().map(|factor| words.binary(Binary::Multiply, *factor, constant)).collect()
        };
        Ok(constants.into_iter().map(|constant| self.equal(&product(constant), target)).collect())
    }

    /// Returns all lists of values that an expression can have at the points.
    fn vectors(&mut self, id: NodeId) -> Result<Vectors, TooHard> {
        if let Some(known) = self.known.get(&id) {
            return known.clone().ok_or(TooHard);
        }
        let found = self.list(id).ok().filter(|vectors| vectors.len() <= MAX_VECTORS).map(Rc::new);
        self.known.insert(id, found.clone());
        found.ok_or(TooHard)
    }

    fn list(&mut self, id: NodeId) -> Result<BTreeSet<Vector>, TooHard> {
        let words = self.setting.words;
        let only = |vector: Vector| Ok(BTreeSet::from([vector]));
        match self.template.graph.node(id).clone() {
            Node::Literal(number) => only(vec![words.word(i64::from(number)); self.points]),
            Node::State(state) => only(self.states[state].clone()),
            Node::Input(input) => only(self.inputs[input].clone()),
            Node::Constant(hole) => {
                let range = self.range(hole.index());
                if range.count() > MAX_CONSTANTS {
                    return Err(TooHard);
                }
                Ok((range.low..=range.high)
                    .map(|number| vec![words.word(number); self.points])
                    .collect())
            }
            Node::Unary(operator, operand) => {
                let apply = |vector: &Vector| {
                    vector.iter().map(|each| words.unary(operator, *each)).collect()
                };
                Ok(self.vectors(operand)?.iter().map(apply).collect())
            }
            Node::Choice(_, alternatives) => {
                let mut all = BTreeSet::new();
                for alternative in alternatives {
                    all.extend(self.vectors(alternative)?.iter().cloned());
                }
                Ok(all)
            }
            Node::Select(condition, then, otherwise) => {
                let (conditions, then, otherwise) =
                    (self.vectors(condition)?, self.vectors(then)?, self.vectors(otherwise)?);
                let mut all = BTreeSet::new();
                for condition in conditions.iter() {
                    for (then, otherwise) in pairs(&*then, &*otherwise) {
                        let at = |point: usize| {
                            if condition[point] == 0 { otherwise[point] } else { then[point] }
                        };
                        all.insert((0..self.points).map(at).collect());
                        if all.len() > MAX_VECTORS {
                            return Err(TooHard);
                        }
                    }
                }
                Ok(all)
            }
            Node::Binary(operator, left, right) => self.list_binary(&[operator], left, right),
            Node::Operation(_, operators, left, right) => self.list_binary(&operators, left, right),
        }
    }

    fn list_binary(
        &mut self,
        operators: &[Binary],
        left: NodeId,
        right: NodeId,
    ) -> Result<BTreeSet<Vector>, TooHard> {
        let words = self.setting.words;
        let mut all = BTreeSet::new();
        let (lefts, rights) = (self.alternatives(left), self.alternatives(right));
        for (left, right) in pairs(&lefts, &rights) {
            let (left, right) = (*left, *right);
            let compares = operators.iter().all(|operator| operator.is_comparison());
            let (ranges, mut add) =
                ((self.constant(left), self.constant(right)), |left: &Vector, right: &Vector| {
                    for operator in operators {
                        let values = left.iter().zip(right);
                        let apply =
                            |(left, right): (&u32, &u32)| words.binary(*operator, *left, *right);
                        all.insert(values.map(apply).collect());
                    }
                    if all.len() > MAX_VECTORS { Err(TooHard) } else { Ok(()) }
                });
            match ranges {
                (None, Some(range)) if compares => {
                    for left in self.vectors(left)?.iter() {
                        self.limits(left, range).try_for_each(|right| add(left, &right))?;
                    }
                }
                (Some(range), None) if compares => {
                    for right in self.vectors(right)?.iter() {
                        self.limits(right, range).try_for_each(|left| add(&left, right))?;
                    }
                }
                _ => {
                    let (lefts, rights) = (self.vectors(left)?, self.vectors(right)?);
                    for (left, right) in pairs(&*lefts, &*rights) {
                        add(left, right)?;
                    }
                }
            }
        }
        Ok(all)
    }

    /// Returns the constants of a range whose comparisons with these values can differ from those of other constants: the
    /// values, their neighbours, and the ends of the range in both orders.
    fn limits(&self, values: &[u32], range: Domain) -> impl Iterator<Item = Vector> {
        let (words, points) = (self.setting.words, self.points);
        let mut numbers = BTreeSet::from([range.low, range.high, 0, -1]);
        for value in values {
            let number = words.signed(*value);
            numbers.extend([number - 1, number, number + 1]);
        }
        numbers.retain(|number| (range.low..=range.high).contains(number));
        numbers.into_iter().map(move |number| vec![words.word(number); points])
    }

    /// Returns the alternatives of an expression that is a choice.
    fn alternatives(&self, id: NodeId) -> Vec<NodeId> {
        match self.template.graph.node(id) {
            Node::Choice(_, alternatives) => {
                alternatives.iter().flat_map(|each| self.alternatives(*each)).collect()
            }
            _ => vec![id],
        }
    }

    /// Returns the range of an expression that is a constant hole.
    fn constant(&self, id: NodeId) -> Option<Domain> {
        match self.template.graph.node(id) {
            Node::Constant(hole) => Some(self.range(hole.index())),
            _ => None,
        }
    }

    fn range(&self, hole: usize) -> Domain {
        self.setting.range(self.template.holes.get(hole).copied().unwrap_or(Hole::Constant(None)))
    }
}

/// Returns all pairs.
fn pairs<'a, T: 'a>(
    lefts: impl IntoIterator<Item = &'a T>,
    rights: impl IntoIterator<Item = &'a T> + Clone,
) -> impl Iterator<Item = (&'a T, &'a T)> {
    lefts
        .into_iter()
        .flat_map(move |left| rights.clone().into_iter().map(move |right| (left, right)))
}

/// Returns the inverse of an odd number modulo two to the 32, by Newton's iteration: each step doubles the number of bits
/// that are right, and the number itself is right in three.
fn inverse(odd: u32) -> u32 {
    (0..4)
        .fold(odd, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse))))
}

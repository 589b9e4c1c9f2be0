// SPDX-License-Identifier: Apache-2.0
//! Values of a handler: what is computed from what, without variables or order. Equal values are one
//! value, so repeated computations are gone; what can be said more simply is. A value that depends on
//! conditions is a choice among values.

use super::super::formula::{Formula, Formulas};
use super::super::program::AluOperator;
use lucid::core::arithmetic::mask;
use pisa::{Condition, VariableId};
use std::collections::HashMap;

/// Index into the values of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ValueId(pub(super) u32);

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Anything will do.
    Undefined,
    Constant(u128),
    /// A variable that no statement writes.
    Input(VariableId),
    Compute(AluOperator, ValueId, ValueId),
    /// Bits from this one up, as many as the value is wide.
    Slice(ValueId, u32),
    /// Filled up with zeros.
    Extend(ValueId),
    Concatenate(ValueId, ValueId),
    Hash(u32, Vec<ValueId>),
    Checksum(Vec<ValueId>),
    /// The n-th result of an effect of the handler.
    Result(u32, u32),
    /// The value whose formula holds; formulas exclude each other. Where none holds: undefined. A leaf
    /// may be a choice, but no choice of constants.
    Choice(Vec<(Formula, ValueId)>),
}

/// A value and its width in bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) width_bits: u32,
}

/// Shared values, and formulas over tests of them (subjects are their numbers).
#[derive(Debug, Default)]
pub(super) struct Values {
    nodes: Vec<Node>,
    numbers: HashMap<Node, ValueId>,
    pub(super) formulas: Formulas,
}

impl Values {
    pub(super) fn node(&self, id: ValueId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn width(&self, id: ValueId) -> u32 {
        self.node(id).width_bits
    }

    fn add(&mut self, value: Value, width_bits: u32) -> ValueId {
        let node = Node { value, width_bits };
        if let Some(known) = self.numbers.get(&node) {
            return *known;
        }
        let id = ValueId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    pub(super) fn undefined(&mut self, width_bits: u32) -> ValueId {
        self.add(Value::Undefined, width_bits)
    }

    pub(super) fn constant(&mut self, value: u128, width_bits: u32) -> ValueId {
        self.add(Value::Constant(value & mask(width_bits)), width_bits)
    }

    pub(super) fn input(&mut self, id: VariableId, width_bits: u32) -> ValueId {
        self.add(Value::Input(id), width_bits)
    }

    pub(super) fn result(&mut self, effect: u32, at: u32, width_bits: u32) -> ValueId {
        self.add(Value::Result(effect, at), width_bits)
    }

    pub(super) fn hash(&mut self, seed: u32, arguments: Vec<ValueId>, width_bits: u32) -> ValueId {
        self.add(Value::Hash(seed, arguments), width_bits)
    }

    pub(super) fn checksum(&mut self, arguments: Vec<ValueId>) -> ValueId {
        self.add(Value::Checksum(arguments), 16)
    }

    pub(super) fn as_constant(&self, id: ValueId) -> Option<u128> {
        match self.node(id).value {
            Value::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The leaves of a choice if all of them are known.
    fn constant_leaves(&self, id: ValueId) -> Option<Vec<(Formula, u128)>> {
        let Value::Choice(leaves) = &self.node(id).value else { return None };
        leaves.iter().map(|(formula, leaf)| Some((*formula, self.as_constant(*leaf)?))).collect()
    }

    /// A choice of known values, each one replaced.
    fn map_leaves(
        &mut self,
        leaves: Vec<(Formula, u128)>,
        width_bits: u32,
        map: impl Fn(u128) -> u128,
    ) -> ValueId {
        let leaves = leaves
            .into_iter()
            .map(|(formula, leaf)| (formula, self.constant(map(leaf), width_bits)));
        let leaves = leaves.collect();
        self.choice(leaves, width_bits)
    }

    /// Cut or filled up to a width.
    pub(super) fn fit(&mut self, of: ValueId, width_bits: u32) -> ValueId {
        match self.width(of).cmp(&width_bits) {
            std::cmp::Ordering::Equal => of,
            std::cmp::Ordering::Greater => self.slice(of, 0, width_bits),
            std::cmp::Ordering::Less => self.extend(of, width_bits),
        }
    }

    fn extend(&mut self, of: ValueId, width_bits: u32) -> ValueId {
        match self.node(of).value.clone() {
            Value::Constant(value) => self.constant(value, width_bits),
            Value::Undefined => self.undefined(width_bits),
            Value::Extend(inner) => self.extend(inner, width_bits),
            _ => match self.constant_leaves(of) {
                Some(leaves) => self.map_leaves(leaves, width_bits, |leaf| leaf),
                None => self.add(Value::Extend(of), width_bits),
            },
        }
    }

    pub(super) fn slice(&mut self, of: ValueId, low: u32, width_bits: u32) -> ValueId {
        let whole = self.width(of);
        if low == 0 && width_bits == whole {
            return of;
        }
        if low >= whole {
            return self.constant(0, width_bits);
        }
        if low + width_bits > whole {
            let part = self.slice(of, low, whole - low);
            return self.extend(part, width_bits);
        }
        match self.node(of).value.clone() {
            Value::Constant(value) => self.constant(value >> low, width_bits),
            Value::Undefined => self.undefined(width_bits),
            Value::Slice(inner, before) => self.slice(inner, before + low, width_bits),
            Value::Extend(inner) => self.slice(inner, low, width_bits),
            Value::Concatenate(upper, lower) => {
                let split = self.width(lower);
                if low >= split {
                    self.slice(upper, low - split, width_bits)
                } else if low + width_bits <= split {
                    self.slice(lower, low, width_bits)
                } else {
                    self.add(Value::Slice(of, low), width_bits)
                }
            }
            // Low bits of sums are sums of low bits; with a constant that may be less to do.
            Value::Compute(operator, left, right)
                if self.as_constant(right).is_some()
                    && (matches!(
                        operator,
                        AluOperator::And | AluOperator::Or | AluOperator::Xor
                    ) || low == 0
                        && matches!(operator, AluOperator::Add | AluOperator::Subtract)) =>
            {
                let left = self.slice(left, low, width_bits);
                let right = self.slice(right, low, width_bits);
                self.compute(operator, left, right, width_bits)
            }
            _ => match self.constant_leaves(of) {
                Some(leaves) => self.map_leaves(leaves, width_bits, |leaf| leaf >> low),
                None => self.add(Value::Slice(of, low), width_bits),
            },
        }
    }

    pub(super) fn concatenate(&mut self, upper: ValueId, lower: ValueId) -> ValueId {
        let split = self.width(lower);
        let width_bits = self.width(upper) + split;
        match (self.as_constant(upper), self.as_constant(lower)) {
            (Some(upper), Some(lower)) => self.constant(upper << split | lower, width_bits),
            (Some(0), None) => self.extend(lower, width_bits),
            _ => self.add(Value::Concatenate(upper, lower), width_bits),
        }
    }

    /// An operator on values of the width of the result.
    pub(super) fn compute(
        &mut self,
        operator: AluOperator,
        left: ValueId,
        right: ValueId,
        width_bits: u32,
    ) -> ValueId {
        use AluOperator as A;
        let commutes = matches!(
            operator,
            A::Add | A::SaturatingAdd | A::And | A::Or | A::Xor | A::Minimum | A::Maximum
        );
        // Constants to the right, else the older value to the left.
        let rank = |values: &Self, id: ValueId| (values.as_constant(id).is_some(), id);
        let (left, right) = match commutes && rank(self, left) > rank(self, right) {
            true => (right, left),
            false => (left, right),
        };
        let all = mask(width_bits);
        let (known_left, known_right) = (self.as_constant(left), self.as_constant(right));
        if let (Some(left), Some(right)) = (known_left, known_right) {
            return self.constant(operator.apply(left, right, width_bits), width_bits);
        }
        match (operator, known_right) {
            (
                A::Add
                | A::Subtract
                | A::SaturatingAdd
                | A::SaturatingSubtract
                | A::Or
                | A::Xor
                | A::ShiftLeft
                | A::ShiftRight
                | A::Maximum,
                Some(0),
            ) => return left,
            (A::And | A::Minimum, Some(0)) => return self.constant(0, width_bits),
            (A::And | A::Minimum, Some(known)) if known == all => return left,
            (A::Or | A::Maximum, Some(known)) if known == all => return right,
            (A::ShiftLeft | A::ShiftRight, Some(by)) if by >= u128::from(width_bits) => {
                return self.constant(0, width_bits);
            }
            _ => {}
        }
        if left == right {
            match operator {
                A::Subtract | A::SaturatingSubtract | A::Xor => {
                    return self.constant(0, width_bits);
                }
                A::And | A::Or | A::Minimum | A::Maximum => return left,
                _ => {}
            }
        }
        if operator == A::SaturatingSubtract && known_left == Some(0) {
            return left;
        }
        // Two steps by constants are one.
        if let (Some(second), Value::Compute(inner, first, step)) =
            (known_right, self.node(left).value.clone())
            && let Some(step) = self.as_constant(step)
            && self.width(first) == width_bits
        {
            let joined = match (inner, operator) {
                (A::Add, A::Add) => Some((A::Add, step.wrapping_add(second))),
                (A::Subtract, A::Subtract) => Some((A::Subtract, step.wrapping_add(second))),
                (A::Add, A::Subtract) => Some((A::Add, step.wrapping_sub(second))),
                (A::Subtract, A::Add) => Some((A::Add, second.wrapping_sub(step))),
                (A::And, A::And) => Some((A::And, step & second)),
                (A::Or, A::Or) => Some((A::Or, step | second)),
                (A::Xor, A::Xor) => Some((A::Xor, step ^ second)),
                _ => None,
            };
            if let Some((operator, constant)) = joined {
                let constant = self.constant(constant, width_bits);
                return self.compute(operator, first, constant, width_bits);
            }
        }
        // Of choices among known values.
        if let (Some(leaves), Some(known)) = (self.constant_leaves(left), known_right) {
            return self
                .map_leaves(leaves, width_bits, |leaf| operator.apply(leaf, known, width_bits));
        }
        if let (Some(known), Some(leaves)) = (known_left, self.constant_leaves(right)) {
            return self
                .map_leaves(leaves, width_bits, |leaf| operator.apply(known, leaf, width_bits));
        }
        self.add(Value::Compute(operator, left, right), width_bits)
    }

    /// `condition ? high : low`.
    pub(super) fn select(&mut self, condition: Formula, high: ValueId, low: ValueId) -> ValueId {
        if condition == Formula::ALWAYS || high == low {
            return high;
        }
        if condition == Formula::NEVER {
            return low;
        }
        let width_bits = self.width(high);
        let not = self.formulas.not(condition);
        let leaves = vec![(condition, high), (not, low)];
        self.choice(leaves, width_bits)
    }

    fn choice(&mut self, leaves: Vec<(Formula, ValueId)>, width_bits: u32) -> ValueId {
        let mut joined: Vec<(Formula, ValueId)> = Vec::new();
        for (formula, leaf) in self.with_constants(leaves) {
            if formula == Formula::NEVER {
                continue;
            }
            match joined.iter_mut().find(|(_, known)| *known == leaf) {
                Some(known) => known.0 = self.formulas.or(known.0, formula),
                None => joined.push((formula, leaf)),
            }
        }
        joined.sort_by_key(|(_, leaf)| *leaf);
        match joined.as_slice() {
            [] => self.undefined(width_bits),
            [(_, only)] => *only,
            _ if let Some(checksum) = self.joined_checksum(&joined) => checksum,
            _ if let Some(extreme) = self.extreme(&joined, width_bits) => extreme,
            _ => self.add(Value::Choice(joined), width_bits),
        }
    }

    /// Leaves, with those of choices of constants in the place of these; nothing for what is undefined.
    fn with_constants(&mut self, leaves: Vec<(Formula, ValueId)>) -> Vec<(Formula, ValueId)> {
        let mut found = Vec::new();
        for (side, of) in leaves {
            match self.node(of).value.clone() {
                Value::Undefined => {}
                Value::Choice(inner) if self.constant_leaves(of).is_some() => {
                    for (formula, leaf) in inner {
                        found.push((self.formulas.and(side, formula), leaf));
                    }
                }
                _ => found.push((side, of)),
            }
        }
        found
    }

    /// `a <= b ? a : b` and `a <= b ? b : a`, which an ALU does in one step.
    fn extreme(&mut self, leaves: &[(Formula, ValueId)], width_bits: u32) -> Option<ValueId> {
        let [(first, one), (second, other)] = leaves else { return None };
        if self.formulas.or(*first, *second) != Formula::ALWAYS {
            return None;
        }
        let (test, low, high) = self.formulas.root(*first)?;
        let (if_low, if_high) = match (low, high) {
            (Formula::NEVER, Formula::ALWAYS) => (*other, *one),
            (Formula::ALWAYS, Formula::NEVER) => (*one, *other),
            _ => return None,
        };
        let is_zero = Condition::Ternary { value: 0, mask: mask(test.width_bits) };
        let Value::Compute(AluOperator::SaturatingSubtract, left, right) =
            self.node(ValueId(test.subject)).value
        else {
            return None;
        };
        // The test holds where left <= right.
        if test.condition != is_zero {
            return None;
        }
        let operator = if (if_high, if_low) == (left, right) {
            AluOperator::Minimum
        } else if (if_high, if_low) == (right, left) {
            AluOperator::Maximum
        } else {
            return None;
        };
        Some(self.compute(operator, left, right, width_bits))
    }

    /// A choice among checksums of as many values as the checksum of choices: one of it is computed, by
    /// the deparser.
    fn joined_checksum(&mut self, leaves: &[(Formula, ValueId)]) -> Option<ValueId> {
        let mut lists = Vec::new();
        for (formula, leaf) in leaves {
            let Value::Checksum(arguments) = self.node(*leaf).value.clone() else { return None };
            lists.push((*formula, arguments));
        }
        let widths = |values: &Self, list: &[ValueId]| -> Vec<u32> {
            list.iter().map(|argument| values.width(*argument)).collect()
        };
        let first = widths(self, &lists[0].1);
        if lists.iter().any(|(_, list)| widths(self, list) != first) {
            return None;
        }
        let mut arguments = Vec::new();
        for (at, width_bits) in first.into_iter().enumerate() {
            let mut value = self.undefined(width_bits);
            for (formula, list) in lists.iter().rev() {
                value = self.select(*formula, list[at], value);
            }
            arguments.push(value);
        }
        Some(self.checksum(arguments))
    }

    /// That a value meets a condition, said of the values it is made of where that is as good.
    pub(super) fn holds(&mut self, id: ValueId, condition: Condition) -> Formula {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || match condition {
            Condition::Ternary { value, mask } => self.matches(id, value, mask),
            Condition::Range { low, high } => {
                let at_most = self.at_most(id, high);
                if low == 0 {
                    return at_most;
                }
                let below = self.at_most(id, low - 1);
                let not = self.formulas.not(below);
                self.formulas.and(at_most, not)
            }
        })
    }

    fn matches(&mut self, id: ValueId, value: u128, asked: u128) -> Formula {
        use AluOperator as A;
        let Node { value: node, width_bits } = self.node(id).clone();
        let all = mask(width_bits);
        if value & !all != 0 {
            return Formula::NEVER;
        }
        let asked = asked & all;
        if asked == 0 {
            return Formula::ALWAYS;
        }
        match node {
            Value::Constant(known) => return always_if(known & asked == value),
            Value::Undefined => return Formula::NEVER,
            Value::Extend(inner) => return self.matches(inner, value, asked),
            Value::Slice(inner, low) => return self.matches(inner, value << low, asked << low),
            Value::Concatenate(upper, lower) => {
                let split = self.width(lower);
                let below = mask(split);
                let upper = self.matches(upper, value >> split, asked >> split);
                let lower = self.matches(lower, value & below, asked & below);
                return self.formulas.and(upper, lower);
            }
            Value::Compute(operator, left, right) => {
                let (known_left, known_right) = (self.as_constant(left), self.as_constant(right));
                match (operator, known_left, known_right) {
                    (A::Xor, _, Some(known)) => {
                        return self.matches(left, value ^ known & asked, asked);
                    }
                    (A::And, _, Some(known)) => {
                        if value & !known != 0 {
                            return Formula::NEVER;
                        }
                        return self.matches(left, value, asked & known);
                    }
                    (A::Or, _, Some(known)) => {
                        if asked & known & !value != 0 {
                            return Formula::NEVER;
                        }
                        return self.matches(left, value & !known, asked & !known);
                    }
                    (A::Add, _, Some(known)) if asked == all => {
                        return self.matches(left, value.wrapping_sub(known) & all, all);
                    }
                    (A::Subtract, _, Some(known)) if asked == all => {
                        return self.matches(left, value.wrapping_add(known) & all, all);
                    }
                    (A::Subtract, Some(known), _) if asked == all => {
                        return self.matches(right, known.wrapping_sub(value) & all, all);
                    }
                    (A::SaturatingSubtract, _, Some(known)) if asked == all && value == 0 => {
                        return self.at_most(left, known);
                    }
                    (A::SaturatingSubtract, Some(known), _) if asked == all && value == 0 => {
                        // A saturated subtraction from zero is a constant, so this is at least 1.
                        let below = self.at_most(right, known.wrapping_sub(1));
                        return self.formulas.not(below);
                    }
                    _ => {}
                }
            }
            Value::Choice(ref leaves) if self.is_ready(leaves) => {
                let mut any = Formula::NEVER;
                for (formula, leaf) in leaves.clone() {
                    let leaf = self.matches(leaf, value, asked);
                    let both = self.formulas.and(formula, leaf);
                    any = self.formulas.or(any, both);
                }
                return any;
            }
            _ => {}
        }
        self.formulas.ternary((id.0, width_bits), value, asked)
    }

    fn at_most(&mut self, id: ValueId, high: u128) -> Formula {
        let Node { value: node, width_bits } = self.node(id).clone();
        if high >= mask(width_bits) {
            return Formula::ALWAYS;
        }
        match node {
            Value::Constant(known) => return always_if(known <= high),
            Value::Undefined => return Formula::NEVER,
            Value::Extend(inner) => return self.at_most(inner, high),
            Value::Slice(inner, low) if low + width_bits == self.width(inner) => {
                return self.at_most(inner, high << low | mask(low));
            }
            Value::Choice(ref leaves) if self.is_ready(leaves) => {
                let mut any = Formula::NEVER;
                for (formula, leaf) in leaves.clone() {
                    let leaf = self.at_most(leaf, high);
                    let both = self.formulas.and(formula, leaf);
                    any = self.formulas.or(any, both);
                }
                return any;
            }
            _ => {}
        }
        self.formulas.at_most((id.0, width_bits), high)
    }

    /// Whether asking the leaves of a choice is better than asking the choice: they are there at the
    /// beginning.
    fn is_ready(&self, leaves: &[(Formula, ValueId)]) -> bool {
        leaves.len() <= 4
            && leaves.iter().all(|(_, leaf)| match &self.node(*leaf).value {
                Value::Constant(_) | Value::Input(_) => true,
                Value::Choice(inner) => inner.len() <= 2 && self.is_ready(inner),
                _ => false,
            })
            || leaves.iter().all(|(_, leaf)| self.as_constant(*leaf).is_some())
    }

    /// What a value is made of, formulas' subjects included.
    pub(super) fn operands(&self, id: ValueId) -> Vec<ValueId> {
        match &self.node(id).value {
            Value::Undefined | Value::Constant(_) | Value::Input(_) | Value::Result(..) => {
                Vec::new()
            }
            Value::Compute(_, left, right) | Value::Concatenate(left, right) => vec![*left, *right],
            Value::Slice(inner, _) | Value::Extend(inner) => vec![*inner],
            Value::Hash(_, arguments) | Value::Checksum(arguments) => arguments.clone(),
            Value::Choice(leaves) => {
                let mut found = Vec::new();
                for (formula, leaf) in leaves {
                    found.push(*leaf);
                    found.extend(self.subjects(*formula));
                }
                found
            }
        }
    }

    /// The values that a formula tests.
    pub(super) fn subjects(&self, formula: Formula) -> Vec<ValueId> {
        self.formulas.tests_of(formula).into_iter().map(|test| ValueId(test.subject)).collect()
    }
}

fn always_if(holds: bool) -> Formula {
    if holds { Formula::ALWAYS } else { Formula::NEVER }
}

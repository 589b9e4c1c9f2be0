// SPDX-License-Identifier: Apache-2.0
//! What is known of the locals at a point of a body: the few values that a local can have, and
//! which other leaf it is a copy of. Facts are learned from assignments and conditions and joined
//! where paths join.

use lucid::core::walk::is_leaf;
use lucid::core::{
    Constant, Expression, ExpressionKind, Local, LocalId, Pattern, Type, arithmetic,
};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Most values of a local that are kept apart.
const MAX_VALUES: usize = 16;

/// What is known of the locals.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    values: HashMap<LocalId, BTreeSet<u128>>,
    copies: HashMap<LocalId, Expression>,
    /// Who is a copy of a local.
    copied_by: HashMap<LocalId, HashSet<LocalId>>,
}

impl Facts {
    /// What a read of a local may be replaced by: a constant or the leaf that it is a copy of.
    pub(super) fn worth(&self, local: LocalId, read: &Expression) -> Option<Expression> {
        if let Some(value) = self.only_value(local) {
            let value = match read.ty {
                Type::Int(width) => Constant::Int(value, width),
                Type::Bool => Constant::Bool(value != 0),
                _ => return None,
            };
            return Some(Expression::constant(value, read.span));
        }
        let copy = self.copies.get(&local).filter(|copy| copy.ty == read.ty)?;
        Some(Expression { span: read.span, ..copy.clone() })
    }

    fn only_value(&self, local: LocalId) -> Option<u128> {
        let values = self.values.get(&local)?;
        if values.len() == 1 { values.first().copied() } else { None }
    }

    /// The values that an expression can have, if they are few.
    pub(super) fn possible(&self, expression: &Expression) -> Option<&BTreeSet<u128>> {
        match &expression.kind {
            ExpressionKind::Local(local) => self.values.get(local),
            _ => None,
        }
    }

    /// Whether a comparison with a constant holds for all values that a local can have, or for none.
    pub(super) fn decide(&self, condition: &Expression) -> Option<bool> {
        let ExpressionKind::Binary(operator, left, right) = &condition.kind else { return None };
        let ExpressionKind::Constant(Constant::Int(value, _)) = &right.kind else { return None };
        let values = self.possible(left)?;
        let mut truths =
            values.iter().map(|one| arithmetic::integer_comparison(*operator, *one, *value));
        let first = truths.next().flatten()?;
        truths.all(|truth| truth == Some(first)).then_some(first)
    }

    /// A local has a new value of which nothing is known.
    pub(super) fn forget(&mut self, local: LocalId) {
        self.values.remove(&local);
        if let Some(Expression { kind: ExpressionKind::Local(from), .. }) =
            self.copies.remove(&local)
            && let Some(others) = self.copied_by.get_mut(&from)
        {
            others.remove(&local);
        }
        for copy in self.copied_by.remove(&local).unwrap_or_default() {
            self.copies.remove(&copy);
        }
    }

    /// A local was assigned the value of an expression that is simplified.
    pub(super) fn assign(&mut self, local: LocalId, value: &Expression) {
        let values = match &value.kind {
            ExpressionKind::Constant(Constant::Int(value, _)) => Some([*value].into()),
            ExpressionKind::Constant(Constant::Bool(value)) => Some([u128::from(*value)].into()),
            _ => self.possible(value).cloned(),
        };
        self.forget(local);
        if let Some(values) = values {
            self.values.insert(local, values);
        }
        match &value.kind {
            ExpressionKind::Constant(_) => {}
            ExpressionKind::Local(from) if *from == local => {}
            ExpressionKind::Local(from) => {
                self.copied_by.entry(*from).or_default().insert(local);
                self.copies.insert(local, value.clone());
            }
            // The clock is read where the user says so: on hardware it is more than a field.
            ExpressionKind::Time | ExpressionKind::DequeueDepth => {}
            _ if is_leaf(value) => {
                self.copies.insert(local, value.clone());
            }
            _ => {}
        }
    }

    /// A condition holds or does not.
    pub(super) fn learn(&mut self, condition: &Expression, truth: bool) {
        match &condition.kind {
            ExpressionKind::Local(local) => {
                self.values.insert(*local, [u128::from(truth)].into());
            }
            ExpressionKind::Unary(UnaryOperator::Not, inner) => self.learn(inner, !truth),
            ExpressionKind::Binary(BinaryOperator::And, one, other) if truth => {
                self.learn(one, true);
                self.learn(other, true);
            }
            ExpressionKind::Binary(BinaryOperator::Or, one, other) if !truth => {
                self.learn(one, false);
                self.learn(other, false);
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (ExpressionKind::Local(local), ExpressionKind::Constant(constant)) =
                    (&left.kind, &right.kind)
                else {
                    return;
                };
                let Constant::Int(value, _) = constant else { return };
                match (operator, truth) {
                    (BinaryOperator::Equal, true) | (BinaryOperator::NotEqual, false) => {
                        self.values.insert(*local, [*value].into());
                    }
                    (BinaryOperator::Equal, false) | (BinaryOperator::NotEqual, true) => {
                        self.exclude(*local, |one| one == *value);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// A local has none of the values for which this holds.
    fn exclude(&mut self, local: LocalId, excluded: impl Fn(u128) -> bool) {
        if let Some(values) = self.values.get_mut(&local) {
            values.retain(|value| !excluded(*value));
            // Nothing can be left only where nothing comes.
            if values.is_empty() {
                self.values.remove(&local);
            }
        }
    }

    /// A subject matches a pattern.
    pub(super) fn matched(&mut self, subject: &Expression, pattern: Pattern) {
        let (ExpressionKind::Local(local), Type::Int(width)) = (&subject.kind, subject.ty) else {
            return;
        };
        if pattern.mask == arithmetic::mask(width) {
            self.values.insert(*local, [pattern.value].into());
        } else {
            self.exclude(*local, |value| value & pattern.mask != pattern.value);
        }
    }

    /// The only subject of a match does not match a pattern.
    pub(super) fn unmatched(&mut self, subject: &Expression, pattern: Pattern) {
        if let ExpressionKind::Local(local) = &subject.kind {
            self.exclude(*local, |value| value & pattern.mask == pattern.value);
        }
    }

    /// The facts that hold on both of two paths.
    pub(super) fn join(mut self, other: &Facts) -> Facts {
        self.values.retain(|local, values| {
            let Some(others) = other.values.get(local) else { return false };
            values.extend(others);
            values.len() <= MAX_VALUES
        });
        let copies = std::mem::take(&mut self.copies);
        self.copied_by.clear();
        for (local, copy) in copies {
            let same = other.copies.get(&local);
            if same.is_some_and(|same| super::simplify::same_leaf(same, &copy)) {
                if let ExpressionKind::Local(from) = copy.kind {
                    self.copied_by.entry(from).or_default().insert(local);
                }
                self.copies.insert(local, copy);
            }
        }
        self
    }

    /// What is known in the beginning: locals that are no parameters are zero or false.
    pub(super) fn initial(locals: &[Local], parameter_count: u32) -> Facts {
        let mut facts = Facts::default();
        for (at, local) in locals.iter().enumerate().skip(parameter_count as usize) {
            if matches!(local.ty, Type::Int(_) | Type::Bool) {
                facts.values.insert(LocalId(at as u32), [0].into());
            }
        }
        facts
    }
}

// SPDX-License-Identifier: Apache-2.0
//! When values are there at the earliest, and operators that may be done in any order done in the one
//! that ends first: what comes early is joined early.

use super::super::formula::Formula;
use super::super::program::AluOperator;
use super::emit::Emitter;
use super::values::{Value, ValueId};
use super::walk::EffectKind;

impl Emitter<'_> {
    /// The two operands of an operator at the end.
    pub(super) fn balanced(&mut self, value: ValueId) -> (ValueId, ValueId) {
        let Value::Compute(operator, left, right) = self.values.node(value).value else {
            return (value, value);
        };
        use AluOperator as A;
        let is_free =
            matches!(operator, A::Add | A::And | A::Or | A::Xor | A::Minimum | A::Maximum);
        if !is_free {
            return (left, right);
        }
        let mut terms = Vec::new();
        self.terms(left, value, operator, &mut terms);
        self.terms(right, value, operator, &mut terms);
        let width_bits = self.values.width(value);
        while terms.len() > 2 {
            // The two that are there first; arrays may be later than they seem.
            let mut order: Vec<(u32, bool, usize)> = (terms.iter().enumerate())
                .map(|(at, term)| (self.ready(*term), self.is_result(*term), at))
                .collect();
            order.sort_unstable();
            let (one, other) = (order[0].2, order[1].2);
            let joined = self.values.compute(operator, terms[one], terms[other], width_bits);
            terms.remove(one.max(other));
            terms.remove(one.min(other));
            terms.push(joined);
        }
        match terms.as_slice() {
            [one, other] => (*one, *other),
            _ => (left, right),
        }
    }

    fn is_result(&self, value: ValueId) -> bool {
        match self.values.node(value).value {
            Value::Result(..) => true,
            Value::Extend(inner) | Value::Slice(inner, _) => self.is_result(inner),
            _ => false,
        }
    }

    /// The terms of a value that only `user` uses, if it has the same operator; else the value.
    fn terms(
        &self,
        value: ValueId,
        user: ValueId,
        operator: AluOperator,
        found: &mut Vec<ValueId>,
    ) {
        match self.values.node(value).value {
            Value::Compute(inner, left, right)
                if inner == operator
                    && self.only_users.get(&value) == Some(&user)
                    && self.values.width(value) == self.values.width(user) =>
            {
                self.terms(left, value, operator, found);
                self.terms(right, value, operator, found);
            }
            _ => found.push(value),
        }
    }

    /// How many stages have to pass before a value can be read.
    pub(super) fn ready(&mut self, value: ValueId) -> u32 {
        if let Some(known) = self.ready.get(&value) {
            return *known;
        }
        let stages = stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.ready_deep(value));
        self.ready.insert(value, stages);
        stages
    }

    fn ready_deep(&mut self, value: ValueId) -> u32 {
        match self.values.node(value).value.clone() {
            Value::Undefined | Value::Constant(_) | Value::Input(_) => 0,
            Value::Extend(inner) => self.ready(inner),
            Value::Choice(leaves) => {
                let mut last = 0;
                for (formula, leaf) in leaves {
                    // A leaf is computed where it is chosen.
                    let leaf = self.ready(leaf).saturating_sub(1);
                    last = last.max(leaf).max(self.known(formula));
                }
                last + 1
            }
            Value::Result(effect, _) => {
                let effect = self.effects[effect as usize].clone();
                let inner = match effect.kind {
                    EffectKind::Memory { mut operands, index, .. } => {
                        match self.values.node(index).value.clone() {
                            Value::Hash(_, arguments) => operands.extend(arguments),
                            _ => operands.push(index),
                        }
                        operands
                    }
                    EffectKind::Lookup { key, arguments, .. } => [key, arguments].concat(),
                    EffectKind::Random | EffectKind::Generate { .. } => Vec::new(),
                };
                self.last(&inner).max(self.known(effect.path)) + 1
            }
            _ => {
                let inner = self.values.operands(value);
                self.last(&inner) + 1
            }
        }
    }

    fn last(&mut self, values: &[ValueId]) -> u32 {
        values.iter().map(|value| self.ready(*value)).max().unwrap_or(0)
    }

    /// How many stages have to pass before a formula can be asked.
    fn known(&mut self, formula: Formula) -> u32 {
        let subjects = self.values.subjects(formula);
        self.last(&subjects)
    }
}

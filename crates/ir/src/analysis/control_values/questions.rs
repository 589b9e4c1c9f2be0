// SPDX-License-Identifier: Apache-2.0
//! Questions about values: on which accesses of state they depend, what the packet alone says of a predicate, which
//! predicates exclude each other, how large a value can be.

use super::super::predicates::Predicate;
use super::store::{Value, ValueId, Values};
use crate::{BinaryOperation, Bits, ResizeKind};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

impl Values {
    /// Says for a result of a lookup or of an access what it depends on, before anything is asked about it.
    pub(super) fn set_reads(&mut self, id: ValueId, reads: BTreeSet<usize>) {
        self.reads.insert(id, Rc::new(reads));
    }

    /// Returns the accesses of state that a value depends on.
    pub fn reads_of(&mut self, id: ValueId) -> BTreeSet<usize> {
        self.shared_reads_of(id).as_ref().clone()
    }

    fn shared_reads_of(&mut self, id: ValueId) -> Rc<BTreeSet<usize>> {
        // A list instead of recursion: values can be deep.
        let mut open = vec![id];
        while let Some(&next) = open.last() {
            if self.reads.contains_key(&next) {
                open.pop();
                continue;
            }
            let operands = self.operands(next);
            let waiting: Vec<ValueId> =
                operands.iter().copied().filter(|one| !self.reads.contains_key(one)).collect();
            if !waiting.is_empty() {
                open.extend(waiting);
                continue;
            }
            let mut reads = BTreeSet::new();
            operands.iter().for_each(|one| reads.extend(self.reads[one].iter().copied()));
            self.reads.insert(next, Rc::new(reads));
        }
        self.reads[&id].clone()
    }

    /// Returns the accesses of state that a predicate depends on.
    pub fn reads_of_predicate(&mut self, predicate: Predicate) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for atom in self.atoms_of(predicate) {
            found.extend(self.shared_reads_of(atom).iter());
        }
        found
    }

    /// Whether what an access reads is no state, because no packet writes its object.
    pub fn is_configuration(&self, access: usize) -> bool {
        self.configuration.contains(&access)
    }

    /// Whether a value can be computed from the packet that enters the control.
    pub fn is_of_packet(&mut self, id: ValueId) -> bool {
        self.shared_reads_of(id).is_empty() && !self.is_unknown(id)
    }

    /// Whether a value depends on one of which nothing is known.
    pub fn is_unknown(&self, id: ValueId) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                if matches!(self.value(next), Value::Unknown(..)) {
                    return true;
                }
                open.extend(self.operands(next));
            }
        }
        false
    }

    /// Returns what the packet alone says of a predicate: that it holds, whatever the state.
    pub fn whatever_state(&mut self, predicate: Predicate) -> Predicate {
        let variables = self.predicates.variables(&[predicate]);
        let any: BTreeSet<u32> = variables
            .into_iter()
            .filter(|variable| {
                let atom = self.atom(*variable);
                !self.is_of_packet(atom)
            })
            .collect();
        self.predicates.whatever(predicate, &mut |variable| any.contains(&variable))
    }

    /// Whether two predicates never both hold. That one value does not equal two numbers is known.
    pub fn excludes(&mut self, one: Predicate, other: Predicate) -> bool {
        let both = self.predicates.and(one, other);
        if both == Predicate::FALSE {
            return true;
        }
        let mut equalities: HashMap<ValueId, Vec<u32>> = HashMap::new();
        for variable in self.predicates.variables(&[both]) {
            if let Value::Binary(BinaryOperation::Equal, value, number) =
                *self.value(self.atom(variable))
                && self.constant_of(number).is_some()
            {
                equalities.entry(value).or_default().push(variable);
            }
        }
        let mut rest = both;
        for variables in equalities.values() {
            for (at, one) in variables.iter().enumerate() {
                for other in &variables[at + 1..] {
                    let one = self.predicates.variable(*one);
                    let other = self.predicates.variable(*other);
                    let both = self.predicates.and(one, other);
                    let not = self.predicates.not(both);
                    rest = self.predicates.and(rest, not);
                }
            }
        }
        rest == Predicate::FALSE
    }

    /// Returns a number that a value is not above; `None` of wide ones.
    pub fn largest(&self, id: ValueId) -> Option<u128> {
        let of_width = |width_bits: u32| match width_bits {
            0..=127 => Some((1u128 << width_bits) - 1),
            _ => None,
        };
        let by_form = match self.value(id) {
            Value::Constant(bits) => bits.to_u128(),
            Value::Resize(ResizeKind::ZeroExtend, operand, _) => self.largest(*operand),
            Value::Choice(_, then, otherwise) => {
                self.largest(*then).zip(self.largest(*otherwise)).map(|(one, two)| one.max(two))
            }
            Value::Binary(operation, left, right) => {
                let number = self.constant_of(*right).and_then(Bits::to_u128);
                match operation {
                    BinaryOperation::And => number.or(self.largest(*left)),
                    BinaryOperation::RemainderUnsigned => {
                        number.map(|number| number.saturating_sub(1))
                    }
                    BinaryOperation::DivideUnsigned => {
                        let dividend = self.largest(*left);
                        dividend
                            .zip(number)
                            .map(|(one, number)| one.checked_div(number).unwrap_or(0))
                    }
                    BinaryOperation::ShiftRightLogical => self
                        .largest(*left)
                        .zip(number)
                        .map(|(one, number)| one.checked_shr(number.min(128) as u32).unwrap_or(0)),
                    _ => None,
                }
            }
            _ => None,
        };
        let by_width = of_width(self.width(id));
        match (by_form, by_width) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        }
    }

    /// Returns the results of an application that are values.
    pub fn results_of_application(&self, application: usize) -> Vec<(ValueId, Value)> {
        let is_result = |value: &Value| {
            matches!(value, Value::Hit(of) | Value::Action(of) | Value::Argument(of, ..)
                if *of == application)
        };
        let all = (0..).map(ValueId).zip(&self.values);
        all.filter(|(_, value)| is_result(value)).map(|(id, value)| (id, value.clone())).collect()
    }
}

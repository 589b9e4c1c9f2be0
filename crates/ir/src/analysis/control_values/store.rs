// SPDX-License-Identifier: Apache-2.0
//! [`Values`]: values as expressions of what a packet brings, each in one form and kept once. Conditions are predicates
//! over values of one bit; choices by conditions are pushed out of operations on constants, so `(c ? 1 : 0) == 1` is `c`.

use super::super::predicates::{Predicate, Predicates};
use crate::{
    BinaryOperation, Bits, ExternId, HashAlgorithm, RandomSite, ResizeKind, SlotId, UnaryOperation,
    ValueType,
};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// A value: index into [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// How a value is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A number.
    Constant(Bits),
    /// What a slot holds when the control begins.
    Start(SlotId),
    /// An operation with one operand.
    Unary(UnaryOperation, ValueId),
    /// An operation with two operands.
    Binary(BinaryOperation, ValueId, ValueId),
    /// A change of width to this many bits.
    Resize(ResizeKind, ValueId, u32),
    /// Bits of a value, the highest and the lowest of them.
    Slice(ValueId, u32, u32),
    /// One of two values by a predicate.
    Choice(Predicate, ValueId, ValueId),
    /// A predicate as a bit.
    Truth(Predicate),
    /// A hash.
    Hash {
        /// Algorithm.
        algorithm: HashAlgorithm,
        /// Inputs.
        inputs: Vec<ValueId>,
        /// Whether the packet's payload follows.
        payload: bool,
        /// Width of the result.
        width_bits: u32,
    },
    /// A random number, drawn at the only place of this site.
    Random {
        /// Smallest.
        low: ValueId,
        /// Largest.
        high: ValueId,
        /// The site.
        site: RandomSite,
    },
    /// A result of a call that depends on its arguments alone.
    Call {
        /// The extern.
        target: ExternId,
        /// The method.
        method: Arc<str>,
        /// Arguments.
        arguments: Vec<ValueId>,
        /// Which of the results.
        result: u32,
        /// Its type.
        ty: ValueType,
    },
    /// Whether an application found an entry.
    Hit(usize),
    /// Which action an application ran; all ones for none.
    Action(usize),
    /// An argument of the action that an application ran: application, action of the table, parameter.
    Argument(usize, usize, usize, ValueType),
    /// A result of an access of state.
    Read(usize, u32, ValueType),
    /// A value of which nothing is known.
    Unknown(u32, ValueType),
}

/// Values and the predicates over them.
#[derive(Debug, Default)]
pub struct Values {
    pub(super) values: Vec<Value>,
    types: Vec<ValueType>,
    known: HashMap<Value, ValueId>,
    pub(super) predicates: Predicates,
    /// The bit that each variable of predicates stands for.
    atoms: Vec<ValueId>,
    atom_of: HashMap<ValueId, u32>,
    /// Accesses whose results are no state, because nothing writes their object.
    pub(super) configuration: BTreeSet<usize>,
    pub(super) reads: HashMap<ValueId, Rc<BTreeSet<usize>>>,
    unknown: u32,
}

impl Values {
    /// Returns how a value is made.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// Returns the type of a value.
    pub fn ty(&self, id: ValueId) -> ValueType {
        self.types[id.0 as usize]
    }

    /// Returns the predicates.
    pub fn predicates(&self) -> &Predicates {
        &self.predicates
    }

    /// Returns the predicates, to make further ones.
    pub fn predicates_mut(&mut self) -> &mut Predicates {
        &mut self.predicates
    }

    /// Returns the bit that a variable of predicates stands for.
    pub fn atom(&self, variable: u32) -> ValueId {
        self.atoms[variable as usize]
    }

    pub(super) fn width(&self, id: ValueId) -> u32 {
        self.ty(id).width_bits()
    }

    fn is_bit(&self, id: ValueId) -> bool {
        self.ty(id) == ValueType::Bits(1)
    }

    fn keep(&mut self, value: Value, ty: ValueType) -> ValueId {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let id = ValueId(self.values.len() as u32);
        self.values.push(value.clone());
        self.types.push(ty);
        self.known.insert(value, id);
        id
    }

    /// Returns a number.
    pub fn constant(&mut self, bits: Bits) -> ValueId {
        let ty = ValueType::Bits(bits.width_bits());
        self.keep(Value::Constant(bits), ty)
    }

    pub(super) fn constant_of(&self, id: ValueId) -> Option<&Bits> {
        match self.value(id) {
            Value::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// Returns what a slot of this type holds at the beginning.
    pub(super) fn start(&mut self, slot: SlotId, ty: ValueType) -> ValueId {
        self.keep(Value::Start(slot), ty)
    }

    /// Returns a value without a form of its own, other than those that have one.
    pub(super) fn other(&mut self, value: Value, ty: ValueType) -> ValueId {
        self.keep(value, ty)
    }

    /// Returns a value of which nothing is known.
    pub(super) fn unknown(&mut self, ty: ValueType) -> ValueId {
        self.unknown += 1;
        self.keep(Value::Unknown(self.unknown, ty), ty)
    }

    /// Returns a predicate as a bit.
    pub fn truth(&mut self, predicate: Predicate) -> ValueId {
        match self.predicates.decision(predicate) {
            None => self.constant(Bits::from_bit(predicate == Predicate::TRUE)),
            Some((variable, Predicate::FALSE, Predicate::TRUE)) => self.atom(variable),
            Some(_) => self.keep(Value::Truth(predicate), ValueType::Bits(1)),
        }
    }

    /// Returns the predicate that a value of one bit is 1.
    pub fn predicate(&mut self, bit: ValueId) -> Predicate {
        match self.value(bit) {
            Value::Constant(bits) if bits.is_true() => Predicate::TRUE,
            Value::Constant(_) => Predicate::FALSE,
            Value::Truth(predicate) => *predicate,
            _ => {
                let next = self.atoms.len() as u32;
                let variable = *self.atom_of.entry(bit).or_insert(next);
                if variable == next {
                    self.atoms.push(bit);
                }
                self.predicates.variable(variable)
            }
        }
    }

    /// Returns `condition ? then : otherwise`.
    pub fn choice(&mut self, condition: Predicate, then: ValueId, otherwise: ValueId) -> ValueId {
        match condition {
            Predicate::TRUE => return then,
            Predicate::FALSE => return otherwise,
            _ if then == otherwise => return then,
            _ => {}
        }
        if self.is_bit(then) && self.is_bit(otherwise) {
            let (then, otherwise) = (self.predicate(then), self.predicate(otherwise));
            let chosen = self.predicates.choose(condition, then, otherwise);
            return self.truth(chosen);
        }
        let ty = self.ty(then);
        self.keep(Value::Choice(condition, then, otherwise), ty)
    }

    /// The two values and the predicate of a choice between constants.
    fn constant_choice(&self, id: ValueId) -> Option<(Predicate, ValueId, ValueId)> {
        match *self.value(id) {
            Value::Choice(condition, then, otherwise)
                if self.constant_of(then).is_some() || self.constant_of(otherwise).is_some() =>
            {
                Some((condition, then, otherwise))
            }
            _ => None,
        }
    }

    /// Returns an operation with one operand.
    pub fn unary(&mut self, operation: UnaryOperation, operand: ValueId) -> ValueId {
        if let Some(bits) = self.constant_of(operand) {
            let result = bits.unary(operation);
            return self.constant(result);
        }
        if self.is_bit(operand) {
            if operation == UnaryOperation::Negate {
                return operand;
            }
            let predicate = self.predicate(operand);
            let not = self.predicates.not(predicate);
            return self.truth(not);
        }
        let ty = self.ty(operand);
        self.keep(Value::Unary(operation, operand), ty)
    }

    /// Returns a change of width.
    pub fn resize(&mut self, kind: ResizeKind, operand: ValueId, width_bits: u32) -> ValueId {
        if self.width(operand) == width_bits {
            return operand;
        }
        if let Some(bits) = self.constant_of(operand) {
            let result = bits.resize(kind, width_bits);
            return self.constant(result);
        }
        if self.is_bit(operand) && width_bits > 1 {
            let predicate = self.predicate(operand);
            let [zero, one] = [Bits::zero(1), Bits::ones(1)].map(|bit| {
                let bits = bit.resize(kind, width_bits);
                self.constant(bits)
            });
            return self.choice(predicate, one, zero);
        }
        if let Some((condition, then, otherwise)) = self.constant_choice(operand) {
            let then = self.resize(kind, then, width_bits);
            let otherwise = self.resize(kind, otherwise, width_bits);
            return self.choice(condition, then, otherwise);
        }
        self.keep(Value::Resize(kind, operand, width_bits), ValueType::Bits(width_bits))
    }

    /// Returns some bits of a value.
    pub fn slice(&mut self, operand: ValueId, high: u32, low: u32) -> ValueId {
        if low == 0 && high + 1 == self.width(operand) {
            return operand;
        }
        if let Some(bits) = self.constant_of(operand) {
            let result = bits.slice(high, low);
            return self.constant(result);
        }
        if let Some((condition, then, otherwise)) = self.constant_choice(operand) {
            let (then, otherwise) = (self.slice(then, high, low), self.slice(otherwise, high, low));
            return self.choice(condition, then, otherwise);
        }
        self.keep(Value::Slice(operand, high, low), ValueType::Bits(high + 1 - low))
    }

    /// Returns an operation with two operands, whose result has this many bits.
    pub fn binary(
        &mut self,
        operation: BinaryOperation,
        left: ValueId,
        right: ValueId,
        width_bits: u32,
    ) -> ValueId {
        use BinaryOperation as B;
        if let (Some(left), Some(right)) = (self.constant_of(left), self.constant_of(right)) {
            let result = left.binary(operation, right);
            return self.constant(result);
        }
        let (is_varbit, is_bit) = (
            matches!(self.ty(left), ValueType::Varbit(_)),
            self.is_bit(left) && self.is_bit(right),
        );
        match operation {
            B::NotEqual => return self.negated(B::Equal, left, right),
            B::LessEqualUnsigned => return self.negated(B::LessUnsigned, right, left),
            B::LessEqualSigned => return self.negated(B::LessSigned, right, left),
            B::And | B::Or | B::Xor | B::Equal if is_bit => {
                let (left, right) = (self.predicate(left), self.predicate(right));
                let not = self.predicates.not(right);
                let both = match operation {
                    B::And => self.predicates.and(left, right),
                    B::Or => self.predicates.or(left, right),
                    B::Xor => self.predicates.choose(left, not, right),
                    _ => self.predicates.choose(left, right, not),
                };
                return self.truth(both);
            }
            B::Equal | B::LessUnsigned | B::LessSigned if left == right => {
                return self.constant(Bits::from_bit(operation == B::Equal));
            }
            _ => {}
        }
        if !is_varbit {
            let is_constant = |id| self.constant_of(id).is_some();
            if let Some((condition, then, otherwise)) = self.constant_choice(left)
                && (is_constant(right) || self.constant_choice(right).is_some())
            {
                let then = self.binary(operation, then, right, width_bits);
                let otherwise = self.binary(operation, otherwise, right, width_bits);
                return self.choice(condition, then, otherwise);
            }
            if let Some((condition, then, otherwise)) = self.constant_choice(right)
                && is_constant(left)
            {
                let then = self.binary(operation, left, then, width_bits);
                let otherwise = self.binary(operation, left, otherwise, width_bits);
                return self.choice(condition, then, otherwise);
            }
        }
        let commutes = matches!(
            operation,
            B::Add | B::Multiply | B::And | B::Or | B::Xor | B::Equal | B::AddSaturatingUnsigned
        );
        // Constants are on the right.
        let swaps = commutes && (self.constant_of(left).is_some() || left > right);
        let (left, right) = match swaps && self.constant_of(right).is_none() {
            true => (right, left),
            false => (left, right),
        };
        self.keep(Value::Binary(operation, left, right), ValueType::Bits(width_bits))
    }

    fn negated(&mut self, operation: BinaryOperation, left: ValueId, right: ValueId) -> ValueId {
        let positive = self.binary(operation, left, right, 1);
        self.unary(UnaryOperation::Not, positive)
    }

    /// Returns the predicate that two values are equal.
    pub fn equal(&mut self, left: ValueId, right: ValueId) -> Predicate {
        let bit = self.binary(BinaryOperation::Equal, left, right, 1);
        self.predicate(bit)
    }

    /// Returns the values that a value is made of.
    pub fn operands(&self, id: ValueId) -> Vec<ValueId> {
        match self.value(id) {
            Value::Unary(_, one) | Value::Resize(_, one, _) | Value::Slice(one, ..) => vec![*one],
            Value::Binary(_, one, two) => vec![*one, *two],
            Value::Choice(condition, one, two) => {
                let mut operands = vec![*one, *two];
                operands.extend(self.atoms_of(*condition));
                operands
            }
            Value::Truth(predicate) => self.atoms_of(*predicate),
            Value::Hash { inputs, .. } => inputs.clone(),
            Value::Random { low, high, .. } => vec![*low, *high],
            Value::Call { arguments, .. } => arguments.clone(),
            Value::Constant(_)
            | Value::Start(_)
            | Value::Hit(_)
            | Value::Action(_)
            | Value::Argument(..)
            | Value::Read(..)
            | Value::Unknown(..) => Vec::new(),
        }
    }

    /// Returns the bits that a predicate depends on.
    pub fn atoms_of(&self, predicate: Predicate) -> Vec<ValueId> {
        let variables = self.predicates.variables(&[predicate]);
        variables.into_iter().map(|variable| self.atom(variable)).collect()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! [`Value`]: a value of any type during lowering: loads, stores, comparison, flattening, selection.
//! `expressions` evaluates expressions to them.

use super::{Location, Lowered, Lowering, Shape, bit, number};
use crate::{BinaryOperation, Bits, HeaderTypeId, Operand, ValueType};
use num_bigint::BigInt;
use std::sync::Arc;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// One number, bool, enum, error or varbit.
    Scalar(Operand),
    /// A struct, tuple or list by named fields; without a type yet when it is a list expression.
    Struct(Vec<(Arc<str>, Value)>),
    /// A header.
    Header {
        /// Its layout.
        ty: HeaderTypeId,
        /// One bit.
        valid: Operand,
        /// Flat fields.
        fields: Vec<Operand>,
    },
    /// A union by its members.
    Union(Vec<(Arc<str>, Value)>),
    /// A stack and its `nextIndex`.
    Stack {
        /// Elements.
        elements: Vec<Value>,
        /// `nextIndex`
        next: Operand,
    },
    /// An `int` without width.
    Integer(BigInt),
    /// A string.
    String(Arc<str>),
    /// `{#}` before it has a type.
    InvalidHeader,
    /// `...` before it has a type.
    Default,
    /// An object or instance, as constructor argument.
    Object(Box<super::Binding>),
    /// Nothing.
    Void,
}

impl Lowering<'_> {
    /// Reads a location.
    pub(crate) fn load(&mut self, location: &Location) -> Value {
        match location {
            Location::Scalar(place, ty) => Value::Scalar(self.load_place(place.clone(), *ty)),
            Location::Struct(fields) => Value::Struct(self.load_fields(fields)),
            Location::Union(members) => Value::Union(self.load_fields(members)),
            Location::Header { header, ty, .. } => {
                let valid = self.header_place(header, 0);
                let valid = self.load_place(valid, ValueType::Bits(1));
                let mut fields = Vec::new();
                for (index, field) in self.flat_fields(*ty).into_iter().enumerate() {
                    let place = self.header_place(header, index as u32 + 1);
                    fields.push(self.load_place(place, field.ty));
                }
                Value::Header { ty: *ty, valid, fields }
            }
            Location::Stack(stack, element) => {
                let elements: Vec<Value> = self
                    .elements(*stack, element)
                    .iter()
                    .map(|element| self.load(element))
                    .collect();
                let next = self.program.stacks[stack.index()].next;
                Value::Stack { elements, next: self.load_slot(next) }
            }
            Location::Slice { base, low, width } => {
                let Value::Scalar(base) = self.load(base) else { return Value::Void };
                Value::Scalar(self.cut(base, low, *width))
            }
            Location::Choice { elements, index } => self.load_choice(elements, index),
            Location::Nothing => Value::Void,
        }
    }

    /// The chosen element; a zero value of the layout for an index outside.
    fn load_choice(&mut self, elements: &[Location], index: &Operand) -> Value {
        let width = self.width(index);
        let mut chosen: Option<Value> = None;
        for (at, element) in elements.iter().enumerate() {
            let value = self.load(element);
            let Some(position) = position(width, at) else { continue };
            let here = self.binary(BinaryOperation::Equal, index.clone(), position);
            let other = match chosen {
                Some(other) => other,
                None => zero_like(self, &value),
            };
            chosen = Some(self.choose(&here, &value, &other).unwrap_or(other));
        }
        chosen.unwrap_or(Value::Void)
    }

    fn load_fields(&mut self, fields: &[(Arc<str>, Location)]) -> Vec<(Arc<str>, Value)> {
        fields.iter().map(|(name, field)| (name.clone(), self.load(field))).collect()
    }

    /// `width` bits from bit `low` on.
    pub(crate) fn cut(&mut self, base: Operand, low: &Operand, width: u32) -> Operand {
        let whole = self.width(&base);
        if let Operand::Constant(low) = low
            && let Some(low) = low.to_u64()
            && low.saturating_add(u64::from(width)) <= u64::from(whole)
            && width > 0
        {
            let low = low as u32;
            return self.slice(base, low + width - 1, low);
        }
        let shifted = self.binary(BinaryOperation::ShiftRightLogical, base, low.clone());
        self.resize(shifted, width, false)
    }

    /// Writes a location. The value has the location's layout.
    pub(crate) fn store(&mut self, location: &Location, value: &Value) -> Lowered<()> {
        match (location, value) {
            (Location::Scalar(place, _), Value::Scalar(operand)) => {
                self.store_place(place.clone(), operand.clone());
            }
            (Location::Scalar(place, ValueType::Bits(width)), Value::Integer(value)) => {
                let value = Operand::Constant(Bits::from_bigint(*width, value));
                self.store_place(place.clone(), value);
            }
            (Location::Struct(fields), Value::Struct(values)) if fields.len() == values.len() => {
                for ((_, field), (_, value)) in fields.iter().zip(values) {
                    self.store(field, value)?;
                }
            }
            (Location::Union(members), Value::Union(values)) if members.len() == values.len() => {
                for ((_, member), (_, value)) in members.iter().zip(values) {
                    self.store_header(member, value, false)?;
                }
            }
            (Location::Union(members), Value::InvalidHeader) => {
                for (_, member) in members.iter() {
                    self.invalidate(member);
                }
            }
            (Location::Header { .. }, _) => self.store_header(location, value, true)?,
            (Location::Stack(stack, element), Value::Stack { elements, next }) => {
                for (element, value) in self.elements(*stack, element).iter().zip(elements) {
                    self.store(element, value)?;
                }
                let slot = self.program.stacks[stack.index()].next;
                self.store_slot(slot, next.clone());
            }
            (Location::Slice { base, low, width }, Value::Scalar(operand)) => {
                self.store_slice(base, low, *width, operand.clone())?;
            }
            (Location::Choice { elements, index }, value) => {
                let width = self.width(index);
                for (at, element) in elements.iter().enumerate() {
                    let Some(position) = position(width, at) else { continue };
                    let here = self.binary(BinaryOperation::Equal, index.clone(), position);
                    let old = self.load(element);
                    let Some(new) = self.choose(&here, value, &old) else {
                        return Err(
                            self.not_expressible("this cannot be stored by a dynamic index")
                        );
                    };
                    self.store(element, &new)?;
                }
            }
            (Location::Nothing, _) => {}
            (location, Value::Default) => self.clear(location),
            _ => return Err(self.missing_fact("a conversion")),
        }
        Ok(())
    }

    /// Writes a header; inside a union its siblings become invalid (§8.21).
    fn store_header(&mut self, location: &Location, value: &Value, alone: bool) -> Lowered<()> {
        let Location::Header { header, siblings, .. } = location else { return Ok(()) };
        match value {
            Value::Header { valid, fields, .. } => {
                let place = self.header_place(header, 0);
                self.store_place(place, valid.clone());
                let never_valid = super::constant(valid).is_some_and(Bits::is_zero);
                if !never_valid {
                    for (index, field) in fields.iter().enumerate() {
                        let place = self.header_place(header, index as u32 + 1);
                        self.store_place(place, field.clone());
                    }
                }
            }
            Value::InvalidHeader | Value::Default => {
                let place = self.header_place(header, 0);
                self.store_place(place, bit(false));
            }
            _ => return Err(self.missing_fact("a conversion to a header")),
        }
        if alone {
            for sibling in siblings.iter() {
                let place = self.header_place(sibling, 0);
                self.store_place(place, bit(false));
            }
        }
        Ok(())
    }

    fn store_slice(
        &mut self,
        base: &Location,
        low: &Operand,
        width: u32,
        value: Operand,
    ) -> Lowered<()> {
        let Value::Scalar(old) = self.load(base) else {
            return Err(self.missing_fact("the base of a slice"));
        };
        let whole = self.width(&old);
        let new = match super::constant(low).and_then(Bits::to_u64) {
            Some(low) if low.saturating_add(u64::from(width)) <= u64::from(whole) => {
                let low = low as u32;
                let mut new = value;
                if low > 0 {
                    let rest = self.slice(old.clone(), low - 1, 0);
                    new = self.binary(BinaryOperation::Concat, new, rest);
                }
                if low + width < whole {
                    let top = self.slice(old, whole - 1, low + width);
                    new = self.binary(BinaryOperation::Concat, top, new);
                }
                new
            }
            _ => {
                let ones = Operand::Constant(Bits::ones(width));
                let mask = self.resize(ones, whole, false);
                let mask = self.binary(BinaryOperation::ShiftLeft, mask, low.clone());
                let value = self.resize(value, whole, false);
                let value = self.binary(BinaryOperation::ShiftLeft, value, low.clone());
                let keep = self.not(mask);
                let kept = self.and(old, keep);
                self.or(kept, value)
            }
        };
        self.store(base, &Value::Scalar(new))
    }

    /// The zero value of a layout: invalid headers, first enum members (§7.3).
    pub(crate) fn default_value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Scalar(ty, _) => Value::Scalar(number(zero_width(*ty), 0)),
            Shape::Struct(fields) => Value::Struct(
                fields
                    .iter()
                    .map(|(name, shape)| (name.clone(), self.default_value(shape)))
                    .collect(),
            ),
            Shape::Header(ty) => self.invalid_header(*ty),
            Shape::Union(members) => Value::Union(
                members.iter().map(|(name, ty)| (name.clone(), self.invalid_header(*ty))).collect(),
            ),
            Shape::Stack(element, size) => {
                let element = self.default_value(element);
                Value::Stack { elements: vec![element; *size as usize], next: number(32, 0) }
            }
            Shape::Empty => Value::Void,
        }
    }

    /// A header that is not valid.
    pub(crate) fn invalid_header(&mut self, ty: HeaderTypeId) -> Value {
        let fields =
            self.flat_fields(ty).iter().map(|field| number(zero_width(field.ty), 0)).collect();
        Value::Header { ty, valid: bit(false), fields }
    }

    /// Whether two values are equal: one bit (§8.9 to §8.20).
    pub(crate) fn equal(&mut self, left: &Value, right: &Value) -> Lowered<Operand> {
        match (left, right) {
            (Value::Scalar(left), Value::Scalar(right)) => {
                Ok(self.binary(BinaryOperation::Equal, left.clone(), right.clone()))
            }
            (Value::Scalar(scalar), Value::Integer(integer))
            | (Value::Integer(integer), Value::Scalar(scalar)) => {
                let width = self.width(scalar);
                let integer = Operand::Constant(Bits::from_bigint(width, integer));
                Ok(self.binary(BinaryOperation::Equal, scalar.clone(), integer))
            }
            (Value::Integer(left), Value::Integer(right)) => Ok(bit(left == right)),
            (Value::String(left), Value::String(right)) => Ok(bit(left == right)),
            (Value::Struct(left), Value::Struct(right))
            | (Value::Union(left), Value::Union(right))
                if left.len() == right.len() =>
            {
                let mut all = bit(true);
                for ((_, left), (_, right)) in left.iter().zip(right) {
                    let equal = self.equal(left, right)?;
                    all = self.and(all, equal);
                }
                Ok(all)
            }
            (
                Value::Header { valid: left_valid, fields: left, .. },
                Value::Header { valid: right_valid, fields: right, .. },
            ) => {
                let mut all = self.and(left_valid.clone(), right_valid.clone());
                if !super::constant(&all).is_some_and(Bits::is_zero) {
                    for (left, right) in left.iter().zip(right) {
                        let equal =
                            self.binary(BinaryOperation::Equal, left.clone(), right.clone());
                        all = self.and(all, equal);
                    }
                }
                let any = self.or(left_valid.clone(), right_valid.clone());
                let neither = self.not(any);
                Ok(self.or(all, neither))
            }
            (Value::Header { valid, .. }, Value::InvalidHeader)
            | (Value::InvalidHeader, Value::Header { valid, .. }) => Ok(self.not(valid.clone())),
            (Value::Union(members), Value::InvalidHeader)
            | (Value::InvalidHeader, Value::Union(members)) => {
                let any = self.union_valid(members);
                Ok(self.not(any))
            }
            (Value::Stack { elements: left, .. }, Value::Stack { elements: right, .. }) => {
                let mut all = bit(true);
                for (left, right) in left.iter().zip(right) {
                    let equal = self.equal(left, right)?;
                    all = self.and(all, equal);
                }
                Ok(all)
            }
            (Value::Void, Value::Void) => Ok(bit(true)),
            _ => Err(self.not_expressible("these values cannot be compared")),
        }
    }

    /// Whether any member of a union is valid.
    pub(crate) fn union_valid(&mut self, members: &[(Arc<str>, Value)]) -> Operand {
        let mut any = bit(false);
        for (_, member) in members {
            if let Value::Header { valid, .. } = member {
                any = self.or(any, valid.clone());
            }
        }
        any
    }

    /// All scalars of a value in the order of its storage, with validity bits and `nextIndex`.
    pub(crate) fn flatten_stored(&mut self, value: &Value) -> Vec<Operand> {
        match value {
            Value::Struct(fields) | Value::Union(fields) => {
                fields.iter().flat_map(|(_, field)| self.flatten_stored(field)).collect()
            }
            Value::Header { valid, fields, .. } => {
                std::iter::once(valid.clone()).chain(fields.iter().cloned()).collect()
            }
            Value::Stack { elements, next } => {
                let mut flat: Vec<Operand> =
                    elements.iter().flat_map(|element| self.flatten_stored(element)).collect();
                flat.push(next.clone());
                flat
            }
            other => self.flatten(other),
        }
    }

    /// All scalars of a value in order; headers without their validity.
    pub(crate) fn flatten(&mut self, value: &Value) -> Vec<Operand> {
        let mut flat = Vec::new();
        flatten_into(value, &mut flat);
        flat
    }

    /// A field of a value.
    pub(crate) fn member_value(&mut self, base: Value, name: &str) -> Lowered<Value> {
        match base {
            Value::Struct(fields) | Value::Union(fields) => {
                match fields.into_iter().find(|(field, _)| &**field == name) {
                    Some((_, value)) => Ok(value),
                    None => Err(self.missing_fact("a field")),
                }
            }
            Value::Header { ty, fields, .. } => match self.header_field(ty, name) {
                Some((index, shape)) => {
                    let mut rest = fields[index as usize..].iter();
                    Ok(assemble(&shape, &mut rest))
                }
                None => Err(self.missing_fact("a field of a header")),
            },
            _ => Err(self.missing_fact("a value with fields")),
        }
    }

    /// One of two values of the same layout, both of which are there.
    pub(crate) fn choose(
        &mut self,
        condition: &Operand,
        then: &Value,
        other: &Value,
    ) -> Option<Value> {
        let mut pick = |then: &Operand, other: &Operand| {
            self.select(condition.clone(), then.clone(), other.clone())
        };
        match (then, other) {
            (Value::Scalar(then), Value::Scalar(other)) => Some(Value::Scalar(pick(then, other))),
            (
                Value::Header { ty, valid, fields },
                Value::Header { valid: other_valid, fields: other_fields, .. },
            ) => {
                let valid = pick(valid, other_valid);
                let fields = fields
                    .iter()
                    .zip(other_fields)
                    .map(|(then, other)| pick(then, other))
                    .collect();
                Some(Value::Header { ty: *ty, valid, fields })
            }
            (Value::Struct(then), Value::Struct(other)) if then.len() == other.len() => {
                let mut fields = Vec::with_capacity(then.len());
                for ((name, then), (_, other)) in then.iter().zip(other) {
                    fields.push((name.clone(), self.choose(condition, then, other)?));
                }
                Some(Value::Struct(fields))
            }
            (Value::Union(then), Value::Union(other)) if then.len() == other.len() => {
                let mut members = Vec::with_capacity(then.len());
                for ((name, then), (_, other)) in then.iter().zip(other) {
                    members.push((name.clone(), self.choose(condition, then, other)?));
                }
                Some(Value::Union(members))
            }
            (
                Value::Stack { elements: then, next },
                Value::Stack { elements: other, next: other_next },
            ) if then.len() == other.len() => {
                let next = pick(next, other_next);
                let mut elements = Vec::with_capacity(then.len());
                for (then, other) in then.iter().zip(other) {
                    elements.push(self.choose(condition, then, other)?);
                }
                Some(Value::Stack { elements, next })
            }
            (then, other) if then == other => Some(then.clone()),
            _ => None,
        }
    }
}

fn zero_width(ty: ValueType) -> u32 {
    match ty {
        ValueType::Bits(width) => width,
        ValueType::Varbit(_) => 0,
    }
}

/// The number of an element in the width of an index, when it fits.
fn position(width_bits: u32, at: usize) -> Option<Operand> {
    let at = at as u64;
    (width_bits >= 64 || at >> width_bits == 0).then(|| number(width_bits, at))
}

/// Zeros in the layout of a value.
fn zero_like(lowering: &Lowering<'_>, value: &Value) -> Value {
    let zero = |operand: &Operand| number(zero_width(lowering.operand_type(operand)), 0);
    let all = |fields: &[(Arc<str>, Value)]| {
        fields.iter().map(|(name, field)| (name.clone(), zero_like(lowering, field))).collect()
    };
    match value {
        Value::Scalar(operand) => Value::Scalar(zero(operand)),
        Value::Struct(fields) => Value::Struct(all(fields)),
        Value::Union(members) => Value::Union(all(members)),
        Value::Header { ty, valid, fields } => {
            Value::Header { ty: *ty, valid: zero(valid), fields: fields.iter().map(zero).collect() }
        }
        Value::Stack { elements, next } => Value::Stack {
            elements: elements.iter().map(|element| zero_like(lowering, element)).collect(),
            next: zero(next),
        },
        other => other.clone(),
    }
}

fn flatten_into(value: &Value, flat: &mut Vec<Operand>) {
    match value {
        Value::Scalar(operand) => flat.push(operand.clone()),
        Value::Struct(fields) | Value::Union(fields) => {
            fields.iter().for_each(|(_, field)| flatten_into(field, flat));
        }
        Value::Header { fields, .. } => flat.extend(fields.iter().cloned()),
        Value::Stack { elements, .. } => {
            elements.iter().for_each(|element| flatten_into(element, flat));
        }
        _ => {}
    }
}

/// A scalar or struct of scalars from flat operands.
pub(super) fn assemble<'o>(shape: &Shape, flat: &mut impl Iterator<Item = &'o Operand>) -> Value {
    match shape {
        Shape::Scalar(..) => flat.next().cloned().map_or(Value::Void, Value::Scalar),
        Shape::Struct(fields) => Value::Struct(
            fields.iter().map(|(name, shape)| (name.clone(), assemble(shape, flat))).collect(),
        ),
        _ => Value::Void,
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Expressions to values (P4_16 v1.2.5 §8), operands from left to right (§8.1). Operators are in
//! `operators`, l-values in `locations`, calls in `calls`.

use super::nodes::Node;
use super::{Binding, Location, Lowered, Lowering, Value, bit, codes, number};
use crate::{Bits, Operand, Operation};
use p4::ast::{Call, DeclarationKind, Expression, ExpressionKind, Name};
use p4::typed::{Callee, Definition, Type, TypeKind};
use std::sync::Arc;

impl<'a> Lowering<'a> {
    /// The closed type of an expression before its implicit cast.
    pub(crate) fn type_of(&mut self, expression: &'a Expression) -> Lowered<Type> {
        match self.typed.expression_types.get(&expression.id) {
            Some(ty) => Ok(self.close(ty)),
            None => {
                self.span = expression.span;
                Err(self.missing_fact("the type of an expression"))
            }
        }
    }

    /// The closed type of an expression after its implicit cast.
    pub(crate) fn result_type(&mut self, expression: &'a Expression) -> Lowered<Type> {
        match self.typed.implicit_casts.get(&expression.id) {
            Some(ty) => Ok(self.close(ty)),
            None => self.type_of(expression),
        }
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expression: &'a Expression) -> Lowered<Value> {
        if let Some(constant) = self.typed.constants.get(&expression.id) {
            let ty = self.result_type(expression)?;
            return self.constant_value(constant, &ty);
        }
        let value = self.evaluate_plain(expression)?;
        match self.typed.implicit_casts.get(&expression.id) {
            Some(to) => {
                let from = self.type_of(expression)?;
                let to = to.clone();
                self.cast(value, Some(&from), &to)
            }
            None => Ok(value),
        }
    }

    /// The value of an expression as one operand.
    pub(crate) fn operand(&mut self, expression: &'a Expression) -> Lowered<Operand> {
        let value = self.evaluate(expression)?;
        self.scalar(value, expression)
    }

    /// A value as one operand.
    pub(crate) fn scalar(&mut self, value: Value, at: &'a Expression) -> Lowered<Operand> {
        match value {
            Value::Scalar(operand) => Ok(operand),
            Value::Integer(value) => {
                let ty = self.result_type(at)?;
                match self.cast(Value::Integer(value.clone()), None, &ty)? {
                    Value::Scalar(operand) => Ok(operand),
                    _ => Ok(Operand::Constant(Bits::from_bigint(64, &value))),
                }
            }
            Value::Struct(mut fields) if fields.len() == 1 => {
                let (_, field) = fields.remove(0);
                self.scalar(field, at)
            }
            _ => {
                self.span = at.span;
                Err(self.not_expressible("a single number is needed here"))
            }
        }
    }

    fn evaluate_plain(&mut self, expression: &'a Expression) -> Lowered<Value> {
        match &expression.kind {
            ExpressionKind::Integer { value, .. } => {
                let ty = self.type_of(expression)?;
                self.cast(Value::Integer(value.clone()), None, &ty)
            }
            ExpressionKind::Bool(value) => Ok(Value::Scalar(bit(*value))),
            ExpressionKind::String(text) => Ok(Value::String(text.clone())),
            ExpressionKind::Path(_) => self.path_value(expression),
            ExpressionKind::Member(base, name) => self.member(expression, base, name),
            ExpressionKind::Index(base, index) => self.index(expression, base, index),
            ExpressionKind::Slice { base, high, low } => {
                let value = self.sliced_operand(base)?;
                let (high, low) = (self.known_u64(high)?, self.known_u64(low)?);
                let width = high.saturating_sub(low).saturating_add(1);
                let width = width.min(u64::from(self.width(&value))) as u32;
                Ok(Value::Scalar(self.cut(value, &number(32, low), width)))
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                let value = self.sliced_operand(base)?;
                let low = self.index_operand(low)?;
                let width = self.known_u64(width)?.min(u64::from(self.width(&value))) as u32;
                Ok(Value::Scalar(self.cut(value, &low, width)))
            }
            ExpressionKind::List(items) | ExpressionKind::TupleKeyset(items) => {
                let mut fields = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    fields.push((Arc::from(index.to_string()), self.evaluate(item)?));
                }
                Ok(Value::Struct(fields))
            }
            ExpressionKind::Struct { fields, .. } => {
                let mut values = Vec::with_capacity(fields.len());
                for (name, field) in fields {
                    values.push((name.text.clone(), self.evaluate(field)?));
                }
                Ok(Value::Struct(values))
            }
            ExpressionKind::InvalidHeader => Ok(Value::InvalidHeader),
            ExpressionKind::Dots => Ok(Value::Default),
            ExpressionKind::Unary(operator, inner) => self.unary_expression(*operator, inner),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary_expression(*operator, left, right)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.conditional(expression, condition, then, otherwise)
            }
            ExpressionKind::Cast(_, inner) => {
                let value = self.evaluate(inner)?;
                let from = self.result_type(inner)?;
                let to = self.type_of(expression)?;
                self.cast(value, Some(&from), &to)
            }
            ExpressionKind::Call(call) => self.call(expression, call),
            ExpressionKind::This
            | ExpressionKind::ErrorType
            | ExpressionKind::Type(_)
            | ExpressionKind::DontCare
            | ExpressionKind::Default
            | ExpressionKind::Mask(..)
            | ExpressionKind::Range(..) => {
                self.span = expression.span;
                Err(self.not_expressible("this is no value"))
            }
            ExpressionKind::Extension(_) => {
                self.span = expression.span;
                Err(self.not_expressible("this form of a dialect is not P4_16"))
            }
            ExpressionKind::Invalid => Err(super::Reported),
        }
    }

    fn path_value(&mut self, expression: &'a Expression) -> Lowered<Value> {
        match self.binding(expression).cloned() {
            Some(Binding::Location(location)) => return Ok(self.load(&location)),
            Some(Binding::Value(value)) => return Ok(value),
            Some(other) => return Ok(Value::Object(Box::new(other))),
            None => {}
        }
        if let Some(Definition::Node(id)) = self.typed.definitions.get(&expression.id)
            && let Some(declaration) = self.nodes.declaration(*id)
        {
            match &declaration.kind {
                DeclarationKind::Constant { value, .. } => {
                    let result = self.evaluate(value)?;
                    let ty = self.declared_type(*id)?;
                    return self.cast(result, None, &ty);
                }
                DeclarationKind::Instance { .. } => {
                    let binding = self.instance_named(declaration)?;
                    return Ok(Value::Object(Box::new(binding)));
                }
                _ => {}
            }
        }
        self.span = expression.span;
        Err(self.missing_fact("what a name stands for"))
    }

    fn member(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        name: &'a Name,
    ) -> Lowered<Value> {
        match self.typed.definitions.get(&expression.id) {
            Some(Definition::Node(id)) => match self.nodes.get(*id) {
                Some(Node::EnumMember(declaration, index)) => {
                    return self.enum_member(declaration.id, index);
                }
                Some(Node::Name(error)) => {
                    return Ok(Value::Scalar(self.error_operand(&error.name.text)));
                }
                _ => {}
            },
            _ => {
                if matches!(base.kind, ExpressionKind::ErrorType) {
                    return Ok(Value::Scalar(self.error_operand(&name.text)));
                }
            }
        }
        if let ExpressionKind::Call(_) = &base.kind
            && let Some(Callee::TableApply(table)) =
                self.typed.calls.get(&base.id).map(|info| info.callee)
        {
            self.at(base.id, base.span);
            let (hit, action) = self.apply_table(table)?;
            return Ok(Value::Scalar(match &*name.text {
                "hit" => hit,
                "miss" => self.not(hit),
                _ => action,
            }));
        }
        if self.is_stack(base)
            && let Some(value) = self.stack_member(base, &name.text)?
        {
            return Ok(Value::Scalar(value));
        }
        if let Some(location) = self.locate(expression)? {
            return Ok(self.load(&location));
        }
        let value = self.evaluate(base)?;
        self.member_value(value, &name.text)
    }

    fn stack_member(&mut self, base: &'a Expression, name: &str) -> Lowered<Option<Operand>> {
        let ty = self.type_of(base)?;
        if let (TypeKind::Stack(_, size), "size") = (&*ty, name) {
            return Ok(Some(number(32, u64::from(*size))));
        }
        if name != "lastIndex" && name != "nextIndex" {
            return Ok(None);
        }
        match self.locate(base)? {
            Some(Location::Stack(stack, _)) if name == "lastIndex" => {
                Ok(Some(self.next_plus(stack, crate::BinaryOperation::Subtract)))
            }
            Some(Location::Stack(stack, _)) => Ok(Some(self.next_index(stack, false)?)),
            _ => Ok(None),
        }
    }

    fn index(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        index: &'a Expression,
    ) -> Lowered<Value> {
        if let Some(location) = self.locate(expression)? {
            return Ok(self.load(&location));
        }
        let value = self.evaluate(base)?;
        let index = self.index_operand(index)?;
        let elements = match value {
            Value::Stack { elements, .. } => elements,
            Value::Struct(fields) => fields.into_iter().map(|(_, value)| value).collect(),
            _ => return Err(self.missing_fact("a stack or tuple")),
        };
        if let Some(known) = super::constant(&index).and_then(Bits::to_u64) {
            return match usize::try_from(known).ok().and_then(|at| elements.into_iter().nth(at)) {
                Some(element) => Ok(element),
                None => Err(self.error_at(
                    expression.span,
                    codes::NOT_EXPRESSIBLE,
                    "this index lies outside",
                )),
            };
        }
        let ty = self.type_of(expression)?;
        let shape = self.shape(&ty)?;
        let mut chosen = self.default_value(&shape);
        let width = self.width(&index);
        for (at, element) in elements.into_iter().enumerate() {
            let here =
                self.binary(crate::BinaryOperation::Equal, index.clone(), number(width, at as u64));
            chosen = match self.choose(&here, &element, &chosen) {
                Some(value) => value,
                None => return Err(self.not_expressible("these elements cannot be chosen from")),
            };
        }
        Ok(chosen)
    }

    fn conditional(
        &mut self,
        expression: &'a Expression,
        condition: &'a Expression,
        then: &'a Expression,
        otherwise: &'a Expression,
    ) -> Lowered<Value> {
        let condition = self.operand(condition)?;
        if let Some(known) = super::constant(&condition) {
            return if known.is_true() { self.evaluate(then) } else { self.evaluate(otherwise) };
        }
        let ty = self.type_of(expression)?;
        if self.is_pure(then) && self.is_pure(otherwise) {
            let then = self.evaluate(then)?;
            let otherwise = self.evaluate(otherwise)?;
            let then = self.cast(then, None, &ty)?;
            let otherwise = self.cast(otherwise, None, &ty)?;
            if let Some(value) = self.choose(&condition, &then, &otherwise) {
                return Ok(value);
            }
            return Err(self.not_expressible("these values cannot be chosen from"));
        }
        let shape = self.shape(&ty)?;
        let name = self.local_name("$choice");
        let result = self.allocate(&shape, &name)?;
        let (first, second) = self.branch(condition);
        let end = self.new_block("");
        for (block, side) in [(first, then), (second, otherwise)] {
            self.start_block(block);
            let value = self.evaluate(side)?;
            let value = self.cast(value, None, &ty)?;
            self.store(&result, &value)?;
            self.terminate(crate::Terminator::Goto(end));
        }
        self.start_block(end);
        Ok(self.load(&result))
    }

    /// Whether evaluating the expression makes straight code without effects.
    pub(crate) fn is_pure(&self, expression: &'a Expression) -> bool {
        if self.typed.constants.contains_key(&expression.id) {
            return true;
        }
        match &expression.kind {
            ExpressionKind::Call(call) => self.is_pure_call(expression, call),
            ExpressionKind::Member(base, name) => {
                self.is_pure(base)
                    && !(self.is_stack(base) && matches!(&*name.text, "next" | "last"))
            }
            ExpressionKind::Unary(_, inner) | ExpressionKind::Cast(_, inner) => self.is_pure(inner),
            ExpressionKind::Binary(_, left, right)
            | ExpressionKind::Index(left, right)
            | ExpressionKind::Mask(left, right)
            | ExpressionKind::Range(left, right) => self.is_pure(left) && self.is_pure(right),
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.is_pure(condition) && self.is_pure(then) && self.is_pure(otherwise)
            }
            ExpressionKind::Slice { base, .. } => self.is_pure(base),
            ExpressionKind::PlusSlice { base, low, .. } => self.is_pure(base) && self.is_pure(low),
            ExpressionKind::List(items) | ExpressionKind::TupleKeyset(items) => {
                items.iter().all(|item| self.is_pure(item))
            }
            ExpressionKind::Struct { fields, .. } => {
                fields.iter().all(|(_, field)| self.is_pure(field))
            }
            _ => true,
        }
    }

    fn is_pure_call(&self, expression: &'a Expression, call: &'a Call) -> bool {
        match self.typed.calls.get(&expression.id).map(|info| info.callee) {
            Some(Callee::IsValid) => match &call.callee.kind {
                ExpressionKind::Member(base, _) => self.is_pure(base),
                _ => true,
            },
            Some(Callee::SizeOf) => true,
            _ => false,
        }
    }

    /// What a slice is cut from: of an `int` its two's complement, as wide as can be (§8.9).
    fn sliced_operand(&mut self, base: &'a Expression) -> Lowered<Operand> {
        match self.evaluate(base)? {
            Value::Scalar(operand) => Ok(operand),
            Value::Integer(value) => {
                Ok(Operand::Constant(crate::Bits::from_bigint(crate::MAX_WIDTH_BITS, &value)))
            }
            _ => Err(self.missing_fact("the bits that a slice is cut from")),
        }
    }

    /// `h.isValid()` of a header or union.
    pub(crate) fn is_valid(&mut self, base: &'a Expression) -> Lowered<Operand> {
        if let Some(location) = self.locate(base)? {
            return self.location_valid(&location);
        }
        match self.evaluate(base)? {
            Value::Header { valid, .. } => Ok(valid),
            Value::Union(members) => Ok(self.union_valid(&members)),
            Value::InvalidHeader => Ok(bit(false)),
            _ => Err(self.missing_fact("a header")),
        }
    }

    /// Whether the header or union at a location is valid.
    pub(crate) fn location_valid(&mut self, location: &Location) -> Lowered<Operand> {
        match location {
            Location::Header { header, .. } => {
                let place = self.header_place(header, 0);
                Ok(self.load_place(place, crate::ValueType::Bits(1)))
            }
            Location::Union(members) => {
                let mut any = bit(false);
                for (_, member) in members.iter() {
                    let valid = self.location_valid(member)?;
                    any = self.or(any, valid);
                }
                Ok(any)
            }
            location @ Location::Choice { .. } => match self.load(location) {
                Value::Header { valid, .. } => Ok(valid),
                Value::Union(members) => Ok(self.union_valid(&members)),
                _ => Err(self.missing_fact("a header")),
            },
            _ => Err(self.missing_fact("a header")),
        }
    }

    /// `h.setValid()` and `h.setInvalid()`; in a union, the other members become invalid (§8.21).
    pub(crate) fn set_valid(&mut self, base: &'a Expression, valid: bool) -> Lowered<()> {
        let location = self.target(base)?;
        if let Location::Choice { elements, index } = &location {
            return self.set_chosen_valid(elements, index, valid);
        }
        let (header, siblings) = self.header_of(&location)?;
        let place = self.header_place(&header, 0);
        self.store_place(place, bit(valid));
        for sibling in siblings {
            let place = self.header_place(&sibling, 0);
            self.store_place(place, bit(false));
        }
        Ok(())
    }

    /// Validity of the header that an index chooses in an array of structs.
    fn set_chosen_valid(
        &mut self,
        elements: &[Location],
        index: &Operand,
        valid: bool,
    ) -> Lowered<()> {
        let chosen = Location::Choice { elements: elements.into(), index: index.clone() };
        let mut value = self.load(&chosen);
        if let Value::Header { valid: bit_now, .. } = &mut value {
            *bit_now = bit(valid);
        }
        self.store(&chosen, &value)
    }

    /// `push_front` and `pop_front` (§8.20).
    pub(crate) fn shift_stack(
        &mut self,
        base: &'a Expression,
        by: &'a Expression,
        sign: i64,
    ) -> Lowered<()> {
        let location = self.target(base)?;
        let count = self.known_u64(by)?;
        let Location::Stack(stack, _) = location else {
            return Err(self.missing_fact("that this is a stack"));
        };
        let size = i64::from(self.program.stacks[stack.index()].size);
        let by = (i64::try_from(count).unwrap_or(size).min(size) * sign) as i32;
        self.emit(Operation::ShiftStack { stack, by });
        Ok(())
    }
}

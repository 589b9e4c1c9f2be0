// SPDX-License-Identifier: Apache-2.0
//! Elaborates expressions of the source to values. Effects (accesses, lookups, random numbers) become
//! statements of the body, in order of evaluation; the remaining expression has no effects. A pure operand
//! stays in place while a later operand has effects, because no effect changes a local that the operand
//! mentions.

use super::builder::{Builder, Purpose};
use super::calls::ResultUse;
use super::values::Value;
use super::{
    BLOCK_LIMIT, Elaborated, Elaborator, PROGRAM_STATEMENT_LIMIT, PROGRAM_STEP_LIMIT, Reported,
    STEP_LIMIT, Scope, codes,
};
use crate::check::{Builtin, Definition, Type};
use crate::core::{self, Constant, Expression, ExpressionKind, LUCID_ETHER_TYPE, arithmetic};
use crate::syntax::ast::{self, ExpressionKind as Source, PatternKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

impl<'a> Elaborator<'a> {
    /// The value of an expression.
    pub(super) fn expression(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || {
            self.step(expression.span, builder)?;
            self.whole_expression(expression, scope, builder)
        })
    }

    /// Binary operators; a loop walks left-nested chains.
    fn binary_chain(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let mut operators = Vec::new();
        let mut innermost = expression;
        while let Source::Binary { operator, left, right } = &innermost.kind {
            self.step(innermost.span, builder)?;
            operators.push((*operator, &**right, innermost.span));
            innermost = left;
        }
        let mut value = self.expression(innermost, scope, builder)?;
        for (operator, right, span) in operators.into_iter().rev() {
            let right = self.expression(right, scope, builder)?;
            value = self.binary(operator, value, right, span, builder)?;
        }
        Ok(value)
    }

    /// Counts a step against the limit.
    pub(super) fn step(&mut self, span: Span, builder: &mut Builder) -> Elaborated<()> {
        builder.steps += 1;
        self.steps += 1;
        if builder.steps > STEP_LIMIT || builder.statement_count > super::STATEMENT_LIMIT {
            return Err(self.too_much(span, builder));
        }
        if self.steps > PROGRAM_STEP_LIMIT {
            return Err(self.too_much_in_all(span));
        }
        if builder.depth > BLOCK_LIMIT {
            let message = "decisions are nested too deep here";
            let diagnostic = Diagnostic::error(codes::TOO_DEEP, span, message)
                .note(format!("blocks nest at most {BLOCK_LIMIT} deep once functions are inlined"));
            return Err(self.report_in(builder, diagnostic));
        }
        Ok(())
    }

    /// The whole program is too large.
    pub(super) fn too_much_in_all(&mut self, span: Span) -> Reported {
        let message = "all handlers together become too many statements";
        let diagnostic =
            Diagnostic::error(codes::TOO_MANY_STATEMENTS, span, message).note(format!(
                "a program becomes at most {PROGRAM_STATEMENT_LIMIT} statements of \
             {PROGRAM_STEP_LIMIT} expressions; an event with globals has a copy for each choice of \
             globals"
            ));
        self.report(diagnostic.help("use smaller bounds, or fewer choices"))
    }

    fn too_much(&mut self, span: Span, builder: &Builder) -> Reported {
        let diagnostic = Diagnostic::error(
            codes::TOO_MANY_STATEMENTS,
            span,
            "loops and functions become too many statements here",
        );
        let mut diagnostic = diagnostic.note(format!(
            "functions are inlined and loops unrolled, to at most {} statements and {STEP_LIMIT} \
             expressions a handler",
            super::STATEMENT_LIMIT
        ));
        if let Some(first) =
            builder.calls.first().filter(|_| builder.calls.len() > super::SHOWN_CALLS)
        {
            let calls = builder.calls.len();
            let message = format!("{calls} calls deep from here");
            diagnostic = diagnostic.label(*first, message).note(
                "a function that calls another one twice is twice as large, and so at each level",
            );
        }
        self.report_in(builder, diagnostic.help("use smaller bounds, or a chain of events"))
    }

    /// The value of an expression that is an integer, boolean, event, group or payload.
    pub(super) fn scalar(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Expression> {
        let value = self.expression(expression, scope, builder)?;
        self.as_scalar(value, expression.span)
    }

    pub(super) fn as_scalar(&mut self, value: Value, span: Span) -> Elaborated<Expression> {
        match value {
            Value::Scalar(scalar) => Ok(scalar),
            _ => Err(self.internal(span, "something that is no single value")),
        }
    }

    fn whole_expression(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        match &expression.kind {
            Source::Integer { value, .. } => {
                let width = self.expression_width(expression, scope)?;
                self.number(*value, width, span, builder)
            }
            Source::Boolean(truth) => Ok(Value::Scalar(Expression::bool(*truth, span))),
            Source::String(text) => Ok(Value::Text(text.clone())),
            Source::Name(path) => self.name(expression, path, scope, builder),
            Source::Call { function, arguments, .. } => {
                let call = super::calls::Call { expression, function, arguments };
                self.call(call, ResultUse::Value, scope, builder)
            }
            Source::New { arguments, .. } => {
                self.new_expression(expression, arguments, scope, builder)
            }
            Source::Unary { operator, operand } => {
                let operand = self.scalar(operand, scope, builder)?;
                Ok(Value::Scalar(Expression::unary(*operator, operand, span)))
            }
            Source::Binary { .. } => self.binary_chain(expression, scope, builder),
            Source::Cast { operand, .. } => {
                let width = self.expression_width(expression, scope)?;
                let operand = self.scalar(operand, scope, builder)?;
                Ok(Value::Scalar(Expression::cast(operand, width, span)))
            }
            Source::Slice { operand, .. } => self.slice(expression, operand, scope, builder),
            Source::Hash { arguments, .. } => self.hash(expression, arguments, scope, builder),
            Source::Flood(port) => {
                let port = Box::new(self.scalar(port, scope, builder)?);
                let kind = ExpressionKind::Flood(port);
                Ok(Value::Scalar(Expression { kind, ty: core::Type::Group, span }))
            }
            Source::SizeToInt { .. } => {
                let width = self.expression_width(expression, scope)?;
                let value = self.expression_size(expression, 0, scope)?;
                self.number(value, width, span, builder)
            }
            Source::Record(fields) => self.record(expression, fields, scope, builder),
            Source::With { record, fields } => {
                let value = self.expression(record, scope, builder)?;
                let Value::Record(record) = value else {
                    return Err(self.internal(span, "fields of something that is no record"));
                };
                let mut updated = record.fields.clone();
                for (label, value) in fields {
                    let value = self.expression(value, scope, builder)?;
                    match updated.iter_mut().find(|(name, _)| *name == label.name) {
                        Some((_, field)) => *field = value,
                        None => return Err(self.internal(label.span, "a field that is not there")),
                    }
                }
                Ok(Value::record(updated))
            }
            Source::Field { record, label } => {
                let value = self.expression(record, scope, builder)?;
                let Value::Record(record) = value else {
                    return Err(self.internal(span, "a field of something that is no record"));
                };
                match record.fields.iter().find(|(name, _)| *name == label.name) {
                    Some((_, field)) => Ok(field.clone()),
                    None => Err(self.internal(label.span, "a field that is not there")),
                }
            }
            Source::Vector(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                for element in elements {
                    values.push(self.expression(element, scope, builder)?);
                }
                Ok(Value::vector(values))
            }
            Source::Comprehension { element, variable, .. } => {
                let bound = self.loop_bound(variable, scope)?;
                if bound > u128::from(super::LEAF_LIMIT) {
                    let ty = self.type_of(expression.id, scope, span)?;
                    self.small_enough(&ty, span)?;
                }
                let mut values = Vec::new();
                for at in 0..bound {
                    scope.loops.insert(variable.id, at);
                    values.push(self.expression(element, scope, builder)?);
                }
                scope.loops.remove(&variable.id);
                Ok(Value::vector(values))
            }
            Source::Index { vector, .. } => self.indexed(expression, vector, scope, builder),
            Source::Tuple(parts) => {
                let mut values = Vec::with_capacity(parts.len());
                for part in parts {
                    values.push(self.expression(part, scope, builder)?);
                }
                Ok(match <[Value; 1]>::try_from(values) {
                    Ok([single]) => single,
                    Err(values) => Value::Tuple(values.into()),
                })
            }
            Source::Group(members) => self.group(members, span, scope, builder),
            Source::Pattern(pattern) => self.pattern(expression, pattern, scope),
            Source::Masked { value, mask } => {
                let value = self.scalar(value, scope, builder)?;
                let mask = self.scalar(mask, scope, builder)?;
                Ok(Value::Pattern { value, mask: Some(mask) })
            }
        }
    }

    /// The width of an expression that is an integer.
    pub(super) fn expression_width(
        &mut self,
        expression: &ast::Expression,
        scope: &Scope,
    ) -> Elaborated<u32> {
        let ty = self.type_of(expression.id, scope, expression.span)?;
        self.int_width(&ty, expression.span)
    }

    /// One of the sizes that stand in an expression.
    fn expression_size(
        &mut self,
        expression: &ast::Expression,
        at: usize,
        scope: &Scope,
    ) -> Elaborated<u128> {
        let sizes = self.checked.expression_sizes.get(&expression.id);
        match sizes.and_then(|sizes| sizes.get(at)) {
            Some(size) => self.size(&size.clone(), scope, expression.span),
            None => Err(self.internal(expression.span, "a size that is not known")),
        }
    }

    /// How often a loop or a comprehension runs.
    pub(super) fn loop_bound(&mut self, variable: &ast::Binder, scope: &Scope) -> Elaborated<u128> {
        match self.checked.loop_bounds.get(&variable.id) {
            Some(bound) => self.size(&bound.clone(), scope, variable.span),
            None => Err(self.internal(variable.span, "a loop without a bound")),
        }
    }

    /// A number of a width.
    pub(super) fn number(
        &mut self,
        value: u128,
        width: u32,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<Value> {
        if value <= arithmetic::mask(width) {
            return Ok(Value::int(value, width, span));
        }
        let message = format!("{value} does not fit an `int<{width}>`");
        let diagnostic = Diagnostic::error(codes::DOES_NOT_FIT, span, message)
            .note(format!("the largest `int<{width}>` is {}", arithmetic::mask(width)));
        Err(self.report_in(builder, diagnostic))
    }

    fn name(
        &mut self,
        expression: &'a ast::Expression,
        path: &'a ast::Path,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        match self.definition(path)? {
            Definition::Local(id) => match scope.locals.get(&id) {
                Some(value) => Ok(value.clone()),
                None => Err(self.internal(span, "a local without a value")),
            },
            Definition::Loop(id) => {
                let size = crate::check::Size::term(crate::check::SizeTerm::Loop(id));
                let value = self.size(&size, scope, span)?;
                let width = self.expression_width(expression, scope)?;
                self.number(value, width, span, builder)
            }
            Definition::Size(id) => {
                let declared = self.checked.declared_sizes.get(&id).cloned().flatten();
                let value = match declared {
                    Some(size) => self.size(&size, scope, span)?,
                    None => self.symbolic_size(id, span)?,
                };
                let width = self.expression_width(expression, scope)?;
                self.number(value, width, span, builder)
            }
            Definition::Constant(id) | Definition::Global(id) | Definition::Extern(id) => {
                self.declared_value(id)
            }
            Definition::Symbolic(id) => self.symbolic_value(id, span),
            Definition::Memop(id) => Ok(Value::Memop(id)),
            Definition::Action(id) => {
                let ty = self.type_of(expression.id, scope, span)?;
                self.action_value(id, path, &ty, scope)
            }
            Definition::Event(id) => self.event_value(id, path, &[], scope, builder, span),
            Definition::Builtin(builtin) => self.builtin_value(builtin, expression, scope, builder),
            _ => Err(self.internal(span, "a name that is no value")),
        }
    }

    fn builtin_value(
        &mut self,
        builtin: Builtin,
        expression: &ast::Expression,
        scope: &Scope,
        builder: &Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let kind = match builtin {
            Builtin::SelfSwitch => ExpressionKind::SelfSwitch,
            Builtin::IngressPort => ExpressionKind::IngressPort,
            Builtin::RecirculationPort => ExpressionKind::RecirculationPort,
            Builtin::This => {
                if builder.purpose != Purpose::Handler {
                    let message = "`this` has a meaning in handlers only";
                    return Err(self.error(codes::EFFECT, span, message));
                }
                let kind = ExpressionKind::This;
                return Ok(Value::Scalar(Expression { kind, ty: core::Type::Event, span }));
            }
            Builtin::LucidEtherType => {
                let width = self.expression_width(expression, scope)?;
                return self.number(u128::from(LUCID_ETHER_TYPE), width, span, builder);
            }
            _ => return Err(self.internal(span, "a builtin that is no value")),
        };
        let ty = core::Type::Int(self.expression_width(expression, scope)?);
        Ok(Value::Scalar(Expression { kind, ty, span }))
    }

    fn new_expression(
        &mut self,
        expression: &'a ast::Expression,
        arguments: &'a [ast::Expression],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let ty = self.type_of(expression.id, scope, span)?;
        let [argument] = arguments else {
            return Err(self.internal(span, "`new` without one argument"));
        };
        let value = self.expression(argument, scope, builder)?;
        let value = self.known_in(value, builder)?;
        self.new_simple_global(&ty, &value, argument.span, span, builder)
    }

    /// A constant value without the locals of the functions that computed it.
    pub(super) fn known_in(&mut self, value: Value, builder: &mut Builder) -> Elaborated<Value> {
        match builder.purpose {
            // In a branch of a function it is not decided yet whether it runs.
            Purpose::Constant(_) if builder.depth == 0 => self.settled(value, builder),
            _ => Ok(value),
        }
    }

    fn slice(
        &mut self,
        expression: &'a ast::Expression,
        operand: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let high = self.expression_size(expression, 0, scope)?;
        let low = self.expression_size(expression, 1, scope)?;
        let operand = self.scalar(operand, scope, builder)?;
        let core::Type::Int(width) = operand.ty else {
            return Err(self.internal(span, "a slice of something that is no integer"));
        };
        if high < low || high >= u128::from(width) {
            let message = format!("the slice [{high}:{low}] is not in an `int<{width}>`");
            let diagnostic = Diagnostic::error(codes::SLICE, span, message).note(format!(
                "bits count from 0; the first bound is the higher one, at most {}",
                width - 1
            ));
            return Err(self.report_in(builder, diagnostic));
        }
        let bits = (high - low + 1) as u32;
        Ok(Value::Scalar(Expression::slice(operand, low as u32, bits, span)))
    }

    fn indexed(
        &mut self,
        expression: &'a ast::Expression,
        vector: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let index = self.expression_size(expression, 0, scope)?;
        let value = self.expression(vector, scope, builder)?;
        let Value::Vector(vector) = value else {
            return Err(self.internal(span, "an element of something that is no vector"));
        };
        let element = usize::try_from(index).ok().and_then(|index| vector.elements.get(index));
        if let Some(element) = element {
            return Ok(element.clone());
        }
        let length = vector.elements.len();
        let message = format!("there is no element {index} in a vector of {length}");
        let diagnostic = Diagnostic::error(codes::INDEX, span, message);
        let diagnostic = match length {
            0 => diagnostic.note("the vector is empty"),
            _ => diagnostic.note(format!("elements count from 0 to {}", length - 1)),
        };
        Err(self.report_in(builder, diagnostic))
    }

    fn record(
        &mut self,
        expression: &'a ast::Expression,
        fields: &'a [(ast::Segment, ast::Expression)],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let mut values: Vec<(Arc<str>, Value)> = Vec::with_capacity(fields.len());
        for (label, value) in fields {
            values.push((label.name.clone(), self.expression(value, scope, builder)?));
        }
        let ty = self.type_of(expression.id, scope, span)?;
        let Type::Record(order) = self.shape(&ty, span)? else {
            return Err(self.internal(span, "a record of another type"));
        };
        let mut ordered = Vec::with_capacity(values.len());
        for (label, _) in &order {
            match values.iter().position(|(name, _)| name == label) {
                Some(at) => ordered.push(values.swap_remove(at)),
                None => return Err(self.internal(span, "a record without one of its fields")),
            }
        }
        Ok(Value::record(ordered))
    }

    fn group(
        &mut self,
        members: &'a [ast::Expression],
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let mut numbers = Vec::with_capacity(members.len());
        for member in members {
            let value = self.expression(member, scope, builder)?;
            let value = self.known_in(value, builder)?;
            let number = self.known_number(&value, member.span, "a member of a group")?;
            match u32::try_from(number) {
                Ok(number) => numbers.push(number),
                Err(_) => {
                    let message = format!("{number} is no port and no switch");
                    return Err(self.error(codes::DOES_NOT_FIT, member.span, message));
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Value::Scalar(Expression::constant(Constant::Group(numbers), span)))
    }

    /// A pattern as an argument: what entries of tables match.
    fn pattern(
        &mut self,
        expression: &ast::Expression,
        pattern: &PatternKind,
        scope: &Scope,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let ty = self.type_of(expression.id, scope, span)?;
        let width = match self.shape(&ty, span)? {
            Type::Pattern(size) | Type::Int(size) => self.width_of(size.constant, span)?,
            Type::Bool => 1,
            _ => return Err(self.internal(span, "a pattern of another type")),
        };
        let pattern = match pattern {
            PatternKind::Wildcard => Some(core::Pattern { value: 0, mask: 0 }),
            PatternKind::Number(value) => super::matches::number_pattern(*value, width),
            PatternKind::Bits(bits) => super::matches::bits_pattern(bits, width),
            _ => return Err(self.internal(span, "a pattern that is no value")),
        };
        match pattern {
            Some(pattern) => Ok(Value::Pattern {
                value: Expression::int(pattern.value, width, span),
                mask: Some(Expression::int(pattern.mask, width, span)),
            }),
            None => {
                let message = format!("this pattern does not fit an `int<{width}>`");
                Err(self.error(codes::DOES_NOT_FIT, span, message))
            }
        }
    }

    /// The value of a constant boolean.
    pub(super) fn known_truth(expression: &Expression) -> Option<bool> {
        match expression.as_constant() {
            Some(Constant::Bool(truth)) => Some(*truth),
            _ => None,
        }
    }
}

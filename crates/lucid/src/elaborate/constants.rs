// SPDX-License-Identifier: Apache-2.0
//! Evaluates constants at compile time: declared constants, externs (their names), conditions of module
//! aliases. Function calls in them are evaluated too.

use super::builder::{Builder, Purpose};
use super::values::Value;
use super::{Elaborated, Elaborator, Reported, Scope, codes};
use crate::core::{self, Constant, Expression, ExpressionKind, ExternId};
use crate::syntax::ast::{self, NodeId};
use source::{Diagnostic, Span};

impl<'a> Elaborator<'a> {
    /// The value of a constant, global or extern.
    pub(super) fn declared_value(&mut self, id: NodeId) -> Elaborated<Value> {
        if let Some(value) = self.values.get(&id) {
            return value.clone().ok_or(Reported);
        }
        // Should something mention itself, it stops here.
        self.values.insert(id, None);
        let value = if let Some(value) = self.index.constants.get(&id).copied() {
            self.evaluated(value, &mut Scope::default(), "a constant")
        } else if let Some(value) = self.index.globals.get(&id).copied() {
            self.global_value(id, value)
        } else if let Some(span) = self.index.externs.get(&id).copied() {
            self.extern_value(id, span)
        } else {
            Err(self.internal(self.place(id), "a name without a value"))
        };
        self.values.insert(id, value.as_ref().ok().cloned());
        value
    }

    /// The value of an expression that is evaluated at compile time. Messages name its use by `what`.
    pub(super) fn evaluated(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
        what: &'static str,
    ) -> Elaborated<Value> {
        let mut builder = Builder::new(Purpose::Constant(what));
        let value = self.expression(expression, scope, &mut builder)?;
        self.settled(value, &mut builder)
    }

    /// A value without the locals that functions left in it.
    pub(super) fn settled(&mut self, value: Value, builder: &mut Builder) -> Elaborated<Value> {
        let statements = std::mem::take(&mut builder.statements);
        let mut environment = std::mem::take(&mut builder.known);
        let done = self.run(&statements, &mut environment, builder.purpose);
        builder.known = environment;
        done?;
        if builder.locals.is_empty() {
            return Ok(value);
        }
        value.map(&mut |leaf| match leaf {
            Value::Scalar(expression) => {
                Ok(Value::Scalar(self.replaced(expression, &builder.known)?))
            }
            Value::Pattern { value, mask } => Ok(Value::Pattern {
                value: self.replaced(value, &builder.known)?,
                mask: match mask {
                    Some(mask) => Some(self.replaced(mask, &builder.known)?),
                    None => None,
                },
            }),
            other => Ok(other.clone()),
        })
    }

    fn extern_value(&mut self, id: NodeId, span: Span) -> Elaborated<Value> {
        let name = self.full_name(id);
        let ty = self.type_of(id, &Scope::default(), span)?;
        // The parts are locals of a body that is thrown away, so that they get names.
        let mut builder = Builder::new(Purpose::Constant("an extern"));
        let value = self.declare(&mut builder, &name, &ty, span)?;
        let first = self.program.externs.len() as u32;
        for local in &builder.locals {
            if !matches!(local.ty, core::Type::Int(_) | core::Type::Bool | core::Type::Group) {
                let what = super::operators::describe_type(local.ty);
                let message = format!("an extern cannot hold {what}");
                return Err(self.error(codes::OPERAND, span, message));
            }
            let name = local.name.clone();
            self.program.externs.push(core::Extern { name, span, ty: local.ty });
        }
        value.map(&mut |leaf| match leaf {
            Value::Scalar(Expression { kind: ExpressionKind::Local(local), ty, span }) => {
                let kind = ExpressionKind::Extern(ExternId(first + local.0));
                Ok(Value::Scalar(Expression { kind, ty: *ty, span: *span }))
            }
            other => Ok(other.clone()),
        })
    }

    /// Whether the condition of a module alias holds.
    pub(super) fn condition(&mut self, alias: NodeId) -> Elaborated<bool> {
        if let Some(holds) = self.conditions.get(&alias) {
            return Ok(*holds);
        }
        let Some(condition) = self.index.aliases.get(&alias).copied() else {
            return Err(self.internal(self.place(alias), "a module alias without a condition"));
        };
        let what = "the condition of a module alias";
        let value = self.evaluated(condition, &mut Scope::default(), what)?;
        match &value {
            Value::Scalar(expression) => match expression.as_constant() {
                Some(Constant::Bool(holds)) => {
                    self.conditions.insert(alias, *holds);
                    Ok(*holds)
                }
                _ => Err(self.not_known(condition.span, what)),
            },
            _ => Err(self.not_known(condition.span, what)),
        }
    }

    /// The value of a constant number; reports other values.
    pub(super) fn known_number(
        &mut self,
        value: &Value,
        span: Span,
        what: &str,
    ) -> Elaborated<u128> {
        if let Value::Scalar(expression) = value
            && let Some(Constant::Int(number, _)) = expression.as_constant()
        {
            return Ok(*number);
        }
        Err(self.not_known(span, what))
    }

    pub(super) fn not_known(&mut self, span: Span, what: &str) -> Reported {
        let message = format!("{what} has to be known before the run");
        let diagnostic = Diagnostic::error(codes::NOT_KNOWN, span, message);
        self.report(diagnostic.help("use numbers, constants, sizes and symbolics only"))
    }
}

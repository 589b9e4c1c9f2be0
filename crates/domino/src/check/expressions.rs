// SPDX-License-Identifier: Apache-2.0
//! Expressions with their types, and calls.

use super::constants::operation;
use super::names::Declared;
use super::{Checker, HASHES};
use crate::codes::check as codes;
use crate::program::{Expression, ExpressionKind as Kind};
use crate::syntax::HASHES as HEADER;
use crate::syntax::ast::{self, ExpressionKind, Name, Type, UnaryOperator};
use source::{Diagnostic, nearest};

impl Checker<'_> {
    /// Checks an expression. `None` if an error in it has been reported.
    pub(super) fn expression(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let span = expression.span;
        let made = |kind, ty| Some(Expression { kind, ty, span });
        match &expression.kind {
            ExpressionKind::Literal(value, ty) => made(Kind::Constant(*value), *ty),
            ExpressionKind::Name(_) | ExpressionKind::Member(..) | ExpressionKind::Index(..) => {
                let (place, ty) = self.place(expression, false)?;
                made(Kind::Read(place), ty)
            }
            ExpressionKind::Call(name, arguments) => self.call(name, arguments, span),
            ExpressionKind::Unary(operator, operand) => {
                let operand = self.expression(operand)?;
                let ty = if *operator == UnaryOperator::Not { Type::Int } else { operand.ty };
                made(Kind::Unary(*operator, Box::new(operand)), ty)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                let (left, right) = (left?, right?);
                let (operation, ty) = operation(*operator, left.ty, right.ty);
                made(Kind::Binary(operation, Box::new(left), Box::new(right)), ty)
            }
            ExpressionKind::Logical(operator, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                made(Kind::Logical(*operator, Box::new(left?), Box::new(right?)), Type::Int)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let condition = self.expression(condition);
                let (then, otherwise) = (self.expression(then), self.expression(otherwise));
                let (condition, then, otherwise) = (condition?, then?, otherwise?);
                let is_unsigned = then.ty.is_unsigned() || otherwise.ty.is_unsigned();
                let ty = if is_unsigned { Type::Unsigned } else { Type::Int };
                made(
                    Kind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)),
                    ty,
                )
            }
            ExpressionKind::Assign(operator, target, value) => {
                let (target, value) = (self.place(target, true), self.expression(value));
                let ((place, ty), value) = (target?, value?);
                let operation = operator.map(|operator| operation(operator, ty, value.ty).0);
                made(Kind::Assign(place, operation, Box::new(value)), ty)
            }
            ExpressionKind::Step(step, target) => {
                let (place, ty) = self.place(target, true)?;
                made(Kind::Step(place, *step), ty)
            }
        }
    }

    fn call(
        &mut self,
        name: &Name,
        arguments: &[ast::Expression],
        span: source::Span,
    ) -> Option<Expression> {
        match self.names.find(&name.text) {
            Some((_, Declared::Hash(count))) => {
                let arguments = self.counted(name, count, None, arguments)?;
                Some(Expression { kind: Kind::Hash(arguments), ty: Type::Int, span })
            }
            Some((_, Declared::Function(index))) => {
                let arguments = self.arguments(name, index, arguments);
                let Some(ty) = self.functions[index].returns else {
                    let message = format!("`{}` is `void` and has no value", name.text);
                    let found = Diagnostic::error(codes::RETURN, span, message)
                        .label(self.functions[index].span, "declared here");
                    self.diagnostics.push(
                        found.help("call it in a statement of its own, or declare it as `int`"),
                    );
                    return None;
                };
                Some(Expression { kind: Kind::Call(index, arguments?), ty, span })
            }
            found => {
                for argument in arguments {
                    self.expression(argument);
                }
                self.unknown_call(name, found.map(|(_, declared)| declared));
                None
            }
        }
    }

    /// Checks the arguments of a helper.
    pub(super) fn arguments(
        &mut self,
        name: &Name,
        index: usize,
        arguments: &[ast::Expression],
    ) -> Option<Vec<Expression>> {
        let (count, span) = (self.functions[index].parameters, self.functions[index].span);
        if self.declared_packet_function(name) {
            let message =
                format!("`{}` is the packet function, which no function calls", name.text);
            let found = Diagnostic::error(codes::RECURSION, name.span, message)
                .label(span, "declared here");
            self.diagnostics
                .push(found.help("move what both need to a helper with `int` parameters"));
            return None;
        }
        self.counted(name, count, Some(span), arguments)
    }

    fn declared_packet_function(&self, name: &Name) -> bool {
        self.packet_names.contains(&name.text)
    }

    fn counted(
        &mut self,
        name: &Name,
        count: usize,
        declared: Option<source::Span>,
        arguments: &[ast::Expression],
    ) -> Option<Vec<Expression>> {
        let checked: Vec<Option<Expression>> =
            arguments.iter().map(|argument| self.expression(argument)).collect();
        if arguments.len() == count {
            return checked.into_iter().collect();
        }
        let plural = if count == 1 { "" } else { "s" };
        let message = format!(
            "`{}` has {count} parameter{plural}, and {} are given",
            name.text,
            arguments.len()
        );
        let message = message
            .replace("and 1 are", "and 1 is")
            .replace("and 0 are given", "and none is given");
        let mut found = Diagnostic::error(codes::ARGUMENT_COUNT, name.span, message);
        found = match declared {
            Some(span) => found.label(span, "declared here"),
            None => found.note(format!("`{HEADER}` declares it")),
        };
        let what =
            if count == 1 { "one argument".to_string() } else { format!("{count} arguments") };
        self.diagnostics.push(found.help(format!("give {what}")));
        None
    }

    fn unknown_call(&mut self, name: &Name, declared: Option<Declared>) {
        let text = &name.text;
        let found = match declared {
            Some(Declared::CurrentFunction) => {
                let message = format!("`{text}` calls itself");
                Diagnostic::error(codes::RECURSION, name.span, message)
                    .help("a pipeline cannot repeat itself; write a `for` with a constant bound in a helper")
            }
            Some(_) => Diagnostic::error(
                codes::UNKNOWN_FUNCTION,
                name.span,
                format!("`{text}` is no function"),
            )
            .help("leave the parentheses out, or call a function"),
            None => {
                let is_hash = HASHES.iter().any(|(hash, _)| *hash == &**text);
                if let Some(later) = self.declared_functions.get(text).copied() {
                    let message = format!("`{text}` is called before it is defined");
                    let found = Diagnostic::error(codes::UNKNOWN_FUNCTION, name.span, message)
                        .label(later, "defined here");
                    self.diagnostics.push(found.help("move the definition before this function"));
                    return;
                }
                let found = Diagnostic::error(
                    codes::UNKNOWN_FUNCTION,
                    name.span,
                    format!("there is no function `{text}`"),
                );
                let functions = self.names.all().filter(|(_, declared)| {
                    matches!(declared, Declared::Function(_) | Declared::Hash(_))
                });
                match nearest(text, functions.map(|(name, _)| name)) {
                    _ if is_hash && !self.has_hashes => {
                        found.help(format!("add `#include \"{HEADER}\"`"))
                    }
                    Some(near) => found.help(format!("did you mean `{near}`?")),
                    None => found.help("define it before this function"),
                }
            }
        };
        self.diagnostics.push(found);
    }
}

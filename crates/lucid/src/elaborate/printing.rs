// SPDX-License-Identifier: Apache-2.0
//! Elaborates `printf`: splits the format into text and values. `%d` and `%b` take the next argument
//! whatever its type, `%%` is a percent sign.

use super::builder::Builder;
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::core::{PrintPiece, StatementKind as Core, Type};
use crate::syntax::ast;
use source::{Diagnostic, Span};

impl<'a> Elaborator<'a> {
    #[allow(clippy::too_many_arguments, reason = "the parts of the statement")]
    pub(super) fn print(
        &mut self,
        format: &str,
        format_span: Span,
        arguments: &'a [ast::Expression],
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        self.effects_allowed(span, builder)?;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let value = self.expression(argument, scope, builder)?;
            match &value {
                Value::Scalar(scalar) if matches!(scalar.ty, Type::Int(_) | Type::Bool) => {
                    values.push(scalar.clone());
                }
                other => {
                    let what = super::operators::describe(other);
                    let message = format!("{what} cannot be printed");
                    let diagnostic = Diagnostic::error(codes::OPERAND, argument.span, message);
                    let help = "print integers and booleans";
                    return Err(self.report_in(builder, diagnostic.help(help)));
                }
            }
        }
        let count = values.len();
        let mut values = values.into_iter();
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut wanted = 0;
        let mut characters = format.chars().peekable();
        while let Some(character) = characters.next() {
            match (character, characters.peek()) {
                ('%', Some('%')) => {
                    characters.next();
                    text.push('%');
                }
                ('%', Some('d' | 'b')) => {
                    characters.next();
                    wanted += 1;
                    if let Some(value) = values.next() {
                        if !text.is_empty() {
                            pieces.push(PrintPiece::Text(std::mem::take(&mut text).into()));
                        }
                        pieces.push(PrintPiece::Value(value));
                    }
                }
                _ => text.push(character),
            }
        }
        if wanted != count {
            let message = format!("this text has places for {wanted} values, here are {count}");
            let diagnostic = Diagnostic::error(codes::OPERAND, format_span, message);
            let help = "write `%d` for each integer, `%b` for each boolean and `%%` for a `%`";
            return Err(self.report_in(builder, diagnostic.help(help)));
        }
        if !text.is_empty() {
            pieces.push(PrintPiece::Text(text.into()));
        }
        builder.emit(Core::Print { pieces }, span);
        Ok(())
    }
}

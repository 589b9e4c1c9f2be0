// SPDX-License-Identifier: Apache-2.0
//! Expressions (P4_16 v1.2.5 §8, literals §6.4.3.1) by precedence climbing, arguments of calls, and
//! keysets (§13.6, §14.2.1.4). Every function leaves the height of what it read in
//! `Parser::height`.

use super::operators::{self, Precedence, binary_operator, precedence};
use super::scopes::NameClass;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Argument, Call, Expression, ExpressionKind, Name, TypeRef, TypeRefKind, UnaryOperator,
};
use crate::codes::syntax;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    pub(super) fn make(&mut self, start: Span, kind: ExpressionKind) -> Expression {
        let span = self.span_from(start);
        Expression { id: self.id(), span, kind }
    }

    /// Any expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let start = parser.span();
            let condition = parser.binary(operators::LOOSEST_BINARY)?;
            parser.conditional(start, condition)
        })
    }

    /// `? a : b` after a condition, any number of times: the grammar gives `:` more precedence than
    /// `?`, so a second one takes the first as its condition.
    fn conditional(&mut self, start: Span, condition: Expression) -> Parsed<Expression> {
        let mut condition = condition;
        let mut height = self.height;
        let mut questions = 0u32;
        while self.at(T::Question) {
            questions += 1;
            // Once for a chain is enough.
            if questions == 2 {
                let diagnostic = Diagnostic::warning(
                    syntax::CHAINED_CONDITIONAL,
                    self.span(),
                    "everything before this `?` is its condition",
                )
                .note("unlike in C, `a ? b : c ? d : e` means `(a ? b : c) ? d : e`")
                .help("put parentheses around the inner conditional");
                self.cursor.diagnostics.push(diagnostic);
            }
            self.bump();
            let then = self.unrestricted(|parser| parser.expression())?;
            height = height.max(self.height);
            self.expect(T::Colon, "between the two values of `? :`")?;
            let otherwise = self.binary(operators::LOOSEST_BINARY)?;
            height = self.one_higher(height.max(self.height))?;
            let kind = ExpressionKind::Conditional(
                Box::new(condition),
                Box::new(then),
                Box::new(otherwise),
            );
            condition = self.make(start, kind);
        }
        self.height = height;
        Ok(condition)
    }

    /// Operands joined by operators that bind at least as tightly as `loosest`.
    fn binary(&mut self, loosest: Precedence) -> Parsed<Expression> {
        let start = self.span();
        let mut left = self.unary()?;
        let mut height = self.height;
        while let Some(operator) = binary_operator(self.kind()) {
            let strength = precedence(operator);
            if strength < loosest {
                break;
            }
            if self.greater_closes && matches!(self.kind(), T::CloseAngle | T::ShiftRight) {
                break;
            }
            if self.at(T::PlusPlus) && !self.begins_operand(1) {
                return Err(self.report_increment());
            }
            self.bump();
            let right = self.binary(strength + 1)?;
            height = self.one_higher(height.max(self.height))?;
            let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
            left = self.make(start, kind);
        }
        self.height = height;
        Ok(left)
    }

    /// Whether an operand can begin at a token ahead.
    fn begins_operand(&self, distance: usize) -> bool {
        !matches!(
            self.ahead(distance),
            T::Semicolon | T::CloseParen | T::CloseBrace | T::CloseBracket | T::Comma | T::End
        )
    }

    pub(super) fn report_increment(&mut self) -> crate::dialect::Unparsed {
        let diagnostic = Diagnostic::error(
            syntax::INCREMENT,
            self.span(),
            format!("P4 has no `{0}` that changes a variable", self.token().text),
        )
        .note("`a ++ b` joins the bits of two values")
        .help("write `x = x + 1;` or `x += 1;`");
        self.report(diagnostic)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let operator = match self.kind() {
            T::Not => UnaryOperator::Not,
            T::Tilde => UnaryOperator::Complement,
            T::Minus => UnaryOperator::Minus,
            T::Plus => UnaryOperator::Plus,
            T::PlusPlus => return Err(self.report_increment()),
            T::OpenParen if self.at_cast() => {
                self.bump();
                let ty = self.unrestricted(|parser| parser.type_ref())?;
                let height = self.height;
                self.expect_close(T::CloseParen, start)?;
                let operand = self.nested(|parser| parser.unary())?;
                self.height = self.one_higher(height.max(self.height))?;
                return Ok(self.make(start, ExpressionKind::Cast(ty, Box::new(operand))));
            }
            _ => return self.postfix(),
        };
        self.bump();
        let operand = self.nested(|parser| parser.unary())?;
        self.height = self.one_higher(self.height)?;
        Ok(self.make(start, ExpressionKind::Unary(operator, Box::new(operand))))
    }

    /// Reads an operand with the members, indices and calls after it.
    pub(super) fn postfix(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let mut base = self.operand()?;
        loop {
            let height = self.height;
            match self.kind() {
                T::Dot
                    if self.ahead(1) == T::Integer
                        && matches!(base.kind, ExpressionKind::Integer { .. }) =>
                {
                    let _ = self.report_fraction();
                    self.bump();
                    self.bump();
                }
                T::Dot => {
                    self.bump();
                    let member = self.member_name()?;
                    self.height = self.one_higher(height)?;
                    base = self.make(start, ExpressionKind::Member(Box::new(base), member));
                }
                T::OpenBracket => {
                    let kind = self.unrestricted(|parser| parser.index(base))?;
                    self.height = self.one_higher(height.max(self.height))?;
                    base = self.make(start, kind);
                }
                T::OpenAngle if self.opens_type_arguments(&base) => {
                    let type_arguments = self.type_arguments()?;
                    let height = height.max(self.height);
                    base = self.call(start, base, type_arguments, height)?;
                }
                T::OpenParen if is_callable(&base) => {
                    base = self.call(start, base, Vec::new(), height)?;
                }
                _ => return Ok(base),
            }
        }
    }

    fn opens_type_arguments(&self, base: &Expression) -> bool {
        match &base.kind {
            ExpressionKind::Path(path) => {
                let class = if path.absolute {
                    self.scopes.class_at_top(&path.name.text)
                } else {
                    self.scopes.class(&path.name.text)
                };
                self.at_call_type_arguments(class == Some(NameClass::GenericFunction))
            }
            ExpressionKind::Member(..) => self.at_call_type_arguments(false),
            _ => false,
        }
    }

    fn call(
        &mut self,
        start: Span,
        callee: Expression,
        type_arguments: Vec<TypeRef>,
        height: u32,
    ) -> Parsed<Expression> {
        let arguments = self.unrestricted(|parser| parser.arguments())?;
        self.height = self.one_higher(height.max(self.height))?;
        let call = Call { callee, type_arguments, arguments };
        Ok(self.make(start, ExpressionKind::Call(Box::new(call))))
    }

    fn member_name(&mut self) -> Parsed<Name> {
        self.name("a member")
    }

    /// Reads the index or slice in brackets after `base`.
    fn index(&mut self, base: Expression) -> Parsed<ExpressionKind> {
        let opener = self.span();
        self.bump();
        let first = self.expression()?;
        let mut height = self.height;
        let base = Box::new(base);
        let kind = match self.kind() {
            T::Colon => {
                self.bump();
                let low = self.expression()?;
                ExpressionKind::Slice { base, high: Box::new(first), low: Box::new(low) }
            }
            T::PlusColon => {
                self.bump();
                let width = self.expression()?;
                ExpressionKind::PlusSlice { base, low: Box::new(first), width: Box::new(width) }
            }
            _ => ExpressionKind::Index(base, Box::new(first)),
        };
        height = height.max(self.height);
        self.expect_close(T::CloseBracket, opener)?;
        self.height = height;
        Ok(kind)
    }

    /// `(a, name = b, _)`.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        let opener = self.span();
        self.expect(T::OpenParen, "before the arguments")?;
        let mut arguments = Vec::new();
        let mut height = 0;
        while !self.at(T::CloseParen) {
            let name = if self.at_name() && self.ahead(1) == T::Assign {
                let name = self.take_name();
                self.bump();
                Some(name)
            } else {
                None
            };
            let value = if self.at(T::Underscore) {
                self.height = 0;
                self.single(ExpressionKind::DontCare)
            } else {
                self.expression()?
            };
            height = height.max(self.height);
            arguments.push(Argument { name, value });
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseParen, opener)?;
        self.height = height;
        Ok(arguments)
    }

    /// An expression that is the current token.
    fn single(&mut self, kind: ExpressionKind) -> Expression {
        let span = self.span();
        self.bump();
        Expression { id: self.id(), span, kind }
    }

    fn operand(&mut self) -> Parsed<Expression> {
        self.height = 0;
        let start = self.span();
        if let Some(read) = self.expression_extension(start) {
            return read;
        }
        match self.kind() {
            T::Integer => {
                let token = self.token().clone();
                let kind = self.integer(&token);
                Ok(self.single(kind))
            }
            T::String => {
                let text = unescape(&self.token().text);
                Ok(self.single(ExpressionKind::String(text.into())))
            }
            T::True => Ok(self.single(ExpressionKind::Bool(true))),
            T::False => Ok(self.single(ExpressionKind::Bool(false))),
            T::This => Ok(self.single(ExpressionKind::This)),
            T::Dots => Ok(self.single(ExpressionKind::Dots)),
            T::InvalidHeader => Ok(self.single(ExpressionKind::InvalidHeader)),
            T::Error if self.ahead(1) == T::Dot => Ok(self.single(ExpressionKind::ErrorType)),
            T::Hole => self.expression_hole(),
            T::OpenParen => self.parenthesised(),
            T::OpenBrace => {
                let read = self.unrestricted(|parser| parser.braces());
                if read.is_err() {
                    self.leave_braces();
                }
                read
            }
            _ if self.is_base_type_at(self.cursor.position) => self.base_type_operand(),
            T::Dot => self.path_operand(start),
            _ if super::cursor::is_value_name(self.kind()) => self.path_operand(start),
            T::List if self.is_type_name_at(self.cursor.position) => self.path_operand(start),
            T::Assign => {
                let diagnostic = Diagnostic::error(
                    syntax::UNEXPECTED_TOKEN,
                    start,
                    "expected an expression, found `=`",
                )
                .here("expected an expression");
                Err(self.report(diagnostic))
            }
            T::Underscore | T::Default => {
                let word = self.token().text.clone();
                let diagnostic = Diagnostic::error(
                    syntax::UNEXPECTED_TOKEN,
                    start,
                    format!("expected an expression, found `{word}`"),
                )
                .here("expected an expression")
                .note(format!(
                    "`{word}` matches anything; it can stand only where something is matched"
                ));
                Err(self.report(diagnostic))
            }
            kind if kind.is_keyword() && self.stands_as_value() => {
                let word = self.token().text.clone();
                let diagnostic = Diagnostic::error(
                    syntax::RESERVED_WORD,
                    start,
                    format!("`{word}` is a reserved word and cannot be used as a value"),
                )
                .here("expected an expression");
                Err(self.report(diagnostic))
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// Whether the current word is followed by something that follows a value.
    fn stands_as_value(&self) -> bool {
        binary_operator(self.ahead(1)).is_some()
            || matches!(self.ahead(1), T::Dot | T::CloseParen | T::Comma)
            || (self.ahead(1) == T::Semicolon && !self.begins_statement_keyword())
    }

    fn parenthesised(&mut self) -> Parsed<Expression> {
        let opener = self.span();
        self.bump();
        let inner = self.unrestricted(|parser| parser.expression())?;
        if self.at(T::Assign) {
            return Err(self.report_assignment_in_expression());
        }
        self.expect_close(T::CloseParen, opener)?;
        Ok(Expression { span: self.span_from(opener), ..inner })
    }

    pub(super) fn report_assignment_in_expression(&mut self) -> crate::dialect::Unparsed {
        let diagnostic = Diagnostic::error(
            syntax::ASSIGNMENT_IN_EXPRESSION,
            self.span(),
            "an assignment is a statement and has no value",
        )
        .here("to compare, write `==`");
        self.report(diagnostic)
    }

    /// `{a, b}`, `{f = a, ...}` (§8.13, §8.14), perhaps with a comma at the end (§6.4.4).
    fn braces(&mut self) -> Parsed<Expression> {
        let opener = self.span();
        self.bump();
        let mut height = 0;
        if self.at_name() && self.ahead(1) == T::Assign {
            let mut fields = Vec::new();
            let mut rest = false;
            while !self.at(T::CloseBrace) {
                if self.at(T::Dots) {
                    self.bump();
                    rest = true;
                    self.eat(T::Comma);
                    break;
                }
                let field = self.name("a field")?;
                self.expect(T::Assign, "after the name of a field")?;
                fields.push((field, self.expression()?));
                height = height.max(self.height);
                if !self.eat(T::Comma) {
                    break;
                }
            }
            self.expect_close(T::CloseBrace, opener)?;
            self.height = self.one_higher(height)?;
            return Ok(self.make(opener, ExpressionKind::Struct { fields, rest }));
        }
        let mut elements = Vec::new();
        while !self.at(T::CloseBrace) {
            elements.push(self.expression()?);
            height = height.max(self.height);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseBrace, opener)?;
        self.height = self.one_higher(height)?;
        Ok(self.make(opener, ExpressionKind::List(elements)))
    }

    /// Reads a name, or the name of a type that is called or has a member taken.
    fn path_operand(&mut self, start: Span) -> Parsed<Expression> {
        let is_type = self.is_type_name_at(self.cursor.position);
        let path = self.path("a value")?;
        if !is_type || !matches!(self.kind(), T::OpenAngle | T::OpenParen | T::Dot) {
            if is_type {
                let diagnostic = Diagnostic::error(
                    syntax::TYPE_AS_VALUE,
                    path.name.span,
                    format!("`{}` is a type; a value is expected here", path.name.text),
                );
                self.report_read(diagnostic);
            }
            return Ok(self.make(start, ExpressionKind::Path(path)));
        }
        let kind = self.named_type(path)?;
        let span = self.span_from(start);
        let ty = TypeRef { id: self.id(), span, kind };
        Ok(self.make(start, ExpressionKind::Type(ty)))
    }

    /// Reads a built-in type where a value should be: a cast without parentheses around its type.
    fn base_type_operand(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let ty = self.type_ref()?;
        let diagnostic = Diagnostic::error(
            syntax::TYPE_AS_VALUE,
            ty.span,
            "a type stands where a value is expected",
        );
        let diagnostic = if self.at(T::OpenParen) {
            diagnostic.help("a cast has its type in parentheses: `(bit<8>) x`")
        } else {
            diagnostic
        };
        self.report_read(diagnostic);
        let invalid = TypeRef { kind: TypeRefKind::Invalid, ..ty };
        Ok(self.make(start, ExpressionKind::Type(invalid)))
    }

    /// Reads what a table entry or a select case matches: a keyset, or several in parentheses.
    pub(super) fn keyset(&mut self) -> Parsed<Expression> {
        if !self.at(T::OpenParen) || !self.at_keyset_tuple() {
            return self.simple_keyset();
        }
        let opener = self.span();
        self.bump();
        let mut elements = Vec::new();
        loop {
            elements.push(self.simple_keyset()?);
            if !self.eat(T::Comma) || self.at(T::CloseParen) {
                break;
            }
        }
        self.expect_close(T::CloseParen, opener)?;
        if elements.len() == 1 {
            let only = elements.remove(0);
            return Ok(Expression { span: self.span_from(opener), ..only });
        }
        Ok(self.make(opener, ExpressionKind::TupleKeyset(elements)))
    }

    /// `e`, `e &&& mask`, `low .. high`, `default` or `_`.
    pub(super) fn simple_keyset(&mut self) -> Parsed<Expression> {
        match self.kind() {
            T::Default => return Ok(self.single(ExpressionKind::Default)),
            T::Underscore => return Ok(self.single(ExpressionKind::DontCare)),
            _ => {}
        }
        let start = self.span();
        let first = self.expression()?;
        match self.kind() {
            T::Mask => {
                self.bump();
                let mask = self.expression()?;
                Ok(self.make(start, ExpressionKind::Mask(Box::new(first), Box::new(mask))))
            }
            T::Range => {
                self.bump();
                let high = self.expression()?;
                Ok(self.make(start, ExpressionKind::Range(Box::new(first), Box::new(high))))
            }
            _ => Ok(first),
        }
    }
}

/// Whether `(` after this expression calls it.
fn is_callable(base: &Expression) -> bool {
    matches!(
        base.kind,
        ExpressionKind::Path(_)
            | ExpressionKind::Member(..)
            | ExpressionKind::Type(_)
            | ExpressionKind::This
    )
}

/// Returns the text of a string literal: `\"` and `\\` are a quote and a backslash, anything else
/// stays as written (§6.4.3.3).
pub fn unescape(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut characters = written.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\'
            && let Some(escaped) = characters.next_if(|next| matches!(next, '"' | '\\'))
        {
            text.push(escaped);
            continue;
        }
        text.push(character);
    }
    text
}

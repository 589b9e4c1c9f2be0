// SPDX-License-Identifier: Apache-2.0
//! Expressions, by precedence climbing.

use super::super::ast::{
    BinaryOperator, Expression, ExpressionKind, PatternKind, Segment, Type, TypeKind, UnaryOperator,
};
use super::super::codes;
use super::super::token::{Role, TokenKind};
use super::operators::{Level, binary_operator};
use super::{EXPRESSION_HEIGHT_LIMIT, Parsed, Parser, RecursiveDescent};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// How tightly an operator that shares its level with others binds in C; 0 where that makes no
/// difference.
fn rank_in_c(operator: BinaryOperator) -> u8 {
    match operator {
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => 6,
        BinaryOperator::BitAnd => 5,
        BinaryOperator::BitXor => 4,
        BinaryOperator::BitOr => 3,
        BinaryOperator::And => 2,
        BinaryOperator::Or => 1,
        _ => 0,
    }
}

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.binary(Level::Logical)
    }

    /// A node of the tree from `start` to the token before the current one.
    pub(super) fn node(&mut self, kind: ExpressionKind, start: Span) -> Expression {
        Expression { id: self.id(), kind, span: self.span_from(start) }
    }

    /// Operators of at least this level.
    fn binary(&mut self, least: Level) -> Parsed<Expression> {
        let start = self.span();
        let mut left = self.prefix()?;
        let mut left_height = self.height;
        let mut compared: Option<Span> = None;
        let mut chained: Option<(BinaryOperator, Span)> = None;
        loop {
            if self.at(TokenKind::Mask) && least <= Level::Mask {
                self.mark(Role::Binary);
                self.bump();
                let mask = Box::new(self.binary(Level::Mask.tighter())?);
                left_height = self.grown(left_height)?;
                left = self.node(ExpressionKind::Masked { value: Box::new(left), mask }, start);
                continue;
            }
            let Some((operator, level)) = binary_operator(self.kind()) else { break };
            if level < least {
                break;
            }
            let operator_span = self.span();
            if level == Level::Comparison {
                if let Some(first) = compared {
                    self.report_chained(first, operator_span);
                }
                compared = Some(operator_span);
            }
            if let Some((first, first_span)) = chained
                && rank_in_c(operator) > rank_in_c(first)
            {
                self.warn_mixed((first_span, operator_span), level);
            }
            chained = Some((operator, operator_span)).filter(|_| rank_in_c(operator) > 0);
            self.mark(Role::Binary);
            self.bump();
            self.report_doubled_operator(operator, operator_span)?;
            let right = self.binary(level.tighter())?;
            left_height = self.grown(left_height)?;
            left = Expression {
                id: self.id(),
                span: self.span_from(start),
                kind: ExpressionKind::Binary {
                    operator,
                    left: Box::new(left),
                    right: Box::new(right),
                },
            };
        }
        self.height = left_height;
        Ok(left)
    }

    /// Returns the height of a node over operands, the one read last and one of `other`.
    fn grown(&mut self, other: u32) -> Parsed<u32> {
        let height = self.height.max(other) + 1;
        if height > EXPRESSION_HEIGHT_LIMIT {
            let diagnostic = Diagnostic::error(
                codes::NESTED_TOO_DEEPLY,
                self.previous_span(),
                format!("this expression has more than {EXPRESSION_HEIGHT_LIMIT} levels"),
            )
            .help("give parts of it to variables of their own");
            let unparsed = self.report(diagnostic);
            self.abandon();
            return Err(unparsed);
        }
        Ok(height)
    }

    fn report_chained(&mut self, first: Span, second: Span) {
        let diagnostic =
            Diagnostic::error(codes::CHAINED_COMPARISON, second, "comparisons do not chain")
                .here("a second comparison")
                .label(first, "the first one")
                .help("compare twice, `a < b && b < c`, or put one of them in parentheses");
        self.report_read(diagnostic);
    }

    /// Warns of operators that have equal precedence in Lucid and different precedence in C.
    fn warn_mixed(&mut self, (first, second): (Span, Span), level: Level) {
        let slice = |span: Span| {
            self.text.get(span.start as usize..span.end as usize).unwrap_or("").to_owned()
        };
        let (first_text, second_text) = (slice(first), slice(second));
        let whole = match level {
            Level::Logical => "",
            _ => ", unlike in C",
        };
        let diagnostic = Diagnostic::warning(
            codes::MIXED_OPERATORS,
            second,
            format!(
                "`{second_text}` binds no tighter than `{first_text}`{whole}, so this reads from left \
                 to right"
            ),
        )
        .here("everything before is its left operand")
        .label(first, "also this one")
        .help("put parentheses around what belongs together");
        self.warn(diagnostic);
    }

    /// Parses prefix operators and casts with their operands.
    pub(super) fn prefix(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let operator = match self.kind() {
            TokenKind::Not => UnaryOperator::Not,
            TokenKind::Tilde => UnaryOperator::BitNot,
            TokenKind::Minus => UnaryOperator::Negate,
            TokenKind::Flood => {
                self.bump();
                let port = Box::new(self.nested(|parser| parser.prefix())?);
                self.height = self.grown(0)?;
                return Ok(self.node(ExpressionKind::Flood(port), start));
            }
            TokenKind::OpenParen if self.ahead(1) == TokenKind::Int => {
                self.bump();
                let type_start = self.span();
                self.bump();
                let width = self.optional_size()?;
                let ty = Type { kind: TypeKind::Int(width), span: self.span_from(type_start) };
                self.mark(Role::CastClose);
                self.expect_close(TokenKind::CloseParen, start)?;
                let operand = Box::new(self.nested(|parser| parser.prefix())?);
                self.height = self.grown(0)?;
                return Ok(self.node(ExpressionKind::Cast { ty, operand }, start));
            }
            _ => return self.postfix(),
        };
        self.mark(Role::Prefix);
        self.bump();
        let operand = Box::new(self.nested(|parser| match operator {
            // A minus reaches over everything that binds tighter than the minus of two operands.
            UnaryOperator::Negate => parser.binary(Level::Additive.tighter()),
            UnaryOperator::Not | UnaryOperator::BitNot => parser.prefix(),
        })?);
        self.height = self.grown(0)?;
        Ok(self.node(ExpressionKind::Unary { operator, operand }, start))
    }

    /// Parses postfix forms with their operands: `r#a`, `v[i]`, `e[7:0]`.
    fn postfix(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let mut expression = self.nested(|parser| parser.primary())?;
        loop {
            match self.kind() {
                TokenKind::Hash => {
                    self.bump();
                    let label = self.segment("a field")?;
                    self.height = self.grown(0)?;
                    let record = Box::new(expression);
                    expression = self.node(ExpressionKind::Field { record, label }, start);
                }
                TokenKind::OpenBracket => expression = self.bracketed(expression, start)?,
                TokenKind::Dot
                    if matches!(expression.kind, ExpressionKind::Field { .. })
                        || matches!(expression.kind, ExpressionKind::Call { .. }) =>
                {
                    return Err(self.dot_for_field());
                }
                _ => return Ok(expression),
            }
        }
    }

    /// `[i]` or `[high:low]` behind an operand.
    fn bracketed(&mut self, operand: Expression, start: Span) -> Parsed<Expression> {
        let opener = self.span();
        self.bump();
        let height = self.height;
        let first = self.size()?;
        let operand = Box::new(operand);
        let kind = if self.at(TokenKind::Colon) {
            self.mark(Role::SliceColon);
            self.bump();
            let low = self.size()?;
            ExpressionKind::Slice { operand, high: first, low }
        } else {
            ExpressionKind::Index { vector: operand, index: first }
        };
        self.expect_close(TokenKind::CloseBracket, opener)?;
        self.height = self.grown(height)?;
        Ok(self.node(kind, start))
    }

    fn primary(&mut self) -> Parsed<Expression> {
        self.height = 1;
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Number => self.integer()?,
            TokenKind::BitPattern => ExpressionKind::Pattern(self.bits()),
            TokenKind::Underscore => {
                self.bump();
                ExpressionKind::Pattern(PatternKind::Wildcard)
            }
            TokenKind::True | TokenKind::False => {
                let value = self.at(TokenKind::True);
                self.bump();
                ExpressionKind::Boolean(value)
            }
            TokenKind::String => {
                self.bump();
                ExpressionKind::String(self.string_text(start))
            }
            TokenKind::HashWord => self.hash()?,
            TokenKind::SizeToInt => self.size_to_int()?,
            TokenKind::OpenParen => return self.parenthesized(),
            TokenKind::OpenBracket => self.vector()?,
            TokenKind::OpenBrace => self.braced()?,
            TokenKind::Identifier => return self.named(),
            _ => return Err(self.no_expression()),
        };
        Ok(self.node(kind, start))
    }

    /// Returns the text between the quotes of a string token.
    pub(super) fn string_text(&self, span: Span) -> Arc<str> {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let text = text.strip_prefix('"').unwrap_or(text);
        text.strip_suffix('"').unwrap_or(text).into()
    }

    /// Reads a name, a call, or what begins with a word that is only reserved in its place.
    fn named(&mut self) -> Parsed<Expression> {
        let start = self.span();
        if self.at_word("new") && self.ahead(1) == TokenKind::Identifier {
            self.bump();
            let ty = self.ty()?;
            let arguments = self.arguments()?;
            return Ok(self.node(ExpressionKind::New { ty, arguments }, start));
        }
        if let Some(expression) = self.table_expression()? {
            return Ok(expression);
        }
        let function = self.path("a value")?;
        let unordered = self.at(TokenKind::Less)
            && self.word_ahead(1, "unordered")
            && self.ahead(2) == TokenKind::Greater
            && self.ahead(3) == TokenKind::OpenParen;
        if unordered {
            self.mark(Role::AngleOpen);
            self.bump();
            self.bump();
            self.mark(Role::AngleClose);
            self.bump();
        }
        if !self.at(TokenKind::OpenParen) {
            if let Some(unparsed) = self.sizes_of_call() {
                return Err(unparsed);
            }
            return Ok(self.node(ExpressionKind::Name(function), start));
        }
        let arguments = self.arguments()?;
        Ok(self.node(ExpressionKind::Call { function, arguments, unordered }, start))
    }

    /// `(a, b)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "before the arguments")?;
        let arguments = self.list(TokenKind::CloseParen)?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        self.height = self.grown(0)?;
        Ok(arguments)
    }

    /// Expressions with `,` between them up to `close`, which is not taken. Leaves the height of the
    /// highest.
    pub(super) fn list(&mut self, close: TokenKind) -> Parsed<Vec<Expression>> {
        let mut list = Vec::new();
        let mut height = 0;
        while !self.at(close) {
            list.push(self.expression()?);
            height = self.height.max(height);
            if !self.eat(TokenKind::Comma) {
                break;
            }
            if self.at(close) {
                return Err(self.unexpected("another value after `,`"));
            }
        }
        self.height = height;
        Ok(list)
    }

    /// `hash<10>(seed, a, b)`
    fn hash(&mut self) -> Parsed<ExpressionKind> {
        self.bump();
        let Some(width) = self.optional_size()? else {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected the width of the hash in bits, found {}", self.found()),
            )
            .here("expected `<` and a width")
            .help("write `hash<16>(seed, a, b)` for 16 bits");
            return Err(self.report(diagnostic));
        };
        let arguments = self.arguments()?;
        Ok(ExpressionKind::Hash { width, arguments })
    }

    /// `size_to_int(n)`, `size_to_int<16>(n)`
    fn size_to_int(&mut self) -> Parsed<ExpressionKind> {
        self.bump();
        let width = self.optional_size()?;
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "before the size")?;
        let size = self.size()?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        Ok(ExpressionKind::SizeToInt { size, width })
    }

    /// `()`, `(a)`, `(a, b)`. One in parentheses is that one itself, with the parentheses.
    fn parenthesized(&mut self) -> Parsed<Expression> {
        let opener = self.span();
        self.bump();
        let mut list = self.list(TokenKind::CloseParen)?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        if list.len() == 1
            && let Some(mut only) = list.pop()
        {
            only.span = self.span_from(opener);
            return Ok(only);
        }
        self.height = self.grown(0)?;
        Ok(self.node(ExpressionKind::Tuple(list), opener))
    }

    /// `[a; b]`, `[e for i < n]`
    fn vector(&mut self) -> Parsed<ExpressionKind> {
        let opener = self.span();
        self.mark(Role::VectorOpen);
        self.bump();
        let mut elements = Vec::new();
        let mut height = 0;
        while !self.at(TokenKind::CloseBracket) {
            let element = self.expression()?;
            height = self.height.max(height);
            if elements.is_empty() && self.eat(TokenKind::For) {
                let variable = self.binder("a size")?;
                self.mark(Role::Binary);
                self.expect(TokenKind::Less, "after the name of a comprehension")?;
                let bound = self.size()?;
                self.expect_close(TokenKind::CloseBracket, opener)?;
                self.height = self.grown(height)?;
                let element = Box::new(element);
                return Ok(ExpressionKind::Comprehension { element, variable, bound });
            }
            elements.push(element);
            // `Table.create(64, [hit, miss], ...)` means the same.
            if !self.eat(TokenKind::Semicolon) && !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseBracket, opener)?;
        self.height = self.grown(height)?;
        Ok(ExpressionKind::Vector(elements))
    }

    /// `{a = 1; b = 2}`, `{r with a = 1}`, `{1, 2}`
    fn braced(&mut self) -> Parsed<ExpressionKind> {
        let opener = self.span();
        self.mark(Role::ValueOpen);
        if self.ahead(1) == TokenKind::Identifier && self.ahead(2) == TokenKind::Assign {
            self.mark(Role::RecordOpen);
            self.bump();
            return Ok(ExpressionKind::Record(self.fields(opener)?));
        }
        let at = self.cursor.position;
        self.bump();
        let members = self.list(TokenKind::CloseBrace)?;
        if self.at(TokenKind::With) && members.len() == 1 {
            self.places[at].role = Role::RecordOpen;
            self.bump();
            let height = self.height;
            let fields = self.fields(opener)?;
            self.height = self.grown(height)?;
            let Some(record) = members.into_iter().next() else {
                return Err(self.unexpected("a record"));
            };
            return Ok(ExpressionKind::With { record: Box::new(record), fields });
        }
        self.expect_close(TokenKind::CloseBrace, opener)?;
        self.height = self.grown(0)?;
        Ok(ExpressionKind::Group(members))
    }

    /// `a = 1; b = 2}`
    fn fields(&mut self, opener: Span) -> Parsed<Vec<(Segment, Expression)>> {
        let mut fields = Vec::new();
        let mut height = 0;
        loop {
            let label = self.segment("a field")?;
            self.expect(TokenKind::Assign, "after the name of a field")?;
            fields.push((label, self.expression()?));
            height = self.height.max(height);
            if self.at(TokenKind::Comma) {
                let diagnostic = Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    self.span(),
                    "expected `;` between the fields of a record, found `,`",
                )
                .here("expected `;`");
                self.report_read(diagnostic);
                self.bump();
                continue;
            }
            if !self.eat(TokenKind::Semicolon) || self.at(TokenKind::CloseBrace) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseBrace, opener)?;
        self.height = self.grown(height)?;
        Ok(fields)
    }
}

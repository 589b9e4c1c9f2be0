// SPDX-License-Identifier: Apache-2.0
//! Numbers, with their widths, and bit patterns.

use super::super::ast::{ExpressionKind, PatternKind, Size, SizeKind, Spelling};
use super::super::codes;
use super::super::token::{Role, Token, TokenKind};
use super::{Parsed, Parser, RecursiveDescent};
use source::{Diagnostic, Span};

impl Parser {
    /// Reads a number as an expression: `5`, `0xff`, `5w16` or the paper's `5<<16>>`.
    pub(super) fn integer(&mut self) -> Parsed<ExpressionKind> {
        let token = *self.token();
        let (value, width) = self.number_with_width(token)?;
        self.bump();
        if width.is_none() && self.at_paper_width() {
            let opener = self.span();
            self.mark(Role::AngleOpen);
            self.bump();
            let width = self.size_term()?;
            self.expect_close_double_angle(opener)?;
            let spelling = Spelling::Paper;
            return Ok(ExpressionKind::Integer { value, width: Some(width), spelling });
        }
        Ok(ExpressionKind::Integer { value, width, spelling: Spelling::Later })
    }

    /// Whether `<<16>>` here is the width of the number before it, and not two shifts: nothing
    /// separates its parts, and no operand follows.
    fn at_paper_width(&self) -> bool {
        let (open, size, close) = (*self.token(), *self.token_ahead(1), *self.token_ahead(2));
        let touches = |one: Span, other: Span| one.end == other.start;
        let is_size =
            matches!(size.kind, TokenKind::Number | TokenKind::Identifier | TokenKind::Variable);
        open.kind == TokenKind::ShiftLeft
            && is_size
            && close.kind == TokenKind::ShiftRight
            && touches(self.previous_span(), open.span)
            && touches(open.span, size.span)
            && touches(size.span, close.span)
            && !begins_operand(self.ahead(3))
    }

    /// Reads a number without a width.
    pub(super) fn number(&mut self, what: &str) -> Parsed<u128> {
        let token = *self.token();
        if token.kind != TokenKind::Number {
            return Err(self.unexpected(what));
        }
        let (value, width) = self.number_with_width(token)?;
        if let Some(width) = width {
            let diagnostic = Diagnostic::error(
                codes::MALFORMED_NUMBER,
                width.span,
                format!("{what} has no width of its own"),
            )
            .help("leave out `w` and what follows");
            let _ = self.report(diagnostic);
        }
        self.bump();
        Ok(value)
    }

    /// Reads the value and the width of a number token, which is not taken.
    fn number_with_width(&mut self, token: Token) -> Parsed<(u128, Option<Size>)> {
        let text = self.text_of(&token).to_owned();
        // Hexadecimal digits end at `f`, so `w` always starts a width.
        let (digits, width) = match text.split_once('w') {
            Some((digits, width)) => (digits, Some(width)),
            None => (text.as_str(), None),
        };
        let value = match parse_digits(digits) {
            Ok(value) => value,
            Err(problem) => return Err(self.malformed(token.span, &text, problem)),
        };
        let Some(width) = width else { return Ok((value, None)) };
        let start = token.span.start + digits.len() as u32 + 1;
        let span = Span { start, ..token.span };
        match parse_digits(width) {
            Ok(width) => Ok((value, Some(Size { kind: SizeKind::Number(width), span }))),
            Err(problem) => Err(self.malformed(token.span, &text, problem)),
        }
    }

    fn malformed(&mut self, span: Span, text: &str, problem: NumberProblem) -> super::Unparsed {
        let shown: String = text.chars().take(40).collect();
        let diagnostic = match problem {
            NumberProblem::TooLarge => Diagnostic::error(
                codes::MALFORMED_NUMBER,
                span,
                "this number does not fit in 128 bits",
            ),
            NumberProblem::NoNumber => Diagnostic::error(
                codes::MALFORMED_NUMBER,
                span,
                format!("`{shown}` is neither a number nor a name"),
            )
            .note("numbers are written `10`, `0xff`, `0b101`, and with a width in bits `10w16`")
            .note("a name does not begin with a digit"),
        };
        self.report(diagnostic)
    }

    /// `0b1*0` or `0b10`, the most significant bit first.
    pub(super) fn bits(&mut self) -> PatternKind {
        let token = *self.token();
        let text = self.text_of(&token);
        let bits = text.chars().skip(2).map(|bit| match bit {
            '0' => Some(false),
            '1' => Some(true),
            _ => None,
        });
        let bits = bits.collect();
        self.bump();
        PatternKind::Bits(bits)
    }
}

/// The error of a malformed number.
enum NumberProblem {
    NoNumber,
    TooLarge,
}

fn parse_digits(digits: &str) -> Result<u128, NumberProblem> {
    let (digits, radix) = if let Some(rest) = digits.strip_prefix("0x") {
        (rest, 16)
    } else if let Some(rest) = digits.strip_prefix("0b") {
        (rest, 2)
    } else {
        (digits, 10)
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(NumberProblem::NoNumber);
    }
    u128::from_str_radix(digits, radix).map_err(|_| NumberProblem::TooLarge)
}

/// Whether a token can begin an operand of an operator that two operands need.
fn begins_operand(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Identifier
            | TokenKind::Number
            | TokenKind::OpenParen
            | TokenKind::OpenBrace
            | TokenKind::OpenBracket
            | TokenKind::Not
            | TokenKind::Tilde
            | TokenKind::True
            | TokenKind::False
            | TokenKind::HashWord
            | TokenKind::SizeToInt
            | TokenKind::Flood
    )
}

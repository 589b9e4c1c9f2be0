// SPDX-License-Identifier: Apache-2.0
//! The expressions of `#if` and `#elif`: 64-bit integers, signed or unsigned, and the operators of C
//! (C11 6.10.1). `conditions` selects lines by their values.

use super::{PreprocessingToken, PreprocessingTokenKind, Preprocessor};
use crate::codes::lexical;
use crate::token::TokenKind;
use source::{Code, Diagnostic, Span};

/// How deep parentheses and operators may nest.
const DEPTH_LIMIT: u32 = 100;

/// A value of the preprocessor: 64 bits and whether they are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn signed(value: i64) -> Value {
        Value { bits: value as u64, unsigned: false }
    }

    fn truth(value: bool) -> Value {
        Value::signed(i64::from(value))
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// An error in a condition.
struct Problem {
    code: Code,
    span: Span,
    message: String,
    help: Option<&'static str>,
}

impl Problem {
    fn new(span: Span, message: impl Into<String>) -> Problem {
        Problem { code: lexical::MALFORMED_CONDITION, span, message: message.into(), help: None }
    }
}

/// A token with its text.
struct Item<'text> {
    kind: PreprocessingTokenKind,
    text: &'text str,
    span: Span,
}

impl Preprocessor<'_> {
    /// Whether the condition of `#if` or `#elif` holds. One that cannot be evaluated does not.
    pub(super) fn evaluate_condition(
        &mut self,
        directive: Span,
        tokens: &[PreprocessingToken],
    ) -> bool {
        let Some(expanded) = self.expand_condition(tokens).filter(|_| !self.stopped) else {
            return false;
        };
        let items: Vec<Item<'_>> = expanded
            .iter()
            .map(|token| Item {
                kind: token.kind,
                text: self.names.text(token.symbol),
                span: token.span,
            })
            .collect();
        let end = tokens.last().map_or(directive, |token| token.span).after();
        let mut reader = ExpressionReader { items: &items, at: 0, end, depth: 0 };
        let result = reader.whole();
        match result {
            Ok(value) => value.is_true(),
            Err(problem) => {
                let error = Diagnostic::error(problem.code, problem.span, problem.message);
                self.report(match problem.help {
                    Some(help) => error.help(help),
                    None => error,
                });
                false
            }
        }
    }

    /// Expands macros, except the operands of `defined`, which become 0 or 1. A `defined` that a
    /// macro made counts too, as in other preprocessors. `None` when a `defined` is malformed.
    fn expand_condition(
        &mut self,
        tokens: &[PreprocessingToken],
    ) -> Option<Vec<PreprocessingToken>> {
        let mut expanded = Vec::new();
        let mut malformed = false;
        self.alone(tokens, |preprocessor| {
            while let Some(token) = preprocessor.next_expanded() {
                if token.kind == PreprocessingTokenKind::Word
                    && token.symbol == preprocessor.known.defined
                {
                    match preprocessor.defined_operand(token) {
                        Some(value) => expanded.push(value),
                        None => {
                            malformed = true;
                            break;
                        }
                    }
                } else {
                    expanded.push(token);
                }
            }
        });
        (!malformed).then_some(expanded)
    }

    fn defined_operand(&mut self, operator: PreprocessingToken) -> Option<PreprocessingToken> {
        let mut name = self.next_unexpanded();
        let parenthesis = name.is_some_and(|token| token.is_symbol(TokenKind::OpenParen));
        if parenthesis {
            name = self.next_unexpanded();
        }
        let name = self.macro_name(operator.span, name.as_ref())?;
        if parenthesis {
            let close = self.next_unexpanded();
            if !close.is_some_and(|token| token.is_symbol(TokenKind::CloseParen)) {
                self.report(Diagnostic::error(
                    lexical::MALFORMED_CONDITION,
                    name.span.after(),
                    "`)` is missing after `defined(`",
                ));
                return None;
            }
        }
        let symbol = if self.is_defined(&name) { self.known.one } else { self.known.zero };
        Some(PreprocessingToken { kind: PreprocessingTokenKind::Number, symbol, ..operator })
    }
}

struct ExpressionReader<'items> {
    items: &'items [Item<'items>],
    at: usize,
    end: Span,
    depth: u32,
}

impl ExpressionReader<'_> {
    fn whole(&mut self) -> Result<Value, Problem> {
        if self.items.is_empty() {
            return Err(Problem::new(self.end, "the condition is missing"));
        }
        let value = self.conditional(true)?;
        match self.items.get(self.at) {
            None => Ok(value),
            Some(item) => {
                Err(Problem::new(item.span, format!("`{}` is not expected here", item.text)))
            }
        }
    }

    fn symbol(&self) -> Option<TokenKind> {
        match self.items.get(self.at)?.kind {
            PreprocessingTokenKind::Symbol(kind) => Some(kind),
            _ => None,
        }
    }

    fn span(&self) -> Span {
        self.items.get(self.at).map_or(self.end, |item| item.span)
    }

    fn enter(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Problem::new(
                self.span(),
                format!("the condition nests more than {DEPTH_LIMIT} deep"),
            ));
        }
        Ok(())
    }

    /// Evaluates `a ? b : c`. Where the value does not count, `live` is false and a division by zero is no
    /// error.
    fn conditional(&mut self, live: bool) -> Result<Value, Problem> {
        self.enter()?;
        let condition = self.binary(0, live)?;
        let value = if self.symbol() == Some(TokenKind::Question) {
            self.at += 1;
            let first = self.conditional(live && condition.is_true())?;
            if self.symbol() != Some(TokenKind::Colon) {
                return Err(Problem::new(self.span(), "`:` is missing after `?`"));
            }
            self.at += 1;
            let second = self.conditional(live && !condition.is_true())?;
            let unsigned = first.unsigned || second.unsigned;
            let chosen = if condition.is_true() { first } else { second };
            Value { unsigned, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Evaluates operators that bind at least as tightly as `least`, in a loop over operators of equal
    /// precedence, so that a long sum needs no deep stack.
    fn binary(&mut self, least: u8, live: bool) -> Result<Value, Problem> {
        let mut left = self.unary(live)?;
        while let Some(operator) = self.symbol() {
            let Some(strength) = strength(operator).filter(|strength| *strength >= least) else {
                break;
            };
            let span = self.span();
            self.at += 1;
            let right_counts = match operator {
                TokenKind::AndAnd => left.is_true(),
                TokenKind::OrOr => !left.is_true(),
                _ => true,
            };
            self.enter()?;
            let right = self.binary(strength + 1, live && right_counts)?;
            self.depth -= 1;
            left = apply(operator, left, right, live, span)?;
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Problem> {
        let mut operators = Vec::new();
        while let Some(
            operator @ (TokenKind::Plus | TokenKind::Minus | TokenKind::Not | TokenKind::Tilde),
        ) = self.symbol()
        {
            operators.push(operator);
            self.at += 1;
        }
        let mut value = self.primary(live)?;
        for operator in operators.into_iter().rev() {
            value = match operator {
                TokenKind::Minus => Value { bits: value.bits.wrapping_neg(), ..value },
                TokenKind::Tilde => Value { bits: !value.bits, ..value },
                TokenKind::Not => Value::truth(!value.is_true()),
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, live: bool) -> Result<Value, Problem> {
        let Some(item) = self.items.get(self.at) else {
            return Err(Problem::new(self.end, "the condition ends where a value is expected"));
        };
        match item.kind {
            PreprocessingTokenKind::Number => {
                self.at += 1;
                number(item)
            }
            PreprocessingTokenKind::Character => {
                self.at += 1;
                character(item)
            }
            // A name that is no macro counts as 0 (C11 6.10.1 paragraph 4).
            PreprocessingTokenKind::Word => {
                self.at += 1;
                if self.symbol() == Some(TokenKind::OpenParen) {
                    return Err(Problem::new(
                        item.span,
                        format!("`{}` is no macro with arguments", item.text),
                    ));
                }
                Ok(Value::signed(0))
            }
            PreprocessingTokenKind::Symbol(TokenKind::OpenParen) => {
                self.at += 1;
                let value = self.conditional(live)?;
                if self.symbol() != Some(TokenKind::CloseParen) {
                    return Err(Problem::new(self.span(), "`)` is missing")
                        .map_help("each `(` needs its `)` on the same line"));
                }
                self.at += 1;
                Ok(value)
            }
            _ => Err(Problem::new(
                item.span,
                format!("a value is expected here, not `{}`", item.text),
            )),
        }
    }
}

impl Problem {
    fn map_help(mut self, help: &'static str) -> Problem {
        self.help = Some(help);
        self
    }
}

/// Returns the precedence of a binary operator.
fn strength(operator: TokenKind) -> Option<u8> {
    Some(match operator {
        TokenKind::OrOr => 1,
        TokenKind::AndAnd => 2,
        TokenKind::Pipe => 3,
        TokenKind::Caret => 4,
        TokenKind::Ampersand => 5,
        TokenKind::EqualEqual | TokenKind::NotEqual => 6,
        TokenKind::OpenAngle
        | TokenKind::CloseAngle
        | TokenKind::LessEqual
        | TokenKind::GreaterEqual => 7,
        TokenKind::ShiftLeft | TokenKind::ShiftRight => 8,
        TokenKind::Plus | TokenKind::Minus => 9,
        TokenKind::Star | TokenKind::Slash | TokenKind::Percent => 10,
        _ => return None,
    })
}

fn apply(
    operator: TokenKind,
    left: Value,
    right: Value,
    live: bool,
    span: Span,
) -> Result<Value, Problem> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (signed_a, signed_b) = (a as i64, b as i64);
    let arithmetic = |bits: u64| Value { bits, unsigned };
    let compare = |signed: bool, plain: bool| Value::truth(if unsigned { plain } else { signed });
    Ok(match operator {
        TokenKind::OrOr => Value::truth(left.is_true() || right.is_true()),
        TokenKind::AndAnd => Value::truth(left.is_true() && right.is_true()),
        TokenKind::Pipe => arithmetic(a | b),
        TokenKind::Caret => arithmetic(a ^ b),
        TokenKind::Ampersand => arithmetic(a & b),
        TokenKind::EqualEqual => Value::truth(a == b),
        TokenKind::NotEqual => Value::truth(a != b),
        TokenKind::OpenAngle => compare(signed_a < signed_b, a < b),
        TokenKind::CloseAngle => compare(signed_a > signed_b, a > b),
        TokenKind::LessEqual => compare(signed_a <= signed_b, a <= b),
        TokenKind::GreaterEqual => compare(signed_a >= signed_b, a >= b),
        TokenKind::ShiftLeft | TokenKind::ShiftRight => {
            // A negative amount shifts in the other direction, as in GCC.
            let negative = !right.unsigned && signed_b < 0;
            let amount = if negative { signed_b.unsigned_abs() } else { b };
            let to_left = (operator == TokenKind::ShiftLeft) != negative;
            let bits = match (to_left, u32::try_from(amount).ok().filter(|by| *by < 64)) {
                (true, Some(by)) => a << by,
                (true, None) => 0,
                (false, by) if left.unsigned => by.map_or(0, |by| a >> by),
                (false, by) => (signed_a >> by.unwrap_or(63)) as u64,
            };
            Value { bits, unsigned: left.unsigned }
        }
        TokenKind::Plus => arithmetic(a.wrapping_add(b)),
        TokenKind::Minus => arithmetic(a.wrapping_sub(b)),
        TokenKind::Star => arithmetic(a.wrapping_mul(b)),
        TokenKind::Slash | TokenKind::Percent if b == 0 => {
            if live {
                return Err(Problem {
                    code: lexical::CONDITION_DIVISION,
                    span,
                    message: "the condition divides by zero".to_owned(),
                    help: Some("a name that is no macro counts as 0"),
                });
            }
            arithmetic(0)
        }
        TokenKind::Slash if unsigned => arithmetic(a / b),
        TokenKind::Slash => arithmetic(signed_a.wrapping_div(signed_b) as u64),
        TokenKind::Percent if unsigned => arithmetic(a % b),
        TokenKind::Percent => arithmetic(signed_a.wrapping_rem(signed_b) as u64),
        _ => return Err(Problem::new(span, "this operator cannot stand in a condition")),
    })
}

/// Returns a number as C or P4 writes it, without a width.
fn number(item: &Item<'_>) -> Result<Value, Problem> {
    let lower = item.text.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'd', ..] => (10, &lower[2..]),
        // In C, a leading zero makes a number octal.
        [b'0', b'0'..=b'9', ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    let length = digits.find(|c: char| !(c == '_' || c.is_digit(radix))).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(length);
    let digits = digits.replace('_', "");
    let wrong = |message: String| Err(Problem::new(item.span, message));
    let unsigned_suffix = match suffix {
        "" | "l" | "ll" => false,
        "u" | "ul" | "ull" | "lu" | "llu" => true,
        _ if suffix.starts_with(['w', 's'])
            && suffix[1..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            return Err(Problem::new(
                item.span,
                format!("`{}` has a width, which the preprocessor does not know", item.text),
            )
            .map_help("write the number without the width in a condition"));
        }
        _ => return wrong(format!("`{}` is no number", item.text)),
    };
    match u64::from_str_radix(&digits, radix) {
        Ok(bits) => Ok(Value { bits, unsigned: unsigned_suffix || bits > i64::MAX as u64 }),
        Err(_) if digits.is_empty() => wrong(format!("`{}` is no number", item.text)),
        Err(_) => wrong(format!("`{}` does not fit in 64 bits", item.text)),
    }
}

/// Returns a character constant, which only conditions may have.
fn character(item: &Item<'_>) -> Result<Value, Problem> {
    let inner = item.text.trim_matches('\'');
    let mut characters = inner.chars();
    let value = match (characters.next(), characters.next(), characters.next()) {
        (Some(plain), None, _) if plain != '\\' => Some(plain),
        (Some('\\'), Some(escaped), None) => match escaped {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '0' => Some('\0'),
            '\\' | '"' => Some(escaped),
            _ => None,
        },
        _ => None,
    };
    match value {
        Some(value) => Ok(Value::signed(i64::from(u32::from(value)))),
        None => Err(Problem::new(item.span, format!("`{}` is no single character", item.text))),
    }
}

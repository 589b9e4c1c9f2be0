// SPDX-License-Identifier: Apache-2.0
//! Expressions with C's precedences, and numbers.

use super::{HEIGHT_LIMIT, Parser};
use crate::codes::syntax as codes;
use crate::syntax::ast::{
    BinaryOperator, Expression, ExpressionKind, LogicalOperator, Name, Step, Type, UnaryOperator,
};
use crate::syntax::token::{OTHER_TYPES, TokenKind};
use source::parse::{Parsed, RecursiveDescent};
use source::{Diagnostic, Span};

/// An operator between two operands.
enum Infix {
    Binary(BinaryOperator),
    Logical(LogicalOperator),
}

/// Returns an operator with its precedence.
fn infix(kind: TokenKind) -> Option<(u8, Infix)> {
    use BinaryOperator as B;
    use TokenKind as T;
    let (strength, operator) = match kind {
        T::OrOr => return Some((1, Infix::Logical(LogicalOperator::Or))),
        T::AndAnd => return Some((2, Infix::Logical(LogicalOperator::And))),
        T::Pipe => (3, B::Or),
        T::Caret => (4, B::Xor),
        T::Ampersand => (5, B::And),
        T::EqualEqual => (6, B::Equal),
        T::NotEqual => (6, B::NotEqual),
        T::Less => (7, B::Less),
        T::Greater => (7, B::Greater),
        T::LessEqual => (7, B::LessEqual),
        T::GreaterEqual => (7, B::GreaterEqual),
        T::ShiftLeft => (8, B::ShiftLeft),
        T::ShiftRight => (8, B::ShiftRight),
        T::Plus => (9, B::Add),
        T::Minus => (9, B::Subtract),
        T::Star => (10, B::Multiply),
        T::Slash => (10, B::Divide),
        T::Percent => (10, B::Remainder),
        _ => return None,
    };
    Some((strength, Infix::Binary(operator)))
}

/// Returns the operator of an assignment.
fn assigned(kind: TokenKind) -> Option<Option<BinaryOperator>> {
    use BinaryOperator as B;
    use TokenKind as T;
    Some(match kind {
        T::Assign => None,
        T::PlusAssign => Some(B::Add),
        T::MinusAssign => Some(B::Subtract),
        T::StarAssign => Some(B::Multiply),
        T::SlashAssign => Some(B::Divide),
        T::PercentAssign => Some(B::Remainder),
        T::AmpersandAssign => Some(B::And),
        T::PipeAssign => Some(B::Or),
        T::CaretAssign => Some(B::Xor),
        T::ShiftLeftAssign => Some(B::ShiftLeft),
        T::ShiftRightAssign => Some(B::ShiftRight),
        _ => return None,
    })
}

impl Parser {
    /// Reads an expression, and reports a comma behind it.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let expression = self.assignment()?;
        match self.foreign_behind_expression() {
            Some(unparsed) => Err(unparsed),
            None => Ok(expression),
        }
    }

    /// Reads an expression that ends at a comma.
    pub(super) fn assignment(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let start = parser.span();
            let target = parser.conditional_expression()?;
            let Some(operator) = assigned(parser.kind()) else { return Ok(target) };
            parser.bump();
            let value = parser.assignment()?;
            let kind = ExpressionKind::Assign(operator, Box::new(target), Box::new(value));
            parser.made(start, kind)
        })
    }

    fn made(&mut self, start: Span, kind: ExpressionKind) -> Parsed<Expression> {
        let height = kind.height();
        let span = self.span_from(start);
        if height > HEIGHT_LIMIT {
            let message =
                format!("this expression has more than {HEIGHT_LIMIT} operators in a row");
            let found = Diagnostic::error(codes::NESTED_TOO_DEEPLY, span, message);
            return Err(self.report(found.help("keep a part of it in a local")));
        }
        Ok(Expression { kind, span, height })
    }

    fn conditional_expression(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let condition = self.binary(1)?;
        if !self.eat(TokenKind::Question) {
            return Ok(condition);
        }
        let then = self.nested(Parser::assignment)?;
        self.expect(TokenKind::Colon, "between the two values of `?`")?;
        let otherwise = self.nested(Parser::conditional_expression)?;
        let kind =
            ExpressionKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        self.made(start, kind)
    }

    fn binary(&mut self, least: u8) -> Parsed<Expression> {
        let start = self.span();
        let mut left = self.unary()?;
        while let Some((strength, operator)) = infix(self.kind()).filter(|(one, _)| *one >= least) {
            self.bump();
            let right = Box::new(self.nested(|parser| parser.binary(strength + 1))?);
            let kind = match operator {
                Infix::Binary(operator) => ExpressionKind::Binary(operator, Box::new(left), right),
                Infix::Logical(operator) => {
                    ExpressionKind::Logical(operator, Box::new(left), right)
                }
            };
            left = self.made(start, kind)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let operator = match self.kind() {
            TokenKind::Plus => UnaryOperator::Plus,
            TokenKind::Minus => UnaryOperator::Negate,
            TokenKind::Tilde => UnaryOperator::Complement,
            TokenKind::Not => UnaryOperator::Not,
            TokenKind::PlusPlus | TokenKind::MinusMinus => {
                let is_increment = self.at(TokenKind::PlusPlus);
                self.bump();
                let operand = Box::new(self.nested(Parser::unary)?);
                let step = Step { is_increment, is_prefix: true };
                return self.made(start, ExpressionKind::Step(step, operand));
            }
            _ => return self.postfix(),
        };
        self.bump();
        // -2147483648 is the smallest `int`; 2147483648 alone is none.
        if operator == UnaryOperator::Negate
            && self.at(TokenKind::Number)
            && &*self.token().text == "2147483648"
        {
            self.bump();
            return self.made(start, ExpressionKind::Literal(1 << 31, Type::Int));
        }
        let operand = Box::new(self.nested(Parser::unary)?);
        self.made(start, ExpressionKind::Unary(operator, operand))
    }

    fn postfix(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let mut operand = self.primary()?;
        loop {
            let kind = match self.kind() {
                TokenKind::Dot => {
                    self.bump();
                    ExpressionKind::Member(Box::new(operand), self.name("a field")?)
                }
                TokenKind::Arrow => {
                    return Err(self.pointer_at(self.span(), "write `.`: the packet is a value"));
                }
                TokenKind::OpenBracket => {
                    let opener = self.span();
                    self.bump();
                    let index = self.expression()?;
                    self.expect_close(TokenKind::CloseBracket, opener)?;
                    ExpressionKind::Index(Box::new(operand), Box::new(index))
                }
                TokenKind::PlusPlus | TokenKind::MinusMinus => {
                    let is_increment = self.at(TokenKind::PlusPlus);
                    self.bump();
                    ExpressionKind::Step(Step { is_increment, is_prefix: false }, Box::new(operand))
                }
                _ => return Ok(operand),
            };
            operand = self.made(start, kind)?;
        }
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let token = self.token().clone();
        let start = token.span;
        match token.kind {
            TokenKind::Identifier if !self.at_word(&["bool"]) => {
                self.bump();
                let name = Name { text: token.text, span: start };
                if !self.at(TokenKind::OpenParen) {
                    return self.made(start, ExpressionKind::Name(name));
                }
                let opener = self.span();
                self.bump();
                let mut arguments = Vec::new();
                while !self.at(TokenKind::CloseParen) {
                    arguments.push(self.assignment()?);
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.expect_close(TokenKind::CloseParen, opener)?;
                self.made(start, ExpressionKind::Call(name, arguments))
            }
            TokenKind::Number => {
                self.bump();
                let (value, ty) = self.number(&token.text, start);
                self.made(start, ExpressionKind::Literal(value, ty))
            }
            TokenKind::OpenParen => {
                self.bump();
                let is_type = matches!(
                    self.kind(),
                    TokenKind::Int
                        | TokenKind::Unsigned
                        | TokenKind::Signed
                        | TokenKind::Void
                        | TokenKind::Struct
                ) || self.at_word(OTHER_TYPES);
                if is_type {
                    let span = start.to(self.span());
                    let message = "Domino has no casts";
                    let found = Diagnostic::error(codes::UNSUPPORTED_EXPRESSION, span, message);
                    let help = "assign the value to a local of the type: `unsigned u = value;`";
                    return Err(self.report(found.help(help)));
                }
                let inner = self.nested(Parser::expression)?;
                self.expect_close(TokenKind::CloseParen, start)?;
                Ok(Expression { span: self.span_from(start), ..inner })
            }
            _ => match self.foreign_operand() {
                Some(unparsed) => Err(unparsed),
                None => Err(self.unexpected("a value")),
            },
        }
    }

    /// Reads a number. A wrong one is reported and counts as 0.
    fn number(&mut self, text: &str, span: Span) -> (u32, Type) {
        if self.at(TokenKind::Dot) && self.span().start == span.end {
            let message = "Domino has no numbers with fractions";
            let found = Diagnostic::error(codes::MALFORMED_NUMBER, span.to(self.span()), message);
            self.report_read(
                found.help("write `int`, with a fixed number of fraction bits where you need them"),
            );
            self.bump();
            self.eat(TokenKind::Number);
            return (0, Type::Int);
        }
        let lower = text.to_ascii_lowercase();
        let (digits, has_suffix) = match lower.strip_suffix('u') {
            Some(digits) => (digits, true),
            None => (lower.as_str(), false),
        };
        let (radix, digits) = match digits.as_bytes() {
            [b'0', b'x', ..] => (16, &digits[2..]),
            [b'0', b'b', ..] => (2, &digits[2..]),
            [b'0', _, ..] => (8, &digits[1..]),
            _ => (10, digits),
        };
        let wrong =
            |message: String, code, help: &str| Diagnostic::error(code, span, message).help(help);
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
            let long = lower.trim_end_matches(['u', 'l']) != digits && lower.ends_with('l')
                || lower.trim_end_matches(['u', 'l']).len() < lower.len() && lower.contains('l');
            let help = match long {
                true => "leave the `L` out: every value has 32 bits",
                false => {
                    "numbers are decimal (`10`), hexadecimal (`0xa`) or octal (`012`), with `u` behind unsigned ones"
                }
            };
            self.report_read(wrong(
                format!("`{text}` is no number"),
                codes::MALFORMED_NUMBER,
                help,
            ));
            return (0, Type::Int);
        }
        let Ok(value) = u32::from_str_radix(digits, radix) else {
            let help = "every value has 32 bits; the largest is 4294967295u";
            let message = format!("`{text}` does not fit in 32 bits");
            self.report_read(wrong(message, codes::NUMBER_TOO_LARGE, help));
            return (0, Type::Int);
        };
        if value <= i32::MAX as u32 {
            return (value, if has_suffix { Type::Unsigned } else { Type::Int });
        }
        if radix == 10 && !has_suffix {
            let help =
                format!("write `{value}u` for an `unsigned`; the largest `int` is 2147483647");
            let message = format!("`{text}` does not fit in an `int`");
            self.report_read(wrong(message, codes::NUMBER_TOO_LARGE, &help));
        }
        (value, Type::Unsigned)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The parser's expressions: precedence climbing, alternatives of operands and of operators.

use super::codes;
use super::lexer::Kind;
use super::parser::Parser;
use super::tree::{Expression, Form};
use crate::words::{Binary, Unary};
use source::Diagnostic;
use source::parse::{Parsed, RecursiveDescent};

/// Between `[` and `]`, `|` separates: alternatives are parsed from the operator that binds tighter.
const ALTERNATIVE_PRECEDENCE: u32 = 4;

/// What `rel` stands for.
const REL: [Binary; 4] = [Binary::NotEqual, Binary::Less, Binary::Greater, Binary::Equal];
/// What `ar` stands for.
const AR: [Binary; 2] = [Binary::Add, Binary::Subtract];

impl Parser {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let start = parser.span();
            let condition = parser.binary(1)?;
            if !parser.eat(Kind::Question) {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(Kind::Colon, "between the values of `?`")?;
            let otherwise = parser.expression()?;
            let form = Form::Select(Box::new(condition), Box::new(then), Box::new(otherwise));
            Ok(Expression { form, span: parser.span_from(start) })
        })
    }

    /// Reads operators that bind at least so tightly.
    fn binary(&mut self, least: u32) -> Parsed<Expression> {
        let start = self.span();
        let mut left = self.unary()?;
        for length in 0.. {
            let before = self.cursor().position;
            let Some(operators) = self.operators()? else { return Ok(left) };
            let precedence = operators.iter().map(|each| each.precedence()).min().unwrap_or(0);
            // Alternatives bind as loosely as the loosest of them.
            if precedence < least {
                self.cursor_mut().position = before;
                return Ok(left);
            }
            if length == Self::NESTING.levels {
                let message = format!("more than {length} operators of one precedence in a row");
                let diagnostic = Diagnostic::error(codes::NESTED_TOO_DEEPLY, self.span(), message);
                let unparsed = self.report(diagnostic.help(Self::NESTING.help));
                self.abandon();
                return Err(unparsed);
            }
            let tightest = operators.iter().map(|each| each.precedence()).max().unwrap_or(0);
            let right = self.nested(|parser| parser.binary(tightest + 1))?;
            let form = Form::Binary(operators, Box::new(left), Box::new(right));
            left = Expression { form, span: self.span_from(start) };
        }
        Ok(left)
    }

    /// Reads an operator or alternatives of operators, if there are any.
    fn operators(&mut self) -> Parsed<Option<Vec<Binary>>> {
        let start = self.span();
        let operators = match self.kind() {
            Kind::Rel => REL.to_vec(),
            Kind::Ar => AR.to_vec(),
            Kind::OpenBracket => {
                self.bump();
                let mut operators = Vec::new();
                loop {
                    let Some(operator) = self.operator() else {
                        return Err(self.unexpected("an operator"));
                    };
                    operators.push(operator);
                    if !self.eat(Kind::Or) {
                        break;
                    }
                }
                self.expect_close(Kind::CloseBracket, start)?;
                let level = level(operators[0]);
                if operators.iter().any(|operator| self::level(*operator) != level) {
                    let span = self.span_from(start);
                    let message = "these operators cannot be alternatives: they bind differently";
                    self.report_read(
                        Diagnostic::error(codes::MIXED_OPERATORS, span, message)
                            .help("write the alternatives as expressions: `[a + b | a * b]`"),
                    );
                }
                return Ok(Some(operators));
            }
            _ => return Ok(self.operator().map(|operator| vec![operator])),
        };
        self.bump();
        Ok(Some(operators))
    }

    /// Reads an operator, if there is one. A `|` that is an operator on its own is not read within alternatives, because
    /// [`Parser::binary`] takes it back.
    fn operator(&mut self) -> Option<Binary> {
        use Kind as K;
        let unsigned = self.at(K::Unsigned);
        let kind = if unsigned { self.ahead(1) } else { self.kind() };
        let operator = match (unsigned, kind) {
            (true, K::Less) => Binary::LessUnsigned,
            (true, K::LessEqual) => Binary::LessEqualUnsigned,
            (true, K::Greater) => Binary::GreaterUnsigned,
            (true, K::GreaterEqual) => Binary::GreaterEqualUnsigned,
            (true, K::ShiftRight) => Binary::ShiftRightUnsigned,
            (true, K::Divide) => Binary::DivideUnsigned,
            (true, K::Remainder) => Binary::RemainderUnsigned,
            (true, _) => return None,
            (_, K::LogicalOr) => Binary::LogicalOr,
            (_, K::LogicalAnd) => Binary::LogicalAnd,
            (_, K::Or) => Binary::Or,
            (_, K::Xor) => Binary::Xor,
            (_, K::And) => Binary::And,
            (_, K::Equal) => Binary::Equal,
            (_, K::NotEqual) => Binary::NotEqual,
            (_, K::Less) => Binary::Less,
            (_, K::LessEqual) => Binary::LessEqual,
            (_, K::Greater) => Binary::Greater,
            (_, K::GreaterEqual) => Binary::GreaterEqual,
            (_, K::ShiftLeft) => Binary::ShiftLeft,
            (_, K::ShiftRight) => Binary::ShiftRight,
            (_, K::Add) => Binary::Add,
            (_, K::Subtract) => Binary::Subtract,
            (_, K::Multiply) => Binary::Multiply,
            (_, K::Divide) => Binary::Divide,
            (_, K::Remainder) => Binary::Remainder,
            _ => return None,
        };
        self.bump();
        if unsigned {
            self.bump();
        }
        Some(operator)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let operator = match self.kind() {
            Kind::Subtract => Unary::Negate,
            Kind::Complement => Unary::Complement,
            Kind::Not => Unary::Not,
            _ => return self.primary(),
        };
        let start = self.span();
        self.bump();
        let operand = self.nested(Self::unary)?;
        let span = self.span_from(start);
        Ok(Expression { form: Form::Unary(operator, Box::new(operand)), span })
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let form = match self.kind() {
            Kind::Number => Form::Number(self.number()?),
            Kind::Hole => self.constant()?,
            Kind::OpenParen => {
                self.bump();
                let inner = self.expression()?;
                self.expect_close(Kind::CloseParen, start)?;
                inner.form
            }
            Kind::OpenBracket => {
                self.bump();
                let mut alternatives = Vec::new();
                loop {
                    alternatives.push(self.nested(|parser| parser.binary(ALTERNATIVE_PRECEDENCE))?);
                    if !self.eat(Kind::Or) {
                        break;
                    }
                }
                self.expect_close(Kind::CloseBracket, start)?;
                Form::Choice(alternatives)
            }
            Kind::Opt => {
                self.bump();
                let opener = self.span();
                self.expect(Kind::OpenParen, "after `opt`")?;
                let present = self.expression()?;
                self.expect_close(Kind::CloseParen, opener)?;
                let absent = Expression { form: Form::Number(0), span: self.span_from(start) };
                Form::Choice(vec![present, absent])
            }
            Kind::Name => {
                let name = self.name("a value")?;
                let opener = self.span();
                let arguments = match self.eat(Kind::OpenParen) {
                    false => None,
                    true => {
                        let mut arguments = vec![self.expression()?];
                        while self.eat(Kind::Comma) {
                            arguments.push(self.expression()?);
                        }
                        self.expect_close(Kind::CloseParen, opener)?;
                        Some(arguments)
                    }
                };
                Form::Use(name, arguments)
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expression { form, span: self.span_from(start) })
    }

    /// Reads `C` or `C(low..high)`.
    fn constant(&mut self) -> Parsed<Form> {
        let start = self.span();
        self.bump();
        let opener = self.span();
        if !self.eat(Kind::OpenParen) {
            return Ok(Form::Constant(None));
        }
        let low = self.signed_number()?;
        self.expect(Kind::Range, "between the ends of the range")?;
        let high = self.signed_number()?;
        self.expect_close(Kind::CloseParen, opener)?;
        if low > high {
            let message = format!("no number is from {low} to {high}");
            let span = self.span_from(start);
            self.report_read(
                Diagnostic::error(codes::EMPTY_RANGE, span, message)
                    .help(format!("write `C({high}..{low})`")),
            );
        }
        Ok(Form::Constant(Some((low, high))))
    }

    fn signed_number(&mut self) -> Parsed<i64> {
        let negative = self.eat(Kind::Subtract);
        let number = i64::from(self.number()?);
        Ok(if negative { -number } else { number })
    }

    fn number(&mut self) -> Parsed<u32> {
        if !self.at(Kind::Number) {
            return Err(self.unexpected("a number"));
        }
        let text = self.text_of(self.token());
        let read = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let number = read.unwrap_or_else(|_| {
            let message = format!("{} is no number of 32 bits", self.found());
            let diagnostic = Diagnostic::error(codes::NUMBER_TOO_LARGE, self.span(), message)
                .help("write a decimal or hexadecimal number of at most 4294967295");
            self.report_read(diagnostic);
            0
        });
        self.bump();
        Ok(number)
    }
}

/// Returns the loosest precedence of the operators that may be alternatives of this one: comparisons are one level there,
/// and so are `|`, `^` and `&`.
fn level(operator: Binary) -> u32 {
    match operator.precedence() {
        3..=5 => 3,
        6 | 7 => 6,
        other => other,
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The precedence of operators. The module `syntax` has the table for readers.

use super::super::ast::BinaryOperator;
use super::super::token::TokenKind;

/// How tightly an operator binds; more is tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `&& ||`, which bind equally.
    Logical,
    /// `== != < > <= >=`, which do not chain.
    Comparison,
    /// `+ - |+| |-|`
    Additive,
    /// `^`
    Concatenation,
    /// `& | ^^ << >>`
    Bitwise,
    /// `&&&`
    Mask,
    /// Prefix operators and everything tighter.
    Prefix,
}

impl Level {
    /// Returns the level of the right operand of an operator that chains to the left.
    pub(super) fn tighter(self) -> Level {
        match self {
            Level::Logical => Level::Comparison,
            Level::Comparison => Level::Additive,
            Level::Additive => Level::Concatenation,
            Level::Concatenation => Level::Bitwise,
            Level::Bitwise => Level::Mask,
            Level::Mask | Level::Prefix => Level::Prefix,
        }
    }
}

/// Returns the operator of two operands that a token is, `&&&` apart.
pub(super) fn binary_operator(kind: TokenKind) -> Option<(BinaryOperator, Level)> {
    use BinaryOperator as B;
    Some(match kind {
        TokenKind::AndAnd => (B::And, Level::Logical),
        TokenKind::OrOr => (B::Or, Level::Logical),
        TokenKind::EqualEqual => (B::Equal, Level::Comparison),
        TokenKind::NotEqual => (B::NotEqual, Level::Comparison),
        TokenKind::Less => (B::Less, Level::Comparison),
        TokenKind::Greater => (B::Greater, Level::Comparison),
        TokenKind::LessEqual => (B::LessOrEqual, Level::Comparison),
        TokenKind::GreaterEqual => (B::GreaterOrEqual, Level::Comparison),
        TokenKind::Plus => (B::Add, Level::Additive),
        TokenKind::Minus => (B::Subtract, Level::Additive),
        TokenKind::SaturatingPlus => (B::SaturatingAdd, Level::Additive),
        TokenKind::SaturatingMinus => (B::SaturatingSubtract, Level::Additive),
        TokenKind::Caret => (B::Concatenate, Level::Concatenation),
        TokenKind::Ampersand => (B::BitAnd, Level::Bitwise),
        TokenKind::Pipe => (B::BitOr, Level::Bitwise),
        TokenKind::CaretCaret => (B::BitXor, Level::Bitwise),
        TokenKind::ShiftLeft | TokenKind::TripleLess => (B::ShiftLeft, Level::Bitwise),
        TokenKind::ShiftRight | TokenKind::TripleGreater => (B::ShiftRight, Level::Bitwise),
        _ => return None,
    })
}

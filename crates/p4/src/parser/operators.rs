// SPDX-License-Identifier: Apache-2.0
//! The operators with two operands and how tightly they bind (P4_16 v1.2.5 §8, §G). The
//! parser and the printer share this table.

use crate::ast::BinaryOperator;
use crate::token::TokenKind;

/// How tightly an operator binds; larger is tighter.
pub(crate) type Precedence = u8;

/// `? :`
pub(crate) const CONDITIONAL: Precedence = 1;
/// The loosest operator with two operands.
pub(crate) const LOOSEST_BINARY: Precedence = 2;
/// `!`, `~`, `-`, `+` and casts.
pub(crate) const PREFIX: Precedence = 12;
/// Calls, members, indices.
pub(crate) const POSTFIX: Precedence = 13;

/// How tightly an operator binds.
pub(crate) fn precedence(operator: BinaryOperator) -> Precedence {
    use BinaryOperator as B;
    match operator {
        B::Or => 2,
        B::And => 3,
        B::Equal | B::NotEqual => 4,
        B::Less | B::Greater | B::LessEqual | B::GreaterEqual => 5,
        B::BitOr => 6,
        B::BitXor => 7,
        B::BitAnd => 8,
        B::ShiftLeft | B::ShiftRight => 9,
        B::Concat | B::Add | B::Subtract | B::AddSaturating | B::SubtractSaturating => 10,
        B::Multiply | B::Divide | B::Modulo => 11,
    }
}

/// Returns the operator a token is between two operands.
pub(crate) fn binary_operator(kind: TokenKind) -> Option<BinaryOperator> {
    use BinaryOperator as B;
    use TokenKind as T;
    Some(match kind {
        T::Star => B::Multiply,
        T::Slash => B::Divide,
        T::Percent => B::Modulo,
        T::Plus => B::Add,
        T::Minus => B::Subtract,
        T::PlusSaturating => B::AddSaturating,
        T::MinusSaturating => B::SubtractSaturating,
        T::ShiftLeft => B::ShiftLeft,
        T::ShiftRight => B::ShiftRight,
        T::LessEqual => B::LessEqual,
        T::GreaterEqual => B::GreaterEqual,
        T::OpenAngle => B::Less,
        T::CloseAngle => B::Greater,
        T::NotEqual => B::NotEqual,
        T::EqualEqual => B::Equal,
        T::Ampersand => B::BitAnd,
        T::Caret => B::BitXor,
        T::Pipe => B::BitOr,
        T::PlusPlus => B::Concat,
        T::AndAnd => B::And,
        T::OrOr => B::Or,
        _ => return None,
    })
}

/// Returns the token an operator is written as.
pub(crate) fn binary_token(operator: BinaryOperator) -> TokenKind {
    use BinaryOperator as B;
    use TokenKind as T;
    match operator {
        B::Multiply => T::Star,
        B::Divide => T::Slash,
        B::Modulo => T::Percent,
        B::Add => T::Plus,
        B::Subtract => T::Minus,
        B::AddSaturating => T::PlusSaturating,
        B::SubtractSaturating => T::MinusSaturating,
        B::ShiftLeft => T::ShiftLeft,
        B::ShiftRight => T::ShiftRight,
        B::LessEqual => T::LessEqual,
        B::GreaterEqual => T::GreaterEqual,
        B::Less => T::OpenAngle,
        B::Greater => T::CloseAngle,
        B::NotEqual => T::NotEqual,
        B::Equal => T::EqualEqual,
        B::BitAnd => T::Ampersand,
        B::BitXor => T::Caret,
        B::BitOr => T::Pipe,
        B::Concat => T::PlusPlus,
        B::And => T::AndAnd,
        B::Or => T::OrOr,
    }
}

/// Returns the operator of a compound assignment such as `+=`.
pub(crate) fn assignment_operator(kind: TokenKind) -> Option<BinaryOperator> {
    ASSIGNMENTS.iter().find(|(token, _)| *token == kind).map(|(_, operator)| *operator)
}

/// Returns the compound assignment of an operator, if it has one.
pub(crate) fn assignment_token(operator: BinaryOperator) -> Option<TokenKind> {
    ASSIGNMENTS.iter().find(|(_, known)| *known == operator).map(|(token, _)| *token)
}

const ASSIGNMENTS: &[(TokenKind, BinaryOperator)] = &[
    (TokenKind::PlusAssign, BinaryOperator::Add),
    (TokenKind::MinusAssign, BinaryOperator::Subtract),
    (TokenKind::StarAssign, BinaryOperator::Multiply),
    (TokenKind::SlashAssign, BinaryOperator::Divide),
    (TokenKind::PercentAssign, BinaryOperator::Modulo),
    (TokenKind::AmpersandAssign, BinaryOperator::BitAnd),
    (TokenKind::PipeAssign, BinaryOperator::BitOr),
    (TokenKind::CaretAssign, BinaryOperator::BitXor),
    (TokenKind::ShiftLeftAssign, BinaryOperator::ShiftLeft),
    (TokenKind::ShiftRightAssign, BinaryOperator::ShiftRight),
    (TokenKind::PlusSaturatingAssign, BinaryOperator::AddSaturating),
    (TokenKind::MinusSaturatingAssign, BinaryOperator::SubtractSaturating),
];

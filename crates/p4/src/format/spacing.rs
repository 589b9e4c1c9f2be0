// SPDX-License-Identifier: Apache-2.0
//! Whether a blank stands between two tokens on one line. Line ends are decided in `structure` and `wrap`.

use super::pieces::{Piece, PieceKind, Role};
use crate::token::TokenKind as T;

/// Operators that always have two operands.
pub(super) fn is_always_binary(kind: T) -> bool {
    matches!(
        kind,
        T::Mask
            | T::Range
            | T::ShiftLeft
            | T::AndAnd
            | T::OrOr
            | T::EqualEqual
            | T::NotEqual
            | T::GreaterEqual
            | T::LessEqual
            | T::PlusPlus
            | T::PlusSaturating
            | T::MinusSaturating
            | T::Star
            | T::Slash
            | T::Percent
            | T::Pipe
            | T::Ampersand
            | T::Caret
            | T::PlusAssign
            | T::MinusAssign
            | T::StarAssign
            | T::SlashAssign
            | T::PercentAssign
            | T::AmpersandAssign
            | T::PipeAssign
            | T::CaretAssign
            | T::ShiftLeftAssign
            | T::ShiftRightAssign
            | T::PlusSaturatingAssign
            | T::MinusSaturatingAssign
    )
}

/// Whether a blank stands between two pieces that follow each other on a line.
pub(super) fn blank_between(before: &Piece<'_>, after: &Piece<'_>) -> bool {
    if before.is_comment() || after.is_comment() {
        return true;
    }
    if after.kind == PieceKind::AnnotationBody {
        return false;
    }
    let (Some(first), Some(second)) = (before.token(), after.token()) else {
        return !matches!(after.token(), Some(T::Semicolon | T::Comma | T::CloseParen));
    };
    match before.role {
        // `+ +x` must not become `++`, and `- -x` not what looks like the `--` of C.
        Role::Unary => {
            return (first == T::Plus && matches!(second, T::Plus | T::PlusPlus))
                || (first == T::Minus && second == T::Minus);
        }
        Role::LeadingDot | Role::SliceColon | Role::AngleOpen => return false,
        _ => {}
    }
    match after.role {
        Role::SliceColon | Role::AngleOpen | Role::AngleClose => return false,
        Role::ConditionalColon | Role::Binary => return true,
        _ => {}
    }
    if matches!(second, T::Comma | T::Semicolon | T::CloseParen | T::CloseBracket | T::Colon) {
        return false;
    }
    if matches!(first, T::OpenParen | T::OpenBracket | T::At | T::PlusColon) {
        return false;
    }
    if second == T::PlusColon || (second == T::Dot && after.role != Role::LeadingDot) {
        return false;
    }
    if first == T::Dot {
        return false;
    }
    match second {
        T::CloseBrace => first != T::OpenBrace,
        T::OpenParen => blank_before_paren(before, first),
        T::OpenBracket => matches!(before.role, Role::Binary) || first == T::Return,
        _ => true,
    }
}

fn blank_before_paren(before: &Piece<'_>, first: T) -> bool {
    match before.role {
        Role::AngleClose => false,
        Role::CastClose | Role::Binary | Role::ConditionalColon => true,
        _ => match first {
            T::CloseParen | T::CloseBracket | T::Identifier => false,
            T::Apply | T::Key | T::Actions | T::State | T::Entries | T::Type | T::Priority => false,
            T::List | T::ValueSet | T::This | T::Select => false,
            T::OpenBrace => before.role == Role::ListOpen,
            _ => true,
        },
    }
}

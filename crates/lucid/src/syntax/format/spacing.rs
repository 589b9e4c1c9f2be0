// SPDX-License-Identifier: Apache-2.0
//! Decides whether to write a blank between two tokens of a line. Line ends are decided in `layout`.

use super::super::token::{Role, TokenKind as T};
use super::pieces::Piece;

/// Whether the formatter writes a blank between two consecutive tokens of a line.
pub(super) fn blank_between(before: &Piece<'_>, after: &Piece<'_>) -> bool {
    // `{}` without anything in it.
    if matches!(before.role, Role::BlockOpen | Role::TypeOpen) {
        return !matches!(after.role, Role::BlockClose | Role::TypeClose);
    }
    match before.role {
        // `- -x` must not look like the `--` of C.
        Role::Prefix => return before.kind == T::Minus && after.kind == T::Minus,
        Role::AngleOpen | Role::CastClose | Role::SliceColon => return false,
        Role::ValueOpen | Role::RecordOpen => return false,
        Role::Binary | Role::LabelColon => return true,
        _ => {}
    }
    match after.role {
        Role::Binary | Role::ConstraintOpen | Role::BlockOpen | Role::BlockClose => return true,
        // `int<8> >>` was written with a blank, or it would be one token.
        Role::AngleClose => return before.role == Role::AngleClose,
        Role::AngleOpen | Role::SliceColon | Role::LabelColon => return false,
        _ => {}
    }
    if matches!(before.kind, T::OpenParen | T::OpenBracket | T::Dot | T::Hash) {
        return false;
    }
    match after.kind {
        T::Comma | T::Semicolon | T::CloseParen | T::CloseBracket | T::Dot | T::Hash => false,
        T::CloseBrace => after.role == Role::TypeClose,
        T::OpenParen => !attaches(before),
        T::OpenBracket if after.role != Role::VectorOpen => false,
        T::Annotation => before.kind != T::Identifier,
        _ => true,
    }
}

/// Whether a `(` stands right behind this token: it is what is called or declared.
fn attaches(before: &Piece<'_>) -> bool {
    before.role == Role::AngleClose
        || matches!(
            before.kind,
            T::Identifier
                | T::CloseParen
                | T::CloseBracket
                | T::Annotation
                | T::HashWord
                | T::SizeToInt
                | T::Printf
                | T::GenerateSwitch
                | T::GeneratePort
                | T::GeneratePorts
        )
}

// SPDX-License-Identifier: Apache-2.0
//! The lines of `a ? b : c` that does not fit on one. Other operators are broken in `wrap`.

use super::{Node, NodeKind};
use crate::format::pieces::{Piece, Role};
use crate::token::TokenKind as T;

/// How the `? :` of one sequence are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conditionals {
    Unseen,
    /// On one line.
    Flat,
    /// One, with a line for each of its values.
    Single,
    /// Several, with a line for each `? :`.
    Chain,
}

impl Conditionals {
    pub(super) fn of(pieces: &[Piece<'_>], nodes: &[Node], fits: bool) -> Conditionals {
        let count =
            nodes.iter().filter(|node| conditional_part(pieces, node) == Some(T::Question)).count();
        match count {
            _ if fits => Conditionals::Flat,
            0 | 1 => Conditionals::Single,
            _ => Conditionals::Chain,
        }
    }

    pub(super) fn break_before(self, part: T) -> bool {
        match self {
            Conditionals::Unseen | Conditionals::Flat => false,
            Conditionals::Single => true,
            Conditionals::Chain => part == T::Colon,
        }
    }
}

/// `?` or `:` of a conditional.
pub(super) fn conditional_part(pieces: &[Piece<'_>], node: &Node) -> Option<T> {
    let NodeKind::Piece(at) = node.kind else { return None };
    let piece = &pieces[at];
    match piece.token() {
        Some(T::Question) if piece.role == Role::Binary => Some(T::Question),
        Some(T::Colon) if piece.role == Role::ConditionalColon => Some(T::Colon),
        _ => None,
    }
}

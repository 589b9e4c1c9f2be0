// SPDX-License-Identifier: Apache-2.0
//! Recognizes syntax of C, P4 and OCaml, and reports it with the construct that Lucid has instead. Each
//! function here reports at the current token; the caller goes on or recovers.

mod declarations;
mod expressions;
mod statements;

use super::super::token::TokenKind;

/// What to do instead of an operator that Lucid does not have.
fn instead_of(kind: TokenKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        TokenKind::Star => (
            "multiplication",
            "switches cannot multiply: shift by a power of two, `x << 3` for eight times, or add up \
             shifted values",
        ),
        TokenKind::Slash => {
            ("division", "switches cannot divide: shift by a power of two, `x >> 3` for an eighth")
        }
        TokenKind::Percent => (
            "remainder",
            "switches cannot divide: mask by a power of two less one, `x & 7` for the remainder of \
             eight, or compare and start again from 0 where it counts",
        ),
        TokenKind::Question => (
            "conditional expression",
            "use an `if` with an assignment in each branch, or a `match`",
        ),
        _ => return None,
    })
}

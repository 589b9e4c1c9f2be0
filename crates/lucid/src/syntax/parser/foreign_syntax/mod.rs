// SPDX-License-Identifier: Apache-2.0
//! Syntax of C, P4 and OCaml in Lucid programs: each function reports it at the current token, with
//! what to write in Lucid. The caller continues or recovers.

mod declarations;
mod expressions;
mod statements;

use super::super::token::TokenKind;

/// Returns what an operator that Lucid does not have is called, and what to write instead.
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

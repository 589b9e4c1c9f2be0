// SPDX-License-Identifier: Apache-2.0
//! Where an annotation at the beginning of a line ends. What annotations hold is kept as written.

use super::pieces::{Piece, PieceKind};
use crate::token::TokenKind as T;

/// Returns how many pieces the annotation has with which these begin; `None` if they begin with
/// none, or if nothing follows it.
pub(super) fn annotations_end(pieces: &[Piece<'_>]) -> Option<usize> {
    if pieces.first()?.token() != Some(T::At) || !matches!(pieces.get(1)?.kind, PieceKind::Token(_))
    {
        return None;
    }
    let mut end = 2;
    match pieces.get(end)? {
        body if body.kind == PieceKind::AnnotationBody => end += 1,
        open if matches!(open.token(), Some(T::OpenBracket | T::OpenParen)) => {
            let mut depth = 0usize;
            loop {
                match pieces.get(end)?.token() {
                    Some(T::OpenBracket | T::OpenParen) => depth += 1,
                    Some(T::CloseBracket | T::CloseParen) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                end += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        _ => {}
    }
    // A comment behind it stays there.
    pieces.get(end).filter(|next| !next.is_comment()).map(|_| end)
}

// SPDX-License-Identifier: Apache-2.0
//! Lines of comments and directives, and which of them stay on the line of a token. After each branch
//! of a condition the open brackets are those before the condition.

use super::{Builder, FrameKind};
use crate::format::pieces::{PieceKind, Role};
use crate::token::TokenKind as T;

/// How many conditional directives may nest before their branches share one state.
const CONDITION_LIMIT: usize = 64;

impl Builder<'_> {
    pub(super) fn place_comment(&mut self, at: usize) {
        let piece = &self.pieces[at];
        let is_line_comment = piece.kind == PieceKind::LineComment;
        let beside = piece.lines_before == 0 || piece.role == Role::ContinuedComment;
        if self.top() == Some(FrameKind::Names) && !beside {
            self.end_line(at);
        }
        if self.line.is_some() {
            // After a closed brace nothing else may follow a comment on its line.
            let ends = self.at_block_level()
                && self.previous.is_some_and(|before| self.token(before) == Some(T::CloseBrace))
                && self.pieces[at].lines_before == 0;
            if ends {
                self.end_line(at + 1);
            }
            return;
        }
        if beside && at > 0 {
            let follows_directive =
                self.pieces.get(at - 1).is_none_or(|before| before.kind == PieceKind::Directive);
            let next_is_beside = self
                .pieces
                .get(at + 1)
                .is_some_and(|next| next.lines_before == 0 && !is_line_comment);
            if !follows_directive
                && !next_is_beside
                && let Some(last) = self.lines.last_mut()
            {
                last.pieces.end = at + 1;
                return;
            }
        }
        self.begin_line(at);
        let beside = self.pieces.get(at + 1).is_some_and(|next| {
            next.lines_before == 0
                && next.kind != PieceKind::Directive
                && next.token() != Some(T::CloseBrace)
        });
        if is_line_comment || !beside {
            self.end_line(at + 1);
        }
    }

    pub(super) fn place_directive(&mut self, at: usize) {
        if self.line.is_none() || self.only_annotations() {
            self.end_line(at);
            let blank = self.pieces[at].lines_before >= 2;
            self.begin_line(at);
            if let Some(line) = &mut self.line {
                line.blank_before = blank && !self.lines.is_empty();
            }
            self.end_line(at + 1);
        }
        let text = self.pieces[at].text.trim_start_matches('#').trim_start();
        if text.starts_with("if") {
            if self.conditions.len() < CONDITION_LIMIT && self.frames.len() < 1000 {
                self.conditions.push(self.frames.clone());
            }
        } else if text.starts_with("el") {
            if let Some(saved) = self.conditions.last() {
                self.frames.clone_from(saved);
            }
        } else if text.starts_with("endif") {
            self.conditions.pop();
        }
    }
}

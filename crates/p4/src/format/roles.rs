// SPDX-License-Identifier: Apache-2.0
//! The roles of ambiguous tokens: what a brace holds, whether `<` opens type arguments, whether
//! parentheses make a cast. Where lines end is in `structure`.

use super::pieces::{Piece, Role};
use super::structure::{Builder, Frame, FrameKind, OpenLine};
use crate::token::TokenKind as T;

/// The tokens of look-ahead for the end of type arguments.
const ANGLE_REACH: usize = 400;

impl Builder<'_> {
    pub(super) fn brace_role(&self, at: usize) -> Role {
        if !self.at_block_level() {
            return Role::ListOpen;
        }
        // Keys, entries and select cases hold values, never blocks.
        if self.frames.last().is_some_and(|frame| {
            matches!(frame.word, Some(T::Key | T::Actions | T::Entries | T::Transition))
        }) {
            return Role::ListOpen;
        }
        let Some(line) = &self.line else { return Role::BlockOpen };
        let before = self.previous_token();
        if before == Some(T::Assign) {
            return self.assigned_brace_role(line);
        }
        if line.value_follows {
            return Role::ListOpen;
        }
        match line.word {
            Some(T::Enum | T::Error | T::MatchKind) => Role::NamesOpen,
            Some(_) => Role::BlockOpen,
            None if line.start == at => Role::BlockOpen,
            None => Role::BlockOpen,
        }
    }

    /// Returns the role of a `{` after `=`: properties of tables and the functions of an instance are
    /// blocks, anything else a value.
    pub(super) fn assigned_brace_role(&self, line: &OpenLine) -> Role {
        let Some(assign) = self.previous else { return Role::ListOpen };
        let mut tokens = (line.start..assign)
            .rev()
            .filter(|at| !self.pieces[*at].is_comment())
            .map(|at| self.token(at));
        match tokens.next().flatten() {
            Some(T::Key | T::Actions | T::Entries) => Role::BlockOpen,
            Some(T::Identifier)
                if tokens.next().flatten() == Some(T::CloseParen)
                    && !self.begins_body[assign - 1] =>
            {
                Role::BlockOpen
            }
            _ => Role::ListOpen,
        }
    }

    /// `key`, `actions` or `entries` before the `= {` that ends here.
    pub(super) fn property_word(&self) -> Option<T> {
        let assign = self.previous.filter(|at| self.token(*at) == Some(T::Assign))?;
        let word = self.token(assign.checked_sub(1)?)?;
        matches!(word, T::Key | T::Actions | T::Entries).then_some(word)
    }

    /// Whether the parentheses that close at `at` hold the type of a cast.
    pub(super) fn closes_cast(&self, frame: &Frame, at: usize) -> bool {
        let before = frame.opened.checked_sub(1).map(|before| &self.pieces[before]);
        if let Some(before) = before {
            let calls = matches!(
                before.token(),
                Some(
                    T::Identifier
                        | T::CloseBracket
                        | T::Apply
                        | T::If
                        | T::For
                        | T::Switch
                        | T::Select
                        | T::ValueSet
                        | T::List
                        | T::Key
                        | T::State
                        | T::Type
                        | T::Actions
                        | T::Entries
                )
            );
            let closes = before.token() == Some(T::CloseParen) && before.role != Role::CastClose;
            if calls || closes || before.role == Role::AngleClose {
                return false;
            }
        }
        let content = &self.pieces[frame.opened + 1..at];
        if content.len() > ANGLE_REACH {
            return false;
        }
        let is_type = |piece: &Piece<'_>| {
            piece.is_comment()
                || matches!(piece.role, Role::AngleOpen | Role::AngleClose)
                || matches!(
                    piece.token(),
                    Some(
                        T::Identifier
                            | T::Dot
                            | T::Comma
                            | T::Integer
                            | T::Bit
                            | T::Int
                            | T::Bool
                            | T::Varbit
                            | T::Tuple
                            | T::List
                            | T::Error
                            | T::StringType
                            | T::Underscore
                            | T::Void
                            | T::OpenBracket
                            | T::CloseBracket
                            | T::OpenParen
                            | T::CloseParen
                    )
                )
        };
        let Some(first) = content.iter().find_map(Piece::token) else { return false };
        if !content.iter().all(is_type) {
            return false;
        }
        if matches!(first, T::Bit | T::Int | T::Bool | T::Varbit | T::Tuple | T::List) {
            return true;
        }
        let simple = content.len() == 1
            || content.first().is_some_and(|piece| piece.token() == Some(T::Dot))
            || content.last().is_some_and(|piece| piece.role == Role::AngleClose);
        first == T::Identifier
            && simple
            && matches!(
                self.next_token(at + 1),
                Some(
                    T::Identifier
                        | T::Integer
                        | T::OpenParen
                        | T::OpenBrace
                        | T::True
                        | T::False
                        | T::Tilde
                        | T::Not
                )
            )
    }

    /// Whether the `<` at `at` opens type arguments or parameters.
    pub(super) fn opens_type_arguments(&self, at: usize) -> bool {
        match self.previous_token() {
            Some(T::Bit | T::Int | T::Varbit | T::Tuple | T::ValueSet | T::List) => return true,
            Some(kind) if kind == T::Identifier || kind.is_keyword() => {}
            _ => return false,
        }
        let declares = self.line.as_ref().is_some_and(|line| {
            matches!(
                line.word,
                Some(
                    T::Extern
                        | T::Control
                        | T::Parser
                        | T::Package
                        | T::Struct
                        | T::Header
                        | T::HeaderUnion
                )
            )
        });
        if declares && self.at_block_level() {
            return true;
        }
        let mut depth = 1usize;
        let mut parens = 0usize;
        let reach = self.pieces.len().min(at + ANGLE_REACH);
        for next in at + 1..reach {
            if self.pieces[next].is_trivia() {
                continue;
            }
            let Some(kind) = self.token(next) else { return false };
            match kind {
                T::OpenParen | T::OpenBracket => parens += 1,
                T::CloseParen | T::CloseBracket if parens > 0 => parens -= 1,
                T::Semicolon | T::OpenBrace | T::CloseBrace => return false,
                _ if parens > 0 => {}
                T::OpenAngle => depth += 1,
                T::CloseAngle => depth -= 1,
                T::ShiftRight if depth >= 2 => depth -= 2,
                // The second `>` closes the type arguments around these.
                T::ShiftRight if self.top() == Some(FrameKind::Angle) => depth = 0,
                T::Identifier | T::Dot | T::Comma | T::Integer | T::Underscore | T::Void => {}
                T::Bit | T::Int | T::Bool | T::Varbit | T::Tuple | T::List | T::Error => {}
                T::StringType | T::MatchKind => {}
                _ => return false,
            }
            if depth == 0 {
                return matches!(
                    self.next_token(next + 1),
                    Some(
                        T::OpenParen
                            | T::CloseParen
                            | T::Comma
                            | T::OpenBrace
                            | T::OpenBracket
                            | T::Dot
                            | T::CloseAngle
                            | T::ShiftRight
                            | T::Identifier
                            | T::Apply
                            | T::Key
                            | T::State
                            | T::Type
                            | T::List
                    )
                );
            }
        }
        false
    }

    /// Whether the last token ends an operand, so that an operator after it has two.
    pub(super) fn after_operand(&self) -> bool {
        let Some(before) = self.previous else { return false };
        match self.token(before) {
            Some(T::CloseParen) => self.pieces[before].role != Role::CastClose,
            Some(T::CloseAngle | T::ShiftRight) => self.pieces[before].role == Role::AngleClose,
            Some(
                T::Identifier
                | T::Integer
                | T::String
                | T::True
                | T::False
                | T::This
                | T::CloseBracket
                | T::CloseBrace
                | T::InvalidHeader
                | T::Error
                | T::Apply
                | T::Key
                | T::Actions
                | T::State
                | T::Entries
                | T::Type
                | T::Priority
                | T::List,
            ) => true,
            _ => false,
        }
    }
}

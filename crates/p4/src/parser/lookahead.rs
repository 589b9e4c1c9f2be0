// SPDX-License-Identifier: Apache-2.0
//! Look-ahead that decides between readings: where a type ends, whether `<` opens type arguments,
//! whether parentheses hold a type or a tuple. It takes no token and reports nothing.

use super::cursor::{is_name, is_value_name};
use super::scopes::NameClass;
use super::{Parser, RecursiveDescent};
use crate::token::TokenKind as T;

/// How many type arguments may nest in a look-ahead.
const DEPTH_LIMIT: u32 = 64;

/// How many tokens a look-ahead goes over at most.
const REACH_LIMIT: usize = 4096;

/// A place between tokens, or inside `>>` after its first `>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenPosition {
    pub(super) position: usize,
    /// How many characters of the token are already used up.
    used: u8,
}

impl Parser<'_> {
    /// Whether the name at `position` (after a dot if `absolute`) is a type.
    pub(super) fn is_type_name_at(&self, position: usize) -> bool {
        let token = self.token_at(position);
        if token.kind == T::Dot {
            let name = self.token_at(position + 1);
            return is_name(name.kind)
                && self.scopes.class_at_top(&name.text) == Some(NameClass::Type);
        }
        is_name(token.kind) && self.scopes.class(&token.text) == Some(NameClass::Type)
    }

    /// Whether a type that needs no name begins here.
    pub(super) fn is_base_type_at(&self, position: usize) -> bool {
        match self.kind_at(position) {
            T::Bool | T::Bit | T::Int | T::Varbit | T::StringType | T::Tuple | T::Void => true,
            T::TypeHole => true,
            T::Error | T::MatchKind => self.kind_at(position + 1) != T::Dot,
            T::List => self.kind_at(position + 1) == T::OpenAngle,
            _ => false,
        }
    }

    /// Whether a type certainly begins here: a built-in one or a declared name.
    pub(super) fn at_type(&self) -> bool {
        self.is_base_type_at(self.cursor.position) || self.is_type_name_at(self.cursor.position)
    }

    /// Where the type that begins at `position` ends. Any name passes for a type.
    pub(super) fn type_end(&self, position: usize) -> Option<usize> {
        let place = self.type_end_from(TokenPosition { position, used: 0 }, 0)?;
        (place.used == 0).then_some(place.position)
    }

    fn type_end_from(&self, start: TokenPosition, depth: u32) -> Option<TokenPosition> {
        if start.used > 0 || depth > DEPTH_LIMIT {
            return None;
        }
        if start.position > self.cursor.position + REACH_LIMIT {
            return None;
        }
        let mut position = start.position;
        let kind = self.kind_at(position);
        let mut place = match kind {
            T::Bool
            | T::StringType
            | T::Error
            | T::MatchKind
            | T::Void
            | T::Underscore
            | T::TypeHole => TokenPosition { position: position + 1, used: 0 },
            T::Bit | T::Int | T::Varbit => {
                if self.kind_at(position + 1) == T::OpenAngle {
                    self.width_end(position + 2)?
                } else {
                    TokenPosition { position: position + 1, used: 0 }
                }
            }
            _ => {
                let is_tuple = kind == T::Tuple;
                if kind == T::Dot {
                    position += 1;
                }
                if !is_tuple && !is_name(self.kind_at(position)) {
                    return None;
                }
                position += 1;
                if self.kind_at(position) == T::OpenAngle {
                    self.type_arguments_end(position, depth)?
                } else {
                    TokenPosition { position, used: 0 }
                }
            }
        };
        while place.used == 0 && self.kind_at(place.position) == T::OpenBracket {
            place = TokenPosition { position: self.matching_end(place.position)?, used: 0 };
        }
        Some(place)
    }

    /// Where the type arguments end whose `<` is at `position`.
    fn type_arguments_end(&self, position: usize, depth: u32) -> Option<TokenPosition> {
        let mut place = TokenPosition { position: position + 1, used: 0 };
        if self.kind_at(place.position) == T::CloseAngle {
            return Some(TokenPosition { position: place.position + 1, used: 0 });
        }
        loop {
            place = self.type_end_from(place, depth + 1)?;
            if place.used == 0 && self.kind_at(place.position) == T::Comma {
                place.position += 1;
                continue;
            }
            return self.close_angle(place);
        }
    }

    /// Returns the place after a `>` at `place`.
    fn close_angle(&self, place: TokenPosition) -> Option<TokenPosition> {
        let length = match self.kind_at(place.position) {
            T::CloseAngle => 1,
            T::ShiftRight => 2,
            T::GreaterEqual if place.used == 0 => 2,
            T::ShiftRightAssign if place.used <= 1 => 3,
            _ => return None,
        };
        let used = place.used + 1;
        Some(if used == length {
            TokenPosition { position: place.position + 1, used: 0 }
        } else {
            TokenPosition { position: place.position, used }
        })
    }

    /// Where a width ends that begins at `position`, after its `>`.
    fn width_end(&self, position: usize) -> Option<TokenPosition> {
        let mut position = position;
        let reach = position + REACH_LIMIT;
        loop {
            match self.kind_at(position) {
                T::OpenParen | T::OpenBracket => position = self.matching_end(position)?,
                T::CloseAngle | T::ShiftRight | T::ShiftRightAssign => {
                    return self.close_angle(TokenPosition { position, used: 0 });
                }
                T::Semicolon
                | T::OpenBrace
                | T::CloseBrace
                | T::End
                | T::Assign
                | T::Comma
                | T::CloseParen => return None,
                _ => position += 1,
            }
            if position > reach {
                return None;
            }
        }
    }

    /// Returns the position after the delimiter that closes the one at `position`.
    pub(super) fn matching_end(&self, position: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in position..self.cursor.tokens.len() {
            match self.kind_at(at) {
                T::OpenParen | T::OpenBracket | T::OpenBrace => depth += 1,
                T::CloseParen | T::CloseBracket | T::CloseBrace => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                T::Semicolon | T::End => return None,
                _ => {}
            }
            if at > position + REACH_LIMIT {
                return None;
            }
        }
        None
    }

    /// Whether the `<` at the current token opens type arguments of a call. After a name that is
    /// no generic function the first argument must certainly be a type, as in the grammar's
    /// `realTypeArg`; otherwise `a < b > (c)` stays two comparisons.
    pub(super) fn at_call_type_arguments(&self, generic: bool) -> bool {
        let first = self.cursor.position + 1;
        let certain = generic
            || self.is_base_type_at(first)
            || self.kind_at(first) == T::Underscore
            || self.is_type_name_at(first);
        certain
            && self.type_arguments_end(self.cursor.position, 0).is_some_and(|place| {
                place.used == 0 && self.kind_at(place.position) == T::OpenParen
            })
    }

    /// Whether the parenthesis at the current token opens a cast (§8.12).
    pub(super) fn at_cast(&self) -> bool {
        let first = self.cursor.position + 1;
        let Some(end) = self.type_end(first) else { return false };
        if self.kind_at(end) != T::CloseParen {
            return false;
        }
        if self.is_base_type_at(first) {
            // `(int<32>).x` is a cast of the top level's `x`; `(int<32>).minSizeInBits()` asks the type.
            return self.kind_at(end + 1) != T::Dot || self.kind_at(end + 3) != T::OpenParen;
        }
        if self.is_type_name_at(first) {
            return self.kind_at(end + 1) != T::Dot;
        }
        // An unknown name: `(Unknown) x` can be nothing else.
        let next = self.kind_at(end + 1);
        matches!(
            next,
            T::Integer | T::Identifier | T::True | T::False | T::Not | T::Tilde | T::OpenBrace
        )
    }

    /// Whether a statement that begins here declares something of a type not known: two names in
    /// a row, or a name with type arguments and a name.
    pub(super) fn at_unknown_type_declaration(&self) -> bool {
        let name = if self.at(T::Dot) { self.cursor.position + 1 } else { self.cursor.position };
        if !is_value_name(self.kind_at(name)) {
            return false;
        }
        let next = self.kind_at(name + 1);
        if is_name(next) {
            return true;
        }
        if !matches!(next, T::OpenAngle | T::OpenBracket) {
            return false;
        }
        let Some(end) = self.type_end(self.cursor.position) else { return false };
        if next == T::OpenBracket {
            return is_name(self.kind_at(end));
        }
        if is_name(self.kind_at(end)) {
            return true;
        }
        // `T<A>(x) name`: an instance, where `f<A>(x)` is a call.
        self.kind_at(end) == T::OpenParen
            && self.matching_end(end).is_some_and(|after| is_name(self.kind_at(after)))
    }

    /// Whether the parenthesis at the current token holds a tuple of keysets (§13.6), not a
    /// parenthesised expression.
    pub(super) fn at_keyset_tuple(&self) -> bool {
        if self.at_cast() {
            return false;
        }
        let Some(end) = self.matching_end(self.cursor.position) else {
            return self.has_keyset_comma();
        };
        if self.kind_at(end) != T::Colon {
            return false;
        }
        self.has_keyset_comma()
    }

    fn has_keyset_comma(&self) -> bool {
        let mut depth = 0usize;
        for at in self.cursor.position..self.cursor.tokens.len() {
            match self.kind_at(at) {
                T::OpenParen | T::OpenBracket | T::OpenBrace => depth += 1,
                T::CloseParen | T::CloseBracket | T::CloseBrace => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return false;
                    }
                }
                T::Comma | T::Mask | T::Range | T::Default | T::Underscore if depth == 1 => {
                    return true;
                }
                T::Semicolon | T::End => return false,
                _ => {}
            }
        }
        false
    }
}

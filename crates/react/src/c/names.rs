// SPDX-License-Identifier: Apache-2.0
//! Paths to fields in C texts, such as `hdr.vlan[0].id`.

use super::lexer::{Kind, Token};
use crate::interface::PathStep;

/// A path in a list of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPath {
    /// Its steps.
    pub steps: Vec<PathStep>,
    /// The index of the token behind it.
    pub end: usize,
}

/// Reads the path that begins at a token: a name, then members and constant indices. `None` in the middle of a path.
pub fn path_at(tokens: &[Token<'_>], at: usize) -> Option<WrittenPath> {
    let first = tokens.get(at).filter(|token| token.kind == Kind::Identifier)?;
    let is_member = at > 0 && (tokens[at - 1].is(".") || tokens[at - 1].is("->"));
    if is_member {
        return None;
    }
    let mut path = WrittenPath { steps: vec![PathStep::Name(first.text.into())], end: at + 1 };
    loop {
        match tokens.get(path.end..path.end + 2) {
            Some([dot, name]) if dot.is(".") && name.kind == Kind::Identifier => {
                path.steps.push(PathStep::Name(name.text.into()));
                path.end += 2;
                continue;
            }
            _ => {}
        }
        match tokens.get(path.end..path.end + 3) {
            Some([open, number, close]) if open.is("[") && close.is("]") => {
                let Ok(index) = number.text.parse() else { return Some(path) };
                path.steps.push(PathStep::Index(index));
                path.end += 3;
            }
            _ => return Some(path),
        }
    }
}

/// Returns the index of the bracket that closes the one at `open`, before `end`.
pub fn closing(tokens: &[Token<'_>], open: usize, end: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().take(end).skip(open) {
        match token.text {
            "(" | "[" | "{" if token.kind == Kind::Punctuator => depth += 1,
            ")" | "]" | "}" if token.kind == Kind::Punctuator => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

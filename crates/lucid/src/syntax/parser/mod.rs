// SPDX-License-Identifier: Apache-2.0
//! Tokens to tree: recursive descent, with precedence climbing for expressions. A tree always comes
//! out; the parser reports what it cannot read and leaves it out. It looks no name up; the checker
//! does.

mod cursor;
mod declarations;
mod expressions;
mod foreign_syntax;
mod interfaces;
mod literals;
mod operators;
mod parsers;
mod recovery;
mod statements;
mod tables;
mod types;

use super::ast::{Declaration, Include, NodeId};
use super::lexer::Lexed;
use super::token::{Place, Role, Token};
use source::parse::{Cursor, Parsed, RecursiveDescent, Unparsed};
use source::{Diagnostics, SourceMap};
use std::collections::HashSet;
use std::sync::Arc;

/// How deeply blocks, parentheses and types may nest, together; each `else if` counts as one. Deeper
/// programs are reported, so that no later pass runs out of stack.
pub const NESTING_LIMIT: u32 = 256;

/// How high the tree of one expression may be. A chain such as `a + b + c` is one higher with each
/// operator.
pub const EXPRESSION_HEIGHT_LIMIT: u32 = 512;

/// The tokens of look-ahead that may decide between two constructs. Programs written by hand need
/// fewer.
const LOOKAHEAD_LIMIT: usize = 200;

/// A file's declarations and includes.
#[derive(Debug, Default)]
pub(super) struct ParsedFile {
    /// In order.
    pub declarations: Vec<Declaration>,
    /// Includes, each with the number of declarations before it.
    pub includes: Vec<(usize, Include)>,
    /// One for each token.
    pub places: Vec<Place>,
}

/// Reads one file's tokens. Nodes are numbered from `next_id` on.
pub(super) fn parse_tokens(
    map: &SourceMap,
    lexed: Lexed,
    next_id: &mut u32,
    diagnostics: &mut Diagnostics,
) -> ParsedFile {
    let file = match lexed.tokens.last() {
        Some(end) => end.span.file,
        None => return ParsedFile::default(),
    };
    let text = map.text(file).clone();
    let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let line_starts = std::iter::once(0).chain(line_ends.map(|(at, _)| at as u32 + 1)).collect();
    let places = vec![Place::default(); lexed.tokens.len()];
    let broken = lexed
        .broken
        .iter()
        .map(|broken| lexed.tokens.partition_point(|token| token.span.start < broken.start));
    let broken = broken.collect();
    let mut parser = Parser {
        text,
        line_starts,
        places,
        cursor: Cursor::new(lexed.tokens, broken),
        warning_count: 0,
        recovered: false,
        names: HashSet::new(),
        next_id: *next_id,
        height: 0,
    };
    let mut parsed = parser.file();
    parser.report_suppressed();
    diagnostics.append(parser.cursor.diagnostics);
    *next_id = parser.next_id;
    parsed.places = parser.places;
    parsed
}

/// The state of one run over the tokens of one file.
struct Parser {
    text: Arc<str>,
    /// Where each line starts.
    line_starts: Vec<u32>,
    cursor: Cursor<Token>,
    /// The role of each token; correct where there is no error.
    places: Vec<Place>,
    warning_count: usize,
    /// The last error has already skipped to the next synchronization token.
    recovered: bool,
    names: HashSet<Arc<str>>,
    next_id: u32,
    /// The height of the last expression.
    height: u32,
}

impl Parser {
    /// Sets the role of the current token.
    fn mark(&mut self, role: Role) {
        self.places[self.cursor.position].role = role;
    }

    /// Marks the current token as the beginning of a statement, declaration or field.
    fn mark_beginning(&mut self) {
        self.places[self.cursor.position].begins = true;
    }

    fn id(&mut self) -> NodeId {
        let id = NodeId(self.next_id);
        self.next_id += 1;
        id
    }
}

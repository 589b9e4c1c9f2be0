// SPDX-License-Identifier: Apache-2.0
//! Tokens to tree: recursive descent, with precedence climbing for expressions. A tree always comes
//! out; what could not be read is reported and left out. No name is looked up: what a name stands for
//! is the checker's matter.

mod cursor;
mod declarations;
mod expressions;
mod habits;
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
use source::{Diagnostics, SourceMap, Span};
use std::collections::HashSet;
use std::sync::Arc;

/// How deeply blocks, parentheses and types may nest, together; each `else if` counts as one. Deeper
/// programs are reported, so that no later pass runs out of stack.
pub const NESTING_LIMIT: u32 = 256;

/// How high the tree of one expression may be. A chain such as `a + b + c` is one higher with each
/// operator.
pub const EXPRESSION_HEIGHT_LIMIT: u32 = 512;

/// After this many syntax errors the rest is read, but only counted.
pub const ERROR_LIMIT: usize = 100;

/// The lookahead in tokens that distinguishes one construct from another, where a program that
/// people write is always decided earlier.
const LOOKAHEAD_LIMIT: usize = 200;

/// What one file holds.
#[derive(Debug, Default)]
pub(super) struct ParsedFile {
    /// In order.
    pub declarations: Vec<Declaration>,
    /// Includes, each with how many declarations stand before it.
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
    let mut parser = Parser {
        text,
        line_starts,
        places: vec![Place::default(); lexed.tokens.len()],
        tokens: lexed.tokens,
        broken: lexed.broken,
        position: 0,
        diagnostics,
        error_count: 0,
        warning_count: 0,
        suppressed_at: None,
        silent: false,
        reported_at: None,
        recovered: false,
        names: HashSet::new(),
        next_id: *next_id,
        nesting: 0,
        height: 0,
    };
    let mut parsed = parser.file();
    parser.report_suppressed();
    *next_id = parser.next_id;
    parsed.places = parser.places;
    parsed
}

/// An error was reported; the caller finds a place to go on from.
#[derive(Clone, Copy, Debug)]
struct Unparsed;

/// A part of the tree, or an error that is already reported.
type Parsed<T> = Result<T, Unparsed>;

/// The state of one run over the tokens of one file.
struct Parser<'d> {
    text: Arc<str>,
    /// Where each line starts.
    line_starts: Vec<u32>,
    /// The last is `End`.
    tokens: Vec<Token>,
    /// What each token does; right where there is no error.
    places: Vec<Place>,
    /// Text that the lexer has reported, in order.
    broken: Vec<Span>,
    position: usize,
    diagnostics: &'d mut Diagnostics,
    error_count: usize,
    warning_count: usize,
    /// The first error beyond the limit.
    suppressed_at: Option<Span>,
    /// Nothing more is reported: the rest cannot be read.
    silent: bool,
    /// Where the last error was reported: a second one at the same token says nothing new.
    reported_at: Option<usize>,
    /// The report that was made last has also found the place to go on from.
    recovered: bool,
    names: HashSet<Arc<str>>,
    next_id: u32,
    /// Levels of blocks, parentheses and types around the current token.
    nesting: u32,
    /// Height of the expression that was read last.
    height: u32,
}

impl Parser<'_> {
    /// Says what the current token does.
    fn mark(&mut self, role: Role) {
        self.places[self.position].role = role;
    }

    /// Says that a statement, declaration or field begins here.
    fn mark_beginning(&mut self) {
        self.places[self.position].begins = true;
    }

    fn id(&mut self) -> NodeId {
        let id = NodeId(self.next_id);
        self.next_id += 1;
        id
    }
}

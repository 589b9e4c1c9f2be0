// SPDX-License-Identifier: Apache-2.0
//! From tokens to the syntax tree: recursive descent, with precedence climbing for expressions. The
//! parser always returns a tree; it reports what it cannot read and leaves it out. It resolves names only
//! as far as the grammar distinguishes types from values (P4_16 v1.2.5 §6.1.1, §G, `TYPE_IDENTIFIER`); the
//! type checker does the rest.

mod annotations;
mod cursor;
mod declarations;
mod expressions;
mod extensions;
mod externs;
mod holes;
mod lookahead;
mod numbers;
pub(crate) mod operators;
mod parsers;
pub mod pieces;
mod pragma_lines;
mod recovery;
mod scopes;
mod statements;
mod suggestions;
mod tables;
mod type_declarations;
mod types;

pub use expressions::unescape;
pub(crate) use pragma_lines::fold_pragma_lines;

use crate::ast::{NodeId, Program};
use crate::codes::lexical;
use crate::dialect::Dialect;
use crate::lexer::AnnotationBody;
use crate::token::{Token, TokenKind};
use holes::Hole;
use rustc_hash::{FxHashMap, FxHashSet};
use scopes::Scopes;
use source::parse::{Cursor, Parsed, RecursiveDescent, Unparsed};
use source::{Diagnostics, FileId, Span};
use std::sync::Arc;

/// How deeply statements, parentheses and types may nest, together; a chain of `else if` counts as
/// one. Deeper programs are reported, so that no later pass runs out of stack.
pub const NESTING_LIMIT: u32 = 500;

/// How many branches a chain of `else if` may have.
pub const ELSE_IF_LIMIT: usize = 10_000;

/// How high the tree of one expression may be. A chain such as `a + b + c` is one higher with each
/// operator.
pub const EXPRESSION_HEIGHT_LIMIT: u32 = 1000;

/// Reads a whole preprocessed program. Never fails: what is wrong is in `diagnostics`, and the tree
/// holds everything that could be read.
pub fn parse(tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> Program {
    parse_dialect(tokens, None, diagnostics)
}

/// Like [`parse`], with the forms of a dialect.
pub fn parse_dialect(
    tokens: Vec<Token>,
    dialect: Option<&dyn Dialect>,
    diagnostics: &mut Diagnostics,
) -> Program {
    let mut parser = Parser::new(tokens, diagnostics);
    parser.dialect = dialect;
    let declarations = match parser.report_older_language() {
        Some(_) => Vec::new(),
        None => parser.program(),
    };
    parser.report_suppressed();
    diagnostics.append(parser.cursor.diagnostics);
    Program { declarations, node_count: parser.next_id }
}

/// The state of one run over the tokens.
pub(crate) struct Parser<'d> {
    /// All tokens but pragmas.
    cursor: Cursor<Token>,
    /// Pragmas by the index of the token they stand before.
    pragmas: FxHashMap<usize, Vec<Token>>,
    scopes: Scopes,
    dialect: Option<&'d dyn Dialect>,
    /// The parts that fill holes, by name. A part fills one hole.
    holes: FxHashMap<Arc<str>, Hole>,
    next_id: u32,
    /// Height of the expression or type that was read last.
    height: u32,
    /// Inside `bit<...>` without parentheses, where `>` closes and is no operator.
    greater_closes: bool,
    /// The first `@` of the annotations read last.
    annotations_start: Option<Span>,
}

impl<'d> Parser<'d> {
    fn new(tokens: Vec<Token>, diagnostics: &Diagnostics) -> Parser<'d> {
        let mut kept: Vec<Token> = Vec::with_capacity(tokens.len() + 1);
        let mut pragmas: FxHashMap<usize, Vec<Token>> = FxHashMap::default();
        let mut annotation = AnnotationBody::default();
        let mut broken = Vec::new();
        let unclosed = broken_strings(diagnostics);
        for token in tokens {
            annotation.pass(token.kind);
            match token.kind {
                TokenKind::Pragma => pragmas.entry(kept.len()).or_default().push(token),
                // The lexer has reported it.
                TokenKind::Unknown if !annotation.is_inside() => broken.push(kept.len()),
                TokenKind::String if unclosed.contains(&(token.span.file, token.span.start)) => {
                    broken.push(kept.len());
                    kept.push(token);
                }
                _ => kept.push(token),
            }
        }
        if kept.last().is_none_or(|token| token.kind != TokenKind::End) {
            let span = kept.last().map_or(Span::NONE, |token| token.span.after());
            kept.push(Token { kind: TokenKind::End, span, text: "".into() });
        }
        // A text that was not read to its end says nothing about what is missing.
        let stopped = [lexical::EXPANSION_LIMIT, lexical::TOO_MANY_ERRORS];
        let silent = diagnostics.iter().any(|found| stopped.contains(&found.code));
        let mut cursor = Cursor::new(kept, broken);
        cursor.silent = silent;
        Parser {
            cursor,
            pragmas,
            scopes: Scopes::new(),
            dialect: None,
            holes: FxHashMap::default(),
            next_id: 0,
            height: 0,
            greater_closes: false,
            annotations_start: None,
        }
    }

    fn id(&mut self) -> NodeId {
        let id = NodeId(self.next_id);
        self.next_id = self.next_id.saturating_add(1);
        id
    }
}

/// Where strings begin that nothing closes.
fn broken_strings(diagnostics: &Diagnostics) -> FxHashSet<(FileId, u32)> {
    diagnostics
        .iter()
        .filter(|found| found.code == lexical::UNTERMINATED_STRING)
        .map(|found| (found.primary.span.file, found.primary.span.start))
        .collect()
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0
//! The preprocessor: conditions, macros and included files, as in C (P4_16 v1.2.5 §6.2). It works
//! on tokens, so every token keeps its place: that in the file, or of the macro's use for a token of a
//! macro's body. An [`IncludeLoader`] reads the files.

mod conditions;
mod definitions;
mod directives;
mod expansion;
mod expression;
mod includes;
mod libraries;
mod names;
mod substitution;

use crate::codes::lexical;
use crate::dialect::Foreign;
use crate::lexer::cursor::{Cursor, Lexeme, LexemeKind};
use crate::lexer::{
    AnnotationBody, spelling, unknown_text, unterminated_comment, unterminated_string,
    with_references,
};
use crate::token::{Token, TokenKind};
use conditions::Condition;
use expansion::Context;
pub use includes::BUILT_IN;
use names::{KnownNames, Names};
use rustc_hash::FxHashMap;
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// Loads included files.
pub trait IncludeLoader {
    /// Returns the text of the file with this path, as a user would name it; `Ok(None)` if there is
    /// no such file; `Err` with the reason if it cannot be read.
    fn load(&self, path: &str) -> Result<Option<String>, String>;
}

/// The options of the command line for the preprocessor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreprocessorOptions {
    /// Directories to search for included files, in order (`-I`).
    pub include_dirs: Vec<String>,
    /// Macros and their bodies; without a body, `1` (`-D`). The name may have parameters, as in
    /// `MAX(a,b)`.
    pub defines: Vec<(String, Option<String>)>,
}

/// How deep included files may nest.
const INCLUDE_DEPTH_LIMIT: usize = 64;
/// How many files may be included in all, counting repetitions.
const INCLUDE_COUNT_LIMIT: u32 = 20_000;
/// The bytes of text that may be read in all, counting repetitions.
const TEXT_LIMIT_BYTES: u64 = 256 << 20;
/// The tokens that a program may have.
const OUTPUT_LIMIT: usize = 8_000_000;
/// The tokens that macro expansion may make, in the output or not.
const EXPANSION_LIMIT: u64 = 2_000_000;
/// How deep uses of macros may stand in the arguments of others.
const ARGUMENT_DEPTH_LIMIT: u32 = 200;
/// How many errors are reported before reading stops.
const ERROR_LIMIT: u32 = 100;

/// Returns the tokens of the program that starts in `main`, with all it includes and all macros
/// expanded. The last token is [`TokenKind::End`], whatever went wrong.
pub fn preprocess(
    map: &mut SourceMap,
    loader: &dyn IncludeLoader,
    main: FileId,
    options: &PreprocessorOptions,
    diagnostics: &mut Diagnostics,
) -> Vec<Token> {
    preprocess_dialect(map, loader, main, options, Foreign::default(), diagnostics).tokens
}

/// A program's tokens and macros.
pub struct Preprocessed {
    /// As [`preprocess`] returns them.
    pub tokens: Vec<Token>,
    /// Names and bodies of the object-like macros that the program or the command line defines, as they are at the end of
    /// the text.
    pub macros: Vec<(Arc<str>, Arc<str>)>,
}

/// Like [`preprocess`], with tokens beyond those of P4_16.
pub fn preprocess_dialect(
    map: &mut SourceMap,
    loader: &dyn IncludeLoader,
    main: FileId,
    options: &PreprocessorOptions,
    foreign: Foreign<'_>,
    diagnostics: &mut Diagnostics,
) -> Preprocessed {
    let end = Span::new(main, 0, u32::try_from(map.text(main).len()).unwrap_or(u32::MAX));
    let mut preprocessor = Preprocessor::new(map, loader, options, diagnostics);
    preprocessor.foreign = foreign;
    preprocessor.define_builtins();
    preprocessor.define_from_options();
    preprocessor.open_main(main);
    preprocessor.run();
    let macros = preprocessor.object_macros();
    let mut tokens = with_references(preprocessor.output);
    tokens.push(Token { kind: TokenKind::End, span: end.after(), text: Arc::from("") });
    Preprocessed { tokens: crate::parser::fold_pragma_lines(map, tokens), macros }
}

/// The kinds of preprocessing tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreprocessingTokenKind {
    Word,
    Number,
    String,
    Character,
    Verbatim,
    Symbol(TokenKind),
    Hash,
    HashHash,
    Unknown,
    /// An empty operand of `##`.
    Placemarker,
}

/// A spelling, as its index in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Symbol(u32);

/// A token inside the preprocessor.
#[derive(Clone, Copy, Debug)]
struct PreprocessingToken {
    kind: PreprocessingTokenKind,
    /// The spelling; of a string, what is between the quotes.
    symbol: Symbol,
    span: Span,
    /// Blanks stand before it; `#` makes one space of them.
    spaced: bool,
    /// A name inside its own expansion, which is never expanded again.
    painted: bool,
    /// Made by a macro's body, so `span` is already the place of a use.
    from_macro: bool,
}

impl PreprocessingToken {
    fn is_symbol(&self, kind: TokenKind) -> bool {
        self.kind == PreprocessingTokenKind::Symbol(kind)
    }
}

/// A file being read, with the conditions open in it.
struct Reader {
    cursor: Cursor,
    conditions: Vec<Condition>,
    /// The `#include` that opened it; [`Span::NONE`] for the main file.
    included_at: Span,
}

struct Preprocessor<'run> {
    map: &'run mut SourceMap,
    loader: &'run dyn IncludeLoader,
    options: &'run PreprocessorOptions,
    /// Tokens of a dialect.
    foreign: Foreign<'run>,
    diagnostics: &'run mut Diagnostics,
    names: Names,
    known: KnownNames,
    readers: Vec<Reader>,
    /// Texts already loaded, by path.
    loaded: FxHashMap<String, FileId>,
    /// Files with `#pragma once`.
    once: Vec<FileId>,
    /// Expansions being read, the innermost last.
    contexts: Vec<Context>,
    /// Contexts below this one belong to an expansion further out.
    floor: usize,
    /// Reading arguments on their own: the file must not be touched.
    isolated: bool,
    /// Looking for a macro's arguments: they end with the file they start in.
    collecting: bool,
    argument_depth: u32,
    expanded: u64,
    read_bytes: u64,
    include_count: u32,
    errors: u32,
    stopped: bool,
    annotation: AnnotationBody,
    output: Vec<Token>,
}

impl<'run> Preprocessor<'run> {
    fn new(
        map: &'run mut SourceMap,
        loader: &'run dyn IncludeLoader,
        options: &'run PreprocessorOptions,
        diagnostics: &'run mut Diagnostics,
    ) -> Preprocessor<'run> {
        let mut names = Names::new();
        let known = KnownNames::new(&mut names);
        Preprocessor {
            map,
            loader,
            options,
            foreign: Foreign::default(),
            diagnostics,
            names,
            known,
            readers: Vec::new(),
            loaded: FxHashMap::default(),
            once: Vec::new(),
            contexts: Vec::new(),
            floor: 0,
            isolated: false,
            collecting: false,
            argument_depth: 0,
            expanded: 0,
            read_bytes: 0,
            include_count: 0,
            errors: 0,
            stopped: false,
            annotation: AnnotationBody::default(),
            output: Vec::new(),
        }
    }

    /// Reads all open files to their end.
    fn run(&mut self) {
        while let Some(token) = self.next_expanded() {
            if self.output.len() >= OUTPUT_LIMIT {
                self.stop(Diagnostic::error(
                    lexical::EXPANSION_LIMIT,
                    token.span,
                    format!("the program has more than {OUTPUT_LIMIT} tokens"),
                ));
                break;
            }
            self.emit(token);
        }
    }

    fn emit(&mut self, token: PreprocessingToken) {
        let kind = match token.kind {
            PreprocessingTokenKind::Word => self.names.kind(token.symbol),
            PreprocessingTokenKind::Number => TokenKind::Integer,
            PreprocessingTokenKind::String => TokenKind::String,
            PreprocessingTokenKind::Verbatim => TokenKind::Verbatim,
            PreprocessingTokenKind::Symbol(kind) => kind,
            PreprocessingTokenKind::Placemarker => return,
            PreprocessingTokenKind::Unknown
                if self.foreign.allows(self.names.text(token.symbol)) =>
            {
                TokenKind::Foreign
            }
            PreprocessingTokenKind::Character if self.foreign.is_c() => TokenKind::Foreign,
            PreprocessingTokenKind::Character
            | PreprocessingTokenKind::Hash
            | PreprocessingTokenKind::HashHash
            | PreprocessingTokenKind::Unknown => {
                if !self.annotation.is_inside() {
                    let text = self.names.text(token.symbol).clone();
                    self.report(unknown_text(token.span, &text));
                }
                TokenKind::Unknown
            }
        };
        self.annotation.pass(kind);
        let text = self.names.text(token.symbol).clone();
        self.output.push(Token { kind, span: token.span, text });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        if diagnostic.severity == source::Severity::Error {
            self.errors += 1;
        }
        let span = diagnostic.primary.span;
        self.diagnostics.push(diagnostic);
        if self.errors >= ERROR_LIMIT {
            self.diagnostics.push(Diagnostic::error(
                lexical::TOO_MANY_ERRORS,
                span,
                format!("more than {ERROR_LIMIT} errors; the rest is not read"),
            ));
            self.stopped = true;
        }
    }

    /// Reports a fatal error; nothing more is read.
    fn stop(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.stopped = true;
    }

    /// Reads the next token of the current file and applies the directives before it. Returns `None` at
    /// the end of the program, and at the end of the file while arguments are collected.
    fn next_from_file(&mut self) -> Option<PreprocessingToken> {
        let mut after_comment = false;
        loop {
            if self.stopped {
                return None;
            }
            let reader = self.readers.last_mut()?;
            let file = reader.cursor.file();
            let lexeme = reader.cursor.next();
            match lexeme.kind {
                LexemeKind::Newline => {}
                LexemeKind::LineComment => after_comment = true,
                LexemeKind::BlockComment { closed } => {
                    after_comment = true;
                    if !closed {
                        self.report(unterminated_comment(lexeme.span(file)));
                    }
                }
                LexemeKind::Hash if lexeme.first_on_line => self.directive(lexeme.span(file)),
                LexemeKind::End => {
                    if self.collecting {
                        return None;
                    }
                    self.close_file();
                }
                _ => {
                    let mut token = self.token_of(lexeme, file);
                    token.spaced |= after_comment;
                    return Some(token);
                }
            }
        }
    }

    /// Makes a token of a lexeme that is no comment or line end.
    fn token_of(&mut self, lexeme: Lexeme, file: FileId) -> PreprocessingToken {
        let kind = match lexeme.kind {
            LexemeKind::Word => PreprocessingTokenKind::Word,
            LexemeKind::Number => PreprocessingTokenKind::Number,
            LexemeKind::String { closed } => {
                if !closed {
                    self.report(unterminated_string(lexeme.span(file)));
                }
                PreprocessingTokenKind::String
            }
            LexemeKind::Character => PreprocessingTokenKind::Character,
            LexemeKind::Verbatim => PreprocessingTokenKind::Verbatim,
            LexemeKind::Symbol(kind) => PreprocessingTokenKind::Symbol(kind),
            LexemeKind::Hash => PreprocessingTokenKind::Hash,
            LexemeKind::HashHash => PreprocessingTokenKind::HashHash,
            LexemeKind::Unknown
            | LexemeKind::Newline
            | LexemeKind::LineComment
            | LexemeKind::BlockComment { .. }
            | LexemeKind::End => PreprocessingTokenKind::Unknown,
        };
        let text = match self.readers.last() {
            Some(reader) => spelling(reader.cursor.text(), lexeme),
            None => Cow::Borrowed(""),
        };
        PreprocessingToken {
            kind,
            symbol: self.names.intern(&text),
            span: lexeme.span(file),
            spaced: lexeme.spaced,
            painted: false,
            from_macro: false,
        }
    }

    /// Reads the tokens of a directive up to the end of its line.
    fn rest_of_line(&mut self) -> Vec<PreprocessingToken> {
        let mut tokens = Vec::new();
        let mut after_comment = false;
        if let Some(reader) = self.readers.last_mut() {
            reader.cursor.single_line_strings(true);
        }
        while let Some(reader) = self.readers.last_mut() {
            let file = reader.cursor.file();
            let lexeme = reader.cursor.next();
            match lexeme.kind {
                LexemeKind::Newline | LexemeKind::End => break,
                LexemeKind::LineComment => {
                    // In a directive, C joins the lines before it looks for comments: a comment
                    // that ends with a backslash takes the next line along.
                    let text = reader.cursor.text();
                    if text[..lexeme.end as usize].ends_with('\\') {
                        let end = end_of_joined_lines(text, reader.cursor.offset());
                        reader.cursor.jump_to_line_start(end);
                        break;
                    }
                }
                LexemeKind::BlockComment { closed } => {
                    after_comment = true;
                    if !closed {
                        self.report(unterminated_comment(lexeme.span(file)));
                    }
                }
                LexemeKind::String { closed: false } => {
                    // A stray quote is an error only where the text is used.
                    let mut token =
                        self.token_of(Lexeme { kind: LexemeKind::Unknown, ..lexeme }, file);
                    token.spaced |= after_comment;
                    tokens.push(token);
                }
                _ => {
                    let mut token = self.token_of(lexeme, file);
                    token.spaced |= after_comment;
                    after_comment = false;
                    tokens.push(token);
                }
            }
        }
        if let Some(reader) = self.readers.last_mut() {
            reader.cursor.single_line_strings(false);
        }
        tokens
    }
}

/// Returns the start of the line after a joined line, `offset` being somewhere in its first part.
fn end_of_joined_lines(text: &str, mut offset: usize) -> usize {
    loop {
        let Some(at) = text[offset..].find(['\n', '\r']) else {
            return text.len();
        };
        let line = &text[..offset + at];
        offset += at + if text[offset + at..].starts_with("\r\n") { 2 } else { 1 };
        if !line.ends_with('\\') {
            return offset;
        }
    }
}

#[cfg(test)]
mod tests;

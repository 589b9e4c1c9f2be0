// SPDX-License-Identifier: Apache-2.0
//! Recursive-descent parsing of a list of tokens: look-ahead, expected tokens, and panic-mode
//! recovery, so that one mistake gives one error and the next mistake still gets its own. A
//! language implements [`RecursiveDescent`] for its parser and adds its grammar.

use crate::{Code, Diagnostic, Diagnostics, Span};

/// After this many syntax errors the rest of the file is read, but errors are only counted.
pub const ERROR_LIMIT: usize = 100;

/// Tokens after one that the lexer has reported, up to which the parser's errors may follow from it.
const MAX_TOKENS_AFTER_BROKEN: usize = 200;

/// Longer tokens are cut in messages.
const MAX_SHOWN_CHARACTERS: usize = 40;

/// A syntax error that is already reported. The caller skips to where reading can go on.
#[derive(Clone, Copy, Debug)]
pub struct Unparsed;

/// A part of the tree, or an error that is already reported.
pub type Parsed<T> = Result<T, Unparsed>;

/// A token of a language with blocks in braces and statements that end with semicolons.
pub trait Token {
    /// The kinds of tokens.
    type Kind: Copy + PartialEq;
    /// The end of the input, the last token of every list.
    const END: Self::Kind;
    /// A string literal.
    const STRING: Self::Kind;
    /// `;`
    const SEMICOLON: Self::Kind;
    /// `{`
    const OPEN_BRACE: Self::Kind;
    /// `}`
    const CLOSE_BRACE: Self::Kind;

    /// Returns the token's kind.
    fn kind(&self) -> Self::Kind;

    /// Returns the token's place.
    fn span(&self) -> Span;

    /// Returns how a kind of token that has only one spelling is written.
    fn spelling(kind: Self::Kind) -> &'static str;
}

/// The codes of a language's syntax errors.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxCodes {
    /// Another token than the expected one.
    pub unexpected_token: Code,
    /// A statement or declaration has no `;`.
    pub missing_semicolon: Code,
    /// A bracket or brace is not closed.
    pub unclosed_delimiter: Code,
    /// A reserved word in place of a declared name.
    pub reserved_word: Code,
    /// Constructs nest deeper than the parser allows.
    pub nested_too_deeply: Code,
    /// More errors than [`ERROR_LIMIT`].
    pub too_many_errors: Code,
}

/// How deep a parser reads nested constructs.
#[derive(Clone, Copy, Debug)]
pub struct NestingLimit {
    /// Levels of statements, brackets and types together.
    pub levels: u32,
    /// What to do about a deeper construct.
    pub help: &'static str,
}

/// The position in a list of tokens, and the errors reported so far.
#[derive(Debug)]
pub struct Cursor<T> {
    /// All tokens; the last is the end.
    pub tokens: Vec<T>,
    /// The index of the current token.
    pub position: usize,
    /// The errors and warnings so far.
    pub diagnostics: Diagnostics,
    /// Syntax errors so far, reported or only counted.
    pub error_count: usize,
    /// The token at which the last error was reported; further errors at it are dropped.
    pub reported_at: Option<usize>,
    /// Errors are dropped, because the rest of the file cannot be read.
    pub silent: bool,
    /// The first error beyond [`ERROR_LIMIT`].
    suppressed_at: Option<Span>,
    /// Tokens at which the lexer has reported an error, in order.
    broken: Vec<usize>,
    /// Levels of nested constructs around the current token.
    nesting: u32,
}

impl<T: Token> Cursor<T> {
    /// Creates a cursor at the first of `tokens`, the last of which is the end. `broken` lists, in
    /// order, the tokens at which the lexer has reported an error.
    pub fn new(tokens: Vec<T>, broken: Vec<usize>) -> Self {
        Cursor {
            tokens,
            position: 0,
            diagnostics: Diagnostics::new(),
            error_count: 0,
            reported_at: None,
            silent: false,
            suppressed_at: None,
            broken,
            nesting: 0,
        }
    }

    /// Whether the lexer has reported an error between the beginning of the statement and here.
    fn follows_broken_token(&self) -> bool {
        let after = self.broken.partition_point(|at| *at <= self.position);
        let Some(broken) = after.checked_sub(1).map(|last| self.broken[last]) else {
            return false;
        };
        let ends = |token: &T| {
            let kind = token.kind();
            kind == T::SEMICOLON || kind == T::OPEN_BRACE || kind == T::CLOSE_BRACE
        };
        self.position - broken < MAX_TOKENS_AFTER_BROKEN
            && !self.tokens[broken..self.position].iter().any(ends)
    }
}

/// A parser that reads tokens from left to right, one function for each construct.
pub trait RecursiveDescent: Sized {
    /// The language's tokens.
    type Token: Token<Kind = Self::Kind>;
    /// The kinds of these tokens.
    type Kind: Copy + PartialEq;
    /// The codes of the language's syntax errors.
    const CODES: SyntaxCodes;
    /// How deep constructs may nest.
    const NESTING: NestingLimit;

    /// Returns the parser's cursor.
    fn cursor(&self) -> &Cursor<Self::Token>;

    /// Returns the parser's cursor for writing.
    fn cursor_mut(&mut self) -> &mut Cursor<Self::Token>;

    /// Returns the text of a token.
    fn text_of<'t>(&'t self, token: &'t Self::Token) -> &'t str;

    /// Whether what begins at the current token can stand after a `;`: then the parser reports a
    /// missing `;` and reads on.
    fn can_follow_semicolon(&self) -> bool;

    /// Whether a keyword that begins a statement or declaration stands here, and nothing else can be
    /// meant by it: recovery stops at it.
    fn at_recovery_point(&self) -> bool;

    /// Whether a statement goes on at the current token, which stands behind a `}` in it.
    fn statement_continues(&self) -> bool;

    /// Adds a suggestion to an error at the current token.
    fn with_suggestion(&self, diagnostic: Diagnostic) -> Diagnostic {
        diagnostic
    }

    /// Reports an operator of another language, if one stands here instead of a `;` or a closing
    /// bracket.
    fn foreign_operator(&mut self) -> Option<Unparsed> {
        None
    }

    /// Returns the current token.
    fn token(&self) -> &Self::Token {
        &self.cursor().tokens[self.cursor().position]
    }

    /// Returns the kind of the current token.
    fn kind(&self) -> Self::Kind {
        self.token().kind()
    }

    /// Returns the place of the current token.
    fn span(&self) -> Span {
        self.token().span()
    }

    /// Returns the token with this index, or the end.
    fn token_at(&self, position: usize) -> &Self::Token {
        let tokens = &self.cursor().tokens;
        &tokens[position.min(tokens.len() - 1)]
    }

    /// Returns the kind of the token with this index.
    fn kind_at(&self, position: usize) -> Self::Kind {
        self.token_at(position).kind()
    }

    /// Returns the token `distance` after the current one.
    fn token_ahead(&self, distance: usize) -> &Self::Token {
        self.token_at(self.cursor().position + distance)
    }

    /// Returns the kind of the token `distance` after the current one.
    fn ahead(&self, distance: usize) -> Self::Kind {
        self.token_ahead(distance).kind()
    }

    /// Whether the current token is of this kind.
    fn at(&self, kind: Self::Kind) -> bool {
        self.kind() == kind
    }

    /// Returns the place of the token before the current one.
    fn previous_span(&self) -> Span {
        self.token_at(self.cursor().position.saturating_sub(1)).span()
    }

    /// Returns the span from `start` to the token before the current one.
    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }

    /// Takes the current token, unless it is the end.
    fn bump(&mut self) {
        let cursor = self.cursor_mut();
        if cursor.position + 1 < cursor.tokens.len() {
            cursor.position += 1;
        }
    }

    /// Takes the current token if it is of this kind.
    fn eat(&mut self, kind: Self::Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Reports an error, unless one was reported at this token or the lexer reported one in this
    /// statement.
    fn report(&mut self, diagnostic: Diagnostic) -> Unparsed {
        let cursor = self.cursor_mut();
        if cursor.reported_at != Some(cursor.position) {
            cursor.reported_at = Some(cursor.position);
            if !cursor.follows_broken_token() {
                let diagnostic = self.with_suggestion(diagnostic);
                self.report_read(diagnostic);
            }
        }
        Unparsed
    }

    /// Reports an error in something that the parser has read to its end, so that reading goes on
    /// behind it.
    fn report_read(&mut self, diagnostic: Diagnostic) {
        let cursor = self.cursor_mut();
        if cursor.silent {
            return;
        }
        cursor.error_count += 1;
        if cursor.error_count <= ERROR_LIMIT {
            cursor.diagnostics.push(diagnostic);
        } else {
            cursor.suppressed_at.get_or_insert(diagnostic.primary.span);
        }
    }

    /// Reports how many errors were only counted.
    fn report_suppressed(&mut self) {
        let cursor = self.cursor_mut();
        let Some(span) = cursor.suppressed_at else { return };
        let count = cursor.error_count - ERROR_LIMIT;
        let plural = if count == 1 { "" } else { "s" };
        cursor.diagnostics.push(Diagnostic::error(
            Self::CODES.too_many_errors,
            span,
            format!("and {count} more syntax error{plural} from here on"),
        ));
    }

    /// Skips the rest of the file and drops further errors.
    fn abandon(&mut self) {
        let cursor = self.cursor_mut();
        cursor.silent = true;
        cursor.position = cursor.tokens.len() - 1;
    }

    /// Formats a token for a message.
    fn describe(&self, token: &Self::Token) -> String {
        let text = self.text_of(token);
        match token.kind() {
            kind if kind == Self::Token::END => "the end of the file".to_owned(),
            kind if kind == Self::Token::STRING => "a string".to_owned(),
            _ => match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
                Some((end, _)) => format!("`{}...`", &text[..end]),
                None => format!("`{text}`"),
            },
        }
    }

    /// Formats the current token for a message.
    fn found(&self) -> String {
        self.describe(self.token())
    }

    /// Reports "expected X, found Y" at the current token.
    fn unexpected(&mut self, expected: &str) -> Unparsed {
        let message = format!("expected {expected}, found {}", self.found());
        let diagnostic = Diagnostic::error(Self::CODES.unexpected_token, self.span(), message);
        self.report(diagnostic.here(format!("expected {expected}")))
    }

    /// Takes a token of this kind or reports that it is missing. `place` ends the sentence
    /// "expected `(` ...".
    fn expect(&mut self, kind: Self::Kind, place: &str) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let spelling = Self::Token::spelling(kind);
        let message = format!("expected `{spelling}` {place}, found {}", self.found());
        let diagnostic = Diagnostic::error(Self::CODES.unexpected_token, self.span(), message);
        Err(self.report(diagnostic.here(format!("expected `{spelling}`"))))
    }

    /// Takes a `;`. A missing one is reported; when what follows can stand after one, reading goes
    /// on as if it were there.
    fn expect_semicolon(&mut self, after: &str) -> Parsed<()> {
        if self.eat(Self::Token::SEMICOLON) {
            return Ok(());
        }
        if let Some(unparsed) = self.foreign_operator() {
            return Err(unparsed);
        }
        let diagnostic = Diagnostic::error(
            Self::CODES.missing_semicolon,
            self.previous_span().after(),
            format!("expected `;` after {after}, found {}", self.found()),
        )
        .here("expected `;`");
        let unparsed = self.report(diagnostic);
        if self.can_follow_semicolon() {
            // What begins here may have an error of its own.
            self.cursor_mut().reported_at = None;
            return Ok(());
        }
        Err(unparsed)
    }

    /// Takes a closing bracket or brace, or reports that the one at `opener` is not closed.
    fn expect_close(&mut self, kind: Self::Kind, opener: Span) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        if let Some(unparsed) = self.foreign_operator() {
            return Err(unparsed);
        }
        let close = Self::Token::spelling(kind);
        let open = match close {
            ")" => "(",
            "]" => "[",
            "}" => "{",
            ">>" => "<<",
            _ => "<",
        };
        let diagnostic = Diagnostic::error(
            Self::CODES.unclosed_delimiter,
            self.span(),
            format!("expected `{close}`, found {}", self.found()),
        )
        .here(format!("expected `{close}`"))
        .label(opener, format!("to close this `{open}`"));
        Err(self.report(diagnostic))
    }

    /// Reports that the current token, a reserved word, stands where the name of `what` belongs.
    /// Fails where the word does not stand as a name would.
    fn reserved_word(&mut self, what: &str) -> Parsed<()> {
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            Self::CODES.reserved_word,
            self.span(),
            format!("`{text}` is a reserved word and cannot name {what}"),
        )
        .here("reserved word")
        .help(format!("choose another name, such as `{text}_`"));
        let unparsed = self.report(diagnostic);
        match Self::Token::spelling(self.ahead(1)) {
            ";" | "=" | "," | "(" | ")" | "{" | "}" => Ok(()),
            _ => Err(unparsed),
        }
    }

    /// Reads a construct one level deeper, on a stack that is large enough.
    fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<R>) -> Parsed<R> {
        let limit = Self::NESTING.levels;
        if self.cursor().nesting >= limit {
            let message = format!("this is nested more than {limit} levels deep");
            let code = Self::CODES.nested_too_deeply;
            let diagnostic = Diagnostic::error(code, self.span(), message);
            let unparsed = self.report(diagnostic.help(Self::NESTING.help));
            self.abandon();
            return Err(unparsed);
        }
        self.cursor_mut().nesting += 1;
        let result = stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || read(self));
        self.cursor_mut().nesting -= 1;
        result
    }

    /// Skips from a `{` past the `}` that closes it.
    fn skip_braces(&mut self) {
        let mut depth = 0u32;
        loop {
            let kind = self.kind();
            if kind == Self::Token::END {
                return;
            }
            if kind == Self::Token::OPEN_BRACE {
                depth += 1;
            }
            self.bump();
            if kind == Self::Token::CLOSE_BRACE {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return;
                }
            }
        }
    }

    /// Skips to the end of a statement: past its `;` or block, or to the `}` that closes the block
    /// around it, or to where the next statement or declaration evidently begins.
    fn skip_statement(&mut self) {
        let start = self.cursor().position;
        loop {
            let kind = self.kind();
            if kind == Self::Token::END || kind == Self::Token::CLOSE_BRACE {
                return;
            }
            if kind == Self::Token::OPEN_BRACE {
                self.skip_braces();
                if !self.statement_continues() {
                    return;
                }
            } else if self.cursor().position > start && self.at_recovery_point() {
                return;
            } else {
                self.bump();
                if kind == Self::Token::SEMICOLON {
                    return;
                }
            }
        }
    }
}

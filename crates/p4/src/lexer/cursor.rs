// SPDX-License-Identifier: Apache-2.0
//! A cursor over one file's text that cuts it into lexemes: words, numbers, strings, symbols,
//! comments and line ends (P4_16 v1.2.5 §6.4.1, §6.4.2, §6.4.3.2, §6.4.3.3). It knows neither
//! keywords nor directives and reports nothing.

use crate::token::TokenKind;
use logos::{Lexer, Logos};
use source::{FileId, Span};
use std::ops::Range;
use std::sync::Arc;

/// The kinds of lexemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    /// A name or keyword.
    Word,
    /// Starts with a digit.
    Number,
    /// Between double quotes.
    String { closed: bool },
    /// A character constant, which only `#if` may have.
    Character,
    /// An operator or punctuation.
    Symbol(TokenKind),
    /// `#`
    Hash,
    /// `##`
    HashHash,
    /// The end of a line.
    Newline,
    /// `// ...`
    LineComment,
    /// `/* ... */`
    BlockComment { closed: bool },
    /// A text of another language in braces.
    Verbatim,
    /// A run of characters outside of P4's alphabet.
    Unknown,
    /// The end of the text.
    End,
}

/// A lexeme of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    /// Its kind.
    pub kind: LexemeKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Nothing but blanks and comments stands before it on its line.
    pub first_on_line: bool,
    /// There is a blank, a line end or a comment before it.
    pub spaced: bool,
}

impl Lexeme {
    /// Returns the lexeme's place in `file`.
    pub fn span(self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }
}

/// How far a string may reach.
#[derive(Clone, Copy, Default)]
struct StringReach {
    single_line: bool,
}

/// P4_16 v1.2.5 §6.4. Numbers are whole lexemes, well-formed or not, so that the parser
/// can report `8w` or `0b3` as a whole.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\f\x0B]+")]
#[logos(extras = StringReach)]
enum Raw {
    /// A carriage return alone ends a line too.
    #[regex(r"\r\n?|\n")]
    Newline,
    #[regex(r"\\(\r\n?|\n)")]
    Splice,
    #[regex(r"//[^\r\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment(bool),
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex("[0-9][0-9A-Za-z_]*")]
    Number,
    #[token("\"", string)]
    String(bool),
    #[regex(r"'([^'\\\r\n]|\\[^\r\n])+'")]
    Character,
    #[token("##")]
    HashHash,
    #[token("#")]
    Hash,
    #[token("&&&", |_| TokenKind::Mask)]
    #[token("..", |_| TokenKind::Range)]
    #[token("...", |_| TokenKind::Dots)]
    #[token("<<", |_| TokenKind::ShiftLeft)]
    #[token(">>", |_| TokenKind::ShiftRight)]
    #[token("&&", |_| TokenKind::AndAnd)]
    #[token("||", |_| TokenKind::OrOr)]
    #[token("==", |_| TokenKind::EqualEqual)]
    #[token("!=", |_| TokenKind::NotEqual)]
    #[token(">=", |_| TokenKind::GreaterEqual)]
    #[token("<=", |_| TokenKind::LessEqual)]
    #[token("++", |_| TokenKind::PlusPlus)]
    #[token("+:", |_| TokenKind::PlusColon)]
    #[token("+", |_| TokenKind::Plus)]
    #[token("|+|", |_| TokenKind::PlusSaturating)]
    #[token("-", |_| TokenKind::Minus)]
    #[token("|-|", |_| TokenKind::MinusSaturating)]
    #[token("*", |_| TokenKind::Star)]
    #[token("/", |_| TokenKind::Slash)]
    #[token("%", |_| TokenKind::Percent)]
    #[token("|", |_| TokenKind::Pipe)]
    #[token("&", |_| TokenKind::Ampersand)]
    #[token("^", |_| TokenKind::Caret)]
    #[token("~", |_| TokenKind::Tilde)]
    #[token("[", |_| TokenKind::OpenBracket)]
    #[token("]", |_| TokenKind::CloseBracket)]
    #[token("{", |_| TokenKind::OpenBrace)]
    #[token("}", |_| TokenKind::CloseBrace)]
    #[token("{#}", |_| TokenKind::InvalidHeader)]
    #[token("<", |_| TokenKind::OpenAngle)]
    #[token(">", |_| TokenKind::CloseAngle)]
    #[token("!", |_| TokenKind::Not)]
    #[token(":", |_| TokenKind::Colon)]
    #[token(",", |_| TokenKind::Comma)]
    #[token("?", |_| TokenKind::Question)]
    #[token(".", |_| TokenKind::Dot)]
    #[token("=", |_| TokenKind::Assign)]
    #[token(";", |_| TokenKind::Semicolon)]
    #[token("@", |_| TokenKind::At)]
    #[token("(", |_| TokenKind::OpenParen)]
    #[token(")", |_| TokenKind::CloseParen)]
    #[token("+=", |_| TokenKind::PlusAssign)]
    #[token("-=", |_| TokenKind::MinusAssign)]
    #[token("*=", |_| TokenKind::StarAssign)]
    #[token("/=", |_| TokenKind::SlashAssign)]
    #[token("%=", |_| TokenKind::PercentAssign)]
    #[token("&=", |_| TokenKind::AmpersandAssign)]
    #[token("|=", |_| TokenKind::PipeAssign)]
    #[token("^=", |_| TokenKind::CaretAssign)]
    #[token("<<=", |_| TokenKind::ShiftLeftAssign)]
    #[token(">>=", |_| TokenKind::ShiftRightAssign)]
    #[token("|+|=", |_| TokenKind::PlusSaturatingAssign)]
    #[token("|-|=", |_| TokenKind::MinusSaturatingAssign)]
    Symbol(TokenKind),
}

/// Skips the rest of a block comment; returns whether it is closed.
fn block_comment(lexer: &mut Lexer<'_, Raw>) -> bool {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            true
        }
        None => {
            lexer.bump(lexer.remainder().len());
            false
        }
    }
}

/// Skips the rest of a string, which may hold line ends (P4_16 v1.2.5 §6.4.3.3); returns whether it is
/// closed. An unclosed one ends with its line, so that the parser can read on.
fn string(lexer: &mut Lexer<'_, Raw>) -> bool {
    let rest = lexer.remainder().as_bytes();
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            b'"' if closes_another(rest, at) => break,
            b'"' => {
                lexer.bump(at + 1);
                return true;
            }
            b'\n' | b'\r' if lexer.extras.single_line => break,
            b'\\'
                if at + 1 < rest.len()
                    && !(lexer.extras.single_line && matches!(rest[at + 1], b'\n' | b'\r')) =>
            {
                at += 2;
            }
            _ => at += 1,
        }
    }
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let line = rest.iter().position(is_end).unwrap_or(rest.len());
    // Most often the quote is missing before what closes the call or the statement.
    let code = rest[..line].iter().position(|byte| matches!(byte, b')' | b';'));
    lexer.bump(code.unwrap_or(line));
    false
}

/// Whether the quote at `at` of a text that begins inside a string belongs to another string: when
/// the first line goes on as code would, and this one stands where a string begins or the quotes
/// on its line are paired.
fn closes_another(rest: &[u8], at: usize) -> bool {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let Some(first_line) = rest[..at].iter().position(is_end) else { return false };
    let goes_on = rest[..first_line].trim_ascii_end().last();
    if !matches!(goes_on, Some(b')' | b';' | b'{' | b'}' | b',')) {
        return false;
    }
    let start = rest[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = rest[at..].iter().position(is_end).map_or(rest.len(), |end| at + end);
    let mut quotes = 0usize;
    let mut escaped = false;
    for byte in &rest[start..end] {
        quotes += usize::from(*byte == b'"' && !escaped);
        escaped = *byte == b'\\' && !escaped;
    }
    let before = rest[..at].last();
    let after = rest.get(at + 1);
    let opens = matches!(before, Some(b'(' | b',' | b'=' | b'{'))
        && after.is_some_and(u8::is_ascii_alphanumeric);
    opens || quotes.is_multiple_of(2)
}

/// A place in a file's text that moves forward lexeme by lexeme.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    file: FileId,
    text: Arc<str>,
    offset: usize,
    first_on_line: bool,
    single_line: bool,
    /// A string was found that nothing closes. From then on strings end with their line: without
    /// this, a file of stray quotes would be searched to its end once for each of them.
    unclosed_string_seen: bool,
    /// Texts of another language that are one lexeme each, the next one last.
    verbatim: Vec<Range<usize>>,
    /// `--` and `->` are one lexeme each, of the kind [`LexemeKind::Unknown`].
    has_c_operators: bool,
}

impl Cursor {
    /// At the start of the text, after a byte order mark.
    pub fn new(file: FileId, text: Arc<str>) -> Cursor {
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Cursor {
            file,
            text,
            offset,
            first_on_line: true,
            single_line: false,
            unclosed_string_seen: false,
            verbatim: Vec::new(),
            has_c_operators: false,
        }
    }

    /// The same place in a text where `--` and `->` are one lexeme each, if `has_c_operators`.
    pub fn with_c_operators(self, has_c_operators: bool) -> Cursor {
        Cursor { has_c_operators, ..self }
    }

    /// The same place in a text where these parts, in order, are one lexeme each.
    pub fn with_verbatim(self, mut verbatim: Vec<Range<usize>>) -> Cursor {
        verbatim.reverse();
        Cursor { verbatim, ..self }
    }

    /// Returns the file whose text this is.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// Returns the whole text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns how many bytes have been read.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Continues at the start of a line.
    pub fn jump_to_line_start(&mut self, offset: usize) {
        self.offset = offset.min(self.text.len());
        self.first_on_line = true;
    }

    /// Whether strings end with their line, as in directives.
    pub fn single_line_strings(&mut self, single_line: bool) {
        self.single_line = single_line;
    }

    /// The next lexeme; [`LexemeKind::End`] again and again at the end.
    pub fn next(&mut self) -> Lexeme {
        let from = self.offset;
        let reach = StringReach { single_line: self.single_line || self.unclosed_string_seen };
        let text: &str = &self.text[from..];
        let mut lexer = Raw::lexer_with_extras(text, reach);
        let mut spaced = self.first_on_line;
        let mut previous_end = 0;
        loop {
            let raw = lexer.next();
            let span = lexer.span();
            let (start, mut end) = (span.start, span.end);
            spaced |= start > previous_end;
            previous_end = end;
            let kind = match raw {
                Some(Ok(Raw::Splice)) => {
                    spaced = true;
                    continue;
                }
                None => LexemeKind::End,
                Some(Ok(Raw::Newline)) => LexemeKind::Newline,
                Some(Ok(Raw::LineComment)) => LexemeKind::LineComment,
                Some(Ok(Raw::BlockComment(closed))) => LexemeKind::BlockComment { closed },
                Some(Ok(Raw::Word)) => LexemeKind::Word,
                Some(Ok(Raw::Number)) => LexemeKind::Number,
                Some(Ok(Raw::String(closed))) => {
                    self.unclosed_string_seen |= !closed && !self.single_line;
                    LexemeKind::String { closed }
                }
                Some(Ok(Raw::Character)) => LexemeKind::Character,
                Some(Ok(Raw::HashHash)) => LexemeKind::HashHash,
                Some(Ok(Raw::Hash)) => LexemeKind::Hash,
                Some(Ok(Raw::Symbol(TokenKind::Minus)))
                    if self.has_c_operators && text[end..].starts_with(['-', '>']) =>
                {
                    end += 1;
                    LexemeKind::Unknown
                }
                Some(Ok(Raw::Symbol(kind))) => LexemeKind::Symbol(kind),
                Some(Err(())) => {
                    // One lexeme for the whole run, so that it is reported once.
                    let mut ahead = lexer.clone();
                    while matches!(ahead.next(), Some(Err(()))) && ahead.span().start == end {
                        end = ahead.span().end;
                    }
                    LexemeKind::Unknown
                }
            };
            let first_on_line = self.first_on_line;
            match kind {
                LexemeKind::Newline => self.first_on_line = true,
                // A comment before `#` leaves it the first on its line, as in C.
                LexemeKind::LineComment | LexemeKind::BlockComment { .. } | LexemeKind::End => {}
                _ => self.first_on_line = false,
            }
            let (start, mut end) = (from + start, from + end);
            while self.verbatim.last().is_some_and(|range| range.start < start) {
                self.verbatim.pop();
            }
            let kind = match self.verbatim.pop_if(|range| range.start == start) {
                Some(range) => {
                    end = range.end;
                    LexemeKind::Verbatim
                }
                None => kind,
            };
            self.offset = end;
            let (start, end) = (start as u32, end as u32);
            return Lexeme { kind, start, end, first_on_line, spaced };
        }
    }
}

/// Returns the one lexeme that `text` is, if it is exactly one token; for `##`.
pub(crate) fn single_lexeme(text: &str) -> Option<LexemeKind> {
    let mut lexer = Raw::lexer_with_extras(text, StringReach { single_line: true });
    let kind = match lexer.next()?.ok()? {
        Raw::Word => LexemeKind::Word,
        Raw::Number => LexemeKind::Number,
        Raw::String(true) => LexemeKind::String { closed: true },
        Raw::Character => LexemeKind::Character,
        Raw::HashHash => LexemeKind::HashHash,
        Raw::Hash => LexemeKind::Hash,
        Raw::Symbol(kind) => LexemeKind::Symbol(kind),
        Raw::String(false)
        | Raw::Newline
        | Raw::Splice
        | Raw::LineComment
        | Raw::BlockComment(_) => return None,
    };
    (lexer.span() == (0..text.len())).then_some(kind)
}

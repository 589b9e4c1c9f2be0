// SPDX-License-Identifier: Apache-2.0
//! The formatter: indentation by braces, one blank between tokens where C programmers write one, at most one empty line,
//! aligned comments. The author's line ends stay, and directives stay as they are.

use super::token::{Token, TokenKind as T};
use crate::codes::syntax::FORMATTER;
use p4::dialect::Foreign;
use p4::lexer::{Trivia, TriviaKind, lex_foreign};
use source::layout::{INDENT_WIDTH, LineWriter, formatter_fault, line_ends, until_stable};
use source::{Diagnostics, SourceMap, Span};

/// Formats a text. Only white space changes.
pub(crate) fn format(text: &str) -> Result<String, Diagnostics> {
    let loader = NoFiles;
    let read = super::read("source", text, &loader, &Default::default());
    let mut errors = Diagnostics::new();
    // Includes are not read, so only errors of the text itself count.
    let is_own = |found: &&source::Diagnostic| found.code.0.starts_with("DO-");
    read.diagnostics.iter().filter(is_own).for_each(|found| errors.push(found.clone()));
    if errors.has_errors() && !text.contains("#include") && !text.contains("# include") {
        return Err(errors);
    }
    until_stable(format_once(text)?, FORMATTER, format_once)
}

/// No files: a formatter reads one text.
struct NoFiles;

impl p4::preprocessor::IncludeLoader for NoFiles {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(Some(String::new()))
    }
}

fn format_once(text: &str) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let before = pieces(text, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let formatted = write(text, &before);
    let after = pieces(&formatted, &mut found);
    let same = before
        .iter()
        .map(|piece| piece.words(text))
        .eq(after.iter().map(|piece| piece.words(&formatted)));
    match same && !found.has_errors() {
        true => Ok(formatted),
        false => Err(formatter_fault(
            FORMATTER,
            "formatting would change this program, so it is left as it is",
        )),
    }
}

/// A token, a comment or a directive.
struct Piece {
    span: Span,
    /// `None` is a comment or directive.
    token: Option<T>,
    trivia: Option<TriviaKind>,
}

impl Piece {
    fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.span.start as usize..self.span.end as usize).unwrap_or("")
    }

    /// Returns what formatting keeps.
    fn words(&self, text: &str) -> String {
        match self.token {
            Some(_) => self.text(text).to_string(),
            None => self.text(text).split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

/// Returns tokens and trivia in order.
fn pieces(text: &str, found: &mut Diagnostics) -> Vec<Piece> {
    let mut map = SourceMap::new();
    let file = map.add("source", text);
    let (tokens, trivia) = lex_foreign(&map, file, Foreign::c(), found);
    let tokens = tokens.into_iter().map(Token::of).filter(|token| token.kind != T::End);
    let mut pieces: Vec<Piece> = tokens
        .map(|token| Piece { span: token.span, token: Some(token.kind), trivia: None })
        .collect();
    let of_trivia = |Trivia { kind, span }: Trivia| Piece { span, token: None, trivia: Some(kind) };
    pieces.extend(trivia.into_iter().map(of_trivia));
    pieces.sort_by_key(|piece| piece.span.start);
    pieces
}

/// The state of writing.
struct Writer<'w> {
    text: &'w str,
    out: LineWriter,
    /// Open braces.
    depth: usize,
    /// Open parentheses and brackets.
    nested: usize,
    /// The next token begins a statement or declaration.
    begins: bool,
    /// The last token on the line, and whether it was a prefix operator.
    before: Option<(T, bool)>,
    /// Statements of `if`, `else` or `for` without braces that the next statement stands in.
    hanging: usize,
    /// The parentheses of an `if` or `for` follow or are open.
    is_head: bool,
}

fn write(text: &str, pieces: &[Piece]) -> String {
    let mut writer = Writer {
        text,
        out: LineWriter::default(),
        depth: 0,
        nested: 0,
        begins: true,
        before: None,
        hanging: 0,
        is_head: false,
    };
    let mut end = 0usize;
    for (at, piece) in pieces.iter().enumerate() {
        let gap = text.get(end..piece.span.start as usize).unwrap_or("");
        end = piece.span.end as usize;
        writer.piece(piece, line_ends(gap), at == 0, pieces.get(at + 1));
    }
    writer.out.finish()
}

impl Writer<'_> {
    fn piece(&mut self, piece: &Piece, lines_before: usize, is_first: bool, next: Option<&Piece>) {
        let text = piece.text(self.text);
        let starts_line = lines_before > 0 || is_first;
        if piece.token == Some(T::CloseBrace) {
            self.depth = self.depth.saturating_sub(1);
        }
        if starts_line {
            let is_directive =
                matches!(piece.trivia, Some(TriviaKind::Directive | TriviaKind::Excluded));
            let indent = if is_directive { 0 } else { self.indent(piece) };
            self.out.break_line(indent);
            if lines_before > 1 && !is_first && piece.token != Some(T::CloseBrace) {
                self.out.blank_line();
            }
        }
        match (piece.token, piece.trivia) {
            (Some(kind), _) => self.token(kind, text, starts_line, next),
            (None, Some(TriviaKind::LineComment)) if !starts_line => {
                self.out.trailing_comment(text.trim_end(), false);
            }
            (None, Some(TriviaKind::LineComment)) => self.out.text(text.trim_end(), false),
            (None, _) => {
                let lines: Vec<&str> =
                    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
                self.out.verbatim(&lines.join("\n"), !starts_line);
                if !starts_line {
                    self.before = Some((T::Semicolon, false));
                }
            }
        }
    }

    /// Returns the indentation of a line that begins with a piece.
    fn indent(&self, piece: &Piece) -> usize {
        let level = self.depth + self.nested.min(1);
        let continues = !self.begins
            && self.nested == 0
            && !matches!(piece.token, Some(T::OpenBrace | T::CloseBrace));
        let hanging = match piece.token {
            Some(T::OpenBrace) => self.hanging.saturating_sub(1),
            Some(T::Else) => 0,
            _ => self.hanging,
        };
        (level
            + usize::from(continues && piece.token.is_some())
            + if self.begins { hanging } else { 0 })
            * INDENT_WIDTH
    }

    fn token(&mut self, kind: T, text: &str, starts_line: bool, next: Option<&Piece>) {
        let next = next.and_then(|piece| piece.token);
        let is_prefix = self.is_prefix(kind);
        let blank = !starts_line
            && self.before.is_some_and(|(before, was_prefix)| {
                blank_between(before, was_prefix, kind, is_prefix)
            });
        self.out.text(text, blank);
        self.before = Some((kind, is_prefix));
        match kind {
            T::OpenBrace => {
                self.depth += 1;
                self.begins = true;
                self.hanging = 0;
            }
            T::CloseBrace => {
                self.begins = true;
                self.hanging = 0;
            }
            T::Semicolon if self.nested == 0 => {
                self.begins = true;
                self.hanging = 0;
            }
            T::OpenParen | T::OpenBracket => {
                self.nested += 1;
                self.begins = false;
            }
            T::CloseParen | T::CloseBracket => {
                self.nested = self.nested.saturating_sub(1);
                if self.nested == 0 && self.is_head && next != Some(T::OpenBrace) {
                    self.begins = true;
                    self.hanging += 1;
                }
                if self.nested == 0 {
                    self.is_head = false;
                }
            }
            T::Else if !matches!(next, Some(T::OpenBrace | T::If)) => {
                self.begins = true;
                self.hanging += 1;
            }
            T::If | T::For | T::While => {
                self.is_head = true;
                self.begins = false;
            }
            _ => self.begins = false,
        }
    }

    /// Whether an operator stands before its operand.
    fn is_prefix(&self, kind: T) -> bool {
        let is_operator =
            matches!(kind, T::Plus | T::Minus | T::Not | T::Tilde | T::PlusPlus | T::MinusMinus);
        let follows_value = matches!(
            self.before,
            Some((T::Identifier | T::Number | T::CloseParen | T::CloseBracket, _))
        ) || matches!(self.before, Some((T::PlusPlus | T::MinusMinus, false)));
        is_operator && !follows_value
    }
}

/// Whether a blank stands between two tokens of a line.
fn blank_between(before: T, was_prefix: bool, after: T, is_prefix: bool) -> bool {
    if was_prefix {
        // `- -x` must not become `--x`.
        return matches!(
            (before, after),
            (T::Minus, T::Minus | T::MinusMinus) | (T::Plus, T::Plus | T::PlusPlus)
        );
    }
    match (before, after) {
        (T::OpenParen | T::OpenBracket | T::Dot | T::Arrow, _) => false,
        (
            _,
            T::Comma
            | T::Semicolon
            | T::CloseParen
            | T::CloseBracket
            | T::Dot
            | T::Arrow
            | T::OpenBracket,
        ) => false,
        (T::OpenBrace, T::CloseBrace) => false,
        (T::OpenBrace, T::Number | T::Minus | T::Identifier)
        | (T::Number | T::Identifier, T::CloseBrace) => false,
        (_, T::PlusPlus | T::MinusMinus) if !is_prefix => false,
        (T::Identifier, T::OpenParen) => false,
        _ => true,
    }
}

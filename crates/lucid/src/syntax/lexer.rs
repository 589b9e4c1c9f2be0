// SPDX-License-Identifier: Apache-2.0
//! The lexer: text to tokens, with comments in a list of their own for the formatter. It reports errors and
//! continues behind them.

use super::codes;
use super::token::{Token, TokenKind};
use logos::{Lexer, Logos};
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands, without the line's end.
    pub span: Span,
    /// `// ...`
    pub is_line: bool,
}

/// What one file's text is made of.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// The tokens in order; the last is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The comments in order.
    pub comments: Vec<Comment>,
    /// Places of text that is already reported, in order: errors right behind them say nothing new.
    pub broken: Vec<Span>,
}

/// The lexer stops after this many errors.
const ERROR_LIMIT: usize = 100;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\x0B]+")]
enum RawToken {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex("'[A-Za-z_][A-Za-z0-9_]*")]
    Variable,
    /// `'x'` and `'\n'`, which are no tokens of Lucid.
    #[regex(r"'([^'\\\r\n]|\\[^\r\n])'")]
    Character,
    #[regex("[0-9][A-Za-z0-9_]*")]
    Number,
    #[regex(r"0b[01]*\*[01*]*")]
    BitPattern,
    #[token("\"", string)]
    String(bool),
    #[regex("@[A-Za-z0-9_]+")]
    Annotation,
    #[regex(r"//[^\r\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment(bool),
    /// As in OCaml, which some old programs have.
    #[token("(*", foreign_comment)]
    ForeignComment(bool),
    #[token("&&&", |_| TokenKind::Mask)]
    #[token("&&", |_| TokenKind::AndAnd)]
    #[token("||", |_| TokenKind::OrOr)]
    #[token("&", |_| TokenKind::Ampersand)]
    #[token("|+|", |_| TokenKind::SaturatingPlus)]
    #[token("|-|", |_| TokenKind::SaturatingMinus)]
    #[token("|", |_| TokenKind::Pipe)]
    #[token("^^", |_| TokenKind::CaretCaret)]
    #[token("^", |_| TokenKind::Caret)]
    #[token("==", |_| TokenKind::EqualEqual)]
    #[token("!=", |_| TokenKind::NotEqual)]
    #[token("<=", |_| TokenKind::LessEqual)]
    #[token(">=", |_| TokenKind::GreaterEqual)]
    #[token("<<<", |_| TokenKind::TripleLess)]
    #[token(">>>", |_| TokenKind::TripleGreater)]
    #[token("<<", |_| TokenKind::ShiftLeft)]
    #[token(">>", |_| TokenKind::ShiftRight)]
    #[token("<", |_| TokenKind::Less)]
    #[token(">", |_| TokenKind::Greater)]
    #[token("->", |_| TokenKind::Arrow)]
    #[token("+", |_| TokenKind::Plus)]
    #[token("-", |_| TokenKind::Minus)]
    #[token("*", |_| TokenKind::Star)]
    #[token("/", |_| TokenKind::Slash)]
    #[token("%", |_| TokenKind::Percent)]
    #[token("?", |_| TokenKind::Question)]
    #[token("!", |_| TokenKind::Not)]
    #[token("~", |_| TokenKind::Tilde)]
    #[token("#", |_| TokenKind::Hash)]
    #[token("=", |_| TokenKind::Assign)]
    #[token(";", |_| TokenKind::Semicolon)]
    #[token(":", |_| TokenKind::Colon)]
    #[token(",", |_| TokenKind::Comma)]
    #[token(".", |_| TokenKind::Dot)]
    #[token("(", |_| TokenKind::OpenParen)]
    #[token(")", |_| TokenKind::CloseParen)]
    #[token("[", |_| TokenKind::OpenBracket)]
    #[token("]", |_| TokenKind::CloseBracket)]
    #[token("{", |_| TokenKind::OpenBrace)]
    #[token("}", |_| TokenKind::CloseBrace)]
    Symbol(TokenKind),
}

/// Consumes the rest of a string; returns whether it is closed. It ends with its line at the latest, so that a
/// forgotten quote does not swallow the program.
fn string(lexer: &mut Lexer<'_, RawToken>) -> bool {
    let rest = lexer.remainder();
    let line = rest.find(['"', '\n', '\r']).unwrap_or(rest.len());
    if rest[line..].starts_with('"') {
        lexer.bump(line + 1);
        return true;
    }
    // Most often the quote is missing before what closes the call or the statement.
    lexer.bump(rest[..line].find([')', ';']).unwrap_or(line));
    false
}

/// Consumes the rest of a block comment; returns whether it is closed. Comments nest.
fn block_comment(lexer: &mut Lexer<'_, RawToken>) -> bool {
    nested_comment(lexer, *b"/*", *b"*/")
}

fn foreign_comment(lexer: &mut Lexer<'_, RawToken>) -> bool {
    nested_comment(lexer, *b"(*", *b"*)")
}

fn nested_comment(lexer: &mut Lexer<'_, RawToken>, open: [u8; 2], close: [u8; 2]) -> bool {
    let rest = lexer.remainder();
    let bytes = rest.as_bytes();
    let mut depth = 1usize;
    let mut at = 0;
    while at + 1 < bytes.len() {
        let pair = [bytes[at], bytes[at + 1]];
        if pair == close {
            depth -= 1;
            at += 2;
            if depth == 0 {
                lexer.bump(at);
                return true;
            }
        } else if pair == open {
            depth += 1;
            at += 2;
        } else {
            at += 1;
        }
    }
    lexer.bump(rest.len());
    false
}

/// Cuts a file's text into tokens and comments.
pub fn lex(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Lexed {
    let text = map.text(file).clone();
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lexed = Lexed::default();
    let mut reports = Reports { diagnostics, foreign_comments: 0, count: 0 };
    let mut raws = RawToken::lexer(&text[mark..]);
    while let Some(raw) = raws.next() {
        let range = raws.span();
        let span = Span::new(file, (range.start + mark) as u32, (range.end + mark) as u32);
        let slice = raws.slice();
        let kind = match raw {
            Ok(RawToken::LineComment) => {
                lexed.comments.push(Comment { span, is_line: true });
                continue;
            }
            Ok(RawToken::BlockComment(closed)) => {
                if !closed {
                    reports.unterminated_comment(span, slice);
                    lexed.broken.push(span);
                }
                lexed.comments.push(Comment { span, is_line: false });
                continue;
            }
            Ok(RawToken::ForeignComment(closed)) => {
                reports.foreign_comment(span, closed);
                lexed.broken.push(span);
                continue;
            }
            Ok(RawToken::Word) => TokenKind::reserved(slice).unwrap_or(TokenKind::Identifier),
            Ok(RawToken::Variable) => TokenKind::Variable,
            Ok(RawToken::Number) => TokenKind::Number,
            Ok(RawToken::BitPattern) => TokenKind::BitPattern,
            Ok(RawToken::Annotation) => TokenKind::Annotation,
            Ok(RawToken::Symbol(kind)) => kind,
            Ok(RawToken::String(closed)) => {
                if !closed {
                    reports.unterminated_string(span);
                    lexed.broken.push(span);
                }
                TokenKind::String
            }
            Ok(RawToken::Character) => {
                reports.character(span, slice);
                lexed.broken.push(span);
                TokenKind::Number
            }
            Err(()) => {
                // One report for a whole run.
                match lexed.broken.last_mut().filter(|last| last.end == span.start) {
                    Some(last) => last.end = span.end,
                    None => {
                        reports.unknown(span, &text[span.start as usize..]);
                        lexed.broken.push(span);
                    }
                }
                continue;
            }
        };
        lexed.tokens.push(Token { kind, span });
        if reports.count >= ERROR_LIMIT {
            reports.too_many(span);
            break;
        }
    }
    let end = text.len() as u32;
    lexed.tokens.push(Token { kind: TokenKind::End, span: Span::new(file, end, end) });
    lexed
}

/// Diagnostics of the lexer.
struct Reports<'d> {
    diagnostics: &'d mut Diagnostics,
    foreign_comments: usize,
    count: usize,
}

impl Reports<'_> {
    fn push(&mut self, diagnostic: Diagnostic) {
        self.count += 1;
        self.diagnostics.push(diagnostic);
    }

    fn unterminated_comment(&mut self, span: Span, text: &str) {
        let opener = Span { end: span.start.saturating_add(2), ..span };
        let mut diagnostic = Diagnostic::error(
            codes::UNTERMINATED_COMMENT,
            opener,
            "this comment is never closed: expected `*/` before the end of the file",
        )
        .here("the comment begins here");
        // The likely reason, for those who know comments that do not nest.
        let inner = text.get(2..).and_then(|rest| rest.rfind("/*")).filter(|_| text.contains("*/"));
        if let Some(at) = inner {
            let start = span.start + 2 + at as u32;
            diagnostic = diagnostic
                .label(Span { start, end: start + 2, ..span }, "this opens another comment inside")
                .help("comments nest: each `/*` needs its own `*/`");
        } else {
            diagnostic = diagnostic.help("add `*/` where the comment should end");
        }
        self.push(diagnostic);
    }

    fn foreign_comment(&mut self, span: Span, closed: bool) {
        self.foreign_comments += 1;
        // A file with one such comment usually has many: only the first is reported.
        if self.foreign_comments > 1 && closed {
            return;
        }
        let opener = Span { end: span.start.saturating_add(2), ..span };
        self.push(
            Diagnostic::error(codes::FOREIGN_COMMENT, opener, "`(* ... *)` is no comment in Lucid")
                .here("begins a comment of OCaml")
                .help("write `/* ... */` or `// ...`"),
        );
    }

    fn unterminated_string(&mut self, span: Span) {
        self.push(
            Diagnostic::error(
                codes::UNTERMINATED_STRING,
                span,
                "this string is not closed on its line: expected `\"`",
            )
            .here("the string begins here")
            .help("close it with `\"`; a string cannot go on over several lines"),
        );
    }

    fn character(&mut self, span: Span, text: &str) {
        let mut diagnostic = Diagnostic::error(
            codes::UNKNOWN_CHARACTER,
            span,
            format!("Lucid has no character literals such as {text}"),
        );
        if let Some(code) = text.chars().nth(1).filter(|first| *first != '\\') {
            diagnostic = diagnostic.help(format!("write its number: {}", code as u32));
        }
        self.push(diagnostic);
    }

    fn unknown(&mut self, span: Span, rest: &str) {
        let Some(character) = rest.chars().next() else { return };
        let shown = if character.is_control() {
            format!("the control character U+{:04X}", character as u32)
        } else {
            format!("`{character}`")
        };
        let mut diagnostic = Diagnostic::error(
            codes::UNKNOWN_CHARACTER,
            span,
            format!("{shown} is part of no word or operator of Lucid"),
        );
        diagnostic = match character {
            '\u{201c}' | '\u{201d}' => {
                diagnostic.help("strings stand between straight quotes: `\"`")
            }
            '\'' => diagnostic.help("a size or type variable is a quote and a name, such as `'a`"),
            '@' => diagnostic.help("a pragma is `@` and a word, such as `@egress`"),
            _ => diagnostic,
        };
        self.push(diagnostic);
    }

    fn too_many(&mut self, span: Span) {
        self.diagnostics.push(Diagnostic::error(
            codes::TOO_MANY_ERRORS,
            span,
            format!("{ERROR_LIMIT} errors so far: the rest of the file is not read"),
        ));
    }
}

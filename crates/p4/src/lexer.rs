// SPDX-License-Identifier: Apache-2.0
//! From text to tokens, without preprocessing: [`lex`] for tools that work on text as it stands,
//! [`lex_with_comments`] for a formatter, which needs comments and directive lines too. The
//! character-level cursor that the preprocessor also reads from is in `cursor`.

pub(crate) mod cursor;
pub(crate) mod excluded;

use crate::codes::lexical;
use crate::dialect::Foreign;
use crate::token::{Token, TokenKind};
use cursor::{Cursor, Lexeme, LexemeKind};
use rustc_hash::FxHashSet;
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// The kinds of text between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriviaKind {
    /// `// ...`, without the line's end.
    LineComment,
    /// `/* ... */`; unterminated ones run to the end of the file.
    BlockComment,
    /// A whole preprocessor directive with its continuation lines, without the last line's end.
    Directive,
    /// A condition that never holds, such as `#if 0`, and everything up to the next directive of
    /// the same condition, without the last line's end. What it excludes is not read.
    Excluded,
}

/// A comment or a directive, for tools that keep the author's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trivia {
    /// Its kind.
    pub kind: TriviaKind,
    /// Where it stands.
    pub span: Span,
}

/// Returns the tokens of a file before preprocessing, without directive lines and comments. The last
/// token is [`TokenKind::End`].
pub fn lex(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Token> {
    lex_with_comments(map, file, diagnostics).0
}

/// Like [`lex`], and also the comments and directive lines in the order they stand.
pub fn lex_with_comments(
    map: &SourceMap,
    file: FileId,
    diagnostics: &mut Diagnostics,
) -> (Vec<Token>, Vec<Trivia>) {
    lex_foreign(map, file, Foreign::default(), diagnostics)
}

/// Like [`lex_with_comments`], with tokens beyond those of P4_16.
pub fn lex_foreign(
    map: &SourceMap,
    file: FileId,
    foreign: Foreign<'_>,
    diagnostics: &mut Diagnostics,
) -> (Vec<Token>, Vec<Trivia>) {
    let text = map.text(file).clone();
    let mut cursor = Cursor::new(file, text.clone())
        .with_verbatim(foreign.verbatim(&text))
        .with_c_operators(foreign.is_c());
    let mut spellings: FxHashSet<Arc<str>> = FxHashSet::default();
    let mut tokens = Vec::new();
    let mut trivia = Vec::new();
    let mut annotation = AnnotationBody::default();
    let mut conditions = excluded::Conditions::default();
    loop {
        let lexeme = cursor.next();
        let span = lexeme.span(file);
        let kind = match lexeme.kind {
            LexemeKind::Newline => continue,
            LexemeKind::LineComment => {
                trivia.push(Trivia { kind: TriviaKind::LineComment, span });
                continue;
            }
            LexemeKind::BlockComment { closed } => {
                if !closed {
                    diagnostics.push(unterminated_comment(span));
                }
                trivia.push(Trivia { kind: TriviaKind::BlockComment, span });
                continue;
            }
            LexemeKind::Hash if lexeme.first_on_line => {
                let end = end_of_directive(&mut cursor, lexeme.end);
                let directive = &text[lexeme.start as usize..end as usize];
                let (kind, end) = match conditions.excludes(directive) {
                    false => (TriviaKind::Directive, end),
                    true => (TriviaKind::Excluded, skip_excluded(&mut cursor)),
                };
                trivia.push(Trivia { kind, span: Span::new(file, lexeme.start, end) });
                continue;
            }
            LexemeKind::Word => {
                TokenKind::keyword(&text[lexeme.start as usize..lexeme.end as usize])
                    .unwrap_or(TokenKind::Identifier)
            }
            LexemeKind::Number => TokenKind::Integer,
            LexemeKind::String { closed } => {
                if !closed {
                    diagnostics.push(unterminated_string(span));
                }
                TokenKind::String
            }
            LexemeKind::Symbol(kind) => kind,
            LexemeKind::Verbatim => TokenKind::Verbatim,
            LexemeKind::Unknown if foreign.allows(map.slice(span)) => TokenKind::Foreign,
            LexemeKind::Character if foreign.is_c() => TokenKind::Foreign,
            LexemeKind::Character
            | LexemeKind::Unknown
            | LexemeKind::Hash
            | LexemeKind::HashHash => {
                if !annotation.is_inside() {
                    diagnostics.push(unknown_text(span, map.slice(span)));
                }
                TokenKind::Unknown
            }
            LexemeKind::End => TokenKind::End,
        };
        let spelling = spelling(&text, lexeme);
        let spelling = match spellings.get(&*spelling) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = Arc::from(&*spelling);
                spellings.insert(new.clone());
                new
            }
        };
        annotation.pass(kind);
        tokens.push(Token { kind, span, text: spelling });
        if kind == TokenKind::End {
            return (with_references(tokens), trivia);
        }
    }
}

/// Makes one token of each `${name}` without blanks, where `$` is a token.
pub(crate) fn with_references(tokens: Vec<Token>) -> Vec<Token> {
    if !tokens.iter().any(|token| token.kind == TokenKind::Foreign) {
        return tokens;
    }
    let touch = |pair: &[Token]| {
        pair[0].span.file == pair[1].span.file && pair[0].span.end == pair[1].span.start
    };
    let mut folded = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let [first, after @ ..] = rest {
        if let [dollar, open, name, close, after @ ..] = rest
            && dollar.kind == TokenKind::Foreign
            && &*dollar.text == "$"
            && open.kind == TokenKind::OpenBrace
            && (name.kind == TokenKind::Identifier || name.kind.is_keyword())
            && close.kind == TokenKind::CloseBrace
            && rest[..4].windows(2).all(touch)
        {
            let text = format!("${{{}}}", name.text).into();
            let span = dollar.span.to(close.span);
            folded.push(Token { kind: TokenKind::Foreign, span, text });
            rest = after;
        } else {
            folded.push(first.clone());
            rest = after;
        }
    }
    folded
}

/// Returns the [`Token::text`] of a lexeme: strings lose their quotes (P4_16 v1.2.5 §6.4.3.3) and
/// any backslash with a line end after it (§6.2).
pub(crate) fn spelling(text: &str, lexeme: Lexeme) -> Cow<'_, str> {
    let whole = &text[lexeme.start as usize..lexeme.end as usize];
    let inner = match lexeme.kind {
        LexemeKind::String { closed: true } => whole.get(1..whole.len() - 1).unwrap_or(""),
        LexemeKind::String { closed: false } => whole.get(1..).unwrap_or(""),
        _ => return Cow::Borrowed(whole),
    };
    if inner.contains("\\\n") || inner.contains("\\\r") {
        let joined = inner.replace("\\\r\n", "").replace("\\\n", "").replace("\\\r", "");
        return Cow::Owned(joined);
    }
    Cow::Borrowed(inner)
}

/// Knows whether a token stands in the body of an unstructured annotation, which may hold any text,
/// characters that P4 does not know included (P4_16 v1.2.5 §20.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum AnnotationBody {
    /// Not in an annotation.
    #[default]
    Outside,
    /// After `@`.
    Name,
    /// After `@name`.
    Opening,
    /// In so many parentheses.
    Inside(u32),
}

impl AnnotationBody {
    /// Goes past a token.
    pub fn pass(&mut self, kind: TokenKind) {
        *self = match (*self, kind) {
            (AnnotationBody::Inside(depth), TokenKind::OpenParen) => {
                AnnotationBody::Inside(depth.saturating_add(1))
            }
            (AnnotationBody::Inside(1), TokenKind::CloseParen) => AnnotationBody::Outside,
            (AnnotationBody::Inside(depth), TokenKind::CloseParen) => {
                AnnotationBody::Inside(depth - 1)
            }
            (inside @ AnnotationBody::Inside(_), _) => inside,
            (AnnotationBody::Opening, TokenKind::OpenParen) => AnnotationBody::Inside(1),
            (AnnotationBody::Name, _) => AnnotationBody::Opening,
            (_, TokenKind::At) => AnnotationBody::Name,
            _ => AnnotationBody::Outside,
        };
    }

    /// Whether the last token passed is in such a body.
    pub fn is_inside(self) -> bool {
        matches!(self, AnnotationBody::Inside(_))
    }
}

/// Moves past a directive line; returns where its last token ends.
fn end_of_directive(cursor: &mut Cursor, hash_end: u32) -> u32 {
    let mut end = hash_end;
    cursor.single_line_strings(true);
    loop {
        let lexeme = cursor.next();
        match lexeme.kind {
            LexemeKind::Newline | LexemeKind::End => break,
            _ => end = lexeme.end,
        }
    }
    cursor.single_line_strings(false);
    end
}

/// Moves past the lines that a condition excludes; returns where the last of them ends.
fn skip_excluded(cursor: &mut Cursor) -> u32 {
    let text = cursor.text().clone();
    let next = excluded::next_of_condition(&text, cursor.offset()).unwrap_or(text.len());
    let line_start = text[..next].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let blank = text[line_start..next].trim().is_empty();
    let stop = if next < text.len() && blank { line_start } else { next };
    cursor.jump_to_line_start(stop);
    let excluded = &text[..stop];
    let excluded = excluded.strip_suffix('\n').unwrap_or(excluded);
    let excluded = excluded.strip_suffix('\r').unwrap_or(excluded);
    excluded.len() as u32
}

/// Returns the diagnostic for a comment that nothing closes.
pub(crate) fn unterminated_comment(span: Span) -> Diagnostic {
    let opening = Span { end: span.start.saturating_add(2).min(span.end), ..span };
    Diagnostic::error(lexical::UNTERMINATED_COMMENT, opening, "this comment is never closed")
        .here("the comment starts here")
        .help("close it with `*/`")
}

/// Returns the diagnostic for a string that nothing closes.
pub(crate) fn unterminated_string(span: Span) -> Diagnostic {
    let opening = Span { end: span.start.saturating_add(1).min(span.end), ..span };
    Diagnostic::error(lexical::UNTERMINATED_STRING, opening, "this string is never closed")
        .here("the string starts here")
        .help("close it with `\"`; a quote inside a string is written `\\\"`")
}

/// Returns the diagnostic for text that is no token of P4.
pub(crate) fn unknown_text(span: Span, text: &str) -> Diagnostic {
    let mut characters = text.chars();
    let first = characters.next().unwrap_or(' ');
    let several = characters.next().is_some();
    let mut shown = String::new();
    for character in text.chars().take(20) {
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    if text.chars().count() > 20 {
        shown.push_str("...");
    }
    let message = if first == '#' {
        format!("`{text}` does not belong here")
    } else if first == '\'' && several {
        "P4 has no character constants".to_owned()
    } else if several {
        format!("P4 does not know the characters `{shown}`")
    } else {
        match first.is_ascii() {
            true => format!("P4 does not know the character `{shown}`"),
            false => {
                let code = u32::from(first);
                format!("P4 does not know the character `{shown}` (U+{code:04X})")
            }
        }
    };
    let diagnostic = Diagnostic::error(lexical::UNKNOWN_CHARACTER, span, message);
    match first {
        '#' => diagnostic.help("a directive starts with `#` as the first character of its line"),
        '\'' => diagnostic.help("write a string with `\"`, or the character's number"),
        '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => {
            diagnostic.help("these are typographic quotes; write `\"`")
        }
        '\u{2013}' | '\u{2014}' | '\u{2212}' => diagnostic.help("write the minus sign `-`"),
        '\u{37e}' | '\u{ff1b}' => {
            diagnostic.help("this only looks like `;`; write the one of ASCII")
        }
        '\u{a0}' | '\u{200b}' | '\u{2003}' | '\u{2009}' => {
            diagnostic.help("this is an invisible space; replace it by an ordinary one")
        }
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests;

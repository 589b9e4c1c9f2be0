// SPDX-License-Identifier: Apache-2.0
//! Tokens of the text form, and how names are written so that they are read back as one token. The
//! parser combines them.

use super::TextError;
use std::fmt::Write;

/// A piece of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    pub first_on_line: bool,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A keyword or a plain name.
    Word(String),
    /// A quoted name or text; never a keyword.
    Quoted(String),
    /// Starts with a digit or a minus sign: `12`, `-3`, `8w0xff`.
    Number(String),
    Punctuation(char),
}

impl TokenKind {
    /// For messages.
    pub fn describe(&self) -> String {
        match self {
            TokenKind::Word(word) => format!("`{word}`"),
            TokenKind::Quoted(text) => quoted(text),
            TokenKind::Number(number) => format!("`{number}`"),
            TokenKind::Punctuation(character) => format!("`{character}`"),
        }
    }
}

fn starts_word(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || character == '$'
}

fn continues_word(character: char) -> bool {
    starts_word(character) || character.is_ascii_digit() || character == '.'
}

/// How many bytes of `text` are one word: letters, digits, `_`, `$`, dots, and indices as in
/// `hdr.mpls[2].label`.
fn word_length(text: &str) -> usize {
    if !text.starts_with(starts_word) {
        return 0;
    }
    let mut length = 0;
    loop {
        let rest = &text[length..];
        length += rest.find(|character| !continues_word(character)).unwrap_or(rest.len());
        let Some(index) = text[length..].strip_prefix('[') else { return length };
        let digits = index.find(|character: char| !character.is_ascii_digit()).unwrap_or(0);
        if digits == 0 || !index[digits..].starts_with(']') {
            return length;
        }
        length += digits + 2;
    }
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A name: plain when that is one word and not the keyword that starts a stack element, else quoted.
pub(super) fn name(text: &str) -> String {
    if !text.is_empty() && word_length(text) == text.len() && text != "element" {
        text.to_string()
    } else {
        quoted(text)
    }
}

/// Splits the text. `//` starts a comment to the end of the line.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>, TextError> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        tokenize_line(line, number as u32 + 1, &mut tokens)?;
    }
    Ok(tokens)
}

fn tokenize_line(line: &str, number: u32, tokens: &mut Vec<Token>) -> Result<(), TextError> {
    let mut at = 0;
    let mut first_on_line = true;
    while let Some(character) = line[at..].chars().next() {
        let rest = &line[at..];
        let column = line[..at].chars().count() as u32 + 1;
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            break;
        }
        let (kind, length) = if starts_word(character) {
            let length = word_length(rest);
            (TokenKind::Word(rest[..length].to_string()), length)
        } else if character == '"' {
            let (text, length) = unquote(rest).map_err(|message| TextError {
                line: number,
                column,
                message: message.into(),
            })?;
            (TokenKind::Quoted(text), length)
        } else if character.is_ascii_digit() || character == '-' {
            let digits = &rest[1..];
            let length = 1 + digits
                .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
                .unwrap_or(digits.len());
            (TokenKind::Number(rest[..length].to_string()), length)
        } else {
            (TokenKind::Punctuation(character), character.len_utf8())
        };
        tokens.push(Token { kind, line: number, column, first_on_line });
        first_on_line = false;
        at += length;
    }
    Ok(())
}

/// The text that a quoted token at the start of `source` stands for, and the token's length in bytes.
fn unquote(source: &str) -> Result<(String, usize), &'static str> {
    let mut out = String::new();
    let mut characters = source.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((out, at + 1)),
            '\\' => match characters.next().map(|(_, escaped)| escaped) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('u') => {
                    let code: String = characters
                        .by_ref()
                        .map(|(_, character)| character)
                        .skip_while(|character| *character == '{')
                        .take_while(|character| *character != '}')
                        .collect();
                    let code = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                    out.push(code.ok_or("no such character after `\\u`")?);
                }
                Some(escaped @ ('"' | '\\')) => out.push(escaped),
                _ => return Err("unknown escape after `\\`"),
            },
            other => out.push(other),
        }
    }
    Err("the quoted text has no end on this line")
}

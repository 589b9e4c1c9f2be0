// SPDX-License-Identifier: Apache-2.0
//! Parses the format texts of `printf` into literal text and placeholders.

use std::sync::Arc;

/// A piece of a `printf` text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatPiece {
    /// Printed as it is.
    Text(Arc<str>),
    /// `%d`
    Integer,
    /// `%b`
    Boolean,
}

/// An error in a `printf` format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// `%` before this character.
    Unknown(char),
    /// `%` at the end.
    Unfinished,
}

impl FormatError {
    /// The matter in a sentence.
    pub fn message(self) -> String {
        match self {
            FormatError::Unknown(letter) => format!("`%{letter}` is not a conversion"),
            FormatError::Unfinished => "the format ends in an incomplete conversion `%`".to_owned(),
        }
    }
}

/// Takes a `printf` text apart. `\%` and `%%` are a percent sign.
pub fn format_pieces(format: &str) -> Result<Vec<FormatPiece>, FormatError> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        let value = match character {
            '\\' if characters.peek() == Some(&'%') => {
                characters.next();
                text.push('%');
                continue;
            }
            '%' => match characters.next() {
                Some('%') => {
                    text.push('%');
                    continue;
                }
                Some('d') => FormatPiece::Integer,
                Some('b') => FormatPiece::Boolean,
                Some(other) => return Err(FormatError::Unknown(other)),
                None => return Err(FormatError::Unfinished),
            },
            other => {
                text.push(other);
                continue;
            }
        };
        if !text.is_empty() {
            pieces.push(FormatPiece::Text(std::mem::take(&mut text).into()));
        }
        pieces.push(value);
    }
    if !text.is_empty() {
        pieces.push(FormatPiece::Text(text.into()));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::{FormatError, FormatPiece, format_pieces};

    #[test]
    fn pieces() {
        let text = |text: &str| FormatPiece::Text(text.into());
        let (int, bool) = (FormatPiece::Integer, FormatPiece::Boolean);
        assert_eq!(
            format_pieces("a %d%b 5\\% 6%%"),
            Ok(vec![text("a "), int, bool, text(" 5% 6%")])
        );
        assert_eq!(format_pieces(""), Ok(vec![]));
        assert_eq!(format_pieces("50% of"), Err(FormatError::Unknown(' ')));
        assert_eq!(format_pieces("50%"), Err(FormatError::Unfinished));
    }
}

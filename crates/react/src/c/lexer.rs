// SPDX-License-Identifier: Apache-2.0
//! Tokens of C texts, with `${name}` as a token of its own. Comments and blanks have no tokens. Any text has tokens: errors
//! in C are the compiler's to report.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword.
    Identifier,
    /// A preprocessing number.
    Number,
    /// A string or character literal.
    Literal,
    /// An operator or bracket.
    Punctuator,
    /// `${name}`
    Malleable,
}

/// A token of a C text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its kind.
    pub kind: Kind,
    /// The offset of its first byte.
    pub start: usize,
    /// Its bytes; of `${ name }` the name alone.
    pub text: &'t str,
    /// The offset behind its last byte.
    pub end: usize,
    /// Whether it stands on a line that begins with `#`.
    pub is_directive: bool,
}

impl Token<'_> {
    /// Whether it is this operator or bracket.
    pub fn is(&self, punctuator: &str) -> bool {
        self.kind == Kind::Punctuator && self.text == punctuator
    }

    /// Whether it is this name or keyword.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Identifier && self.text == word
    }
}

/// Operators of more than one character, longer ones first.
const PUNCTUATORS: [&str; 23] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
];

/// Reserved words of C11 that no argument, field or parameter can have as its name.
pub const KEYWORDS: [&str; 46] = [
    "asm",
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "typeof",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "bool",
];

/// Whether a byte may stand in a name.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the tokens of a text.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, at: 0, is_directive: false, begins_line: true };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    is_directive: bool,
    begins_line: bool,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Moves behind blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            match rest {
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                [b'\n', ..] => {
                    self.at += 1;
                    self.is_directive = false;
                    self.begins_line = true;
                }
                [b'/', b'*', ..] => {
                    let end = self.text[self.at + 2..].find("*/");
                    self.at = end.map_or(self.text.len(), |end| self.at + 2 + end + 2);
                }
                [b'/', b'/', ..] => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    self.at += end.unwrap_or(rest.len());
                }
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                _ => return,
            }
        }
    }

    /// Returns the length of the `${name}` at the current place, with the range of the name.
    fn malleable(&self) -> Option<(usize, std::ops::Range<usize>)> {
        let rest = self.rest();
        if !rest.starts_with(b"${") {
            return None;
        }
        let blanks = |from: usize| {
            from + rest[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
        };
        let start = blanks(2);
        let end = start + rest[start..].iter().take_while(|byte| is_name_byte(**byte)).count();
        let close = blanks(end);
        (end > start && rest.get(close) == Some(&b'}')).then_some((close + 1, start..end))
    }

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip_blanks();
        let rest = self.rest();
        let first = *rest.first()?;
        if std::mem::take(&mut self.begins_line) && first == b'#' {
            self.is_directive = true;
        }
        let start = self.at;
        let (kind, length, name) = if let Some((length, name)) = self.malleable() {
            (Kind::Malleable, length, Some(name))
        } else if let Some(length) = literal_length(rest) {
            (Kind::Literal, length, None)
        } else if first.is_ascii_digit()
            || (first == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit))
        {
            (Kind::Number, number_length(rest), None)
        } else if is_name_byte(first) {
            let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
            (Kind::Identifier, length, None)
        } else {
            let known = PUNCTUATORS.iter().find(|known| rest.starts_with(known.as_bytes()));
            (Kind::Punctuator, known.map_or(1, |known| known.len()), None)
        };
        self.at += length;
        let named = name.map_or(start..self.at, |name| start + name.start..start + name.end);
        Some(Token {
            kind,
            start,
            text: &self.text[named],
            end: self.at,
            is_directive: self.is_directive,
        })
    }
}

/// Returns the length of the literal at the beginning, with its prefix. A literal that is not closed ends with its line.
fn literal_length(rest: &[u8]) -> Option<usize> {
    let prefix = [&b"u8"[..], b"u", b"U", b"L", b""].into_iter().find(|prefix| {
        rest.starts_with(prefix) && matches!(rest.get(prefix.len()), Some(b'"' | b'\''))
    })?;
    let quote = rest[prefix.len()];
    let mut at = prefix.len() + 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\n' => return Some(at),
            b'\\' if at + 1 < rest.len() => at += 2,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    Some(rest.len())
}

fn number_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        let is_exponent_sign =
            matches!(byte, b'+' | b'-') && matches!(rest[at - 1], b'e' | b'E' | b'p' | b'P');
        let is_hexadecimal = matches!(rest.get(..2), Some(b"0x" | b"0X"));
        let continues = is_name_byte(*byte) || *byte == b'.';
        if !continues
            && !(is_exponent_sign && !(is_hexadecimal && matches!(rest[at - 1], b'e' | b'E')))
        {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::tokens;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> =
            tokens(text).iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn operators_take_as_many_characters_as_possible() {
        check("a<<=b->c...", &["a", "<<=", "b", "->", "c", "..."]);
        check("x+++y", &["x", "++", "+", "y"]);
    }

    #[test]
    fn malleables_are_tokens_outside_of_literals_and_comments() {
        check(
            "${v} = \"${v}\"; // ${v}\n/* ${w} */ ${ x }",
            &["${v}", "=", "\"${v}\"", ";", "${ x }"],
        );
        check("${}", &["$", "{", "}"]);
    }

    #[test]
    fn literals_and_numbers_are_one_token() {
        check(
            r#"'"' "a\"b" L'x' 1.5e-3 0x1e+2"#,
            &["'\"'", r#""a\"b""#, "L'x'", "1.5e-3", "0x1e", "+", "2"],
        );
        check("'a\nb", &["'a", "b"]);
    }

    #[test]
    fn lines_with_a_hash_are_directives_up_to_their_end() {
        let found = tokens("#define A \\\n B\nC # D");
        let directive: Vec<bool> = found.iter().map(|token| token.is_directive).collect();
        assert_eq!(directive, [true, true, true, true, false, false, false]);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Finds the C texts of a P4R file before it is read, because C has characters, directives and words that P4_16 does not
//! have: the braces after `reaction NAME(...)`, `init`, `c` and `state` at file level.

use std::ops::Range;

/// A word, number or mark of a text that may be P4R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lexeme<'t> {
    Word(&'t str),
    Mark(u8),
}

/// Goes over a text, leaving out comments, strings and, in P4, directive lines.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    first_on_line: bool,
}

impl<'t> Scanner<'t> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips to behind the next place of a text.
    fn skip_past(&mut self, end: &str) {
        let rest = &self.text[self.at..];
        self.at += rest.find(end).map_or(rest.len(), |found| found + end.len());
    }

    /// Skips a string or character constant that opens here. It ends with its line at the latest.
    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += 1,
                _ if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.text.len();
    }

    /// Skips a line with the lines that backslashes join to it.
    fn skip_line(&mut self) {
        while let Some(byte) = self.byte(0) {
            self.at += 1;
            match byte {
                b'\\' => self.at += usize::from(self.byte(0) == Some(b'\r')) + 1,
                b'\n' => break,
                _ => {}
            }
        }
        self.at = self.at.min(self.text.len());
        self.first_on_line = true;
    }

    /// The next word or mark and its place.
    fn next(&mut self) -> Option<(usize, Lexeme<'t>)> {
        loop {
            let byte = self.byte(0)?;
            let first_on_line = self.first_on_line;
            match byte {
                b'\n' | b'\r' => {
                    self.at += 1;
                    self.first_on_line = true;
                    continue;
                }
                b' ' | b'\t' | 0x0b | 0x0c => {
                    self.at += 1;
                    continue;
                }
                b'/' if self.byte(1) == Some(b'/') => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.byte(1) == Some(b'*') => {
                    self.at += 2;
                    self.skip_past("*/");
                    continue;
                }
                b'#' if first_on_line => {
                    self.skip_line();
                    continue;
                }
                b'"' | b'\'' => {
                    self.first_on_line = false;
                    self.skip_quoted(byte);
                    continue;
                }
                _ => {}
            }
            self.first_on_line = false;
            let start = self.at;
            let rest = &self.text[start..];
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                self.at += length;
                return Some((start, Lexeme::Word(&rest[..length])));
            }
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return Some((start, Lexeme::Mark(byte)));
        }
    }

    /// Reads from behind an opening bracket to behind the bracket that closes it.
    fn skip_balanced(&mut self, open: u8, close: u8) -> Option<()> {
        let mut depth = 1usize;
        while depth > 0 {
            match self.next()?.1 {
                Lexeme::Mark(mark) if mark == open => depth += 1,
                Lexeme::Mark(mark) if mark == close => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }
}

/// Returns the places of the C texts with their braces, in order. A text that nothing closes is none.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut scanner = Scanner { text, at: 0, first_on_line: true };
    let mut found = Vec::new();
    let mut depth = 0usize;
    // Whether a declaration begins with the next word.
    let mut begins = true;
    let mut pending: Option<(usize, Lexeme<'_>)> = None;
    while let Some((_, lexeme)) = pending.take().or_else(|| scanner.next()) {
        let began = std::mem::replace(&mut begins, false);
        match lexeme {
            Lexeme::Mark(b'{' | b'(' | b'[') => depth += 1,
            Lexeme::Mark(b'}' | b')' | b']') => {
                depth = depth.saturating_sub(1);
                begins = depth == 0;
            }
            Lexeme::Mark(b';') => begins = depth == 0,
            // The name of an annotation; what follows begins a declaration, behind the annotation's parentheses or not.
            Lexeme::Mark(b'@') if began => {
                scanner.next();
                begins = true;
            }
            Lexeme::Word("init" | "c" | "state") if began && depth == 0 => {
                pending = take_braces(&mut scanner, &mut found, &mut begins);
            }
            Lexeme::Word("reaction") if began && depth == 0 => {
                let Some((_, Lexeme::Word(_))) = scanner.next() else { continue };
                let Some((_, Lexeme::Mark(b'('))) = scanner.next() else { continue };
                if scanner.skip_balanced(b'(', b')').is_none() {
                    return found;
                }
                pending = take_braces(&mut scanner, &mut found, &mut begins);
            }
            _ => {}
        }
    }
    found
}

/// Takes the braces that stand next; returns what stands there instead.
fn take_braces<'t>(
    scanner: &mut Scanner<'t>,
    found: &mut Vec<Range<usize>>,
    begins: &mut bool,
) -> Option<(usize, Lexeme<'t>)> {
    match scanner.next()? {
        (start, Lexeme::Mark(b'{')) => {
            scanner.skip_balanced(b'{', b'}')?;
            found.push(start..scanner.at);
            *begins = true;
            None
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = find(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn texts_in_c_are_found() {
        check(
            "reaction r(ing hdr.a.x, reg q[1:10]) { if (a) { b(); } }\n",
            &["{ if (a) { b(); } }"],
        );
        check(
            "init { x(); }\nc { #include <stdio.h>\n }\nstate { int a; }",
            &["{ x(); }", "{ #include <stdio.h>\n }", "{ int a; }"],
        );
        check("@rate(\"10ms\") reaction r() {a} @x init {b}", &["{a}", "{b}"]);
        check(
            "c { /* } */ '}' \"}\" // }\n\n#define O {\n }",
            &["{ /* } */ '}' \"}\" // }\n\n#define O {\n }"],
        );
    }

    #[test]
    fn the_words_are_names_elsewhere() {
        check("parser p() { state start { transition accept; } }", &[]);
        check("struct c { bit<8> init; } control state() { apply { } } enum init { A }", &[]);
        check("const bit<8> c = 1; bit<8> state(in bit<8> init) { return init; }", &[]);
        check("control x() { action c() { } apply { } }", &[]);
        // Nothing closes it.
        check("reaction r() { if (a) {", &[]);
        check("reaction r(", &[]);
        check("reaction", &[]);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Text that a condition excludes: finds the next directive without tokenizing the text before it, and
//! the conditions that exclude their text whatever macros are defined. The preprocessor evaluates
//! conditions with macros.

/// The open conditions at some place, as far as they are known without macros.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    /// For each open `#if`, whether one of its groups is read for certain.
    open: Vec<bool>,
}

impl Conditions {
    /// Skips a directive; returns whether the text up to the next directive of the same condition is
    /// excluded, whatever macros are defined.
    pub(crate) fn excludes(&mut self, directive: &str) -> bool {
        let name = directive_name(directive, 0);
        let constant = constant_condition(&directive[name.end..]);
        match &directive[name] {
            "if" => {
                self.open.push(constant == Some(true));
                constant == Some(false)
            }
            "ifdef" | "ifndef" => {
                self.open.push(false);
                false
            }
            "elif" => match self.open.last_mut() {
                Some(true) => true,
                Some(taken) => {
                    *taken = constant == Some(true);
                    constant == Some(false)
                }
                None => false,
            },
            "elifdef" | "elifndef" | "else" => self.open.last() == Some(&true),
            "endif" => {
                self.open.pop();
                false
            }
            _ => false,
        }
    }
}

/// Returns the value of a condition that is one number, such as `0` or `(1)`.
fn constant_condition(text: &str) -> Option<bool> {
    let text = text.split("//").next().unwrap_or("");
    let mut number = text.split("/*").next().unwrap_or("").trim();
    while let Some(inner) = number.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        number = inner.trim();
    }
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.bytes().any(|byte| byte != b'0'))
}

/// Returns the place of the next `#elif`, `#else` or `#endif` of the condition whose directive line ends
/// at `offset`.
pub(crate) fn next_of_condition(text: &str, mut offset: usize) -> Option<usize> {
    let mut nested = 0u64;
    loop {
        let hash = next_directive(text, offset)?;
        let name = directive_name(text, hash);
        offset = name.end;
        match &text[name] {
            "if" | "ifdef" | "ifndef" => nested += 1,
            "endif" if nested > 0 => nested -= 1,
            "endif" | "else" | "elif" | "elifdef" | "elifndef" if nested == 0 => return Some(hash),
            _ => {}
        }
    }
}

/// Returns the place of the next `#` that is first on its line, at or after `offset`. The search begins in
/// the middle of a line if a directive on it has been skipped.
pub(crate) fn next_directive(text: &str, offset: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = offset;
    let mut first_on_line = at == 0 || matches!(bytes[at - 1], b'\n' | b'\r');
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b'\r' => {
                first_on_line = true;
                at += 1;
            }
            b' ' | b'\t' | b'\x0b' | b'\x0c' => at += 1,
            b'#' if first_on_line => return Some(at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + 2 + end + 2);
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find(['\n', '\r']).map_or(bytes.len(), |end| at + end);
            }
            b'\\' if bytes[at + 1..].starts_with(b"\r\n") => at += 3,
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
            b'"' => {
                first_on_line = false;
                at = string_end(bytes, at).unwrap_or(at + 1);
            }
            _ => {
                first_on_line = false;
                at += 1;
            }
        }
    }
    None
}

/// Returns the end of the string that starts at `at`, if it is on the same line.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match bytes.get(end)? {
            b'"' => return Some(end + 1),
            b'\n' | b'\r' => return None,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// Returns the word after the `#` at `hash`, or an empty range.
pub(crate) fn directive_name(text: &str, hash: usize) -> std::ops::Range<usize> {
    let bytes = text.as_bytes();
    let mut start = hash + 1;
    loop {
        match bytes.get(start) {
            Some(b' ' | b'\t') => start += 1,
            Some(b'/') if bytes.get(start + 1) == Some(&b'*') => {
                start = text[start + 2..].find("*/").map_or(bytes.len(), |end| start + end + 4);
            }
            _ => break,
        }
    }
    let length =
        bytes[start..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    start..start + length
}

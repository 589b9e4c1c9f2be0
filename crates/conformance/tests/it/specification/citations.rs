// SPDX-License-Identifier: Apache-2.0
//! Finds citations of the specification in source text: `P4_16 v1.2.5 §8.12`, and in a file that
//! cites it so somewhere, also a bare `§8.12` or `(§8.9 to §8.20)`. A section sign after the name of
//! another document (`Lucid §4.2`, `RFC 1071 §3`) is not ours. Which files there are is the caller's.

/// A citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The clause's number.
    pub clause: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// Whether it stands in test code.
    pub test: bool,
}

/// The citations in a source file. All of them are in test code if `test_file` says so; else those
/// from the first `#[cfg(test)]` on.
pub fn citations(text: &str, test_file: bool) -> Vec<Citation> {
    if !text.contains("P4_16") {
        return Vec::new();
    }
    let tests_from = if test_file { 0 } else { text.find("#[cfg(test)]").unwrap_or(text.len()) };
    let mut list: Vec<Citation> = Vec::new();
    for (at, sign) in text.match_indices('§') {
        let clause = number(&text[at + sign.len()..]);
        if clause.is_empty() || !is_ours(&text[..at]) {
            continue;
        }
        let line = text[..at].matches('\n').count() + 1;
        list.push(Citation { clause, line, test: at >= tests_from });
    }
    list
}

/// The clause number at the beginning of the text, without a full stop after it.
fn number(text: &str) -> String {
    let first = text.chars().next().unwrap_or(' ');
    if !(first.is_ascii_digit() || ('A'..='G').contains(&first)) {
        return String::new();
    }
    let end = text[1..]
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map_or(text.len(), |end| end + 1);
    text[..end].trim_end_matches('.').to_string()
}

/// Whether a section sign after this text means the P4_16 specification: the word before it is its
/// name or version, or no name at all.
fn is_ours(before: &str) -> bool {
    let mut lines = before.rsplit('\n');
    let line = lines.next().unwrap_or_default();
    let previous = lines.next().unwrap_or_default().trim_start();
    let mut words = if previous.starts_with("//") { comment_words(previous) } else { Vec::new() };
    words.extend(comment_words(line));
    let Some(last) = words.last() else { return true };
    if line.ends_with(['(', ',', '[', '`']) || last.ends_with([',', ';', ':', '.', '(']) {
        return true;
    }
    let version = |word: &str| {
        word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let name = if version(last) { words.iter().rev().nth(1).unwrap_or(last) } else { last };
    let name = name.trim_start_matches(['(', '`']);
    name.ends_with("P4_16") || matches!(*last, "and" | "to" | "or" | "see" | "in" | "of" | "by")
}

/// The words of a line, without the mark of a comment.
fn comment_words(line: &str) -> Vec<&str> {
    line.split_whitespace().filter(|word| !matches!(*word, "//" | "///" | "//!")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize, bool)]) {
        let found: Vec<_> = citations(text, false)
            .into_iter()
            .map(|citation| (citation.clause, citation.line, citation.test))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(clause, line, test)| (clause.to_string(), *line, *test))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn citations_of_this_specification_are_found() {
        check(
            "// P4_16 v1.2.5 §8.12.1.\n// (§8.9 to §8.20)\n/// and §F",
            &[("8.12.1", 1, false), ("8.9", 2, false), ("8.20", 2, false), ("F", 3, false)],
        );
        check("//! See (P4_16\n//! v1.2.5 §6.2): x\n", &[("6.2", 2, false)]);
        check("// P4_16 §7\n#[cfg(test)]\n// §7.1", &[("7", 1, false), ("7.1", 3, true)]);
    }

    #[test]
    fn citations_of_other_documents_are_not() {
        check("// P4_16 and Lucid §4.2, RFC 1071 §3, P4Runtime v1.4 §9", &[]);
        check("// Only bare (§4.2), in a file that does not name it", &[]);
    }
}

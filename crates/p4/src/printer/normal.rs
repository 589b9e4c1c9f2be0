// SPDX-License-Identifier: Apache-2.0
//! The normal form of a tree, which leaves out places and identities: two trees are the same if their
//! normal forms are equal.

use crate::ast::Program;

/// Returns the shape of a program as text, for comparing; it has no meaning beyond equality.
pub fn normal_form(program: &Program) -> String {
    // The derived form goes as deep as the tree, so it gets a stack of its own.
    let full = stacker::grow(256 * 1024 * 1024, || format!("{:?}", program.declarations));
    without_places(&full)
}

/// Whether two programs are the same but for places and identities.
pub fn same_tree(first: &Program, second: &Program) -> bool {
    normal_form(first) == normal_form(second)
}

/// Returns the derived debug form without spans and node identities. Text in quotes stays.
fn without_places(full: &str) -> String {
    let mut normal = String::with_capacity(full.len() / 2);
    let mut rest = full;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let end = end_of_quoted(rest);
            normal.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let skipped = [("Span {", '}'), ("NodeId(", ')')].into_iter().find_map(|(start, close)| {
            let inner = rest.strip_prefix(start)?;
            // A span holds `FileId(..)`, so its brace is the first one all the same.
            Some(&inner[inner.find(close)? + 1..])
        });
        match skipped {
            Some(after) => {
                normal.push('_');
                rest = after;
            }
            None => {
                normal.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    normal
}

/// Where the quoted text ends that `text` begins with.
fn end_of_quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

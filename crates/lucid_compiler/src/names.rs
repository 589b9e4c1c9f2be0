// SPDX-License-Identifier: Apache-2.0
//! P4 names for what Lucid names: `M.filter#arrs[2]` is no identifier of P4_16, and `action`, `hash` or
//! `register` mean something there already. One [`Names`] a scope; it gives each name once.

use p4::token::TokenKind;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Names of `core.p4` that no declaration of ours may hide.
pub const CORE_NAMES: &[&str] = &[
    "NoAction",
    "NoError",
    "error",
    "exact",
    "extract",
    "lookahead",
    "lpm",
    "match_kind",
    "packet_in",
    "packet_out",
    "static_assert",
    "string",
    "ternary",
    "verify",
    "apply",
    "hit",
    "miss",
    "action_run",
    "isValid",
    "setValid",
    "setInvalid",
    "minSizeInBits",
    "minSizeInBytes",
    "accept",
    "reject",
    "start",
    "main",
    "size",
    "type",
    "implementation",
];

/// Names that have been given. What is taken gets a number behind it, and each name is looked for from the number
/// on that it got last.
#[derive(Clone, Debug, Default)]
pub(super) struct Unique {
    taken: HashSet<Arc<str>>,
    /// The number to try next, by name.
    next: HashMap<Arc<str>, u32>,
}

impl Unique {
    /// A name for this one: itself, or with the first number from 2 on behind `separator` that is free. It is one
    /// that `may_be` used.
    pub(super) fn fresh(
        &mut self,
        wanted: &str,
        separator: char,
        may_be: impl Fn(&str) -> bool,
    ) -> Arc<str> {
        let wanted: Arc<str> = wanted.into();
        if may_be(&wanted) && self.taken.insert(wanted.clone()) {
            return wanted;
        }
        let next = self.next.entry(wanted.clone()).or_insert(2);
        loop {
            let found: Arc<str> = format!("{wanted}{separator}{next}").into();
            *next += 1;
            if may_be(&found) && self.taken.insert(found.clone()) {
                return found;
            }
        }
    }
}

impl FromIterator<Arc<str>> for Unique {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(taken: I) -> Unique {
        Unique { taken: taken.into_iter().collect(), next: HashMap::new() }
    }
}

/// Names that have been given in a scope, and those that must not be.
#[derive(Clone, Debug, Default)]
pub struct Names {
    given: Unique,
}

impl Names {
    /// A scope where these names, those of [`CORE_NAMES`] and keywords are taken.
    pub fn new(reserved: &[&str]) -> Names {
        Names { given: CORE_NAMES.iter().chain(reserved).map(|name| Arc::from(*name)).collect() }
    }

    /// A name for this one: its letters, digits and `_`, other characters as one `_`; with `_2`, `_3`, ...
    /// behind it if that is taken.
    pub fn fresh(&mut self, name: &str) -> String {
        let is_no_keyword = |name: &str| TokenKind::keyword(name).is_none();
        self.given.fresh(&identifier(name), '_', is_no_keyword).to_string()
    }
}

/// The identifier that is most like a name.
pub fn identifier(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => text.push(character),
            _ if text.is_empty() || text.ends_with('_') => {}
            _ => text.push('_'),
        }
    }
    let text = text.trim_end_matches('_');
    match text.chars().next() {
        None => "unnamed".to_string(),
        Some('0'..='9') => format!("n{text}"),
        Some(_) => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers() {
        let check = |name: &str, expected: &str| assert_eq!(identifier(name), expected);
        check("x", "x");
        check("M.filter#arrs[2]", "M_filter_arrs_2");
        check("update(arr1, ctr1)", "update_arr1_ctr1");
        check("x~2", "x_2");
        check("2x", "n2x");
        check("#", "unnamed");
    }

    #[test]
    fn names_are_given_once() {
        let mut names = Names::new(&["hdr"]);
        let given: Vec<String> =
            ["x", "x", "hdr", "action", "x_2"].iter().map(|name| names.fresh(name)).collect();
        assert_eq!(given, ["x", "x_2", "hdr_2", "action_2", "x_2_2"]);
    }
}

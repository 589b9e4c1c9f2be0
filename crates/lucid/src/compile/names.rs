// SPDX-License-Identifier: Apache-2.0
//! P4 names for what Lucid names: `M.filter#arrs[2]` is no identifier of P4_16, and `action`, `hash` or
//! `register` mean something there already. One [`Names`] a scope; it gives each name once.

use p4::token::TokenKind;
use std::collections::HashSet;

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

/// Names that have been given in a scope, and those that must not be.
#[derive(Clone, Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A scope where these names, those of [`CORE_NAMES`] and keywords are taken.
    pub fn new(reserved: &[&str]) -> Names {
        let taken = CORE_NAMES.iter().chain(reserved).map(|name| (*name).to_string()).collect();
        Names { taken }
    }

    /// A name for this one: its letters, digits and `_`, other characters as one `_`; with `_2`, `_3`, ...
    /// behind it if that is taken.
    pub fn fresh(&mut self, name: &str) -> String {
        let wanted = identifier(name);
        let mut found = wanted.clone();
        let mut number = 2;
        while TokenKind::keyword(&found).is_some() || !self.taken.insert(found.clone()) {
            found = format!("{wanted}_{number}");
            number += 1;
        }
        found
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

// SPDX-License-Identifier: Apache-2.0
//! Names in the P4_16 program: those of the Domino program where they can stay.

use p4::token::TokenKind;
use std::collections::HashMap;

/// Names that the generated program uses itself, or that `core.p4` and `v1model.p4` declare.
const TAKEN: &[&str] = &[
    "hdr",
    "meta",
    "leaves_by",
    "other_packets",
    "ethernet_t",
    "ipv4_t",
    "ports_t",
    "tcp_t",
    "udp_t",
    "update_checksum",
    "packet",
    "standard_metadata",
    "short_packets",
    "divide",
    "hash",
    "register",
    "counter",
    "meter",
    "HashAlgorithm",
    "CounterType",
    "mark_to_drop",
    "random",
    "digest",
    "resubmit",
    "recirculate",
    "clone",
    "truncate",
    "log_msg",
    "assert",
    "assume",
    "verify",
    "action_profile",
    "action_selector",
    "NoAction",
    "main",
    "direct_counter",
    "direct_meter",
    "packet_in",
    "packet_out",
    "packet_t",
    "headers_t",
    "metadata_t",
    "start",
    "accept",
    "reject",
];

/// Members of every header.
const HEADER_MEMBERS: &[&str] = &[
    "isValid",
    "setValid",
    "setInvalid",
    "minSizeInBits",
    "minSizeInBytes",
    "maxSizeInBits",
    "maxSizeInBytes",
];

/// Returns the name of a header's field.
pub(super) fn of_field(name: &str) -> String {
    match TokenKind::keyword(name).is_some()
        || HEADER_MEMBERS.contains(&name)
        || name.starts_with("__")
    {
        true => format!("{name}_field"),
        false => name.to_string(),
    }
}

/// Names that are in use in the control.
pub(super) struct Names {
    /// Each name with how often it was asked for.
    used: HashMap<String, u32>,
}

impl Names {
    pub(super) fn new() -> Names {
        Names { used: TAKEN.iter().map(|name| ((*name).to_string(), 1)).collect() }
    }

    /// Returns a name that is not in use, similar to `wanted`.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let base = match TokenKind::keyword(wanted).is_some() || wanted.starts_with("__") {
            true => format!("v{wanted}"),
            false => wanted.to_string(),
        };
        let mut number = self.used.get(&base).copied().unwrap_or(0) + 1;
        let mut name = if number == 1 { base.clone() } else { format!("{base}_{number}") };
        while number > 1 && self.used.contains_key(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.used.insert(base, number);
        self.used.entry(name.clone()).or_insert(1);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_are_no_keywords() {
        let mut names = Names::new();
        let wanted =
            ["count", "count", "count_2", "count", "state", "hash", "hash", "count_2_2", "count_2"];
        let given = wanted.map(|name| names.fresh(name));
        let mut sorted = given.to_vec();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), wanted.len(), "{given:?}");
        assert!(
            given
                .iter()
                .all(|name| TokenKind::keyword(name).is_none() && !TAKEN.contains(&name.as_str()))
        );
        assert_eq!(of_field("key"), "key_field");
    }
}

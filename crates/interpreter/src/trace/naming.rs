// SPDX-License-Identifier: Apache-2.0
//! The kind of numbers in a place (addresses, times) by its name, and which names lowering made. `value`
//! formats numbers.

/// The kind of numbers in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Unknown.
    Number,
    /// An IP address, if the width is one's.
    IpAddress,
    /// A time.
    Time,
}

/// Words of a name: `dstAddr`, `dst_addr` and `DST_ADDR` all have the words `dst` and `addr`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let starts_word = letter.is_uppercase() && was_lower;
        was_lower = letter.is_lowercase() || letter.is_numeric();
        if starts_word || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_ip(word: &str) -> bool {
    matches!(word, "ip" | "ip4" | "ip6" | "ipv4" | "ipv6")
}

/// The kind of numbers by the last part of a dotted name: a word `addr`, `address`, `ip`, `ipv4` and the like
/// is an IP address, and so are `src` and `dst` of something called `ip`; a word that begins with `time` is a
/// time.
pub(super) fn meaning_of(name: &str) -> Meaning {
    let mut parts = name.rsplit('.');
    let last = words(parts.next().unwrap_or_default());
    if last.iter().any(|word| word.starts_with("time") || matches!(&**word, "ts" | "tstamp")) {
        return Meaning::Time;
    }
    let is_address = last.iter().any(|word| {
        is_ip(word) || word.starts_with("addr") || matches!(&**word, "srcaddr" | "dstaddr")
    });
    let is_end =
        matches!(last.first().map(String::as_str), Some("src" | "dst" | "source" | "destination"));
    let owner = words(parts.next().unwrap_or_default());
    if is_address || (is_end && last.len() == 1 && owner.iter().any(|word| is_ip(word))) {
        return Meaning::IpAddress;
    }
    Meaning::Number
}

/// Whether a slot is one that the lowering made for itself: a part of its name begins with `$`. A header's
/// validity does not count.
pub(super) fn is_internal(name: &str) -> bool {
    header_of_validity(name).is_none() && name.split('.').any(|part| part.starts_with('$'))
}

/// The header whose validity a slot is.
pub(super) fn header_of_validity(name: &str) -> Option<&str> {
    name.strip_suffix(".$valid")
}

#[cfg(test)]
mod tests {
    use super::{Meaning, is_internal, meaning_of};

    #[test]
    fn names_speak() {
        for name in ["hdr.ipv4.dstAddr", "dst_ip", "nextHopIp", "hdr.ipv4.src", "nhop_ipv4"] {
            assert_eq!(meaning_of(name), Meaning::IpAddress, "{name}");
        }
        for name in ["", "hdr.ipv4.options", "hdr.tcp.src", "description", "multiplier", "Ab."] {
            assert_eq!(meaning_of(name), Meaning::Number, "{name}");
        }
        for name in ["standard_metadata.ingress_global_timestamp", "meta.arrivalTime", "meta.ts"] {
            assert_eq!(meaning_of(name), Meaning::Time, "{name}");
        }
    }

    #[test]
    fn made_up_names_are_known() {
        assert!(is_internal("P.$carry$3") && is_internal("$exit") && is_internal("hdr.s.$next"));
        assert!(!is_internal("hdr.h.$valid") && !is_internal("tmp$3"));
    }
}

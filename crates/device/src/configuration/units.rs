// SPDX-License-Identifier: Apache-2.0
//! The notations of times and rates in device files: `100us`, `2.5 ns`, `100Gb/s`.

use source::quantity::{Decimals, Notation, TIME_UNITS, Units};

const TIME: Notation = exact(TIME_UNITS, "ps, ns, us, ms, s");

const RATE: Notation = exact(
    &[
        ("b/s", 1),
        ("kb/s", 1_000),
        ("Mb/s", 1_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tb/s", 1_000_000_000_000),
    ],
    "b/s, kb/s, Mb/s, Gb/s, Tb/s",
);

/// The unit must be written, and fractions of the smallest one are refused.
const fn exact(units: &'static [(&'static str, u64)], unit_list: &'static str) -> Notation {
    Notation {
        units: Units::Named(units),
        unit_list,
        default_scale: None,
        decimals: Decimals::Exact,
    }
}

/// A time in picoseconds.
pub(super) fn time_ps(text: &str) -> Option<u64> {
    TIME.parse(text).ok()
}

/// A rate in bits per second.
pub(super) fn rate_bps(text: &str) -> Option<u64> {
    RATE.parse(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (text, expected) in [
            ("100us", Some(100_000_000)),
            ("2.5 ns", Some(2_500)),
            ("0.001ns", Some(1)),
            ("0.0001ns", None),
            ("0.0010ns", Some(1)),
            ("1_000ps", Some(1000)),
            (" 1s ", Some(1_000_000_000_000)),
            ("20000000s", None),
            ("1", None),
            ("ns", None),
            (".5ns", None),
            ("1.2.3ns", None),
            ("-1ns", None),
            ("1 min", None),
            ("", None),
        ] {
            assert_eq!(time_ps(text), expected, "{text}");
        }
        assert_eq!(rate_bps("100Gb/s"), Some(100_000_000_000));
        assert_eq!(rate_bps("2.5 Gb/s"), Some(2_500_000_000));
        assert_eq!(rate_bps("100GB/s"), None);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The units of network files. Times, rates and frequencies need a unit, since a number without one is read
//! differently by each tool of the field; sizes are bytes without one.

use source::quantity::{Decimals, Notation, Units};

/// Times in picoseconds.
pub const TIME: Notation = Notation {
    default_scale: None,
    units: source::quantity::TIME.units,
    unit_list: source::quantity::TIME.unit_list,
    decimals: Decimals::Rounded,
};

/// Bit rates in bits per second.
pub const RATE: Notation = Notation {
    units: Units::Named(&[
        ("bps", 1),
        ("kbps", 1_000),
        ("Kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
        ("bit", 1),
        ("kbit", 1_000),
        ("Kbit", 1_000),
        ("Mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("b/s", 1),
        ("kb/s", 1_000),
        ("Mb/s", 1_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tb/s", 1_000_000_000_000),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
    ]),
    unit_list: "bps, kbps, Mbps, Gbps, Tbps",
    default_scale: None,
    decimals: Decimals::Rounded,
};

/// Frequencies per second.
pub const FREQUENCY: Notation = Notation {
    units: Units::Named(&[
        ("/s", 1),
        ("k/s", 1_000),
        ("M/s", 1_000_000),
        ("pps", 1),
        ("kpps", 1_000),
        ("Mpps", 1_000_000),
    ]),
    unit_list: "/s, k/s, M/s, pps, kpps, Mpps",
    default_scale: None,
    decimals: Decimals::Rounded,
};

/// Sizes in bytes.
pub const SIZE: Notation = Notation {
    units: Units::Named(&[
        ("B", 1),
        ("KB", 1_000),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ]),
    unit_list: "B, KB, MB, GB, KiB, MiB, GiB",
    default_scale: Some(1),
    decimals: Decimals::Rounded,
};

#[cfg(test)]
mod tests {
    use super::*;
    use document::NodeKind;
    use source::quantity::QuantityError;

    #[test]
    fn units_of_each_kind() {
        let check = |notation: &Notation, text: &str, expected: Option<u64>| {
            assert_eq!(notation.parse(text).ok(), expected, "{text}");
        };
        check(&TIME, "1.5 ms", Some(1_500_000_000));
        check(&TIME, "10", None);
        check(&RATE, "10Mbit", Some(10_000_000));
        check(&RATE, "0.5 Mbps", Some(500_000));
        check(&RATE, "1Gb/s", Some(1_000_000_000));
        // Bytes per second are not rates of links.
        check(&RATE, "10MBps", None);
        check(&RATE, "10", None);
        check(&FREQUENCY, "20k/s", Some(20_000));
        check(&SIZE, "64KiB", Some(65_536));
        check(&SIZE, "64KB", Some(64_000));
        check(&SIZE, "1500", Some(1_500));
        assert!(
            matches!(RATE.parse("10"), Err(QuantityError::Unit { unit, .. }) if unit.is_empty())
        );
    }

    #[test]
    fn probabilities() {
        let text = |text: &str| NodeKind::Text(text.to_string());
        for (kind, expected) in [
            (NodeKind::Int(1), Some(1.0)),
            (NodeKind::Float(0.25), Some(0.25)),
            (text("25%"), Some(0.25)),
            (text("0.25"), Some(0.25)),
            (NodeKind::Int(2), None),
            (text("101%"), None),
            (text("-1%"), None),
            (text("often"), None),
        ] {
            assert_eq!(kind.probability(), expected, "{kind:?}");
        }
    }
}

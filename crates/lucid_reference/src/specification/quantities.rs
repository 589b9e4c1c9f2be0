// SPDX-License-Identifier: Apache-2.0
//! Reads times, rates, probabilities and counts of a specification.

use super::run::Count;
use source::quantity::{Decimals, Notation, Units};

/// Rates in bits a second.
pub(super) const BIT_RATE: Notation = Notation {
    units: Units::Metric(&["bps", "bit/s", "b/s", ""]),
    unit_list: "bps, kbps, Mbps, Gbps, Tbps",
    default_scale: Some(1),
    decimals: Decimals::Rounded,
};

/// How often a second.
pub(super) const EVENT_RATE: Notation = Notation {
    units: Units::Metric(&["/s", "pps", "eps", "hz", ""]),
    unit_list: "pps, kpps, Mpps, Gpps",
    default_scale: Some(1),
    decimals: Decimals::Rounded,
};

/// A count written as a text: `3`, `at least 3`, `at most 3`, `2..5`, `>= 3`, `<= 3`.
pub(super) fn count(text: &str) -> Option<Count> {
    let text = text.trim();
    let number = |text: &str| text.trim().parse::<u64>().ok();
    for start in ["at least", ">="] {
        if let Some(rest) = text.strip_prefix(start) {
            return Some(Count { least: number(rest)?, most: None });
        }
    }
    for start in ["at most", "<="] {
        if let Some(rest) = text.strip_prefix(start) {
            return Some(Count { least: 0, most: Some(number(rest)?) });
        }
    }
    if let Some((least, most)) = text.split_once("..") {
        let most = most.strip_prefix('=').unwrap_or(most).trim();
        let most = if most.is_empty() { None } else { Some(number(most)?) };
        let least = number(least)?;
        return most.is_none_or(|most| least <= most).then_some(Count { least, most });
    }
    let exact = number(text)?;
    Some(Count { least: exact, most: Some(exact) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::NodeKind;
    use source::quantity::QuantityError;

    fn text(text: &str) -> NodeKind {
        NodeKind::Text(text.to_string())
    }

    #[test]
    fn rates() {
        for (text, expected) in [
            ("100", Ok(100)),
            ("10Gbps", Ok(10_000_000_000)),
            ("10 G", Ok(10_000_000_000)),
            ("1.5 Mbit/s", Ok(1_500_000)),
            ("64kbps", Ok(64_000)),
            ("fast", Err(QuantityError::Form)),
        ] {
            assert_eq!(BIT_RATE.parse(text), expected, "{text}");
        }
        assert_eq!(EVENT_RATE.parse("2Mpps"), Ok(2_000_000));
        assert!(matches!(BIT_RATE.parse("10 feet"), Err(QuantityError::Unit { .. })));
    }

    #[test]
    fn counts() {
        let count_of = |least, most| Some(Count { least, most });
        for (written, expected) in [
            ("3", count_of(3, Some(3))),
            ("at least 3", count_of(3, None)),
            ("at most 3", count_of(0, Some(3))),
            (">=2", count_of(2, None)),
            ("<= 2", count_of(0, Some(2))),
            ("2..5", count_of(2, Some(5))),
            ("2..=5", count_of(2, Some(5))),
            ("2..", count_of(2, None)),
            ("5..2", None),
            ("some", None),
            ("-1", None),
        ] {
            assert_eq!(count(written), expected, "{written}");
        }
    }

    #[test]
    fn probabilities() {
        for (kind, expected) in [
            (NodeKind::Int(1), Some(1.0)),
            (NodeKind::Float(0.25), Some(0.25)),
            (text("25%"), Some(0.25)),
            (NodeKind::Int(2), None),
            (text("often"), None),
            (NodeKind::Float(-0.1), None),
        ] {
            assert_eq!(kind.probability(), expected, "{kind:?}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Reads times, rates, probabilities and counts of a specification.

use super::document::Kind;
use super::run::{Count, PS_PER_NS};
use source::quantity::{self, Decimals, Notation, QuantityError, TIME, Units};

/// Rates in bits a second.
const BIT_RATE: Notation = Notation {
    units: Units::Metric(&["bps", "bit/s", "b/s", ""]),
    unit_list: "bps, kbps, Mbps, Gbps, Tbps",
    default_scale: Some(1),
    decimals: Decimals::Rounded,
};

/// How often a second.
const EVENT_RATE: Notation = Notation {
    units: Units::Metric(&["/s", "pps", "eps", "hz", ""]),
    unit_list: "pps, kpps, Mpps, Gpps",
    default_scale: Some(1),
    decimals: Decimals::Rounded,
};

/// A time in picoseconds: a number of nanoseconds, or a text with a unit.
pub(super) fn time_ps(kind: &Kind) -> Result<u64, QuantityError> {
    read(kind, &TIME, PS_PER_NS)
}

/// A rate in bits a second.
pub(super) fn rate_bps(kind: &Kind) -> Result<u64, QuantityError> {
    read(kind, &BIT_RATE, 1)
}

/// How often a second.
pub(super) fn rate_per_second(kind: &Kind) -> Result<u64, QuantityError> {
    read(kind, &EVENT_RATE, 1)
}

/// Numbers are in the smallest unit; texts are parsed with their unit.
fn read(kind: &Kind, notation: &Notation, scale: u64) -> Result<u64, QuantityError> {
    match kind {
        Kind::Int(value) => {
            let value = u64::try_from(*value).ok().and_then(|value| value.checked_mul(scale));
            value.ok_or(QuantityError::Large)
        }
        Kind::Float(value) => quantity::scaled(*value, scale),
        Kind::Text(text) => notation.parse(text),
        _ => Err(QuantityError::Form),
    }
}

/// A probability: a number from 0 to 1, or a text with a percent sign.
pub(super) fn probability(kind: &Kind) -> Option<f64> {
    let value = match kind {
        Kind::Int(value) => *value as f64,
        Kind::Float(value) => *value,
        Kind::Text(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
            None => text.trim().parse().ok()?,
        },
        _ => return None,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

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

    fn text(text: &str) -> Kind {
        Kind::Text(text.to_string())
    }

    #[test]
    fn times() {
        let time_units = "ps, ns, us, ms, s, min";
        for (kind, expected) in [
            (Kind::Int(5), Ok(5_000)),
            (Kind::Float(1.5), Ok(1_500)),
            (Kind::Float(-1.0), Err(QuantityError::Negative)),
            (Kind::Int(u128::MAX), Err(QuantityError::Large)),
            (Kind::Int(u64::MAX.into()), Err(QuantityError::Large)),
            (text("5"), Ok(5_000)),
            (text("5us"), Ok(5_000_000)),
            (text(" 1.5 ms "), Ok(1_500_000_000)),
            (text("300ps"), Ok(300)),
            (text("2s"), Ok(2_000_000_000_000)),
            (text("3µs"), Ok(3_000_000)),
            (text("1_000 ns"), Ok(1_000_000)),
            (text("-5us"), Err(QuantityError::Negative)),
            (
                text("5 parsecs"),
                Err(QuantityError::Unit { unit: "parsecs".to_string(), known: time_units }),
            ),
            (text("soon"), Err(QuantityError::Form)),
            (text(""), Err(QuantityError::Form)),
            (text("1.2.3us"), Err(QuantityError::Form)),
            (text("99999999999s"), Err(QuantityError::Large)),
            (Kind::Bool(true), Err(QuantityError::Form)),
        ] {
            assert_eq!(time_ps(&kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn rates() {
        for (kind, expected) in [
            (Kind::Int(100), Ok(100)),
            (text("10Gbps"), Ok(10_000_000_000)),
            (text("10 G"), Ok(10_000_000_000)),
            (text("1.5 Mbit/s"), Ok(1_500_000)),
            (text("64kbps"), Ok(64_000)),
            (text("fast"), Err(QuantityError::Form)),
        ] {
            assert_eq!(rate_bps(&kind), expected, "{kind:?}");
        }
        assert_eq!(rate_per_second(&text("2Mpps")), Ok(2_000_000));
        assert!(matches!(rate_bps(&text("10 feet")), Err(QuantityError::Unit { .. })));
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
            (Kind::Int(1), Some(1.0)),
            (Kind::Float(0.25), Some(0.25)),
            (text("25%"), Some(0.25)),
            (Kind::Int(2), None),
            (text("often"), None),
            (Kind::Float(-0.1), None),
        ] {
            assert_eq!(probability(&kind), expected, "{kind:?}");
        }
    }
}

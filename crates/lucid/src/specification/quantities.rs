// SPDX-License-Identifier: Apache-2.0
//! Times, rates, probabilities and counts as they are written in specifications.

use super::document::Kind;
use super::run::{Count, PS_PER_NS};

/// Why something is no time or rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadQuantity {
    /// Not of the form.
    Form,
    /// This unit is none of these.
    Unit(String, &'static str),
    /// Over 64 bits.
    Large,
    /// Below zero.
    Negative,
}

/// A time in picoseconds, as it is written in specifications and on command lines: `10000` (ns), `5us`.
///
/// # Errors
///
/// What is wrong with it, for people.
pub fn duration_ps(text: &str) -> Result<u64, String> {
    time_ps(&Kind::Text(text.to_string())).map_err(|problem| match problem {
        BadQuantity::Form => format!("{text:?} is no time: write 10000 (ns) or 5us"),
        BadQuantity::Unit(unit, units) => format!("`{unit}` is no unit of time: they are {units}"),
        BadQuantity::Large => format!("{text:?} is too large"),
        BadQuantity::Negative => format!("{text:?} is negative"),
    })
}

const TIME_UNITS: &[(&str, u64)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("μs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
];

/// A time in picoseconds: a number of nanoseconds, or a text with a unit.
pub(super) fn time_ps(kind: &Kind) -> Result<u64, BadQuantity> {
    match kind {
        Kind::Int(value) => {
            let value = u64::try_from(*value).map_err(|_| BadQuantity::Large)?;
            value.checked_mul(PS_PER_NS).ok_or(BadQuantity::Large)
        }
        Kind::Float(value) if *value < 0.0 => Err(BadQuantity::Negative),
        Kind::Float(value) => rounded(value * PS_PER_NS as f64),
        Kind::Text(text) => {
            let (number, unit) = split(text);
            let scale = match TIME_UNITS.iter().find(|(name, _)| *name == unit) {
                Some((_, scale)) => *scale,
                None if unit.is_empty() => PS_PER_NS,
                None => {
                    check_number(number)?;
                    return Err(BadQuantity::Unit(unit.to_string(), "ps, ns, us, ms, s, min"));
                }
            };
            scaled(number, scale)
        }
        _ => Err(BadQuantity::Form),
    }
}

/// A rate in bits a second.
pub(super) fn rate_bps(kind: &Kind) -> Result<u64, BadQuantity> {
    rate(kind, &["bps", "bit/s", "b/s", ""])
}

/// How often a second.
pub(super) fn rate_per_second(kind: &Kind) -> Result<u64, BadQuantity> {
    rate(kind, &["/s", "pps", "eps", "hz", ""])
}

fn rate(kind: &Kind, ends: &[&str]) -> Result<u64, BadQuantity> {
    match kind {
        Kind::Int(value) => u64::try_from(*value).map_err(|_| BadQuantity::Large),
        Kind::Float(value) if *value < 0.0 => Err(BadQuantity::Negative),
        Kind::Float(value) => rounded(*value),
        Kind::Text(text) => {
            let (number, unit) = split(text);
            let lower = unit.to_lowercase();
            let factor = ends.iter().find_map(|end| match lower.strip_suffix(end)?.trim() {
                "" => Some(1),
                "k" => Some(1_000),
                "m" => Some(1_000_000),
                "g" => Some(1_000_000_000),
                "t" => Some(1_000_000_000_000),
                _ => None,
            });
            match factor {
                Some(factor) => scaled(number, factor),
                None => {
                    check_number(number)?;
                    let units = match ends[0] {
                        "bps" => "bps, kbps, Mbps, Gbps, Tbps",
                        _ => "pps, kpps, Mpps, Gpps",
                    };
                    Err(BadQuantity::Unit(unit.to_string(), units))
                }
            }
        }
        _ => Err(BadQuantity::Form),
    }
}

/// Number and unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let number = |character: char| character.is_ascii_digit() || "._+-".contains(character);
    let end = text.find(|character| !number(character)).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

fn check_number(number: &str) -> Result<(), BadQuantity> {
    scaled(number, 1).map(|_| ())
}

/// A decimal number times a scale, exact where it is whole.
fn scaled(number: &str, scale: u64) -> Result<u64, BadQuantity> {
    let number = number.replace('_', "");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale).ok_or(BadQuantity::Large);
    }
    match number.parse::<f64>() {
        Ok(value) if value < 0.0 => Err(BadQuantity::Negative),
        Ok(value) => rounded(value * scale as f64),
        Err(_) => Err(BadQuantity::Form),
    }
}

fn rounded(value: f64) -> Result<u64, BadQuantity> {
    let value = value.round();
    if (0.0..u64::MAX as f64).contains(&value) { Ok(value as u64) } else { Err(BadQuantity::Large) }
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
            (Kind::Float(-1.0), Err(BadQuantity::Negative)),
            (Kind::Int(u128::MAX), Err(BadQuantity::Large)),
            (Kind::Int(u64::MAX.into()), Err(BadQuantity::Large)),
            (text("5"), Ok(5_000)),
            (text("5us"), Ok(5_000_000)),
            (text(" 1.5 ms "), Ok(1_500_000_000)),
            (text("300ps"), Ok(300)),
            (text("2s"), Ok(2_000_000_000_000)),
            (text("3µs"), Ok(3_000_000)),
            (text("1_000 ns"), Ok(1_000_000)),
            (text("-5us"), Err(BadQuantity::Negative)),
            (text("5 parsecs"), Err(BadQuantity::Unit("parsecs".to_string(), time_units))),
            (text("soon"), Err(BadQuantity::Form)),
            (text(""), Err(BadQuantity::Form)),
            (text("1.2.3us"), Err(BadQuantity::Form)),
            (text("99999999999s"), Err(BadQuantity::Large)),
            (Kind::Bool(true), Err(BadQuantity::Form)),
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
            (text("fast"), Err(BadQuantity::Form)),
        ] {
            assert_eq!(rate_bps(&kind), expected, "{kind:?}");
        }
        assert_eq!(rate_per_second(&text("2Mpps")), Ok(2_000_000));
        assert!(matches!(rate_bps(&text("10 feet")), Err(BadQuantity::Unit(_, _))));
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

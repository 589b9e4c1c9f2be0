// SPDX-License-Identifier: Apache-2.0
//! Times and rates as people write them: `100us`, `2.5 ns`, `100Gb/s`. Exact, in integers.

/// Units of time and how many picoseconds they are.
const TIMES: [(&str, u64); 5] =
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Units of rates and how many bits per second they are.
const RATES: [(&str, u64); 5] = [
    ("b/s", 1),
    ("kb/s", 1_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("Tb/s", 1_000_000_000_000),
];

/// A time in picoseconds.
pub(super) fn time_ps(text: &str) -> Option<u64> {
    quantity(text, &TIMES)
}

/// A rate in bits per second.
pub(super) fn rate_bps(text: &str) -> Option<u64> {
    quantity(text, &RATES)
}

/// Digits, perhaps with a fraction, and a unit. What is no whole number of the smallest unit is none.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != '_');
    let (number, unit) = text.split_at(end?);
    let unit = unit.trim();
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    let number: String = number.chars().filter(|letter| *letter != '_').collect();
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let mut value = whole.parse::<u64>().ok()?.checked_mul(*scale)?;
    let mut scale = *scale;
    for digit in fraction.chars() {
        let digit = u64::from(digit.to_digit(10)?);
        if scale % 10 != 0 && digit != 0 {
            return None;
        }
        scale /= 10;
        value = value.checked_add(digit * scale)?;
    }
    Some(value)
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

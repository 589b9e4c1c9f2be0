// SPDX-License-Identifier: Apache-2.0
//! Conditions of expectations on a number: `3`, `at least 3`, `>= 3`, `2..5`. [`split`] finds the operators, the caller
//! reads the quantities beside them.

/// The values that fulfil a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least value.
    pub least: Option<Bound>,
    /// The greatest value.
    pub most: Option<Bound>,
}

/// An end of a [`Range`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The value.
    pub value: Number,
    /// Whether the value itself fulfils the condition.
    pub is_inclusive: bool,
}

/// A number of an expectation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Picoseconds, bits per second, bytes, or a count.
    Whole(u128),
    /// A probability.
    Fraction(f64),
}

impl Range {
    /// Whether a whole number fulfils the condition.
    pub fn contains(&self, value: u128) -> bool {
        self.includes(Number::Whole(value))
    }

    /// Whether a probability fulfils the condition.
    pub fn contains_fraction(&self, value: f64) -> bool {
        self.includes(Number::Fraction(value))
    }

    /// Whether a number fulfils the condition.
    pub fn includes(&self, value: Number) -> bool {
        use std::cmp::Ordering;
        let compared = |bound: &Bound| match (value, bound.value) {
            (Number::Whole(value), Number::Whole(bound)) => Some(value.cmp(&bound)),
            (value, bound) => value.as_f64().partial_cmp(&bound.as_f64()),
        };
        let is_inside = |bound: &Option<Bound>, inner: Ordering| match bound {
            None => true,
            Some(bound) => match compared(bound) {
                Some(Ordering::Equal) => bound.is_inclusive,
                found => found == Some(inner),
            },
        };
        is_inside(&self.least, Ordering::Greater) && is_inside(&self.most, Ordering::Less)
    }
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Number::Whole(value) => value as f64,
            Number::Fraction(value) => value,
        }
    }
}

/// A condition whose quantities are not yet read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split<'t> {
    /// The text of the least value, and whether that value fulfils the condition.
    pub least: Option<(&'t str, bool)>,
    /// The text of the greatest value, likewise.
    pub most: Option<(&'t str, bool)>,
}

/// Splits a condition into the texts of its quantities.
pub fn split(text: &str) -> Split<'_> {
    let text = text.trim();
    for (operator, is_least, is_inclusive) in [
        ("at least", true, true),
        (">=", true, true),
        (">", true, false),
        ("more than", true, false),
        ("at most", false, true),
        ("<=", false, true),
        ("<", false, false),
        ("less than", false, false),
    ] {
        if let Some(rest) = text.strip_prefix(operator) {
            let bound = Some((rest.trim(), is_inclusive));
            return match is_least {
                true => Split { least: bound, most: None },
                false => Split { least: None, most: bound },
            };
        }
    }
    if let Some((least, most)) = text.split_once("..") {
        let bound = |text: &'_ str| !text.is_empty();
        let (least, most) = (least.trim(), most.strip_prefix('=').unwrap_or(most).trim());
        if bound(least) || bound(most) {
            return Split {
                least: bound(least).then_some((least, true)),
                most: bound(most).then_some((most, true)),
            };
        }
    }
    let exact = text.strip_prefix("==").or_else(|| text.strip_prefix('=')).unwrap_or(text).trim();
    Split { least: Some((exact, true)), most: Some((exact, true)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators() {
        let range = |least, most| Split { least, most };
        for (text, expected) in [
            ("3", range(Some(("3", true)), Some(("3", true)))),
            ("= 3", range(Some(("3", true)), Some(("3", true)))),
            ("at least 3 ms", range(Some(("3 ms", true)), None)),
            (">= 3", range(Some(("3", true)), None)),
            ("> 3", range(Some(("3", false)), None)),
            ("<3", range(None, Some(("3", false)))),
            ("at most 3%", range(None, Some(("3%", true)))),
            ("2..5", range(Some(("2", true)), Some(("5", true)))),
            ("2..=5", range(Some(("2", true)), Some(("5", true)))),
            ("2..", range(Some(("2", true)), None)),
            ("..5", range(None, Some(("5", true)))),
            ("0.5..1.5", range(Some(("0.5", true)), Some(("1.5", true)))),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn bounds_belong_to_a_range_if_they_are_inclusive() {
        let bound = |value, is_inclusive| Some(Bound { value: Number::Whole(value), is_inclusive });
        let range = Range { least: bound(2, true), most: bound(5, false) };
        let inside: Vec<u128> = (0..8).filter(|value| range.contains(*value)).collect();
        assert_eq!(inside, [2, 3, 4]);
        assert!(range.contains_fraction(4.9) && !range.contains_fraction(5.0));
        assert!(!range.contains_fraction(f64::NAN));
    }
}

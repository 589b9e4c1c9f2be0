// SPDX-License-Identifier: Apache-2.0
//! The conventions of device files, and the values that only they have: times and rates with their units,
//! bytes, numbers or `"none"`.

use crate::explanation::{
    CONFIGURATION_FIELD, CONFIGURATION_MISSING, CONFIGURATION_SYNTAX, CONFIGURATION_VALUE,
};
use document::{Conventions, FieldNames, Fields, NodeKind};
use source::Severity;
use source::quantity::{Decimals, Notation, TIME_UNITS, Units};
use std::ops::RangeInclusive;

/// How device files are written. A field that no reader asks for is an error, since a misspelt limit would be
/// no limit.
pub(super) static CONVENTIONS: Conventions = Conventions {
    syntax: CONFIGURATION_SYNTAX,
    syntax_help: "a device file has sections in brackets and fields as `name = value`",
    wrong_type: CONFIGURATION_VALUE,
    wrong_value: CONFIGURATION_VALUE,
    missing: CONFIGURATION_MISSING,
    unknown_field: CONFIGURATION_FIELD,
    repeated_field: CONFIGURATION_FIELD,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "docs/device-files.md",
    number_in_text: None,
};

/// Times, such as `100us` and `2.5 ns`.
const TIME: Notation = exact(TIME_UNITS, "ps, ns, us, ms, s");

/// Rates, such as `100Gb/s`.
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

const EXPECTED_TIME: &str = "a time with its unit (ps, ns, us, ms, s), such as \"100us\"";

const EXPECTED_RATE: &str =
    "a rate above 0 with its unit (b/s to Tb/s), such as \"100Gb/s\", or \"none\"";

/// Reads the values that only device files have.
pub(super) trait DeviceFields {
    /// Reads a time in picoseconds.
    fn time(&mut self, name: &'static str) -> Option<u64>;
    /// Reads a required time in picoseconds.
    fn need_time(&mut self, name: &'static str, example: &str) -> Option<u64>;
    /// Reads a rate in bits a second; `Some(None)` is a rate without limit.
    fn rate(&mut self, name: &'static str) -> Option<Option<u64>>;
    /// Reads a number; `Some(None)` is `"none"`.
    fn number_or_none(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<Option<u64>>;
    /// Reads a number of 32 bits.
    fn number_u32(&mut self, name: &'static str, range: RangeInclusive<u32>) -> Option<u32>;
    /// Reads the required number of a port.
    fn need_port(&mut self) -> Option<u32>;
    /// Reads bytes of hexadecimal digits, which may stand apart.
    fn bytes(&mut self, name: &'static str) -> Option<Vec<u8>>;
}

impl DeviceFields for Fields<'_> {
    fn time(&mut self, name: &'static str) -> Option<u64> {
        self.quantity(name, &TIME, EXPECTED_TIME)
    }

    fn need_time(&mut self, name: &'static str, example: &str) -> Option<u64> {
        self.need(&[name], example)?;
        self.time(name)
    }

    fn rate(&mut self, name: &'static str) -> Option<Option<u64>> {
        let node = self.get(&[name])?;
        if matches!(&node.kind, NodeKind::Text(text) if text == "none") {
            return Some(None);
        }
        let (messages, shown) = (self.messages(), self.name_of(name));
        let rate = messages.quantity(node, &shown, &RATE, None, EXPECTED_RATE)?;
        if rate == 0 {
            messages.wrong_value(node, &shown, EXPECTED_RATE);
            return None;
        }
        Some(Some(rate))
    }

    fn number_or_none(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<Option<u64>> {
        match &self.get(&[name])?.kind {
            NodeKind::Text(text) if text == "none" => Some(None),
            _ => self.number(name, range).map(Some),
        }
    }

    fn number_u32(&mut self, name: &'static str, range: RangeInclusive<u32>) -> Option<u32> {
        let number = self.number(name, u64::from(*range.start())..=u64::from(*range.end()));
        number.map(|number| number as u32)
    }

    fn need_port(&mut self) -> Option<u32> {
        self.need(&["port"], "`port = 1`")?;
        self.number_u32("port", 0..=u32::MAX)
    }

    fn bytes(&mut self, name: &'static str) -> Option<Vec<u8>> {
        let node = self.get(&[name])?;
        let read = match &node.kind {
            NodeKind::Text(text) => hexadecimal(text),
            _ => None,
        };
        if read.is_none() {
            let expected = "bytes of two hexadecimal digits each, such as \"0180 c200 0001\"";
            self.messages().wrong_value(node, &self.name_of(name), expected);
        }
        read
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().filter(|letter| !letter.is_whitespace());
    let digits: Option<Vec<u32>> = digits.map(|letter| letter.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

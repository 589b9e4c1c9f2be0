// SPDX-License-Identifier: Apache-2.0
//! The parser of quantities (`5us`, `2.5 ns`, `10Gbps`) to integers of their smallest unit, and the texts of
//! times. Each kind of file has a [`Notation`] with its units.

/// The notation of quantities of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    /// The units.
    pub units: Units,
    /// The units as messages list them.
    pub unit_list: &'static str,
    /// The scale of a number without a unit; `None` where a unit must be written.
    pub default_scale: Option<u64>,
    /// Which decimals are accepted.
    pub decimals: Decimals,
}

/// Units and their scales.
#[derive(Clone, Copy, Debug)]
pub enum Units {
    /// These names, in exact spelling, each with its scale in the smallest unit.
    Named(&'static [(&'static str, u64)]),
    /// Any of these endings in upper or lower case, alone or after k, M, G or T.
    Metric(&'static [&'static str]),
}

/// Which decimals are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimals {
    /// A digit first, no sign, and no fraction of the smallest unit.
    Exact,
    /// Also a sign and a leading point; rounded to the smallest unit.
    Rounded,
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// No number, or one that the notation does not accept.
    Form,
    /// The unit is unknown.
    Unit {
        /// What was written.
        unit: String,
        /// The known units.
        known: &'static str,
    },
    /// It exceeds 64 bits.
    Large,
    /// It is below zero.
    Negative,
}

/// Units of time in picoseconds.
pub const TIME_UNITS: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Times of specifications and of the command line, in picoseconds; nanoseconds where no unit is written.
pub const TIME: Notation = Notation {
    units: Units::Named(&[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("μs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
    ]),
    unit_list: "ps, ns, us, ms, s, min",
    default_scale: Some(1_000),
    decimals: Decimals::Rounded,
};

/// Reads a time of the command line in picoseconds: `10000` (ns), `5us`.
///
/// # Errors
///
/// A message for the user.
pub fn duration_ps(text: &str) -> Result<u64, String> {
    TIME.parse(text).map_err(|problem| match problem {
        QuantityError::Form => format!("{text:?} is not a time: write 10000 (ns) or 5us"),
        QuantityError::Unit { unit, known } => {
            format!("`{unit}` is not a unit of time; units are {known}")
        }
        QuantityError::Large => format!("{text:?} is too large"),
        QuantityError::Negative => format!("{text:?} is negative"),
    })
}

/// Frequencies of the command line, in Hz.
const FREQUENCY: Notation = Notation {
    units: Units::Metric(&["hz"]),
    unit_list: "Hz, kHz, MHz, GHz, THz",
    default_scale: None,
    decimals: Decimals::Rounded,
};

/// Reads a frequency of the command line in Hz: `1GHz`, `937.5 MHz`.
///
/// # Errors
///
/// A message for the user.
pub fn frequency_hz(text: &str) -> Result<u64, String> {
    FREQUENCY.parse(text).map_err(|problem| match problem {
        QuantityError::Form => format!("{text:?} is not a frequency: write 1GHz or 937.5MHz"),
        QuantityError::Unit { unit, known } => {
            format!("`{unit}` is not a unit of frequency; units are {known}")
        }
        QuantityError::Large => format!("{text:?} is too large"),
        QuantityError::Negative => format!("{text:?} is negative"),
    })
}

impl Notation {
    /// Reads a quantity, in the smallest unit.
    ///
    /// # Errors
    ///
    /// Why the text is not a quantity.
    pub fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let text = text.trim();
        let is_number = |letter: char| letter.is_ascii_digit() || "._+-".contains(letter);
        let end = text.find(|letter| !is_number(letter)).unwrap_or(text.len());
        let (number, unit) = (text[..end].trim(), text[end..].trim());
        match self.scale(unit) {
            Some(scale) => self.decimals.scaled(number, scale),
            None => {
                self.decimals.scaled(number, 1)?;
                Err(QuantityError::Unit { unit: unit.to_string(), known: self.unit_list })
            }
        }
    }

    fn scale(&self, unit: &str) -> Option<u64> {
        if unit.is_empty() {
            return self.default_scale;
        }
        match self.units {
            Units::Named(names) => {
                names.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
            }
            Units::Metric(endings) => {
                let lower = unit.to_lowercase();
                endings.iter().find_map(|ending| {
                    Some(match lower.strip_suffix(ending)?.trim() {
                        "" => 1,
                        "k" => 1_000,
                        "m" => 1_000_000,
                        "g" => 1_000_000_000,
                        "t" => 1_000_000_000_000,
                        _ => return None,
                    })
                })
            }
        }
    }
}

/// Digits of a fraction that are read; more cannot change the rounding of any scale.
const FRACTION_DIGITS: usize = 18;

impl Decimals {
    /// Multiplies a decimal number by a scale.
    fn scaled(self, number: &str, scale: u64) -> Result<u64, QuantityError> {
        let number = number.replace('_', "");
        let (is_negative, digits) = match number.strip_prefix(['+', '-']) {
            Some(_) if self == Decimals::Exact => return Err(QuantityError::Form),
            Some(digits) => (number.starts_with('-'), digits),
            None => (false, number.as_str()),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let has_whole = !whole.is_empty() || (self == Decimals::Rounded && !fraction.is_empty());
        if !has_whole || !are_digits(whole) || !are_digits(fraction) {
            return Err(QuantityError::Form);
        }
        if is_negative && digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
            return Err(QuantityError::Negative);
        }
        let fraction = fraction.trim_end_matches('0');
        if self == Decimals::Exact && fraction.len() > FRACTION_DIGITS {
            return Err(QuantityError::Form);
        }
        let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS)];
        let parsed = |text: &str| match text.trim_start_matches('0') {
            "" => Ok(0),
            digits => digits.parse::<u64>().map_err(|_| QuantityError::Large),
        };
        let parts = 10u128.pow(fraction.len() as u32);
        let smallest = u128::from(parsed(fraction)?) * u128::from(scale);
        if self == Decimals::Exact && !smallest.is_multiple_of(parts) {
            return Err(QuantityError::Form);
        }
        let rounded = (smallest + parts / 2) / parts;
        let total = u128::from(parsed(whole)?) * u128::from(scale) + rounded;
        u64::try_from(total).map_err(|_| QuantityError::Large)
    }
}

/// Multiplies a number of a document by a scale, rounded.
///
/// # Errors
///
/// The number is negative, over 64 bits, or NaN.
pub fn scaled(number: f64, scale: u64) -> Result<u64, QuantityError> {
    if number < 0.0 {
        return Err(QuantityError::Negative);
    }
    let value = (number * scale as f64).round();
    if (0.0..u64::MAX as f64).contains(&value) {
        Ok(value as u64)
    } else {
        Err(QuantityError::Large)
    }
}

/// Formats a time in nanoseconds without the unit: `1500`, `0.25`.
pub fn nanoseconds(time_ps: u64) -> String {
    let (whole, rest) = (time_ps / 1000, time_ps % 1000);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:03}").trim_end_matches('0').to_string(),
    }
}

/// Formats a time in seconds with as many groups of three digits as needed: `0.000043835 s`.
pub fn seconds(time_ps: u64) -> String {
    const PS_PER_SECOND: u64 = 1_000_000_000_000;
    let digits = format!("{:012}", time_ps % PS_PER_SECOND);
    let mut fraction = digits.as_str();
    while let Some(shorter) = fraction.strip_suffix("000") {
        fraction = shorter;
    }
    let seconds = time_ps / PS_PER_SECOND;
    match fraction {
        "" => format!("{seconds} s"),
        fraction => format!("{seconds}.{fraction} s"),
    }
}

/// Formats a time in the largest unit that needs no fraction: `100 us`.
pub fn in_largest_unit(time_ps: u64) -> String {
    let mut units = TIME_UNITS.iter().rev();
    let found = units.find(|(_, unit_ps)| time_ps.is_multiple_of(*unit_ps));
    let (unit, unit_ps) = found.unwrap_or(&("ps", 1));
    format!("{} {unit}", time_ps / unit_ps)
}

/// Formats a number with three significant digits and a decimal prefix: `9.64 M`, `512 `, `1.2 G`.
fn with_prefix(number: f64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) =
        PREFIXES.into_iter().find(|(scale, _)| number >= scale * 0.9995).unwrap_or((1.0, ""));
    let scaled = number / scale;
    let decimals = match scaled {
        scaled if scaled >= 99.95 => 0,
        scaled if scaled >= 9.995 => 1,
        _ => 2,
    };
    let digits = format!("{scaled:.decimals$}");
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits.as_str(),
    };
    format!("{digits} {prefix}")
}

/// Formats a rate in bits per second: `9.64 Mb/s`.
pub fn rate(bits_per_second: f64) -> String {
    with_prefix(bits_per_second) + "b/s"
}

/// Formats a number of bytes: `1.5 MB`.
pub fn bytes(bytes: f64) -> String {
    with_prefix(bytes) + "B"
}

/// Formats a time with three significant digits: `1.23 ms`, `45 us`.
pub fn rounded(time_ps: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    let time = time_ps as f64;
    let (scale, unit) =
        UNITS.into_iter().find(|(scale, _)| time >= scale * 0.9995).unwrap_or((1.0, "ps"));
    let text = with_prefix(time / scale);
    format!("{}{unit}", if text.ends_with(' ') { text } else { format!("{:.0} ", time / scale) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(unit: &str, known: &'static str) -> QuantityError {
        QuantityError::Unit { unit: unit.to_string(), known }
    }

    #[test]
    fn times_with_and_without_units() {
        for (text, expected) in [
            ("5", Ok(5_000)),
            ("5us", Ok(5_000_000)),
            (" 1.5 ms ", Ok(1_500_000_000)),
            ("300ps", Ok(300)),
            ("2s", Ok(2_000_000_000_000)),
            ("3µs", Ok(3_000_000)),
            ("3μs", Ok(3_000_000)),
            ("2 min", Ok(120_000_000_000_000)),
            ("1_000 ns", Ok(1_000_000)),
            ("+5us", Ok(5_000_000)),
            (".5us", Ok(500_000)),
            ("5.us", Ok(5_000_000)),
            ("0.4ps", Ok(0)),
            ("0.5ps", Ok(1)),
            ("1.00000000000000000000001ps", Ok(1)),
            ("-0.0us", Ok(0)),
            ("18446744073709551615ps", Ok(u64::MAX)),
            ("18446744073709551615.5ps", Err(QuantityError::Large)),
            ("18446744073709551616ps", Err(QuantityError::Large)),
            ("99999999999s", Err(QuantityError::Large)),
            ("-5us", Err(QuantityError::Negative)),
            ("-0.1ps", Err(QuantityError::Negative)),
            ("5 parsecs", Err(unit("parsecs", TIME.unit_list))),
            ("1e5", Err(unit("e5", TIME.unit_list))),
            ("-5 parsecs", Err(QuantityError::Negative)),
            ("soon", Err(QuantityError::Form)),
            ("", Err(QuantityError::Form)),
            (".", Err(QuantityError::Form)),
            ("-", Err(QuantityError::Form)),
            ("1-2", Err(QuantityError::Form)),
            ("1.2.3us", Err(QuantityError::Form)),
        ] {
            assert_eq!(TIME.parse(text), expected, "{text}");
        }
    }

    #[test]
    fn exact_decimals() {
        let strict = Notation {
            units: Units::Named(TIME_UNITS),
            unit_list: "",
            default_scale: None,
            decimals: Decimals::Exact,
        };
        for (text, expected) in [
            ("100us", Ok(100_000_000)),
            ("2.5 ns", Ok(2_500)),
            ("0.001ns", Ok(1)),
            ("0.0010ns", Ok(1)),
            ("1.ns", Ok(1_000)),
            ("0.0001ns", Err(QuantityError::Form)),
            ("0.0000000000000000001s", Err(QuantityError::Form)),
            ("+1ns", Err(QuantityError::Form)),
            ("-1ns", Err(QuantityError::Form)),
            (".5ns", Err(QuantityError::Form)),
            ("1", Err(unit("", ""))),
            ("1 min", Err(unit("min", ""))),
            ("ns", Err(QuantityError::Form)),
            ("20000000s", Err(QuantityError::Large)),
        ] {
            assert_eq!(strict.parse(text), expected, "{text}");
        }
    }

    #[test]
    fn metric_prefixes() {
        let rates = Notation {
            units: Units::Metric(&["bps", "bit/s", ""]),
            unit_list: "bps",
            default_scale: Some(1),
            decimals: Decimals::Rounded,
        };
        for (text, expected) in [
            ("100", Ok(100)),
            ("10Gbps", Ok(10_000_000_000)),
            ("10 G", Ok(10_000_000_000)),
            ("10 G bps", Ok(10_000_000_000)),
            ("1.5 Mbit/s", Ok(1_500_000)),
            ("64KBPS", Ok(64_000)),
            ("1 tbps", Ok(1_000_000_000_000)),
            ("10 feet", Err(unit("feet", "bps"))),
            ("fast", Err(QuantityError::Form)),
        ] {
            assert_eq!(rates.parse(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_of_documents() {
        for (number, scale, expected) in [
            (1.5, 1_000, Ok(1_500)),
            (0.0004, 1_000, Ok(0)),
            (-1.0, 1, Err(QuantityError::Negative)),
            (f64::NAN, 1, Err(QuantityError::Large)),
            (1e30, 1, Err(QuantityError::Large)),
        ] {
            assert_eq!(scaled(number, scale), expected, "{number}");
        }
    }

    #[test]
    fn texts_of_times() {
        for (time_ps, in_nanoseconds, in_seconds) in [
            (0, "0", "0 s"),
            (1_500, "1.5", "0.000000001500 s"),
            (1_501, "1.501", "0.000000001501 s"),
            (10_000, "10", "0.000000010 s"),
            (43_835_000, "43835", "0.000043835 s"),
            (1_500_000_000_000, "1500000000", "1.500 s"),
            (1_234_567_890_123, "1234567890.123", "1.234567890123 s"),
        ] {
            assert_eq!(nanoseconds(time_ps), in_nanoseconds);
            assert_eq!(seconds(time_ps), in_seconds);
        }
    }

    #[test]
    fn times_in_their_largest_unit() {
        for (time_ps, expected) in [
            (100_000_000, "100 us"),
            (1_500_000, "1500 ns"),
            (1, "1 ps"),
            (60_000_000_000_000, "60 s"),
            (0, "0 s"),
        ] {
            assert_eq!(in_largest_unit(time_ps), expected);
        }
    }

    #[test]
    fn durations_of_the_command_line() {
        for (text, message) in [
            ("soon", "\"soon\" is not a time: write 10000 (ns) or 5us"),
            ("5 parsecs", "`parsecs` is not a unit of time; units are ps, ns, us, ms, s, min"),
            ("99999999999s", "\"99999999999s\" is too large"),
            ("-1", "\"-1\" is negative"),
        ] {
            assert_eq!(duration_ps(text), Err(message.to_string()));
        }
        assert_eq!(duration_ps("5us"), Ok(5_000_000));
    }

    #[test]
    fn rounded_quantities() {
        for (number, expected) in [
            (0.0, "0 b/s"),
            (999.0, "999 b/s"),
            (999.9, "1 kb/s"),
            (1_500.0, "1.5 kb/s"),
            (9_640_000.0, "9.64 Mb/s"),
            (96_405_000.0, "96.4 Mb/s"),
            (964_050_000.0, "964 Mb/s"),
            (1e9, "1 Gb/s"),
            (1.5e15, "1500 Tb/s"),
        ] {
            assert_eq!(rate(number), expected);
        }
        assert_eq!(bytes(1_711_000.0), "1.71 MB");
        for (time, expected) in [
            (0, "0 ps"),
            (999, "999 ps"),
            (1_234_000, "1.23 us"),
            (45_000_000, "45 us"),
            (999_900_000, "1 ms"),
            (5_000_000_000_000_000, "5000 s"),
        ] {
            assert_eq!(rounded(time), expected);
        }
    }
}

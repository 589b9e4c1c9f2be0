// SPDX-License-Identifier: Apache-2.0
//! Parses values to bits of a key's, parameter's or cell's width: numbers, IPv4, IPv6 and MAC addresses, truth values and
//! names of errors and of enum members.

use ir::{Bits, Display};
use num_bigint::{BigInt, BigUint, Sign};
use std::sync::Arc;

/// What a value is for: its width, how it is shown, and the names of the program's errors.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Width in bits.
    pub width_bits: u32,
    /// The kind of value.
    pub display: &'a Display,
    /// The program's errors; an error's value is its index.
    pub errors: &'a [Arc<str>],
}

/// Reads a value. The error says what is wrong with the text.
pub fn read(text: &str, wanted: Wanted<'_>) -> Result<Bits, String> {
    let text = text.trim();
    let width_bits = wanted.width_bits;
    let value = read_unbounded(text, wanted)?;
    let fits = match value.sign() {
        Sign::Minus if *wanted.display != Display::Signed => {
            return Err(format!(
                "`{text}` is negative; bit<{width_bits}> holds numbers from 0 to {}",
                (BigInt::from(1) << width_bits) - 1
            ));
        }
        // A negative number becomes two's complement.
        Sign::Minus => (-&value - 1u32).bits() < u64::from(width_bits),
        _ => value.bits() <= u64::from(width_bits),
    };
    if !fits {
        return Err(format!("`{text}` does not fit in {width_bits} bits"));
    }
    Ok(Bits::from_bigint(width_bits, &value))
}

fn read_unbounded(text: &str, wanted: Wanted<'_>) -> Result<BigInt, String> {
    if text.is_empty() {
        return Err("a value is missing".to_string());
    }
    if let Some(value) = number(text) {
        return Ok(value);
    }
    match text {
        "true" => return Ok(BigInt::from(1)),
        "false" => return Ok(BigInt::from(0)),
        _ => {}
    }
    match wanted.display {
        Display::Enum(name, members) => {
            let value = |(member, value): &(Arc<str>, Bits)| {
                (member.clone(), BigInt::from(value.to_biguint()))
            };
            return named(text, name, members.iter().map(value).collect());
        }
        Display::Error => {
            let value = |(at, error): (usize, &Arc<str>)| (error.clone(), BigInt::from(at));
            return named(text, "error", wanted.errors.iter().enumerate().map(value).collect());
        }
        Display::Bool => {
            return Err(format!("`{text}` is not a truth value: write `true` or `false`"));
        }
        Display::Unsigned | Display::Signed => {}
    }
    if let Ok(address) = text.parse::<std::net::Ipv4Addr>() {
        return Ok(BigInt::from(u32::from(address)));
    }
    if let Ok(address) = text.parse::<std::net::Ipv6Addr>() {
        return Ok(BigInt::from(u128::from(address)));
    }
    if let Some(value) = mac_address(text) {
        return Ok(BigInt::from(value));
    }
    Err(no_number(text, wanted))
}

/// Returns the value of a member of an enum or error, written alone or behind the type's name.
fn named(text: &str, ty: &str, members: Vec<(Arc<str>, BigInt)>) -> Result<BigInt, String> {
    let member = text.strip_prefix(ty).and_then(|rest| rest.strip_prefix('.')).unwrap_or(text);
    if let Some((_, value)) = members.iter().find(|(name, _)| **name == *member) {
        return Ok(value.clone());
    }
    let names = || members.iter().map(|(name, _)| &**name);
    let legal = match source::nearest(member, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let shown: Vec<String> = names().take(12).map(|name| format!("`{name}`")).collect();
            let more = if members.len() > shown.len() { " and more" } else { "" };
            format!("write a number or one of {}{more}", shown.join(", "))
        }
    };
    Err(format!("`{text}` is no member of `{ty}`; {legal}"))
}

/// Says why a text is neither a number nor an address.
fn no_number(text: &str, wanted: Wanted<'_>) -> String {
    let parts: Vec<&str> = text.split('.').collect();
    let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 1 && parts.iter().all(digits) {
        return match parts.iter().find(|part| part.parse::<u8>().is_err()) {
            _ if parts.len() != 4 => {
                format!("`{text}` is not an IPv4 address, which has four numbers")
            }
            Some(part) if !part.is_empty() => {
                format!("`{text}` is not an IPv4 address: `{part}` is not a number from 0 to 255")
            }
            _ => format!("`{text}` is not an IPv4 address, such as `10.0.0.1`"),
        };
    }
    let (sign, width) = match wanted.display {
        Display::Signed => ("int", wanted.width_bits),
        _ => ("bit", wanted.width_bits),
    };
    let address = match width {
        32 => ", or an IPv4 address",
        48 => ", or a MAC address such as `00:00:00:00:00:01`",
        128 => ", or an IPv6 address",
        _ => "",
    };
    format!(
        "`{text}` is not a number for {sign}<{width}>: write it as decimal, 0x, 0o or 0b{address}"
    )
}

/// A decimal, 0x, 0o or 0b number of any size, perhaps negative, with underscores; also with a P4
/// width prefix such as `8w`.
pub fn number(text: &str) -> Option<BigInt> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = match digits.split_once(['w', 's']) {
        Some((width, rest)) if !width.is_empty() && width.bytes().all(|b| b.is_ascii_digit()) => {
            rest
        }
        _ => digits,
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        _ => (10, lower.as_str()),
    };
    // A value wider than the IR allows can fit nowhere; do not spend time on it.
    if digits.len() > 20_000 || digits.starts_with(['+', '-', '_']) {
        return None;
    }
    let value = BigUint::parse_bytes(digits.replace('_', "").as_bytes(), radix)?;
    Some(if negative { -BigInt::from(value) } else { BigInt::from(value) })
}

fn mac_address(text: &str) -> Option<u64> {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    if parts.len() != 6 {
        return None;
    }
    parts.iter().try_fold(0u64, |value, part| {
        if part.is_empty() || part.len() > 2 {
            return None;
        }
        Some(value << 8 | u64::from(u8::from_str_radix(part, 16).ok()?))
    })
}

/// A value with `*` for any digit, as value and mask: `0x0a**`, `0b1**0`.
pub fn wildcard(text: &str, width_bits: u32) -> Result<(Bits, Bits), String> {
    let lower = text.to_ascii_lowercase();
    let ones = match lower.get(..2) {
        Some("0x") => "f",
        Some("0b") => "1",
        Some("0o") => "7",
        _ => return Err(format!("`{text}`: digits with `*` need a 0x, 0o or 0b in front")),
    };
    let (prefix, digits) = lower.split_at(2);
    let value: String = prefix.to_string() + &digits.replace('*', "0");
    let mask: String = digits.chars().map(|digit| if digit == '*' { "0" } else { ones }).collect();
    let wanted = Wanted { width_bits, display: &Display::Unsigned, errors: &[] };
    let value = read(&value, wanted)?;
    // Leading digits may reach beyond the width; only the key's own bits count.
    let mask = number(&(prefix.to_string() + &mask)).ok_or("not a number")?;
    Ok((value, Bits::from_bigint(width_bits, &mask)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_as(display: &Display, text: &str, width_bits: u32, expected: Result<u128, &str>) {
        let errors = ["NoError".into(), "NoMatch".into()];
        let read = read(text, Wanted { width_bits, display, errors: &errors });
        let read = read.map(|bits| bits.to_u128().unwrap_or(0));
        assert_eq!(read, expected.map_err(str::to_string), "{text}");
    }

    fn check(text: &str, width: u32, expected: Result<u128, &str>) {
        check_as(&Display::Unsigned, text, width, expected);
    }

    #[test]
    fn values() {
        check("10", 8, Ok(10));
        check("0xFF", 8, Ok(255));
        check("0b1_01", 8, Ok(5));
        check("256", 8, Err("`256` does not fit in 8 bits"));
        check("10.0.0.1", 32, Ok(0x0a00_0001));
        check("10.0.0.1", 16, Err("`10.0.0.1` does not fit in 16 bits"));
        check("00:01:02:03:04:05", 48, Ok(0x0001_0203_0405));
        check("0:1:2:3:4:5", 48, Ok(0x0001_0203_0405));
        check("2001:db8::1", 128, Ok(0x2001_0db8_0000_0000_0000_0000_0000_0001));
        check("8w7", 8, Ok(7));
        check("true", 1, Ok(1));
        check(
            "10.0.0.256",
            32,
            Err("`10.0.0.256` is not an IPv4 address: `256` is not a number from 0 to 255"),
        );
        check("10.0.0", 32, Err("`10.0.0` is not an IPv4 address, which has four numbers"));
        check("", 8, Err("a value is missing"));
        check(
            "five",
            9,
            Err("`five` is not a number for bit<9>: write it as decimal, 0x, 0o or 0b"),
        );
    }

    #[test]
    fn negative_numbers_need_a_signed_type() {
        check("-1", 9, Err("`-1` is negative; bit<9> holds numbers from 0 to 511"));
        check_as(&Display::Signed, "-1", 8, Ok(255));
        check_as(&Display::Signed, "-128", 8, Ok(128));
        check_as(&Display::Signed, "-129", 8, Err("`-129` does not fit in 8 bits"));
    }

    #[test]
    fn names_of_errors_enum_members_and_truth_values() {
        check_as(&Display::Error, "error.NoMatch", 16, Ok(1));
        check_as(&Display::Error, "NoError", 16, Ok(0));
        check_as(&Display::Error, "1", 16, Ok(1));
        check_as(
            &Display::Error,
            "NoEror",
            16,
            Err("`NoEror` is no member of `error`; did you mean `NoError`?"),
        );
        let kind = Display::Enum("Kind".into(), vec![("Small".into(), Bits::from_u64(8, 4))]);
        check_as(&kind, "Kind.Small", 8, Ok(4));
        check_as(
            &kind,
            "Giant",
            8,
            Err("`Giant` is no member of `Kind`; write a number or one of `Small`"),
        );
        check_as(
            &Display::Bool,
            "yes",
            1,
            Err("`yes` is not a truth value: write `true` or `false`"),
        );
    }

    #[test]
    fn wildcards() {
        let (value, mask) = wildcard("0x0a**", 16).expect("reads");
        assert_eq!((value.low_u64(), mask.low_u64()), (0x0a00, 0xff00));
        let (value, mask) = wildcard("0b1*0", 3).expect("reads");
        assert_eq!((value.low_u64(), mask.low_u64()), (4, 5));
        assert!(wildcard("1*", 8).is_err());
    }
}

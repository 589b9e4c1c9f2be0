// SPDX-License-Identifier: Apache-2.0
//! Parses values to bits of a key's, parameter's or cell's width: numbers, IPv4, IPv6 and MAC addresses, truth values and
//! names of enum members.

use ir::{Bits, Display};
use num_bigint::{BigInt, BigUint, Sign};

/// Reads a value of a certain width. The error says what is wrong with the text.
pub fn read(text: &str, width_bits: u32, display: &Display) -> Result<Bits, String> {
    let text = text.trim();
    let value = read_unbounded(text, display)?;
    let bits = value.bits();
    let fits = match value.sign() {
        // A negative number is given in two's complement: it must fit as a signed value.
        Sign::Minus => (-&value - 1u32).bits() < u64::from(width_bits),
        _ => bits <= u64::from(width_bits),
    };
    if !fits {
        return Err(format!("`{text}` does not fit in {width_bits} bits"));
    }
    Ok(Bits::from_bigint(width_bits, &value))
}

fn read_unbounded(text: &str, display: &Display) -> Result<BigInt, String> {
    if text.is_empty() {
        return Err("a value is missing".to_string());
    }
    if let Display::Enum(name, members) = display {
        let member = text.strip_prefix(&**name).and_then(|rest| rest.strip_prefix('.'));
        let wanted = member.unwrap_or(text);
        if let Some((_, value)) = members.iter().find(|(member, _)| **member == *wanted) {
            return Ok(BigInt::from(value.to_biguint()));
        }
    }
    match text {
        "true" => return Ok(BigInt::from(1)),
        "false" => return Ok(BigInt::from(0)),
        _ => {}
    }
    if let Some(value) = number(text) {
        return Ok(value);
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
    Err(format!("`{text}` is not a number, address or name that fits here"))
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
    let value = read(&value, width_bits, &Display::Unsigned)?;
    // Leading digits may reach beyond the width; only the key's own bits count.
    let mask = number(&(prefix.to_string() + &mask)).ok_or("not a number")?;
    Ok((value, Bits::from_bigint(width_bits, &mask)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: u32, expected: Result<u128, &str>) {
        let read = read(text, width, &Display::Unsigned);
        let read = read.map(|bits| bits.to_u128().unwrap_or(0));
        assert_eq!(read, expected.map_err(str::to_string), "{text}");
    }

    #[test]
    fn values() {
        check("10", 8, Ok(10));
        check("0xFF", 8, Ok(255));
        check("0b1_01", 8, Ok(5));
        check("-1", 8, Ok(255));
        check("-128", 8, Ok(128));
        check("-129", 8, Err("`-129` does not fit in 8 bits"));
        check("256", 8, Err("`256` does not fit in 8 bits"));
        check("10.0.0.1", 32, Ok(0x0a00_0001));
        check("10.0.0.1", 16, Err("`10.0.0.1` does not fit in 16 bits"));
        check("00:01:02:03:04:05", 48, Ok(0x0001_0203_0405));
        check("0:1:2:3:4:5", 48, Ok(0x0001_0203_0405));
        check("2001:db8::1", 128, Ok(0x2001_0db8_0000_0000_0000_0000_0000_0001));
        check("8w7", 8, Ok(7));
        check("true", 1, Ok(1));
        check(
            "10.0.0.300",
            32,
            Err("`10.0.0.300` is not a number, address or name that fits here"),
        );
        check("", 8, Err("a value is missing"));
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

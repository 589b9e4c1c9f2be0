// SPDX-License-Identifier: Apache-2.0
//! Parses texts and numbers of a specification as values of a type: integers in their notations, booleans,
//! bytes. It needs no program.

use super::run::Argument;

impl Argument {
    /// The wildcard of expectations.
    pub fn any() -> Argument {
        Argument::Text("_".to_string())
    }

    /// Whether it is the wildcard of expectations.
    pub fn is_any(&self) -> bool {
        matches!(self, Argument::Text(text) if text == "_")
    }

    /// As an integer, with the width in bits that a text such as `5<32>` or `5<<32>>` gives.
    pub fn as_int(&self) -> Option<(u128, Option<u32>)> {
        match self {
            Argument::Int(value) => Some((*value, None)),
            Argument::Text(text) => integer(text),
            Argument::Bool(_) | Argument::List(_) => None,
        }
    }

    /// As a truth value; table commands write them as texts.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Argument::Bool(value) => Some(*value),
            Argument::Text(text) => match text.trim() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            Argument::Int(_) | Argument::List(_) => None,
        }
    }

    /// As the bytes of a payload: hexadecimal digits, or a number of 32 bits.
    pub fn as_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Argument::Int(value) => u32::try_from(*value).ok().map(|v| v.to_be_bytes().to_vec()),
            Argument::Text(text) => bytes(text).ok(),
            Argument::Bool(_) | Argument::List(_) => None,
        }
    }
}

/// For people: as it would be written in the file.
impl std::fmt::Display for Argument {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Argument::Int(value) => write!(formatter, "{value}"),
            Argument::Bool(value) => write!(formatter, "{value}"),
            Argument::Text(_) if self.is_any() => formatter.write_str("_"),
            Argument::Text(text) => write!(formatter, "{text:?}"),
            Argument::List(list) => {
                formatter.write_str("[")?;
                for (at, argument) in list.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(formatter, "{comma}{argument}")?;
                }
                formatter.write_str("]")
            }
        }
    }
}

/// An integer in one of its spellings, with its width in bits if it says one: `5`, `1_000`, `0xff`,
/// `0b101`, `0o17`, `5<32>`, `5<<32>>`, `10.0.0.1` (32 bits), `02:00:00:00:00:01` (48 bits). A
/// hexadecimal number has no width of its own (in the reference implementation four bits a digit).
pub fn integer(text: &str) -> Option<(u128, Option<u32>)> {
    let text = text.trim();
    if let Some((value, width)) = text.split_once('<') {
        let width = width.strip_prefix('<').unwrap_or(width);
        let width = width.strip_suffix(">>").or_else(|| width.strip_suffix('>'))?;
        return Some((plain_integer(value.trim())?, Some(width.trim().parse().ok()?)));
    }
    if let Some(value) = plain_integer(text) {
        return Some((value, None));
    }
    if let Ok(address) = text.parse::<std::net::Ipv4Addr>() {
        return Some((u32::from(address).into(), Some(32)));
    }
    let parts: Vec<&str> = text.split(':').collect();
    let octet = |part: &&str| matches!(part.len(), 1 | 2).then(|| u8::from_str_radix(part, 16));
    let octets: Option<Vec<u8>> = parts.iter().map(|part| octet(part)?.ok()).collect();
    match octets {
        Some(octets) if octets.len() == 6 => {
            Some((octets.iter().fold(0, |value, octet| value << 8 | u128::from(*octet)), Some(48)))
        }
        _ => None,
    }
}

fn plain_integer(text: &str) -> Option<u128> {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        Some("0o" | "0O") => (&text[2..], 8),
        _ => (text, 10),
    };
    // Only digits: `from_str_radix` takes a sign too.
    let sound = digits.starts_with(|first: char| first.is_digit(radix));
    if !sound {
        return None;
    }
    u128::from_str_radix(&digits.replace('_', ""), radix).ok()
}

/// Why a text is not bytes in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesError {
    /// An odd number of digits.
    Odd(usize),
    /// This character, the so-many-th from 0, is no hexadecimal digit.
    Character(char, usize),
}

/// Parses bytes in hexadecimal, two digits each; spaces and a leading `0x` are allowed.
pub fn bytes(text: &str) -> Result<Vec<u8>, BytesError> {
    let offset =
        if text.trim_start().starts_with("0x") { text.find('x').unwrap_or(0) + 1 } else { 0 };
    let mut digits = Vec::new();
    for (at, character) in text.char_indices().filter(|(at, _)| *at >= offset) {
        if character.is_whitespace() {
            continue;
        }
        match character.to_digit(16) {
            Some(digit) => digits.push(digit as u8),
            None => return Err(BytesError::Character(character, at)),
        }
    }
    if digits.len() % 2 == 1 {
        return Err(BytesError::Odd(digits.len()));
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        for (text, expected) in [
            ("5", Some((5, None))),
            (" 1_000 ", Some((1000, None))),
            ("0xff", Some((255, None))),
            ("0b101", Some((5, None))),
            ("5<32>", Some((5, Some(32)))),
            ("5<<16>>", Some((5, Some(16)))),
            ("0xA <<16>>", Some((10, Some(16)))),
            ("10.0.0.1", Some((0x0a00_0001, Some(32)))),
            ("02:00:00:00:00:1f", Some((0x0200_0000_001f, Some(48)))),
            ("340282366920938463463374607431768211455", Some((u128::MAX, None))),
            ("340282366920938463463374607431768211456", None),
            ("-1", None),
            ("+1", None),
            ("_", None),
            ("", None),
            ("5<", None),
            ("5<<>>", None),
            ("0x", None),
            ("0x-1", None),
            ("é", None),
            ("éé", None),
            ("1:2:3", None),
            ("counts", None),
        ] {
            assert_eq!(integer(text), expected, "{text:?}");
        }
    }

    #[test]
    fn payloads() {
        for (text, expected) in [
            ("00ff", Ok(vec![0, 255])),
            ("0x00ff", Ok(vec![0, 255])),
            ("00 fF 1a", Ok(vec![0, 255, 26])),
            ("", Ok(vec![])),
            ("0f1", Err(BytesError::Odd(3))),
            ("0g", Err(BytesError::Character('g', 1))),
            ("é", Err(BytesError::Character('é', 0))),
        ] {
            assert_eq!(bytes(text), expected, "{text:?}");
        }
        assert_eq!(Argument::Int(258).as_bytes(), Some(vec![0, 0, 1, 2]));
    }
}

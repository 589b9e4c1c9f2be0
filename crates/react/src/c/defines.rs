// SPDX-License-Identifier: Apache-2.0
//! Object-like macros of the P4 text in C: literals of P4 with a width (`16w0x800`) become literals of C.

use super::lexer::{KEYWORDS, is_name_byte};

/// Whether a macro of the P4 text is one in C, too. Words of C keep their meaning: P4 texts define types that it lacks.
pub fn is_visible(name: &str) -> bool {
    let is_integer_type = name.ends_with("_t")
        && (["int", "uint", "size", "ssize", "ptrdiff"].iter()).any(|prefix| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.trim_matches(|c: char| c.is_ascii_digit()) == "_t")
        });
    !KEYWORDS.contains(&name)
        && !["true", "false"].contains(&name)
        && !is_integer_type
        && !name.starts_with("p4r_")
}

/// Returns the directive that defines a macro of the P4 text in C.
pub fn define(name: &str, replacement: &str) -> String {
    let mut text = format!("#define {name} ");
    let mut rest = replacement;
    while let Some(first) = rest.bytes().next() {
        if first == b'"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            text.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let length = rest.bytes().take_while(|byte| is_name_byte(*byte)).count();
        match length {
            0 => {
                let character = rest.chars().next().unwrap_or(' ');
                text.push(if character == '\n' { ' ' } else { character });
                rest = &rest[character.len_utf8()..];
            }
            length => {
                let word = &rest[..length];
                match first.is_ascii_digit() {
                    true => text.push_str(&literal(word)),
                    false => text.push_str(word),
                }
                rest = &rest[length..];
            }
        }
    }
    text.trim_end().to_string()
}

/// Returns an integer literal of P4 as one of C.
fn literal(word: &str) -> String {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let value = match word.as_bytes().get(digits) {
        Some(b'w' | b's') if word.len() > digits + 1 => &word[digits + 1..],
        _ => word,
    };
    let value: String = value.chars().filter(|character| *character != '_').collect();
    let radix = match value.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0b" | "0B") => 2,
        Some("0o" | "0O") => 8,
        Some("0d" | "0D") => 10,
        // A leading zero is octal in C and decimal in P4.
        _ => return value.parse().map_or(value, |value| suffixed(value, false)),
    };
    match u64::from_str_radix(&value[2..], radix) {
        Ok(number) => suffixed(number, radix == 16),
        Err(_) => value,
    }
}

/// Formats a number; larger ones than C's `int` have a suffix.
fn suffixed(number: u64, is_hexadecimal: bool) -> String {
    let suffix = if number > i64::MAX as u64 { "ull" } else { "" };
    match is_hexadecimal {
        true => format!("{number:#x}{suffix}"),
        false => format!("{number}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{define, is_visible};

    fn check(replacement: &str, expected: &str) {
        assert_eq!(define("N", replacement), format!("#define N {expected}").trim_end());
    }

    #[test]
    fn literals_of_p4_become_literals_of_c() {
        check("16w0x0800", "0x800");
        check("8s5 + 4w0b1010", "5 + 10");
        check("1_000_000", "1000000");
        check("010", "10");
        check("0o17", "15");
        check("0xffff_ffff_ffff_ffff", "0xffffffffffffffffull");
    }

    #[test]
    fn words_of_c_keep_their_meaning() {
        for name in ["uint32_t", "int8_t", "size_t", "bool", "true", "const", "p4r_host"] {
            assert!(!is_visible(name), "{name}");
        }
        for name in ["port_t", "LIMIT", "uint_max_t", "interface_t", "TRUE"] {
            assert!(is_visible(name), "{name}");
        }
    }

    #[test]
    fn other_texts_stay() {
        check("hdr.ipv4.src", "hdr.ipv4.src");
        check("\"16w5\" x16w5", "\"16w5\" x16w5");
        check("", "");
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Types and values of P4 in C: the C type of a scalar, its value from words and back. Values of more than 64 bits are
//! arrays of bytes in network order.

use super::lexer::{KEYWORDS, is_name_byte};
use crate::interface::Scalar;

/// Whether values of a type are arrays of bytes in C.
pub fn is_wide(ty: &Scalar) -> bool {
    ty.width_bits > 64
}

/// Returns the number of bytes of a wide value.
pub fn byte_count(ty: &Scalar) -> usize {
    ty.width_bits.div_ceil(8) as usize
}

/// Returns the C type of a scalar; for a wide one that of its bytes.
pub fn c_type(ty: &Scalar) -> &'static str {
    if ty.is_bool {
        return "_Bool";
    }
    match (ty.width_bits, ty.is_signed) {
        (65.., _) => "uint8_t",
        (33.., false) => "uint64_t",
        (33.., true) => "int64_t",
        (17.., false) => "uint32_t",
        (17.., true) => "int32_t",
        (9.., false) => "uint16_t",
        (9.., true) => "int16_t",
        (_, false) => "uint8_t",
        (_, true) => "int8_t",
    }
}

/// Declares a variable or member of a type.
pub fn declaration(ty: &Scalar, name: &str) -> String {
    match is_wide(ty) {
        true => format!("uint8_t {name}[{}]", byte_count(ty)),
        false => format!("{} {name}", c_type(ty)),
    }
}

/// Whether C has a type of exactly this width.
pub fn has_c_width(ty: &Scalar) -> bool {
    ty.is_bool || matches!(ty.width_bits, 8 | 16 | 32 | 64)
}

/// Declares a member that wraps at the width of its type. A bit-field where C has no such type.
pub fn wrapping_member(ty: &Scalar, name: &str) -> String {
    match ty.width_bits {
        _ if has_c_width(ty) => format!("{} {name}", c_type(ty)),
        width if ty.is_signed => format!("signed long long {name} : {width}"),
        width => format!("unsigned long long {name} : {width}"),
    }
}

/// Returns the mask of the highest word of a type.
pub fn mask(ty: &Scalar) -> u64 {
    match ty.width_bits % 64 {
        0 => u64::MAX,
        bits => (1 << bits) - 1,
    }
}

/// Returns the C expression of a value whose words begin at `words[first]`. `first` is a C expression. For a wide type an
/// initializer of its bytes.
pub fn from_words(ty: &Scalar, words: &str, first: &str) -> String {
    if is_wide(ty) {
        let bytes: Vec<String> = (0..byte_count(ty))
            .rev()
            .map(|byte| format!("(uint8_t)({words}[{first} + {}] >> {})", byte / 8, byte % 8 * 8))
            .collect();
        return format!("{{ {} }}", bytes.join(", "));
    }
    if ty.is_bool {
        return format!("({words}[{first}] & 1) != 0");
    }
    match (ty.is_signed, 64 - ty.width_bits) {
        (true, shift) => {
            format!("({})((int64_t)({words}[{first}] << {shift}) >> {shift})", c_type(ty))
        }
        (false, _) => format!("({}){words}[{first}]", c_type(ty)),
    }
}

/// Returns the C expression of a constant of at most 64 bits.
pub fn constant_value(ty: &Scalar, value: u64) -> String {
    let shift = 64 - ty.width_bits.min(64);
    match ty.is_signed {
        true => format!("(int64_t)UINT64_C({:#x})", ((value << shift) as i64) >> shift),
        false => format!("UINT64_C({value:#x})"),
    }
}

/// Returns the C expressions of the words of a value: of a scalar variable, or of a pointer to the bytes of a wide value.
pub fn to_words(ty: &Scalar, variable: &str) -> Vec<String> {
    let mask = mask(ty);
    if !is_wide(ty) {
        let value = format!("(uint64_t){variable}");
        return vec![match ty.width_bits {
            64 => value,
            _ => format!("({value} & UINT64_C({mask:#x}))"),
        }];
    }
    let bytes = byte_count(ty);
    let words = ty.words();
    (0..words)
        .map(|word| {
            let end = bytes - word * 8;
            let start = end.saturating_sub(8);
            let value = format!("p4r_word({variable} + {start}, {})", end - start);
            match word + 1 == words {
                true => format!("({value} & UINT64_C({mask:#x}))"),
                false => value,
            }
        })
        .collect()
}

/// Returns a name of P4 as one of C: other characters than those of names become `_`, keywords get a `_` behind them.
pub fn c_name(name: &str) -> String {
    let valid = |byte: u8| is_name_byte(byte) && byte < 0x80;
    let mut text: String = name
        .chars()
        .map(|character| match u8::try_from(character).is_ok_and(valid) {
            true => character,
            false => '_',
        })
        .collect();
    if text.starts_with(|first: char| first.is_ascii_digit()) || text.is_empty() {
        text.insert(0, '_');
    }
    if KEYWORDS.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// Returns a text as a string literal of C.
pub fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => literal.extend(['\\', byte as char]),
            // A `?` may begin a trigraph.
            b' '..=b'~' if byte != b'?' => literal.push(byte as char),
            _ => literal.push_str(&format!("\\{byte:03o}")),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::{c_name, from_words, string_literal, to_words, wrapping_member};
    use crate::interface::Scalar;

    #[test]
    fn names_of_p4_become_names_of_c() {
        assert_eq!(c_name("hdr.ipv4.dst"), "hdr_ipv4_dst");
        assert_eq!(c_name("register"), "register_");
        assert_eq!(c_name("0"), "_0");
    }

    #[test]
    fn signed_values_are_extended() {
        let ty = Scalar { width_bits: 12, is_signed: true, is_bool: false };
        assert_eq!(from_words(&ty, "in", "3"), "(int16_t)((int64_t)(in[3] << 52) >> 52)");
        assert_eq!(wrapping_member(&ty, "v"), "signed long long v : 12");
        assert_eq!(to_words(&ty, "x"), ["((uint64_t)x & UINT64_C(0xfff))"]);
    }

    #[test]
    fn wide_values_are_bytes_in_network_order() {
        let ty = Scalar::unsigned(72);
        let bytes = from_words(&ty, "in", "0");
        assert!(
            bytes.starts_with("{ (uint8_t)(in[0 + 1] >> 0), (uint8_t)(in[0 + 0] >> 56), "),
            "{bytes}"
        );
        assert_eq!(
            to_words(&ty, "x"),
            ["p4r_word(x + 1, 8)", "(p4r_word(x + 0, 1) & UINT64_C(0xff))"]
        );
    }

    #[test]
    fn string_literals_keep_every_byte() {
        assert_eq!(string_literal("a\"\\\n??ä"), r#""a\"\\\012\077\077\303\244""#);
    }
}

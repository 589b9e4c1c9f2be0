// SPDX-License-Identifier: Apache-2.0
//! Integer literals (P4_16 v1.2.5 §6.4.3.2, §7.1.6.6): width and sign prefix, base, digits with
//! underscores. A value too large for its width loses its upper bits with a warning, as other P4
//! compilers do.

use super::{Parser, RecursiveDescent};
use crate::ast::ExpressionKind;
use crate::codes::syntax;
use crate::token::Token;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use source::Diagnostic;

/// More digits than any width a target has; reading them would only cost time.
const DIGIT_LIMIT: usize = 20_000;

/// A literal taken apart.
#[derive(Debug)]
pub(crate) struct Number {
    /// The value, already cut to its width.
    pub(crate) value: BigInt,
    /// Width in bits and whether signed.
    pub(crate) width: Option<(u32, bool)>,
    /// The value as written did not fit its width.
    pub(crate) truncated: bool,
}

/// Takes a literal apart, or says in the user's words what is wrong with it.
pub(crate) fn read_number(text: &str) -> Result<Number, String> {
    let (width, digits) = match text.find(['w', 's']) {
        Some(at) => {
            let prefix = &text[..at];
            let signed = text[at..].starts_with('s');
            if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(format!("`{prefix}` is not a width: a width is a decimal number"));
            }
            let bits: u32 =
                prefix.parse().map_err(|_| format!("a width of {prefix} bits is too large"))?;
            (Some((bits, signed)), &text[at + 1..])
        }
        None => (None, text),
    };
    let prefix = digits.get(..2).unwrap_or("").to_ascii_lowercase();
    let (radix, digits, kind) = match prefix.as_str() {
        "0x" => (16, &digits[2..], "hexadecimal"),
        "0b" => (2, &digits[2..], "binary"),
        "0o" => (8, &digits[2..], "octal"),
        "0d" => (10, &digits[2..], "decimal"),
        _ => (10, digits, "decimal"),
    };
    let plain: String = digits.chars().filter(|character| *character != '_').collect();
    if plain.is_empty() {
        return Err(match width {
            Some(_) if digits.is_empty() => "the value is missing after the width".to_owned(),
            _ => format!("the {kind} digits are missing"),
        });
    }
    if let Some(wrong) = plain.chars().find(|character| !character.is_digit(radix)) {
        return Err(format!("`{wrong}` is no {kind} digit"));
    }
    if plain.len() > DIGIT_LIMIT {
        return Err(format!("this number has more than {DIGIT_LIMIT} digits"));
    }
    let Some(value) = BigInt::parse_bytes(plain.as_bytes(), radix) else {
        return Err(format!("`{digits}` is no {kind} number"));
    };
    let Some((bits, signed)) = width else {
        return Ok(Number { value, width, truncated: false });
    };
    let usable = if signed { bits.saturating_sub(1) } else { bits };
    if value.bits() <= u64::from(usable) {
        return Ok(Number { value, width, truncated: false });
    }
    Ok(Number { value: cut(value, bits, signed), width, truncated: true })
}

/// Returns the low `bits` bits of a value, read as signed or unsigned.
fn cut(value: BigInt, bits: u32, signed: bool) -> BigInt {
    if bits == 0 {
        return BigInt::zero();
    }
    if value.bits() < u64::from(bits) && !value.is_negative() {
        return value;
    }
    // The value has at least `bits` bits, so this modulus is no larger than what was written.
    let modulus = BigInt::one() << bits;
    let low = value % &modulus;
    if signed && low.bits() >= u64::from(bits) { low - modulus } else { low }
}

impl Parser<'_> {
    /// The expression an integer token stands for; a malformed one is reported and zero.
    pub(super) fn integer(&mut self, token: &Token) -> ExpressionKind {
        match read_number(&token.text) {
            Ok(number) => {
                if number.truncated {
                    let (bits, signed) = number.width.unwrap_or((0, false));
                    let kind = if signed { "signed " } else { "" };
                    let digits = token.text.len();
                    let shown = if digits <= 80 { token.text.as_ref() } else { "this number" };
                    let diagnostic = Diagnostic::warning(
                        syntax::VALUE_TOO_LARGE,
                        token.span,
                        format!("`{shown}` does not fit in {bits} {kind}bits"),
                    )
                    .here(if number.value.bits() <= 64 {
                        format!("its low bits are {}", number.value)
                    } else {
                        "its upper bits are lost".to_owned()
                    });
                    self.cursor.diagnostics.push(diagnostic);
                }
                ExpressionKind::Integer { value: number.value, width: number.width }
            }
            Err(problem) => {
                let diagnostic = Diagnostic::error(syntax::MALFORMED_NUMBER, token.span, problem)
                    .help("numbers look like `10`, `0x1F`, `0b1010`, `8w255` or `4s3`");
                self.report_read(diagnostic);
                ExpressionKind::Invalid
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Match patterns of entries: from the text of a command to a pattern of the key's match kind. The errors are about the
//! key; the caller adds the place.

use crate::command::MatchText;
use crate::error::{BAD_VALUE, WRONG_MATCH};
use crate::values::{self, Wanted};
use ir::{Bits, Key, KeyPattern, MatchKind};
use source::Code;
use std::sync::Arc;

type Problem = (Code, String);

/// Returns the pattern of a text. `errors` are the names of the program's errors.
pub fn pattern(text: &MatchText, key: &Key, errors: &[Arc<str>]) -> Result<KeyPattern, Problem> {
    let value = |text: &str| {
        let wanted = Wanted { width_bits: key.width_bits, display: &key.display, errors };
        values::read(text, wanted).map_err(|why| (BAD_VALUE, why))
    };
    let wrong = |wanted: &str| {
        Err((
            WRONG_MATCH,
            format!("{} keys take {wanted}, not {}", key.match_kind.name(), form(text)),
        ))
    };
    if matches!(text, MatchText::Any) && key.match_kind != MatchKind::Exact {
        return Ok(KeyPattern::Any);
    }
    // Digits without a star are a value, but for ternary keys, where the digits given count.
    let text = &match text {
        MatchText::Wildcard(digits)
            if !digits.contains('*') && key.match_kind != MatchKind::Ternary =>
        {
            MatchText::Value(digits.clone())
        }
        other => other.clone(),
    };
    match &key.match_kind {
        MatchKind::Exact | MatchKind::Other(_) => match text {
            MatchText::Value(text) => Ok(KeyPattern::Exact(value(text)?)),
            _ => wrong("a single value"),
        },
        MatchKind::Optional => match text {
            MatchText::Value(text) => Ok(KeyPattern::Exact(value(text)?)),
            MatchText::Masked(text, mask) | MatchText::Pair(text, mask) => {
                let mask = value(mask)?;
                if mask.is_zero() {
                    Ok(KeyPattern::Any)
                } else if mask == Bits::ones(key.width_bits) {
                    Ok(KeyPattern::Exact(value(text)?))
                } else {
                    wrong("a single value or nothing")
                }
            }
            _ => wrong("a single value or nothing"),
        },
        MatchKind::Lpm => match text {
            MatchText::Value(text) => prefix(value(text)?, key.width_bits, key),
            MatchText::Prefix(text, length) => prefix(value(text)?, *length, key),
            MatchText::Pair(text, length) => match length.parse() {
                Ok(length) => prefix(value(text)?, length, key),
                Err(_) => Err((BAD_VALUE, format!("`{length}` is not a prefix length"))),
            },
            MatchText::Masked(text, mask) => masked_prefix(value(text)?, &value(mask)?, key),
            MatchText::Wildcard(text) => {
                let read = values::wildcard(text, key.width_bits).map_err(|why| (BAD_VALUE, why));
                let (value, mask) = read?;
                masked_prefix(value, &mask, key)
            }
            _ => wrong("value/length"),
        },
        MatchKind::Ternary => match text {
            MatchText::Value(text) => {
                Ok(KeyPattern::Ternary { value: value(text)?, mask: Bits::ones(key.width_bits) })
            }
            MatchText::Masked(text, mask) | MatchText::Pair(text, mask) => {
                ternary(value(text)?, value(mask)?)
            }
            MatchText::Prefix(text, length) => {
                let length = prefix_length(*length, key)?;
                ternary(value(text)?, Bits::prefix_mask(key.width_bits, length))
            }
            MatchText::Wildcard(text) => {
                let read = values::wildcard(text, key.width_bits).map_err(|why| (BAD_VALUE, why));
                let (value, mask) = read?;
                ternary(value, mask)
            }
            _ => wrong("value&&&mask"),
        },
        MatchKind::Range => match text {
            MatchText::Value(text) => {
                let value = value(text).map_err(|problem| match dashed(text) {
                    Some((low, high)) => {
                        (WRONG_MATCH, format!("`{text}` is not a range: write `{low}->{high}`"))
                    }
                    None => problem,
                })?;
                Ok(KeyPattern::Range { low: value.clone(), high: value })
            }
            MatchText::Range(low, high) | MatchText::Pair(low, high) => {
                let (low_value, high_value) = (value(low)?, value(high)?);
                if low_value.to_biguint() > high_value.to_biguint() {
                    return Err((BAD_VALUE, format!("the range {low} to {high} is empty")));
                }
                Ok(KeyPattern::Range { low: low_value, high: high_value })
            }
            _ => wrong("low->high"),
        },
        MatchKind::Selector => wrong("nothing"),
    }
}

/// What is wrong with a value for an lpm key that does not say how long the prefix is, and what to do.
/// BMv2's command line refuses it too; it may stand for the value alone or for a network.
pub fn without_length(text: &MatchText, key: &Key) -> Option<(String, String)> {
    match text {
        MatchText::Value(value) if key.match_kind == MatchKind::Lpm => Some((
            format!("lpm keys take value/length, not {}", form(text)),
            format!("write `{value}/{}` for this value alone", key.width_bits),
        )),
        _ => None,
    }
}

/// Returns the ends of `low-high`, which is not the form of a range.
fn dashed(text: &str) -> Option<(&str, &str)> {
    let (low, high) = text.split_once('-')?;
    [low, high].iter().all(|end| values::number(end).is_some()).then_some((low, high))
}

fn ternary(value: Bits, mask: Bits) -> Result<KeyPattern, Problem> {
    let value = value.binary(ir::BinaryOperation::And, &mask);
    Ok(KeyPattern::Ternary { value, mask })
}

fn prefix_length(length: u32, key: &Key) -> Result<u32, Problem> {
    if length > key.width_bits {
        let width = key.width_bits;
        return Err((BAD_VALUE, format!("/{length} is longer than the key's {width} bits")));
    }
    Ok(length)
}

fn prefix(value: Bits, length: u32, key: &Key) -> Result<KeyPattern, Problem> {
    let length_bits = prefix_length(length, key)?;
    let mask = Bits::prefix_mask(key.width_bits, length_bits);
    let value = value.binary(ir::BinaryOperation::And, &mask);
    Ok(KeyPattern::Prefix { value, length_bits })
}

fn masked_prefix(value: Bits, mask: &Bits, key: &Key) -> Result<KeyPattern, Problem> {
    let length = (0..=key.width_bits)
        .find(|length| Bits::prefix_mask(key.width_bits, *length) == *mask)
        .ok_or_else(|| {
            (WRONG_MATCH, "lpm keys take a mask of leading ones, or value/length".to_string())
        })?;
    prefix(value, length, key)
}

fn form(text: &MatchText) -> String {
    match text {
        MatchText::Value(value) => format!("the value `{value}`"),
        MatchText::Prefix(value, length) => format!("`{value}/{length}`"),
        MatchText::Masked(value, mask) => format!("`{value}&&&{mask}`"),
        MatchText::Range(low, high) => format!("the range `{low}->{high}`"),
        MatchText::Wildcard(digits) => format!("`{digits}`"),
        MatchText::Pair(first, second) => format!("[{first}, {second}]"),
        MatchText::Any => "`*`".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_text::match_text;
    use ir::Display;

    fn check(kind: MatchKind, text: &str, expected: Result<&str, &str>) {
        let name = "k".into();
        let key = Key {
            name,
            match_kind: kind,
            width_bits: 16,
            display: Display::Unsigned,
            annotations: Vec::new(),
        };
        let shown = pattern(&match_text(text), &key, &[]).map(|pattern| match pattern {
            KeyPattern::Any => "any".to_string(),
            KeyPattern::Exact(value) => format!("{:x}", value.low_u64()),
            KeyPattern::Prefix { value, length_bits } => {
                format!("{:x}/{length_bits}", value.low_u64())
            }
            KeyPattern::Ternary { value, mask } => {
                format!("{:x}&{:x}", value.low_u64(), mask.low_u64())
            }
            KeyPattern::Range { low, high } => {
                format!("{:x}-{:x}", low.low_u64(), high.low_u64())
            }
        });
        let shown = shown.map_err(|(_, message)| message);
        assert_eq!(shown, expected.map(str::to_string).map_err(str::to_string), "{text}");
    }

    #[test]
    fn patterns_by_match_kind() {
        check(MatchKind::Exact, "0x12", Ok("12"));
        check(MatchKind::Exact, "1/8", Err("exact keys take a single value, not `1/8`"));
        check(MatchKind::Exact, "70000", Err("`70000` does not fit in 16 bits"));
        check(MatchKind::Lpm, "0xabcd/8", Ok("ab00/8"));
        check(MatchKind::Lpm, "0xab**", Ok("ab00/8"));
        check(MatchKind::Lpm, "1/17", Err("/17 is longer than the key's 16 bits"));
        check(
            MatchKind::Lpm,
            "1&&&0xf0f0",
            Err("lpm keys take a mask of leading ones, or value/length"),
        );
        check(MatchKind::Lpm, "0xabcd&&&0xff00", Ok("ab00/8"));
        check(MatchKind::Ternary, "0xab*d", Ok("ab0d&ff0f"));
        check(MatchKind::Ternary, "0x1234&&&0xff", Ok("34&ff"));
        check(MatchKind::Ternary, "*", Ok("any"));
        check(MatchKind::Range, "1->5", Ok("1-5"));
        check(MatchKind::Range, "5-9", Err("`5-9` is not a range: write `5->9`"));
        check(MatchKind::Range, "5->1", Err("the range 5 to 1 is empty"));
        check(MatchKind::Optional, "7", Ok("7"));
        check(MatchKind::Optional, "7&&&0", Ok("any"));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Numbers in JSON: from 2^53 on they are texts, because many readers round them.

use ir::Bits;
use serde_json::{Value, json};

/// A whole number.
pub fn integer(number: u64) -> Value {
    match number < 1 << 53 {
        true => json!(number),
        false => json!(number.to_string()),
    }
}

/// A value of any width.
pub fn number(bits: &Bits) -> Value {
    bits.to_u64().map_or_else(|| json!(bits.to_biguint().to_string()), integer)
}

// SPDX-License-Identifier: Apache-2.0
//! Hashes and checksums as calls of v1model's `hash`, and the names that the control plane knows them
//! by. What they compute is [`lucid::core::hash`]'s.

use super::context::{CALCULATION_MARK, Context};
use crate::expressions::literal;
use std::sync::Arc;

/// Takes the marks out and names what they mark: as p4c names calculations, in the order of the
/// program's text.
pub(super) fn name(context: &mut Context<'_>) -> Vec<(Arc<str>, u32)> {
    let architecture = ir::architecture::named("v1model");
    let mut hashes = Vec::new();
    let mut count = 0;
    for (_, text) in &mut context.pieces {
        if !text.contains(CALCULATION_MARK) {
            continue;
        }
        let mut without = String::new();
        for (at, part) in text.split(CALCULATION_MARK).enumerate() {
            if at % 2 == 0 {
                without.push_str(part);
                continue;
            }
            let name = architecture.and_then(|it| it.calculation_name(count)).unwrap_or_default();
            count += 1;
            let polynomial = part.parse().ok().and_then(|at: usize| context.calculations.get(at));
            if let Some(Some(polynomial)) = polynomial {
                hashes.push((name, *polynomial));
            }
        }
        *text = without;
    }
    hashes
}

/// A call of `hash` with a polynomial of its own.
pub(super) fn hash_text(mark: &str, result: &str, values: &[(String, u32)]) -> String {
    let data = data(values, 8);
    format!("{mark}hash({result}, HashAlgorithm.crc32_custom, 32w0, {{ {data} }}, 64w0x100000000);")
}

/// A call of `hash` for the internet checksum.
pub(super) fn checksum_text(mark: &str, result: &str, values: &[(String, u32)]) -> String {
    let data = data(values, 16);
    format!("{mark}hash({result}, HashAlgorithm.csum16, 16w0, {{ {data} }}, 32w0x10000);")
}

/// The low bits of hashes side by side, the last one highest; the list has that one first.
pub(super) fn joined(parts: &[String], width_bits: u32) -> String {
    match parts {
        [one] if width_bits == 32 => one.clone(),
        [one] => format!("{one}[{}:0]", width_bits - 1),
        parts => format!("({})[{}:0]", parts.join(" ++ "), width_bits - 1),
    }
}

/// The inputs of a calculation, zero bits behind them up to whole units.
fn data(values: &[(String, u32)], unit_bits: u32) -> String {
    let bits: u32 = values.iter().map(|(_, width_bits)| width_bits).sum();
    let mut texts: Vec<String> = values.iter().map(|(text, _)| text.clone()).collect();
    let padding_bits = bits.next_multiple_of(unit_bits) - bits;
    if padding_bits > 0 || texts.is_empty() {
        texts.push(literal(0, if texts.is_empty() { unit_bits } else { padding_bits }));
    }
    texts.join(", ")
}

// SPDX-License-Identifier: Apache-2.0
//! Hashes and random numbers: one `Hash` with its own polynomial for each different hash, with the
//! values of [`lucid::core::hash`], and one `Random` for each draw.

use super::context::Context;
use crate::atomic::program::Hash;
use lucid::core::hash::polynomial;
use pisa::Gress;
use source::Span;

/// Declares the instances for a hash, once a control, and gives the expression that computes it.
pub(super) fn hash(context: &mut Context<'_>, hash: &Hash, gress: Gress, span: Span) -> String {
    let known = context.hashes.known.iter().find(|(of, known, _)| *of == gress && known == hash);
    let instances = match known {
        Some((_, _, instances)) => instances.clone(),
        None => declare(context, hash, gress, span),
    };
    let mut values: Vec<String> = Vec::new();
    let mut bits = 0;
    for (operand, width_bits) in &hash.arguments {
        values.push(context.operand(*operand, *width_bits, gress));
        bits += width_bits;
    }
    let padding_bits = bits.next_multiple_of(8) - bits;
    if padding_bits > 0 {
        values.push(format!("{padding_bits}w0"));
    }
    let data = format!("{{ {} }}", values.join(", "));
    let parts: Vec<String> =
        instances.iter().rev().map(|instance| format!("{instance}.get({data})")).collect();
    parts.join(" ++ ")
}

/// One `Hash` for each 32 bits of the result.
fn declare(context: &mut Context<'_>, hash: &Hash, gress: Gress, span: Span) -> Vec<String> {
    let mut instances = Vec::new();
    for part in 0..hash.width_bits.div_ceil(32) {
        let width_bits = (hash.width_bits - 32 * part).min(32);
        let seed = hash.seed.wrapping_add(part);
        let name = context.names.fresh(&format!("hash_{seed}"));
        let polynomial_name = context.names.fresh(&format!("polynomial_{seed}"));
        context.put(
            span,
            format!(
                "CRCPolynomial<bit<32>>(32w{:#010x}, true, false, false, 32w0xffffffff, \
                 32w0xffffffff) {polynomial_name};\
                 Hash<bit<{width_bits}>>(HashAlgorithm_t.CUSTOM, {polynomial_name}) {name};",
                polynomial(seed)
            ),
        );
        instances.push(name);
    }
    context.hashes.known.push((gress, hash.clone(), instances.clone()));
    instances
}

/// Declares a source of random numbers and gives the expression that draws one.
pub(super) fn random(context: &mut Context<'_>, width_bits: u32, span: Span) -> String {
    let name = context.names.fresh("random");
    context.put(span, format!("Random<bit<{width_bits}>>() {name};"));
    format!("{name}.get()")
}

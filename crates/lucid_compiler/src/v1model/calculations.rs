// SPDX-License-Identifier: Apache-2.0
//! Hashes and checksums as calls of v1model's `hash`, and the names that the control plane knows them
//! by. What they compute is [`lucid::core::hash`]'s.

use super::context::{CALCULATION_MARK, Context};
use crate::expressions::literal;
use p4::ast::NodeId;
use p4::typed::{TypeKind, TypedProgram};
use std::sync::Arc;

/// The compiler's own calculations in the order of the program's text, with a polynomial if they are hashes.
pub(super) struct Calculations {
    before_user: Vec<Option<u32>>,
    after_user: Vec<Option<u32>>,
}

/// Removes the marks from the pieces. The user's declarations stand in front of the piece `user_position`.
pub(super) fn unmarked(context: &mut Context<'_>, user_position: usize) -> Calculations {
    let mut found = Calculations { before_user: Vec::new(), after_user: Vec::new() };
    for (number, (_, text)) in context.pieces.iter_mut().enumerate() {
        if !text.contains(CALCULATION_MARK) {
            continue;
        }
        let mut without = String::new();
        for (at, part) in text.split(CALCULATION_MARK).enumerate() {
            if at % 2 == 0 {
                without.push_str(part);
                continue;
            }
            let of = part.parse().ok().and_then(|at: usize| context.calculations.get(at));
            match number < user_position {
                true => found.before_user.extend(of.copied()),
                false => found.after_user.extend(of.copied()),
            }
        }
        *text = without;
    }
    found
}

impl Calculations {
    /// Names and polynomials of the hashes, as BMv2's commands know them.
    pub(super) fn named(&self, typed: &TypedProgram) -> Vec<(Arc<str>, u32)> {
        let Some(architecture) = ir::architecture::named("v1model") else { return Vec::new() };
        let algorithms =
            typed.program.declarations.iter().find(|it| &*it.name.text == "HashAlgorithm");
        let is_algorithm = |id: &NodeId| match typed.expression_types.get(id).map(|ty| &**ty) {
            Some(TypeKind::Enum(declaration)) => algorithms.is_some_and(|it| it.id == *declaration),
            _ => false,
        };
        let numbered: Vec<NodeId> =
            ir::architecture::calculation_order(typed).into_iter().filter(is_algorithm).collect();
        let mut by_text: Vec<(NodeId, u32)> = numbered.iter().copied().zip(0..).collect();
        by_text.sort_unstable();
        let user_end = by_text.len().saturating_sub(self.after_user.len());
        let own = by_text.iter().take(self.before_user.len()).chain(by_text.iter().skip(user_end));
        let polynomials = self.before_user.iter().chain(&self.after_user);
        own.zip(polynomials)
            .filter_map(|((_, place), polynomial)| {
                Some((architecture.calculation_name(*place)?, (*polynomial)?))
            })
            .collect()
    }
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

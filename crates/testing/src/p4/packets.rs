// SPDX-License-Identifier: Apache-2.0
//! Packets that reach deep states of a generated parser: a path through its states is chosen, and the
//! fields that its `select`s look at get values that match. Other fields have values of the palette.
//! Some packets are cut short, some are noise.

use super::generator::{KeyModel, ParserModel, Pattern, StateModel, Step, Target};
use crate::Choices;
use ir::{BinaryOperation, Bits, UnaryOperation};
use std::collections::HashMap;

/// The maximum length of a packet without its tail.
const MAX_PACKET_BITS: usize = 8 * 1500;

/// The maximum number of states on a path.
const MAX_PATH_STATES: usize = 24;

/// A packet.
pub fn packet(parser: &ParserModel, choices: &mut Choices, palette: &[u64]) -> Vec<u8> {
    if choices.chance(3) {
        let length = choices.below(80) as u32;
        return choices.bits(8 * length).to_bytes_be();
    }
    let mut builder = Builder::default();
    let mut at = 0;
    for _ in 0..MAX_PATH_STATES {
        let Some(state) = parser.states.get(at) else { break };
        builder.state(state, choices, palette);
        // Later cases and the default are behind what the first ones look for; most paths go deep.
        let Some(case) = state.cases.len().checked_sub(1).map(|last| choices.below(last + 1))
        else {
            break;
        };
        let case = &state.cases[case];
        for (key, pattern) in state.keys.iter().zip(&case.patterns) {
            if let Some(value) = matching(pattern, builder.width(key, pattern), choices) {
                builder.set(key, &value);
            }
        }
        match case.target {
            Target::State(next) => at = next,
            Target::Accept | Target::Reject => break,
        }
    }
    let mut bytes = builder.finish();
    match choices.weighted(&[30, 50, 20]) {
        0 => {}
        1 => {
            let length = choices.below(40) as u32;
            bytes.extend(choices.bits(8 * length).to_bytes_be());
        }
        _ => {
            let length = choices.below(bytes.len() + 1);
            bytes.truncate(length);
        }
    }
    bytes
}

/// A value that a pattern matches, of the pattern's width.
fn matching(pattern: &Pattern, width_bits: u32, choices: &mut Choices) -> Option<Bits> {
    match pattern {
        Pattern::Any => None,
        Pattern::Masked(value, mask) => {
            let free = choices.bits(width_bits);
            let outside = mask.unary(UnaryOperation::Not);
            let free = free.binary(BinaryOperation::And, &outside);
            Some(value.binary(BinaryOperation::And, mask).binary(BinaryOperation::Or, &free))
        }
        Pattern::Range(low, high) => {
            let chosen = if choices.chance(50) { low } else { high };
            Some(chosen.clone())
        }
    }
}

/// Bits of a packet, with where its fields lie.
#[derive(Default)]
struct Builder {
    bits: Vec<bool>,
    /// First bit and width.
    fields: HashMap<String, (usize, u32)>,
    /// Bits that something looked ahead at, to be set when they are there.
    ahead: Vec<(usize, Bits)>,
}

impl Builder {
    fn append(&mut self, value: &Bits) {
        for at in (0..value.width_bits()).rev() {
            self.bits.push(value.bit(at));
        }
    }

    fn state(&mut self, state: &StateModel, choices: &mut Choices, palette: &[u64]) {
        for step in &state.steps {
            if self.bits.len() > MAX_PACKET_BITS {
                return;
            }
            match step {
                Step::Advance(bits) => {
                    let value = choices.bits(*bits);
                    self.append(&value);
                }
                Step::Extract { fields, varbit } => {
                    for field in fields {
                        let place = (self.bits.len(), field.width_bits);
                        self.fields.insert(field.path.clone(), place);
                        let value = choices.value(field.width_bits, palette);
                        self.append(&value);
                    }
                    if let Some((source, mask)) = varbit {
                        let length_bytes = (self.read(source) & mask).min(200);
                        let value = choices.bits(8 * length_bytes as u32);
                        self.append(&value);
                    }
                }
            }
        }
    }

    /// A field's low 64 bits; 0 when it was not extracted.
    fn read(&self, path: &str) -> u64 {
        let Some((first, width)) = self.fields.get(path) else { return 0 };
        self.bits[*first..*first + *width as usize]
            .iter()
            .fold(0, |value, bit| value << 1 | u64::from(*bit))
    }

    fn width(&self, _key: &KeyModel, pattern: &Pattern) -> u32 {
        match pattern {
            Pattern::Any => 0,
            Pattern::Masked(value, _) | Pattern::Range(value, _) => value.width_bits(),
        }
    }

    fn set(&mut self, key: &KeyModel, value: &Bits) {
        match key {
            KeyModel::Field { path, low } => {
                let Some((first, width)) = self.fields.get(path).copied() else { return };
                let end = first + (width - low) as usize;
                self.overwrite(end - value.width_bits() as usize, value);
            }
            KeyModel::Lookahead => self.ahead.push((self.bits.len(), value.clone())),
            KeyModel::Other => {}
        }
    }

    fn overwrite(&mut self, first: usize, value: &Bits) {
        let width = value.width_bits();
        for at in 0..width {
            if let Some(bit) = self.bits.get_mut(first + at as usize) {
                *bit = value.bit(width - 1 - at);
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        for (first, value) in std::mem::take(&mut self.ahead) {
            let end = first + value.width_bits() as usize;
            if self.bits.len() < end {
                self.bits.resize(end, false);
            }
            self.overwrite(first, &value);
        }
        self.bits
            .chunks(8)
            .map(|bits| {
                let value = bits.iter().fold(0u8, |value, bit| value << 1 | u8::from(*bit));
                value << (8 - bits.len())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::generator::{CaseModel, FieldModel};
    use super::*;

    #[test]
    fn chosen_paths_are_taken() {
        // One byte of length, a select on its low half, then as many bytes.
        let field = FieldModel { path: "h.f".into(), width_bits: 8 };
        let first = StateModel {
            steps: vec![Step::Extract { fields: vec![field], varbit: None }],
            keys: vec![KeyModel::Field { path: "h.f".into(), low: 0 }],
            cases: vec![CaseModel {
                patterns: vec![Pattern::Masked(Bits::from_u64(4, 3), Bits::ones(4))],
                target: Target::State(1),
            }],
        };
        let varbit = Some(("h.f".to_string(), 15));
        let second = StateModel {
            steps: vec![Step::Extract { fields: Vec::new(), varbit }],
            ..StateModel::default()
        };
        let parser = ParserModel { states: vec![first, second] };
        let mut long = 0;
        for seed in 0..100 {
            let packet = packet(&parser, &mut Choices::from_seed(seed), &[1, 2]);
            long += usize::from(packet.len() >= 4 && packet[0] & 15 == 3);
        }
        assert!(long > 60, "{long}");
    }
}

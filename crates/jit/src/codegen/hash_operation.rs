// SPDX-License-Identifier: Apache-2.0
//! `Operation::Hash`: internet checksums from fields in the packet and from earlier sums of the same fields, or
//! an algorithm in `hashes`.

use super::function::FunctionCompiler;
use super::hash_inputs::{HashInput, KnownSum, Share, share_in_run};
use super::hashes::{ChecksumPart, Payload, takes_parameters};
use super::temporaries::PacketBits;
use super::values::Val;
use crate::runtime::pass::{Instance, Pass};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use ir::{HashAlgorithm, Operand, Temp, ValueType};
use std::mem::offset_of;

/// The parts of a sum and the share of each input.
struct Parts {
    parts: Vec<ChecksumPart>,
    shares: Vec<Share>,
    count: u32,
}

impl FunctionCompiler<'_, '_> {
    /// `Operation::Hash`
    pub fn hash(
        &mut self,
        result: Temp,
        algorithm: HashAlgorithm,
        inputs: &[Operand],
        payload: bool,
    ) {
        let width_bits = self.temp_types[result.index()].width_bits();
        let is_fixed =
            inputs.iter().all(|input| matches!(self.operand_type(input), ValueType::Bits(_)));
        let is_sum = matches!(algorithm, HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16);
        let is_half = is_sum && is_fixed && !payload;
        let hash = if is_half {
            self.internet_checksum(inputs)
        } else if !payload && let Some(hash) = self.short_crc(algorithm, inputs) {
            hash
        } else {
            let inputs = self.operands(inputs);
            let payload = payload.then(|| self.rest_of_packet());
            let replication = takes_parameters(algorithm).then(|| {
                self.load_readonly(self.instance, offset_of!(Instance, replication) as i32)
            });
            self.values().hash_bytes(algorithm, &inputs, payload, replication)
        };
        let hash = Val::Word(hash);
        let value = match width_bits {
            // A checksum has 16 bits.
            16..=64 if is_half => hash,
            0..64 => self.values().resize(ir::ResizeKind::Truncate, 64, width_bits, hash),
            64 => hash,
            _ => self.values().resize(ir::ResizeKind::ZeroExtend, 64, width_bits, hash),
        };
        self.define(result, value);
    }

    /// The packet from the cursor on.
    fn rest_of_packet(&mut self) -> Payload {
        let from_bits = if self.facts.whole_bytes {
            let cursor = self.cursor();
            self.builder.ins().ishl_imm_u(cursor, 3)
        } else {
            self.load_word(self.pass, offset_of!(Pass, cursor_bits) as i32)
        };
        Payload { packet: self.packet, length_bytes: self.length_bytes, from_bits }
    }

    /// The internet checksum of concatenated inputs of fixed width, padded to whole words of 16 bits.
    pub fn internet_checksum(&mut self, inputs: &[Operand]) -> Value {
        let wanted = self.hashed_inputs(inputs);
        if let Some(known) = self.changed_sum(&wanted, inputs) {
            let checksum = self.values().folded_checksum(known.sum);
            self.path.sums.push(known);
            return checksum;
        }
        let Parts { parts, shares, .. } = self.checksum_parts(inputs);
        let Some(sum) = self.values().raw_sum(&parts) else { return self.number(0xffff) };
        if sum.is_exact {
            let inputs =
                wanted.iter().zip(shares).map(|(&(input, width), share)| (input, width, share));
            self.path.sums.push(KnownSum { inputs: inputs.collect(), sum });
        }
        self.values().folded_checksum(sum)
    }

    /// Updates an earlier sum whose inputs differ in few places, if that is cheaper than a new sum.
    fn changed_sum(&mut self, wanted: &[(HashInput, u32)], inputs: &[Operand]) -> Option<KnownSum> {
        let changes = |known: &KnownSum| {
            let is_alike = known.inputs.len() == wanted.len()
                && known.inputs.iter().zip(wanted).all(|(known, wanted)| known.1 == wanted.1);
            let changed = (0..wanted.len()).filter(|&at| {
                let (input, _, _) = known.inputs[at];
                input == HashInput::Other || input != wanted[at].0
            });
            is_alike.then(|| changed.collect::<Vec<_>>())
        };
        let is_possible = |known: &KnownSum, changed: &[usize]| {
            changed.iter().all(|&at| {
                let (input, width_bits, share) = known.inputs[at];
                let fits = match share {
                    Share::Bytes(_) => matches!(width_bits, 8 | 16 | 32),
                    Share::Number(shift) => width_bits + shift <= 64,
                    Share::Scattered => false,
                };
                fits && input != HashInput::Other && wanted[at].0 != HashInput::Other
            })
        };
        let (known, changed) = self
            .path
            .sums
            .iter()
            .filter_map(|known| changes(known).map(|changed| (known, changed)))
            .filter(|(known, changed)| is_possible(known, changed))
            .min_by_key(|(_, changed)| changed.len())
            .map(|(known, changed)| (known.clone(), changed))?;
        // Each change subtracts and adds; a new sum only adds.
        if changed.len() as u32 * 2 >= self.summed_numbers(inputs) {
            return None;
        }
        let mut known = known;
        let mut sum = known.sum.value;
        for at in changed {
            let (before, width_bits, share) = known.inputs[at];
            let after = wanted[at].0;
            let before = self.share_of(before, width_bits, share);
            let added = self.share_of(after, width_bits, share);
            // The exact sum, not only modulo 65535, stays equal to a new one.
            sum = self.builder.ins().isub(sum, before);
            sum = self.builder.ins().iadd(sum, added);
            known.inputs[at].0 = after;
        }
        known.sum.value = sum;
        Some(known)
    }

    fn share_of(&mut self, input: HashInput, width_bits: u32, share: Share) -> Value {
        let word = match input {
            HashInput::Packet(bits) => self.load_bits(bits.address, bits.offset_bits, width_bits),
            HashInput::Word(word) => word,
            HashInput::Other => self.number(0),
        };
        let (word, shift) = match share {
            Share::Bytes(shift) => {
                let narrow = match width_bits {
                    16 => Some(types::I16),
                    32 => Some(types::I32),
                    _ => None,
                };
                let word = match narrow {
                    Some(ty) => {
                        let narrow = self.builder.ins().ireduce(ty, word);
                        let swapped = self.builder.ins().bswap(narrow);
                        self.builder.ins().uextend(types::I64, swapped)
                    }
                    None => word,
                };
                (word, shift)
            }
            Share::Number(shift) => (word, shift),
            Share::Scattered => (word, 0),
        };
        match shift {
            0 => word,
            _ => self.builder.ins().ishl_imm_u(word, i64::from(shift)),
        }
    }

    /// The longest prefix of the inputs that are neighbours in the packet, as one run of whole bytes, and their
    /// number.
    fn run(&self, inputs: &[Operand], stream_bits: u64) -> Option<(PacketBits, usize)> {
        let mut run = self.packet_operand(inputs.first()?)?;
        let mut count = 1;
        while let Some(after) = inputs.get(count).and_then(|input| self.packet_operand(input)) {
            let follows = after.address == run.address
                && after.offset_bits == run.offset_bits + run.width_bits;
            if !follows {
                break;
            }
            run.width_bits += after.width_bits;
            count += 1;
        }
        let is_whole = stream_bits.is_multiple_of(16)
            && run.offset_bits.is_multiple_of(8)
            && run.width_bits.is_multiple_of(8);
        is_whole.then_some((run, count))
    }

    /// The number of additions of a new sum.
    fn summed_numbers(&self, inputs: &[Operand]) -> u32 {
        let (mut at, mut stream_bits, mut count) = (0, 0u64, 0);
        while at < inputs.len() {
            match self.run(&inputs[at..], stream_bits) {
                Some((run, length)) => {
                    count += run.width_bits.div_ceil(32);
                    stream_bits += u64::from(run.width_bits);
                    at += length;
                }
                None => {
                    count += 1;
                    stream_bits += u64::from(self.operand_type(&inputs[at]).width_bits());
                    at += 1;
                }
            }
        }
        count
    }

    /// Inputs of a checksum; neighbours in the packet become runs of bytes.
    fn checksum_parts(&mut self, inputs: &[Operand]) -> Parts {
        let mut all = Parts { parts: Vec::new(), shares: Vec::new(), count: 0 };
        let (mut at, mut stream_bits) = (0, 0u64);
        let mut numbers = Vec::new();
        let mut has_runs = false;
        while at < inputs.len() {
            if let Some((run, length)) = self.run(&inputs[at..], stream_bits) {
                let length_bytes = run.width_bits / 8;
                for input in &inputs[at..at + length] {
                    let share = self.packet_operand(input).map_or(Share::Scattered, |bits| {
                        share_in_run(bits.offset_bits - run.offset_bits, bits, length_bytes)
                    });
                    all.shares.push(share);
                }
                all.parts.push(ChecksumPart::PacketRun {
                    address: run.address,
                    offset_bytes: (run.offset_bits / 8) as i32,
                    length_bytes,
                });
                has_runs = true;
                all.count += length_bytes.div_ceil(4);
                stream_bits += u64::from(run.width_bits);
                at += length;
                continue;
            }
            let width_bits = self.operand_type(&inputs[at]).width_bits();
            let value = self.operand(&inputs[at]);
            let words = self.values().words(width_bits, value);
            let mut left = width_bits;
            for word in words.into_iter().rev() {
                let bits = if left.is_multiple_of(64) { left.min(64) } else { left % 64 };
                if bits > 0 {
                    all.parts.push(ChecksumPart::Value { word, width_bits: bits });
                    all.count += 1;
                }
                left -= bits;
            }
            stream_bits += u64::from(width_bits);
            let shift = ((16 - stream_bits % 16) % 16) as u32;
            numbers.push((all.shares.len(), shift));
            all.shares.push(match width_bits {
                0..=48 => Share::Number(shift),
                _ => Share::Scattered,
            });
            at += 1;
        }
        if has_runs {
            // Sums with runs are byte-swapped.
            for (at, shift) in numbers {
                if all.shares[at] != Share::Scattered {
                    all.shares[at] = Share::Number(shift + 8);
                }
            }
        }
        all
    }
}

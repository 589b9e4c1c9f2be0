// SPDX-License-Identifier: Apache-2.0
//! Tables of CRCs of few bytes, one for each byte's place. CRCs are linear, so a hash is the exclusive or of
//! the table entries of all bytes. Two CRCs of inputs of one length, as filters and sketches compute them,
//! share tables: that saves 23 % of the firewall example's instructions.

use super::hash_inputs::HashInput;
use crate::runtime::hashes::{InlineCrc, inline_crc};
use cranelift_codegen::ir::Value;
use ir::{HashAlgorithm, Operand, Operation, Program, RegionId, ValueType};

/// Longest input in bytes. With two CRCs the tables take 2 KiB for each byte.
const MAX_BYTES: u32 = 16;

/// The CRCs of a unit of inputs of one length: one, or two together.
#[derive(Debug)]
pub(crate) struct Crcs {
    pub length_bytes: u32,
    pub algorithms: Vec<HashAlgorithm>,
    /// By place and byte: what the byte adds to the first CRC, in the low half, and to a second one, in the
    /// high half.
    pub tables: Vec<[u64; 256]>,
    /// The hashes of zero bytes, likewise.
    pub zeros: u64,
}

/// Hashes computed on this path, and their inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownCrcs {
    pub inputs: Vec<(HashInput, u32)>,
    /// The first hash in the low half.
    pub hashes: Value,
}

impl KnownCrcs {
    /// Replaces the value that is the packet's address.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        self.inputs.iter_mut().for_each(|(input, _)| input.packet_moved(before, after));
    }
}

/// The length of inputs that are whole bytes, if it is small.
pub(crate) fn short_length_bytes(types: impl Iterator<Item = ValueType>) -> Option<u32> {
    let mut length_bytes = 0;
    for ty in types {
        match ty {
            ValueType::Bits(width_bits) if width_bits.is_multiple_of(8) && width_bits <= 64 => {
                length_bytes += width_bits / 8;
            }
            _ => return None,
        }
    }
    (1..=MAX_BYTES).contains(&length_bytes).then_some(length_bytes)
}

/// The CRCs of few bytes in some regions.
pub(crate) fn in_regions(program: &Program, regions: &[RegionId]) -> Vec<Crcs> {
    let mut all: Vec<Crcs> = Vec::new();
    for region in regions.iter().map(|id| &program.regions[id.index()]) {
        for instruction in region.blocks.iter().flat_map(|block| &block.instructions) {
            let Operation::Hash { algorithm, inputs, payload: false, .. } = &instruction.operation
            else {
                continue;
            };
            let types = inputs.iter().map(|input| match input {
                Operand::Constant(bits) => ValueType::Bits(bits.width_bits()),
                Operand::Temp(temp) => region.temps[temp.index()],
            });
            if let (Some(length_bytes), Some(crc)) =
                (short_length_bytes(types), inline_crc(*algorithm))
            {
                add(&mut all, length_bytes, *algorithm, &crc);
            }
        }
    }
    all
}

fn add(all: &mut Vec<Crcs>, length_bytes: u32, algorithm: HashAlgorithm, crc: &InlineCrc) {
    let known = all.iter().position(|crcs| crcs.length_bytes == length_bytes);
    let at = known.unwrap_or_else(|| {
        let tables = vec![[0; 256]; length_bytes as usize];
        all.push(Crcs { length_bytes, algorithms: Vec::new(), tables, zeros: 0 });
        all.len() - 1
    });
    let crcs = &mut all[at];
    if crcs.algorithms.len() < 2 && !crcs.algorithms.contains(&algorithm) {
        crcs.add(algorithm, crc);
    }
}

impl Crcs {
    fn add(&mut self, algorithm: HashAlgorithm, crc: &InlineCrc) {
        let shift = self.algorithms.len() * 32;
        self.algorithms.push(algorithm);
        let step = |remainder: u32| remainder >> 8 ^ crc.tables[0][(remainder & 0xff) as usize];
        let zeros = self.tables.iter().fold(crc.initial, |remainder, _| step(remainder));
        self.zeros |= u64::from(zeros ^ crc.final_xor) << shift;
        // A byte's remainder passes through the zero bytes after it.
        let mut added = crc.tables[0];
        for table in self.tables.iter_mut().rev() {
            for (entry, remainder) in table.iter_mut().zip(&mut added) {
                *entry |= u64::from(*remainder) << shift;
                *remainder = step(*remainder);
            }
        }
    }

    pub fn are_two(&self) -> bool {
        self.algorithms.len() > 1
    }

    /// The words of all tables; tables of a single CRC have two entries in each word.
    pub fn words(&self) -> Vec<u64> {
        let entries: Vec<u64> = self.tables.iter().flatten().copied().collect();
        if self.are_two() {
            return entries;
        }
        let bytes: Vec<u8> =
            entries.iter().flat_map(|entry| (*entry as u32).to_ne_bytes()).collect();
        bytes.as_chunks().0.iter().copied().map(u64::from_ne_bytes).collect()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! CRCs of few bytes. CRCs are linear, so a hash is the exclusive or of what each byte adds at its place,
//! which a table for each place says. Bytes that are as in the packet are read there one by one. Where a
//! unit computes two CRCs of inputs of one length, as filters and sketches do, the tables have both side by
//! side, and whichever is asked for later is known already.

use super::function::{FunctionCompiler, lasting};
use super::sums::Input;
use crate::runtime::hashes::{InlineCrc, inline_crc};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use ir::{HashAlgorithm, Operand, Operation, Program, RegionId, ValueType};

/// Tables by place serve up to so many bytes; with two CRCs they take 2 KiB a byte.
const MOST_BYTES: u32 = 16;

/// The CRCs that a unit computes of so many bytes: one, or two together.
#[derive(Debug)]
pub(crate) struct Crcs {
    length_bytes: u32,
    algorithms: Vec<HashAlgorithm>,
}

/// A hash that was computed on the way here, with the other one of its length, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownCrcs {
    inputs: Vec<(Input, u32)>,
    /// The first one in the low half.
    hashes: Value,
}

impl KnownCrcs {
    /// The address of what it hashes is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        self.inputs.iter_mut().for_each(|(input, _)| input.packet_moved(before, after));
    }
}

/// The length of inputs that are whole bytes, if it is small.
fn short_length_bytes(types: impl Iterator<Item = ValueType>) -> Option<u32> {
    let mut length_bytes = 0;
    for ty in types {
        match ty {
            ValueType::Bits(width_bits) if width_bits.is_multiple_of(8) && width_bits <= 64 => {
                length_bytes += width_bits / 8;
            }
            _ => return None,
        }
    }
    (1..=MOST_BYTES).contains(&length_bytes).then_some(length_bytes)
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
            let Some(length_bytes) = short_length_bytes(types) else { continue };
            if inline_crc(*algorithm).is_none() {
                continue;
            }
            match all.iter_mut().find(|crcs| crcs.length_bytes == length_bytes) {
                None => all.push(Crcs { length_bytes, algorithms: vec![*algorithm] }),
                Some(Crcs { algorithms, .. }) => {
                    if algorithms.len() < 2 && !algorithms.contains(algorithm) {
                        algorithms.push(*algorithm);
                    }
                }
            }
        }
    }
    all
}

/// What bytes add by their places, and the hash of zeros: of the first CRC in the low half, of a second one
/// in the high half.
struct Places {
    tables: Vec<[u64; 256]>,
    zeros: u64,
}

impl Places {
    fn new(crcs: &[InlineCrc], length_bytes: u32) -> Places {
        let mut places = Places { tables: vec![[0; 256]; length_bytes as usize], zeros: 0 };
        for (crc, shift) in crcs.iter().zip([0, 32]) {
            let step = |remainder: u32| remainder >> 8 ^ crc.tables[0][(remainder & 0xff) as usize];
            let zeros = (0..length_bytes).fold(crc.initial, |remainder, _| step(remainder));
            places.zeros |= u64::from(zeros ^ crc.final_xor) << shift;
            let mut added = crc.tables[0];
            for table in places.tables.iter_mut().rev() {
                for (entry, remainder) in table.iter_mut().zip(&mut added) {
                    *entry |= u64::from(*remainder) << shift;
                    *remainder = step(*remainder);
                }
            }
        }
        places
    }

    /// The tables one after another, of one CRC with two entries a word.
    fn words(&self, are_two: bool) -> Vec<u64> {
        let entries: Vec<u64> = self.tables.iter().flatten().copied().collect();
        match are_two {
            true => entries,
            false => {
                let bytes: Vec<u8> =
                    entries.iter().flat_map(|entry| (*entry as u32).to_ne_bytes()).collect();
                bytes.as_chunks().0.iter().copied().map(u64::from_ne_bytes).collect()
            }
        }
    }
}

impl FunctionCompiler<'_, '_> {
    /// A hash of few bytes, if it is a CRC whose parameters are known.
    pub fn short_crc(&mut self, algorithm: HashAlgorithm, inputs: &[Operand]) -> Option<Value> {
        let types = inputs.iter().map(|input| self.operand_type(input));
        let length_bytes = short_length_bytes(types)?;
        let known = self.facts.crcs.iter().find(|crcs| crcs.length_bytes == length_bytes)?;
        let half = known.algorithms.iter().position(|known| *known == algorithm)?;
        let crcs: Option<Vec<InlineCrc>> =
            known.algorithms.iter().map(|algorithm| inline_crc(*algorithm)).collect();
        let crcs = crcs?;
        let wanted: Vec<(Input, u32)> = inputs
            .iter()
            .map(|input| (self.hashed_input(input), self.operand_type(input).width_bits()))
            .collect();
        let is_wanted = |known: &&KnownCrcs| known.inputs == wanted;
        let hashes = match self.path.crcs.iter().find(is_wanted) {
            Some(known) => known.hashes,
            None => {
                let places = Places::new(&crcs, length_bytes);
                let hashes = self.crc_by_places(&wanted, inputs, &places, crcs.len() > 1);
                // What other inputs were is not known later.
                if wanted.iter().all(|(input, _)| *input != Input::Other) {
                    self.path.crcs.push(KnownCrcs { inputs: wanted, hashes });
                }
                hashes
            }
        };
        Some(match (half, crcs.len()) {
            (_, 1) => hashes,
            (0, _) => self.builder.ins().band_imm_u(hashes, i64::from(u32::MAX)),
            _ => self.builder.ins().ushr_imm_u(hashes, 32),
        })
    }

    fn crc_by_places(
        &mut self,
        wanted: &[(Input, u32)],
        inputs: &[Operand],
        places: &Places,
        are_two: bool,
    ) -> Value {
        let tables = self.constants.keep(places.words(are_two));
        let tables = self.number(tables as u64);
        let (mut zeros, mut sum, mut place) = (places.zeros, None, 0);
        for (&(input, width_bits), operand) in wanted.iter().zip(inputs) {
            let count = width_bits / 8;
            let in_packet = match input {
                Input::Packet(bits) if bits.offset_bits.is_multiple_of(8) => Some(bits),
                _ => None,
            };
            let number = match in_packet {
                Some(_) => None,
                None => Some(self.index_operand(operand)),
            };
            for byte in 0..count {
                let moved_bits = i64::from(count - 1 - byte) * 8;
                let index = match (in_packet, number) {
                    (Some(bits), _) => {
                        let offset_bytes = (bits.offset_bits / 8 + byte) as i32;
                        let flags = MemFlagsData::trusted();
                        self.builder.ins().uload8(types::I64, flags, bits.address, offset_bytes)
                    }
                    (None, Some(number)) => {
                        if let Some(known) = self.known_number(number) {
                            let known = known >> moved_bits & 0xff;
                            zeros ^= places.tables[place][known as usize];
                            place += 1;
                            continue;
                        }
                        let moved = match moved_bits {
                            0 => number,
                            _ => self.builder.ins().ushr_imm_u(number, moved_bits),
                        };
                        // Nothing is above the first byte.
                        match byte {
                            0 => moved,
                            _ => self.builder.ins().band_imm_u(moved, 0xff),
                        }
                    }
                    (None, None) => continue,
                };
                let entry = self.entry_of_place(tables, place, index, are_two);
                sum = Some(match sum {
                    Some(sum) => self.builder.ins().bxor(sum, entry),
                    None => entry,
                });
                place += 1;
            }
        }
        match sum {
            None => self.number(zeros),
            Some(sum) if zeros == 0 => sum,
            Some(sum) => {
                let zeros = self.number(zeros);
                self.builder.ins().bxor(sum, zeros)
            }
        }
    }

    fn entry_of_place(
        &mut self,
        tables: Value,
        place: usize,
        index: Value,
        are_two: bool,
    ) -> Value {
        // The tables live as long as the code.
        let flags = lasting();
        let shift = if are_two { 3 } else { 2 };
        let distance = self.builder.ins().ishl_imm_u(index, shift);
        let address = self.builder.ins().iadd(tables, distance);
        let offset_bytes = (place << shift) as i32 * 256;
        match are_two {
            true => self.builder.ins().load(types::I64, flags, address, offset_bytes),
            false => self.builder.ins().uload32(flags, address, offset_bytes),
        }
    }
}

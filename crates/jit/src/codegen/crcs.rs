// SPDX-License-Identifier: Apache-2.0
//! CRCs of few bytes. CRCs are linear, so a hash is the exclusive or of what each byte adds at its place,
//! which a table for each place says. Bytes that are as in the packet are read there one by one. Where a
//! unit computes two CRCs of inputs of one length, as filters and sketches do, the tables have both side by
//! side, and whichever is asked for later is known already.

use super::function::{FunctionCompiler, PacketBits, lasting};
use super::inputs::Input;
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
    /// What bytes add by their places: to the first CRC in the low half, to a second one in the high half.
    tables: Vec<[u64; 256]>,
    /// The hashes of zeros, likewise.
    zeros: u64,
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
        // A byte adds to what is behind it by passing through zeros.
        let mut added = crc.tables[0];
        for table in self.tables.iter_mut().rev() {
            for (entry, remainder) in table.iter_mut().zip(&mut added) {
                *entry |= u64::from(*remainder) << shift;
                *remainder = step(*remainder);
            }
        }
    }

    fn are_two(&self) -> bool {
        self.algorithms.len() > 1
    }

    /// The tables one after another, of one CRC with two entries a word.
    fn words(&self) -> Vec<u64> {
        let entries: Vec<u64> = self.tables.iter().flatten().copied().collect();
        if self.are_two() {
            return entries;
        }
        let bytes: Vec<u8> =
            entries.iter().flat_map(|entry| (*entry as u32).to_ne_bytes()).collect();
        bytes.as_chunks().0.iter().copied().map(u64::from_ne_bytes).collect()
    }
}

impl<'a> FunctionCompiler<'a, '_> {
    /// A hash of few bytes, if it is a CRC whose parameters are known.
    pub fn short_crc(&mut self, algorithm: HashAlgorithm, inputs: &[Operand]) -> Option<Value> {
        let length_bytes = short_length_bytes(inputs.iter().map(|input| self.operand_type(input)))?;
        let crcs = self.facts.crcs.iter().find(|crcs| crcs.length_bytes == length_bytes)?;
        let half = crcs.algorithms.iter().position(|known| *known == algorithm)?;
        let wanted = self.hashed_inputs(inputs);
        let known = self.path.crcs.iter().find(|known| known.inputs == wanted);
        let hashes = match known.map(|known| known.hashes) {
            Some(hashes) => hashes,
            None => {
                let hashes = self.crcs_by_places(crcs, &wanted, inputs);
                // What other inputs were is not known later.
                if wanted.iter().all(|(input, _)| *input != Input::Other) {
                    self.path.crcs.push(KnownCrcs { inputs: wanted, hashes });
                }
                hashes
            }
        };
        Some(match half {
            _ if !crcs.are_two() => hashes,
            0 => self.builder.ins().band_imm_u(hashes, i64::from(u32::MAX)),
            _ => self.builder.ins().ushr_imm_u(hashes, 32),
        })
    }

    fn crcs_by_places(
        &mut self,
        crcs: &'a Crcs,
        wanted: &[(Input, u32)],
        inputs: &[Operand],
    ) -> Value {
        let tables = self.constants.keep(crcs.words());
        let tables = self.number(tables as u64);
        let (mut zeros, mut sum, mut place) = (crcs.zeros, None, 0);
        for (&(input, width_bits), operand) in wanted.iter().zip(inputs) {
            let first = place;
            place += (width_bits / 8) as usize;
            let bytes = match input {
                Input::Packet(bits) if bits.offset_bits.is_multiple_of(8) => {
                    self.bytes_in_packet(bits)
                }
                _ => {
                    let number = self.index_operand(operand);
                    if let Some(known) = self.known_number(number) {
                        let known = known.to_be_bytes();
                        let bytes = &known[known.len() - (place - first)..];
                        for (byte, table) in bytes.iter().zip(&crcs.tables[first..]) {
                            zeros ^= table[usize::from(*byte)];
                        }
                        continue;
                    }
                    self.bytes_of_number(number, width_bits)
                }
            };
            for (byte, place) in bytes.into_iter().zip(first..) {
                let entry = self.entry_of_place(tables, place, byte, crcs.are_two());
                sum = Some(match sum {
                    Some(sum) => self.builder.ins().bxor(sum, entry),
                    None => entry,
                });
            }
        }
        let zeros = self.number(zeros);
        match sum {
            None => zeros,
            Some(sum) => self.builder.ins().bxor(sum, zeros),
        }
    }

    /// Whole bytes of the packet, each by itself.
    fn bytes_in_packet(&mut self, bits: PacketBits) -> Vec<Value> {
        let first = (bits.offset_bits / 8) as i32;
        let places = first..first + (bits.width_bits / 8) as i32;
        places
            .map(|at| {
                self.builder.ins().uload8(types::I64, MemFlagsData::trusted(), bits.address, at)
            })
            .collect()
    }

    /// The bytes of a number of whole bytes, the first one highest.
    fn bytes_of_number(&mut self, number: Value, width_bits: u32) -> Vec<Value> {
        let below = (0..width_bits).step_by(8).rev();
        below
            .map(|below_bits| {
                let moved = match below_bits {
                    0 => number,
                    _ => self.builder.ins().ushr_imm_u(number, i64::from(below_bits)),
                };
                // Nothing is above the first byte.
                match below_bits + 8 == width_bits {
                    true => moved,
                    false => self.builder.ins().band_imm_u(moved, 0xff),
                }
            })
            .collect()
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

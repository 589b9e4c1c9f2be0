// SPDX-License-Identifier: Apache-2.0
//! Deparsing in the packet's own memory. When no header moves, only written fields are patched. Else headers
//! are copied to their new places before the payload, which never moves, and then patched.

use super::facts::{Emit, fields_of, fixed_bits};
use super::fields::narrow_type;
use super::function::FunctionCompiler;
use super::path::HeaderOffset;
use crate::runtime;
use crate::runtime::RuntimeFunction;
use crate::runtime::pass::{ENDED_NO_ROOM, Instance, Pass, SCRATCH_BYTES};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use ir::HeaderId;
use std::mem::offset_of;

/// Headers up to this long are copied by single loads and stores.
const MAX_BYTES_COPIED_INLINE: u32 = 64;

/// A header that is emitted when `is_emitted` is not zero.
struct Emission {
    header: HeaderId,
    /// `None` if it is emitted in any case.
    is_emitted: Option<Value>,
    position: Position,
}

/// Headers up to this length together are moved through registers.
const MAX_BYTES_MOVED_INLINE: u32 = 96;

/// Bytes to move, with offsets from the packet's first byte. Without `from` they become zeros.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: Option<i32>,
    to: i32,
    length_bytes: u32,
}

impl Move {
    /// Whether a move from `from` to `to` continues this one.
    fn is_before(&self, from: Option<i32>, to: i32) -> bool {
        let length = self.length_bytes as i32;
        self.to + length == to
            && match (self.from, from) {
                (Some(own), Some(from)) => own + length == from,
                (None, None) => true,
                _ => false,
            }
    }
}

/// Offsets and lengths of the parts of a run of bytes that are loaded at once.
fn chunks(length_bytes: u32) -> Vec<(u32, u32)> {
    let mut chunks = Vec::new();
    let mut at = 0;
    while at < length_bytes {
        let left = length_bytes - at;
        let size = [8, 4, 2, 1].into_iter().find(|&size| size <= left).unwrap_or(1);
        chunks.push((at, size));
        at += size;
    }
    chunks
}

/// A number of bytes: a constant and a value.
#[derive(Clone, Copy, Debug)]
struct Position {
    known_bytes: u32,
    more_bytes: Option<Value>,
}

impl FunctionCompiler<'_, '_> {
    /// Writes the emitted headers and records the outgoing packet. Returns the address of the received one.
    pub fn deparse_in_place(&mut self) -> Value {
        let packet = self.packet;
        if self.facts.is_fresh {
            // Reloaded once, as it is rarely in a register by now.
            self.packet = self.load_word(self.pass, offset_of!(Pass, packet) as i32);
        }
        self.write_back();
        std::mem::replace(&mut self.packet, packet)
    }

    fn write_back(&mut self) {
        let cursor = match self.path.cursor {
            Some(cursor) => self.number(u64::from(cursor)),
            None => self.builder.use_var(self.cursor_bytes),
        };
        let mut end = Position { known_bytes: 0, more_bytes: None };
        let mut emissions = Vec::new();
        for (at, Emit { header, .. }) in self.facts.emits.clone().into_iter().enumerate() {
            let is_emitted = self.builder.use_var(self.emitted[at]);
            let length_bytes = fixed_bits(self.program, header) / 8;
            match self.known_number(is_emitted) {
                Some(0) => {}
                Some(_) => {
                    emissions.push(Emission { header, is_emitted: None, position: end });
                    end.known_bytes += length_bytes;
                }
                None => {
                    let emission = Emission { header, is_emitted: Some(is_emitted), position: end };
                    emissions.push(emission);
                    let length = self.number(u64::from(length_bytes));
                    let zero = self.number(0);
                    let more = self.builder.ins().select(is_emitted, length, zero);
                    end.more_bytes = Some(match end.more_bytes {
                        Some(before) => self.builder.ins().iadd(before, more),
                        None => more,
                    });
                }
            }
        }
        let total = self.at(None, end);
        let payload = match self.path.cursor {
            Some(0) => self.length_bytes,
            _ => {
                let length = self.length_bytes;
                self.builder.ins().isub(length, cursor)
            }
        };

        let start = match self.is_laid_out(&emissions, end) {
            Some(true) => {
                let packet = self.packet;
                self.patch(&emissions, packet);
                packet
            }
            Some(false) => {
                let start = self.lay_out(&emissions, cursor, total, false);
                self.patch(&emissions, start);
                start
            }
            None => self.deparse_by_test(&emissions, cursor, total),
        };
        let length = match (self.path.cursor, end) {
            (Some(cursor), Position { known_bytes, more_bytes: None }) => {
                let more = i64::from(known_bytes) - i64::from(cursor);
                match more {
                    0 => self.length_bytes,
                    _ => {
                        let length = self.length_bytes;
                        self.builder.ins().iadd_imm_s(length, more)
                    }
                }
            }
            _ => self.builder.ins().iadd(payload, total),
        };
        self.send(start, length);
    }

    /// A number of bytes, added to an address if there is one.
    fn at(&mut self, address: Option<Value>, position: Position) -> Value {
        let known = i64::from(position.known_bytes);
        let before = match (address, position.more_bytes) {
            (Some(address), Some(more)) => self.builder.ins().iadd(address, more),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return self.number(known as u64),
        };
        match known {
            0 => before,
            _ => self.builder.ins().iadd_imm_s(before, known),
        }
    }

    /// Whether no header moves, if that is known at compile time.
    fn is_laid_out(&self, emissions: &[Emission], end: Position) -> Option<bool> {
        let cursor = self.path.cursor?;
        if end.more_bytes.is_some() {
            return None;
        }
        let mut is_same = end.known_bytes == cursor;
        for emission in emissions {
            if self.facts.in_packet[emission.header.index()] {
                match self.path.header_offset(emission.header) {
                    HeaderOffset::Constant(first) => {
                        is_same &= first == emission.position.known_bytes
                    }
                    HeaderOffset::NotExtracted => is_same = false,
                    HeaderOffset::Variable => return None,
                }
            }
        }
        Some(is_same)
    }

    /// The address at which a header was extracted.
    fn header_address(&mut self, header: HeaderId) -> Value {
        match self.path.header_offset(header) {
            HeaderOffset::NotExtracted => {
                self.load_readonly(self.instance, offset_of!(Instance, zeros) as i32)
            }
            HeaderOffset::Constant(0) => self.packet,
            HeaderOffset::Constant(first) => {
                self.builder.ins().iadd_imm_s(self.packet, i64::from(first))
            }
            HeaderOffset::Variable => self.builder.use_var(self.header_addresses[&header]),
        }
    }

    /// Tests at run time whether a header moves. Returns the outgoing packet's address.
    fn deparse_by_test(&mut self, emissions: &[Emission], cursor: Value, total: Value) -> Value {
        let mut is_same = self.builder.ins().icmp(IntCC::Equal, total, cursor);
        for emission in emissions {
            if self.facts.in_packet[emission.header.index()] {
                let source = self.header_address(emission.header);
                let place = self.at(Some(self.packet), emission.position);
                let mut is_fine = self.builder.ins().icmp(IntCC::Equal, source, place);
                if let Some(is_emitted) = emission.is_emitted {
                    let is_absent = self.compare(IntCC::Equal, is_emitted, 0);
                    is_fine = self.builder.ins().bor(is_fine, is_absent);
                }
                is_same = self.builder.ins().band(is_same, is_fine);
            }
        }
        let moving = self.builder.create_block();
        let done = self.builder.create_block();
        let start = self.builder.append_block_param(done, types::I64);
        let packet = self.packet;
        self.builder.ins().brif(is_same, done, &[packet.into()], moving, &[]);
        self.builder.seal_block(moving);

        self.builder.switch_to_block(moving);
        self.builder.set_cold_block(moving);
        let moved = self.lay_out(emissions, cursor, total, true);
        self.builder.ins().jump(done, &[moved.into()]);

        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        // Packets without moves arrive here even when `lay_out` ended unreachable.
        self.is_unreachable = false;
        self.patch(emissions, start);
        start
    }

    /// Begins code that runs only if a header is emitted.
    fn when_emitted(&mut self, emission: &Emission) -> Option<Block> {
        emission.is_emitted.map(|is_emitted| self.begin_if(is_emitted))
    }

    /// Writes the fields that differ from the packet.
    fn patch(&mut self, emissions: &[Emission], start: Value) {
        for emission in emissions {
            let header = emission.header;
            let path = self.path.clone();
            let stays = self.facts.in_packet[header.index()];
            let is_wanted = |slot| !stays || !path.is_pristine(slot);
            if !fields_of(self.program, header).any(|(slot, _, _)| is_wanted(slot)) {
                continue;
            }
            let joined = self.when_emitted(emission);
            let address = self.at(Some(start), emission.position);
            self.write_fields(header, address, is_wanted, |compiler, slot| {
                compiler.load_slot(slot)
            });
            if let Some(joined) = joined {
                self.end_if(joined);
            }
        }
    }

    /// Copies headers to their new places. Returns the outgoing packet's address.
    fn lay_out(
        &mut self,
        emissions: &[Emission],
        cursor: Value,
        total: Value,
        is_cold: bool,
    ) -> Value {
        let is_long = self.compare(IntCC::UnsignedGreaterThan, cursor, SCRATCH_BYTES as u64);
        self.leave_if(is_long, ENDED_NO_ROOM, None);
        let known = (self.known_number(total), self.known_number(cursor));
        if !matches!(known, (Some(total), Some(cursor)) if total <= cursor) {
            let headroom = self.load_word(self.pass, offset_of!(Pass, headroom_bytes) as i32);
            let room = self.builder.ins().iadd(headroom, cursor);
            let is_crowded = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, total, room);
            self.leave_if(is_crowded, ENDED_NO_ROOM, None);
        }

        if let (Some(cursor), Some(total)) = (self.path.cursor, known.0)
            && let Some(moves) = self.known_moves(emissions, i64::from(cursor) - total as i64)
        {
            let distance = i64::from(cursor) - total as i64;
            self.move_headers(&moves);
            return self.builder.ins().iadd_imm_s(self.packet, distance);
        }
        let scratch = self.builder.ins().iadd_imm_s(self.pass, offset_of!(Pass, scratch) as i64);
        let copying = RuntimeFunction::taking_3(runtime::packet::copy_bytes);
        let arguments = [scratch, self.packet, cursor];
        match is_cold {
            true => self.call_preserving_all(copying, &arguments),
            false => self.call(copying, &arguments),
        };
        let start = self.builder.ins().iadd(self.packet, cursor);
        let start = self.builder.ins().isub(start, total);
        for emission in emissions {
            let header = emission.header;
            if !self.facts.in_packet[header.index()] {
                // `patch` writes all its bytes, as its fields cover it.
                continue;
            }
            let joined = self.when_emitted(emission);
            let from = match self.path.header_offset(header) {
                HeaderOffset::NotExtracted => self.header_address(header),
                HeaderOffset::Constant(0) => scratch,
                HeaderOffset::Constant(first) => {
                    self.builder.ins().iadd_imm_s(scratch, i64::from(first))
                }
                HeaderOffset::Variable => {
                    let source = self.header_address(header);
                    let distance = self.builder.ins().isub(source, self.packet);
                    let is_parsed =
                        self.builder.ins().icmp(IntCC::UnsignedLessThan, distance, cursor);
                    let kept = self.builder.ins().iadd(scratch, distance);
                    let zeros =
                        self.load_readonly(self.instance, offset_of!(Instance, zeros) as i32);
                    self.builder.ins().select(is_parsed, kept, zeros)
                }
            };
            let to = self.at(Some(start), emission.position);
            self.copy(to, from, fixed_bits(self.program, header) / 8);
            if let Some(joined) = joined {
                self.end_if(joined);
            }
        }
        start
    }

    /// The moves of an outgoing packet that starts `start` bytes after the received one, if all offsets are
    /// constant and the moves are short.
    fn known_moves(&self, emissions: &[Emission], start: i64) -> Option<Vec<Move>> {
        let mut moves: Vec<Move> = Vec::new();
        let mut sum = 0;
        for emission in emissions {
            if emission.is_emitted.is_some() || emission.position.more_bytes.is_some() {
                return None;
            }
            let header = emission.header;
            if !self.facts.in_packet[header.index()] {
                continue;
            }
            let from = match self.path.header_offset(header) {
                HeaderOffset::NotExtracted => None,
                HeaderOffset::Constant(first) => Some(i32::try_from(first).ok()?),
                HeaderOffset::Variable => return None,
            };
            let to = i32::try_from(start + i64::from(emission.position.known_bytes)).ok()?;
            let length_bytes = fixed_bits(self.program, header) / 8;
            sum += length_bytes;
            match moves.last_mut() {
                Some(last) if last.is_before(from, to) => last.length_bytes += length_bytes,
                _ => moves.push(Move { from, to, length_bytes }),
            }
        }
        moves.retain(|it| it.from != Some(it.to));
        (sum <= MAX_BYTES_MOVED_INLINE).then_some(moves)
    }

    /// Makes moves, as if all at once: loads come before stores.
    fn move_headers(&mut self, moves: &[Move]) {
        let flags = MemFlagsData::trusted();
        let mut stores = Vec::new();
        for &Move { from, to, length_bytes } in moves {
            for (at, size) in chunks(length_bytes) {
                let ty = narrow_type(size);
                let value = match from {
                    Some(from) => self.builder.ins().load(ty, flags, self.packet, from + at as i32),
                    None => self.builder.ins().iconst(ty, 0),
                };
                stores.push((value, to + at as i32));
            }
        }
        for (value, to) in stores {
            self.builder.ins().store(flags, value, self.packet, to);
        }
    }

    fn copy(&mut self, to: Value, from: Value, length_bytes: u32) {
        if length_bytes > MAX_BYTES_COPIED_INLINE {
            let length = self.number(u64::from(length_bytes));
            self.call(RuntimeFunction::taking_3(runtime::packet::copy_bytes), &[to, from, length]);
            return;
        }
        for (at, size) in chunks(length_bytes) {
            let ty = narrow_type(size);
            let part = self.builder.ins().load(ty, MemFlagsData::trusted(), from, at as i32);
            self.builder.ins().store(MemFlagsData::trusted(), part, to, at as i32);
        }
    }
}

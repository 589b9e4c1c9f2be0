// SPDX-License-Identifier: Apache-2.0
//! Deparsing in the packet's own memory. When every header is where it was, only fields that were
//! written are patched. Else the headers are kept aside, laid out anew before the payload, which
//! never moves, and then patched.

use super::call::RuntimeFunction;
use super::facts::{fields_of, fixed_bits};
use super::function::FunctionCompiler;
use crate::runtime;
use crate::runtime::pass::{ENDED_NO_ROOM, Instance, Pass, SCRATCH_BYTES};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use ir::HeaderId;
use std::mem::offset_of;

/// Headers up to this long are copied by single loads and stores.
const MOST_BYTES_COPIED_INLINE: u32 = 64;

/// A header that was emitted, if `is_emitted` is not zero, so many bytes after the first.
struct Emission {
    header: HeaderId,
    is_emitted: Value,
    position: Value,
}

impl FunctionCompiler<'_, '_> {
    /// Writes what the deparser emitted, and tells where the outgoing packet is.
    pub fn deparse_in_place(&mut self) {
        let cursor = self.builder.use_var(self.cursor_bytes);
        let mut total = self.number(0);
        let mut emissions = Vec::new();
        for (at, header) in self.facts.emits.clone().into_iter().enumerate() {
            let is_emitted = self.builder.use_var(self.emitted[at]);
            let length = self.number(u64::from(fixed_bits(self.program, header) / 8));
            let zero = self.number(0);
            let counted = self.builder.ins().select(is_emitted, length, zero);
            emissions.push(Emission { header, is_emitted, position: total });
            total = self.builder.ins().iadd(total, counted);
        }

        // Whether nothing has to move.
        let mut is_same = self.builder.ins().icmp(IntCC::Equal, total, cursor);
        for emission in &emissions {
            if self.facts.in_packet[emission.header.index()] {
                let source = self.builder.use_var(self.sources[&emission.header]);
                let place = self.builder.ins().iadd(self.packet, emission.position);
                let is_there = self.builder.ins().icmp(IntCC::Equal, source, place);
                let is_absent = self.compare(IntCC::Equal, emission.is_emitted, 0);
                let is_fine = self.builder.ins().bor(is_there, is_absent);
                is_same = self.builder.ins().band(is_same, is_fine);
            }
        }
        let patching = self.builder.create_block();
        let moving = self.builder.create_block();
        let done = self.builder.create_block();
        let start = self.builder.append_block_param(done, types::I64);
        self.builder.ins().brif(is_same, patching, &[], moving, &[]);
        self.builder.seal_block(patching);
        self.builder.seal_block(moving);

        self.builder.switch_to_block(patching);
        let packet = self.packet;
        self.patch(&emissions, packet);
        self.builder.ins().jump(done, &[packet.into()]);

        self.builder.switch_to_block(moving);
        self.builder.set_cold_block(moving);
        let new_start = self.lay_out(&emissions, cursor, total);
        self.patch(&emissions, new_start);
        self.builder.ins().jump(done, &[new_start.into()]);

        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        let payload = self.builder.ins().isub(self.length_bytes, cursor);
        let length = self.builder.ins().iadd(payload, total);
        self.send(start, length);
    }

    /// Writes fields that are not as in the packet.
    fn patch(&mut self, emissions: &[Emission], start: Value) {
        for emission in emissions {
            let header = emission.header;
            let pristine = self.pristine.clone();
            let stays = self.facts.in_packet[header.index()];
            let is_wanted = |slot| !stays || !pristine.contains(slot);
            if !fields_of(self.program, header).any(|(slot, _, _)| is_wanted(slot)) {
                continue;
            }
            let joined = self.when(emission.is_emitted);
            let address = self.builder.ins().iadd(start, emission.position);
            self.write_fields(header, address, is_wanted, |compiler, slot| {
                compiler.load_slot(slot)
            });
            self.go_on(joined);
        }
    }

    /// Copies headers to where they go. Returns where the packet starts then.
    fn lay_out(&mut self, emissions: &[Emission], cursor: Value, total: Value) -> Value {
        let is_long = self.compare(IntCC::UnsignedGreaterThan, cursor, SCRATCH_BYTES as u64);
        let headroom = self.load_word(self.pass, offset_of!(Pass, headroom_bytes) as i32);
        let room = self.builder.ins().iadd(headroom, cursor);
        let is_crowded = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, total, room);
        let no_way = self.builder.ins().bor(is_long, is_crowded);
        self.leave_if(no_way, ENDED_NO_ROOM, None);

        let scratch = self.builder.ins().iadd_imm_s(self.pass, offset_of!(Pass, scratch) as i64);
        self.call(
            RuntimeFunction::taking_3(runtime::packet::copy_bytes),
            &[scratch, self.packet, cursor],
        );
        let start = self.builder.ins().iadd(self.packet, cursor);
        let start = self.builder.ins().isub(start, total);
        for emission in emissions {
            let header = emission.header;
            if !self.facts.in_packet[header.index()] {
                // Its bytes are made of slots altogether, but parts of bytes may not be; none are,
                // as its fields cover it.
                continue;
            }
            let joined = self.when(emission.is_emitted);
            let source = self.builder.use_var(self.sources[&header]);
            let distance = self.builder.ins().isub(source, self.packet);
            let is_parsed = self.builder.ins().icmp(IntCC::UnsignedLessThan, distance, cursor);
            let kept = self.builder.ins().iadd(scratch, distance);
            let zeros = self.load_word(self.instance, offset_of!(Instance, zeros) as i32);
            let from = self.builder.ins().select(is_parsed, kept, zeros);
            let to = self.builder.ins().iadd(start, emission.position);
            self.copy(to, from, fixed_bits(self.program, header) / 8);
            self.go_on(joined);
        }
        start
    }

    fn copy(&mut self, to: Value, from: Value, length_bytes: u32) {
        if length_bytes > MOST_BYTES_COPIED_INLINE {
            let length = self.number(u64::from(length_bytes));
            self.call(RuntimeFunction::taking_3(runtime::packet::copy_bytes), &[to, from, length]);
            return;
        }
        let mut at = 0;
        while at < length_bytes {
            let (ty, size) = match length_bytes - at {
                8.. => (types::I64, 8),
                4.. => (types::I32, 4),
                2.. => (types::I16, 2),
                _ => (types::I8, 1),
            };
            let part = self.builder.ins().load(ty, MemFlagsData::trusted(), from, at as i32);
            self.builder.ins().store(MemFlagsData::trusted(), part, to, at as i32);
            at += size;
        }
    }
}

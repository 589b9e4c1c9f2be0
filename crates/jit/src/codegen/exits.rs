// SPDX-License-Identifier: Apache-2.0
//! How a packet leaves a unit: at its end, by an exit, by an error of the parser; and what is stored for the
//! caller then.

use super::burst_loop::add_to;
use super::function::{FunctionCompiler, Home, RaisedError};
use super::path::Way;
use crate::runtime::pass::{ENDED, ENDED_NO_ROOM, FIRST_RESERVED, OUTPUTS, Pass, Sent};
use crate::unit::FIRST_WITHOUT_STORAGE;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use ir::SlotId;
use std::mem::offset_of;

impl FunctionCompiler<'_, '_> {
    /// Leaves the whole function with a code, when `condition` is not zero; `detail` goes to the pass.
    pub fn leave_if(&mut self, condition: Value, code: u64, detail: Option<Value>) {
        match self.known_number(condition) {
            Some(0) => return,
            Some(_) => {
                self.leave_now(code, detail);
                return self.begin_dead();
            }
            None => {}
        }
        let leaving = self.builder.create_block();
        let going_on = self.builder.create_block();
        self.builder.ins().brif(condition, leaving, &[], going_on, &[]);
        self.builder.seal_block(leaving);
        self.builder.seal_block(going_on);
        self.builder.set_cold_block(leaving);
        self.builder.switch_to_block(leaving);
        self.leave_now(code, detail);
        self.builder.switch_to_block(going_on);
    }

    /// Leaves the whole function from here.
    pub fn leave_now(&mut self, code: u64, detail: Option<Value>) {
        let is_done =
            (1..u64::from(FIRST_WITHOUT_STORAGE)).contains(&code) || code >= FIRST_RESERVED;
        if is_done && !self.prefetching {
            self.publish_length();
        }
        if let Some(detail) = detail {
            self.store_word(detail, self.pass, offset_of!(Pass, detail) as i32);
        }
        if code >= FIRST_RESERVED {
            let block = self.number(self.block as u64);
            self.store_word(block, self.pass, offset_of!(Pass, block) as i32);
        }
        let is_spilled = code < u64::from(FIRST_WITHOUT_STORAGE) || code == ENDED_NO_ROOM;
        if is_spilled && !self.prefetching {
            self.publish_cursor();
            self.spill();
            self.put_outputs(true);
        }
        let number = code;
        let code = self.number(code);
        let is_counted = (u64::from(FIRST_WITHOUT_STORAGE)..FIRST_RESERVED).contains(&number);
        if is_counted && !self.prefetching && self.facts.is_fresh {
            self.count_end(number);
        }
        match is_done && !self.prefetching {
            true => {
                self.builder.ins().jump(self.leave, &[code.into()]);
            }
            false => self.finish(code),
        }
    }

    /// Ends a packet that is done, of a burst to go on with the next one.
    pub fn finish(&mut self, code: Value) {
        let arguments = [code.into()];
        let given = if self.facts.is_fresh { &[] } else { &arguments[..] };
        self.builder.ins().jump(self.finish, given);
    }

    /// Ends a packet that is done, like [`FunctionCompiler::finish`], where both of its addresses are at
    /// hand.
    pub fn finish_at_hand(&mut self, packet: Value) {
        match self.burst_loop {
            Some(around) => {
                let addresses = (packet, self.received);
                around.go_on(&mut self.builder, self.pass, addresses);
            }
            None => {
                let code = self.number(ENDED);
                self.finish(code);
            }
        }
    }

    /// How far the packet has been read, in bytes.
    pub fn cursor(&mut self) -> Value {
        self.builder.use_var(self.cursor_bytes)
    }

    /// Lets the pass know the cursor, for the runtime.
    pub fn publish_cursor(&mut self) {
        if self.facts.whole_bytes {
            let cursor = self.cursor();
            let bits = self.builder.ins().ishl_imm_u(cursor, 3);
            self.store_word(bits, self.pass, offset_of!(Pass, cursor_bits) as i32);
        }
    }

    /// Puts slots of a fresh unit where whoever goes on expects them: in storage.
    pub fn spill(&mut self) {
        if !self.facts.is_fresh {
            return;
        }
        for at in 0..self.homes.len() {
            let slot = SlotId(at as u32);
            if !self.facts.observed[self.step].contains(slot) {
                continue;
            }
            let ty = self.slot_type(slot);
            let offset_bytes = self.storage_offset_bytes(slot);
            let is_field = self.facts.field_of[at].is_some();
            let in_storage = matches!(self.homes[at], Home::Storage(_));
            if in_storage && !(is_field && self.path.is_pristine(slot)) {
                continue;
            }
            let value = self.load_slot(slot);
            let storage = self.storage();
            self.values().store_words(ty, value, storage, offset_bytes);
        }
    }

    /// Puts the outputs so far where the packet is noted when it leaves; those for exits only at an exit.
    pub fn put_outputs(&mut self, at_exit: bool) {
        if !self.facts.is_fresh || self.prefetching || self.outputs.is_empty() {
            return;
        }
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.put_outputs_at(sent, at_exit);
    }

    fn put_outputs_at(&mut self, sent: Value, at_exit: bool) {
        let mut numbers = [None; OUTPUTS];
        for output in self.outputs.clone() {
            if at_exit || !output.is_for_exits {
                numbers[output.at] = Some((output.number, output.width_bits));
            }
        }
        let mut at = 0;
        while let Some(number) = numbers.get(at) {
            let Some((number, width_bits)) = *number else {
                at += 1;
                continue;
            };
            let offset = (offset_of!(Sent, outputs) + at * 4) as i32;
            let next = numbers.get(at + 1).copied().flatten();
            // A zero behind a number of 32 bits is what its word has above.
            let is_zero_next = next.is_some_and(|(next, _)| self.known_number(next) == Some(0));
            if is_zero_next && width_bits <= u32::BITS && cfg!(target_endian = "little") {
                self.store_word(number, sent, offset);
                at += 2;
                continue;
            }
            let flags = MemFlagsData::trusted();
            self.builder.ins().istore32(flags, number, sent, offset);
            at += 1;
        }
    }

    /// Notes that the packet leaves, from this address on with so many bytes.
    pub fn send(&mut self, start: Value, length_bytes: Value) {
        if !self.facts.is_fresh {
            return;
        }
        let flags = MemFlagsData::trusted();
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.put_outputs_at(sent, false);
        self.store_word(start, sent, offset_of!(Sent, start) as i32);
        for (value, offset) in [
            (length_bytes, offset_of!(Sent, length_bytes)),
            (self.received, offset_of!(Sent, packet)),
        ] {
            self.builder.ins().istore32(flags, value, sent, offset as i32);
        }
        let one = self.number(size_of::<Sent>() as u64);
        let pass = self.pass;
        add_to(&mut self.builder, pass, offset_of!(Pass, sent), one);
    }

    /// Counts a packet that ends by an exit without storage.
    pub fn count_end(&mut self, exit: u64) {
        let at = (exit - u64::from(FIRST_WITHOUT_STORAGE)) as usize;
        let one = self.number(1);
        let pass = self.pass;
        add_to(&mut self.builder, pass, offset_of!(Pass, ended) + at * 8, one);
    }

    /// Ends a parser with an error.
    pub fn reject(&mut self, way: Way, error: RaisedError) {
        match self.program.regions[self.program.blocks[self.block].region.index()].kind {
            ir::RegionKind::Parser => self.ends.rejected.push((way, error)),
            _ => self.ends.exited.push(way),
        }
    }

    /// Ends a parser with an error when a condition holds.
    pub fn reject_if(&mut self, condition: Value, error: RaisedError) {
        match self.known_number(condition) {
            Some(0) => {}
            Some(_) => {
                let way = self.way();
                self.reject(way, error);
                self.begin_dead();
            }
            None => {
                let failing = self.builder.create_block();
                let going_on = self.builder.create_block();
                self.builder.ins().brif(condition, failing, &[], going_on, &[]);
                self.builder.seal_block(failing);
                self.builder.seal_block(going_on);
                self.builder.set_cold_block(failing);
                let way = Way { block: failing, path: self.path.clone() };
                self.reject(way, error);
                self.builder.switch_to_block(going_on);
            }
        }
    }
}

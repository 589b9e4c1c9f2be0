// SPDX-License-Identifier: Apache-2.0
//! How a packet leaves a unit: at its end, by an exit, by an error of the parser; and what the code stores for
//! the caller then.

use super::burst_loop::add_to;
use super::function::{FunctionCompiler, RaisedError, SlotLocation};
use super::path::Path;
use crate::runtime::pass::{ENDED, ENDED_NO_ROOM, FIRST_RESERVED, MAX_OUTPUTS, Pass, Sent};
use crate::unit::FIRST_WITHOUT_STORAGE;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use ir::SlotId;
use std::mem::offset_of;

impl FunctionCompiler<'_, '_> {
    /// Leaves the function with a code when `condition` is not zero, and stores `detail` in the pass.
    pub fn leave_if(&mut self, condition: Value, code: u64, detail: Option<Value>) {
        match self.known_number(condition) {
            Some(0) => return,
            Some(_) => {
                self.leave_now(code, detail);
                return self.begin_unreachable();
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

    /// Leaves the function.
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
            self.store_outputs(true);
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

    /// Ends a finished packet; in a burst the next packet follows.
    pub fn finish(&mut self, code: Value) {
        let arguments = [code.into()];
        let given = if self.facts.is_fresh { &[] } else { &arguments[..] };
        self.builder.ins().jump(self.finish, given);
    }

    /// Ends a finished packet like [`FunctionCompiler::finish`], when its address is in a register.
    pub fn finish_at(&mut self, packet: Value) {
        match self.burst_loop {
            Some(around) => {
                let addresses = (packet, self.received);
                around.next_packet(&mut self.builder, self.pass, addresses);
            }
            None => {
                let code = self.number(ENDED);
                self.finish(code);
            }
        }
    }

    /// The cursor in bytes.
    pub fn cursor(&mut self) -> Value {
        self.builder.use_var(self.cursor_bytes)
    }

    /// Stores the cursor in the pass, for the runtime.
    pub fn publish_cursor(&mut self) {
        if self.facts.whole_bytes {
            let cursor = self.cursor();
            let bits = self.builder.ins().ishl_imm_u(cursor, 3);
            self.store_word(bits, self.pass, offset_of!(Pass, cursor_bits) as i32);
        }
    }

    /// Stores the observed slots of a fresh unit in storage, for the slow path.
    pub fn spill(&mut self) {
        if !self.facts.is_fresh {
            return;
        }
        for at in 0..self.slot_locations.len() {
            let slot = SlotId(at as u32);
            if !self.facts.observed[self.step].contains(slot) {
                continue;
            }
            let ty = self.slot_type(slot);
            let offset_bytes = self.storage_offset_bytes(slot);
            let is_field = self.facts.field_of[at].is_some();
            let in_storage = matches!(self.slot_locations[at], SlotLocation::Storage(_));
            if in_storage && !(is_field && self.path.is_pristine(slot)) {
                continue;
            }
            let value = self.load_slot(slot);
            let storage = self.storage();
            self.values().store_words(ty, value, storage, offset_bytes);
        }
    }

    /// Stores the outputs so far in the packet's `Sent`; those for exits only at an exit.
    pub fn store_outputs(&mut self, at_exit: bool) {
        if !self.facts.is_fresh || self.prefetching || self.outputs.is_empty() {
            return;
        }
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.store_outputs_at(sent, at_exit);
    }

    fn store_outputs_at(&mut self, sent: Value, at_exit: bool) {
        let mut numbers = [None; MAX_OUTPUTS];
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
            // The upper half of a word with a number of 32 bits is the zero that follows.
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

    /// Records that the packet is sent: its address and length.
    pub fn send(&mut self, start: Value, length_bytes: Value) {
        if !self.facts.is_fresh {
            return;
        }
        let flags = MemFlagsData::trusted();
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.store_outputs_at(sent, false);
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

    /// Counts a packet that leaves by an exit without storage.
    pub fn count_end(&mut self, exit: u64) {
        let at = (exit - u64::from(FIRST_WITHOUT_STORAGE)) as usize;
        let one = self.number(1);
        let pass = self.pass;
        add_to(&mut self.builder, pass, offset_of!(Pass, exit_counts) + at * 8, one);
    }

    /// Ends a parser with an error.
    pub fn reject(&mut self, path: Path, error: RaisedError) {
        match self.program.regions[self.program.blocks[self.block].region.index()].kind {
            ir::RegionKind::Parser => self.exits.rejected.push((path, error)),
            _ => self.exits.exited.push(path),
        }
    }

    /// Ends a parser with an error when a condition holds.
    pub fn reject_if(&mut self, condition: Value, error: RaisedError) {
        match self.known_number(condition) {
            Some(0) => {}
            Some(_) => {
                let path = self.end_block();
                self.reject(path, error);
                self.begin_unreachable();
            }
            None => {
                let failing = self.builder.create_block();
                let going_on = self.builder.create_block();
                self.builder.ins().brif(condition, failing, &[], going_on, &[]);
                self.builder.seal_block(failing);
                self.builder.seal_block(going_on);
                self.builder.set_cold_block(failing);
                let path = Path { block: failing, facts: self.path.clone() };
                self.reject(path, error);
                self.builder.switch_to_block(going_on);
            }
        }
    }
}

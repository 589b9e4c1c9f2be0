// SPDX-License-Identifier: Apache-2.0
//! Instructions on the packet: extracting, looking ahead, advancing, emitting outside the packet, and
//! stacks as a whole. Deparsing in place is in `deparse`.

use super::facts::{constant_element, fields_of, fixed_bits, has_varbit};
use super::function::{CallSite, FunctionCompiler, RaisedError, SlotLocation};
use super::path::HeaderOffset;
use super::temporaries::{PacketBits, TempValue};
use super::values::Val;
use crate::runtime;
use crate::runtime::RuntimeFunction;
use crate::runtime::packet::FAILURE_PACKET_TOO_SHORT;
use crate::runtime::pass::Pass;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::{HeaderId, HeaderRef, Operand, SlotId, StackId, Temp, ValueType};
use std::mem::offset_of;

impl FunctionCompiler<'_, '_> {
    /// The number of an error of the core library, as in the interpreter.
    fn error_number(&self, name: &str) -> u32 {
        self.program.error_number(name).unwrap_or(self.program.errors.len().max(1) as u32)
    }

    /// Loads the cursor after the runtime moved it.
    fn take_cursor(&mut self) {
        if self.facts.whole_bytes {
            let bits = self.load_word(self.pass, offset_of!(Pass, cursor_bits) as i32);
            let bytes = self.builder.ins().ushr_imm_u(bits, 3);
            self.builder.def_var(self.cursor_bytes, bytes);
            self.path.cursor = None;
        }
    }

    /// `Operation::Extract`
    pub fn extract(&mut self, header: &HeaderRef, varbit_bits: Option<&Operand>) {
        match header {
            HeaderRef::Header(id) => self.extract_known(*id, varbit_bits),
            HeaderRef::Element { stack, member, index: Operand::Constant(index) } => {
                match constant_element(self.program, *stack, *member, index) {
                    Some(id) => self.extract_known(id, varbit_bits),
                    None => {
                        let always = self.number(1);
                        let error = self.error_number("StackOutOfBounds");
                        self.reject_if(always, RaisedError::Known(error));
                    }
                }
            }
            HeaderRef::Element { stack, member, index } => {
                if let Some(index) = self.known_bits(index) {
                    let index = Operand::Constant(index);
                    let element = HeaderRef::Element { stack: *stack, member: *member, index };
                    return self.extract(&element, varbit_bits);
                }
                self.unresolved(*stack);
                let index = self.index_operand(index);
                let size = u64::from(self.program.stacks[stack.index()].size);
                let outside = self.compare(IntCC::UnsignedGreaterThanOrEqual, index, size);
                let error = self.error_number("StackOutOfBounds");
                self.reject_if(outside, RaisedError::Known(error));
                self.extract_element(*stack, *member, index, varbit_bits);
            }
        }
    }

    fn extract_known(&mut self, header: HeaderId, varbit_bits: Option<&Operand>) {
        if !self.facts.whole_bytes || has_varbit(self.program, header) || varbit_bits.is_some() {
            let number = self.number(u64::from(header.0));
            return self.extract_by_runtime(number, varbit_bits);
        }
        let length_bytes = fixed_bits(self.program, header) / 8;
        let source = self.path.cursor.map_or(HeaderOffset::Variable, HeaderOffset::Constant);
        let (address, end) = self.claim(length_bytes);
        if self.facts.in_packet[header.index()] {
            self.builder.def_var(self.header_addresses[&header], address);
            self.path.extracted(self.program, header, source);
        } else {
            let fields: Vec<_> = fields_of(self.program, header).collect();
            for (slot, ty, offset_bits) in fields {
                let value = self.load_value(address, offset_bits, ty.width_bits());
                self.store_slot(slot, value);
            }
        }
        let valid = self.program.headers[header.index()].valid_slot();
        let one = self.number(1);
        self.store_slot(valid, Val::Word(one));
        self.move_cursor(end, length_bytes);
    }

    /// Rejects the packet when fewer bytes are left. Returns their address, and the cursor after them.
    fn claim(&mut self, length_bytes: u32) -> (Value, Value) {
        let cursor = self.cursor();
        let error = RaisedError::Known(self.error_number("PacketTooShort"));
        let known_end = self.path.cursor.and_then(|cursor| cursor.checked_add(length_bytes));
        if let Some(end) = known_end {
            if end > self.path.min_length_bytes {
                let length = self.length_bytes;
                let is_short = self.compare(IntCC::UnsignedLessThan, length, end.into());
                self.reject_if(is_short, error);
                self.path.min_length_bytes = end;
            }
            let address = match end - length_bytes {
                0 => self.packet,
                first => self.builder.ins().iadd_imm_s(self.packet, i64::from(first)),
            };
            return (address, self.number(u64::from(end)));
        }
        let end = self.builder.ins().iadd_imm_s(cursor, i64::from(length_bytes));
        let length = self.length_bytes;
        let is_short = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, length);
        self.reject_if(is_short, error);
        let address = self.builder.ins().iadd(self.packet, cursor);
        (address, end)
    }

    /// Moves the cursor to `end`, over a number of bytes.
    fn move_cursor(&mut self, end: Value, length_bytes: u32) {
        self.builder.def_var(self.cursor_bytes, end);
        self.path.cursor = self.path.cursor.and_then(|cursor| cursor.checked_add(length_bytes));
    }

    fn extract_element(
        &mut self,
        stack: StackId,
        member: u32,
        index: Value,
        varbit_bits: Option<&Operand>,
    ) {
        let declared = &self.program.stacks[stack.index()];
        let (first_header, per_element) = (declared.first_header.0, declared.headers_per_element);
        let first = HeaderId(first_header + member);
        if !self.facts.whole_bytes || has_varbit(self.program, first) || varbit_bits.is_some() {
            let number = self.builder.ins().imul_imm_s(index, i64::from(per_element));
            let number = self.builder.ins().iadd_imm_s(number, i64::from(first.0));
            return self.extract_by_runtime(number, varbit_bits);
        }
        let length_bytes = fixed_bits(self.program, first) / 8;
        let (address, end) = self.claim(length_bytes);
        let (base, valid_offset) = self.element_address(stack, member, 0, index);
        let one = self.number(1);
        self.store_word(one, base, valid_offset);
        let fields: Vec<_> = fields_of(self.program, first).collect();
        for (slot, ty, offset_bits) in fields {
            let value = self.load_value(address, offset_bits, ty.width_bits());
            let offset_bytes = self.storage_offset_bytes(slot);
            self.values().store_words(ty, value, base, offset_bytes);
        }
        self.move_cursor(end, length_bytes);
    }

    fn extract_by_runtime(&mut self, header_number: Value, varbit_bits: Option<&Operand>) {
        let bits = match varbit_bits {
            Some(bits) => self.index_operand(bits),
            None => self.number(0),
        };
        self.publish_length();
        self.publish_cursor();
        let failure = self.call(
            RuntimeFunction::giving_3(runtime::packet::extract),
            &[self.pass, header_number, bits],
        );
        self.reject_by_failure(failure);
        self.take_cursor();
    }

    /// Rejects the packet when a function of the runtime returned an error: one more than its number; 0 is no
    /// error.
    fn reject_by_failure(&mut self, failure: Option<Value>) {
        let Some(failure) = failure else { return };
        let error = self.builder.ins().iadd_imm_s(failure, -1);
        self.reject_if(failure, RaisedError::Value(error));
    }

    /// `Operation::Lookahead`
    pub fn lookahead(&mut self, result: Temp) {
        let ty = self.temp_types[result.index()];
        let width_bits = ty.width_bits();
        if self.facts.whole_bytes {
            let first_byte = self.path.cursor;
            let (address, _) = self.claim(width_bits.div_ceil(8));
            let bits = match first_byte {
                Some(first) => {
                    PacketBits { address: self.packet, offset_bits: first * 8, width_bits }
                }
                None => PacketBits { address, offset_bits: 0, width_bits },
            };
            // No instruction before the deparser writes the packet.
            self.temps[result.index()] = Some(TempValue::InPacket(bits));
            return;
        }
        let buffer = self.buffer(width_bits.div_ceil(64).max(1));
        let width = self.number(u64::from(width_bits));
        self.publish_length();
        let failure = self.call(
            RuntimeFunction::giving_3(runtime::packet::lookahead),
            &[self.pass, width, buffer],
        );
        self.reject_by_failure(failure);
        let value = self.values().load_words(ty, buffer, 0);
        self.define(result, value);
    }

    /// `Operation::Advance`
    pub fn advance(&mut self, bits: &Operand) {
        if let (true, Operand::Constant(bits)) = (self.facts.whole_bytes, bits) {
            let bytes = bits.to_u64().unwrap_or(u64::MAX) / 8;
            match u32::try_from(bytes) {
                Ok(bytes) => {
                    let (_, end) = self.claim(bytes);
                    self.move_cursor(end, bytes);
                }
                Err(_) => {
                    let always = self.number(1);
                    let error = self.error_number(FAILURE_PACKET_TOO_SHORT);
                    self.reject_if(always, RaisedError::Known(error));
                }
            }
            return;
        }
        let bits = self.index_operand(bits);
        self.publish_length();
        self.publish_cursor();
        let failure =
            self.call(RuntimeFunction::giving_2(runtime::packet::advance), &[self.pass, bits]);
        self.reject_by_failure(failure);
        self.take_cursor();
    }

    /// `Operation::PacketLength`
    pub fn packet_length(&mut self, result: Temp) {
        let width_bits = self.temp_types[result.index()].width_bits();
        let length = Val::Word(self.length_bytes);
        let value = match width_bits {
            0..64 => self.values().resize(ir::ResizeKind::Truncate, 64, width_bits, length),
            64 => length,
            _ => self.values().resize(ir::ResizeKind::ZeroExtend, 64, width_bits, length),
        };
        self.define(result, value);
    }

    /// `Operation::Emit`
    pub fn emit(&mut self, header: &HeaderRef, site: CallSite) {
        let known = match header {
            HeaderRef::Header(id) => Some(*id),
            HeaderRef::Element { stack, member, index: Operand::Constant(index) } => {
                match constant_element(self.program, *stack, *member, index) {
                    Some(id) => Some(id),
                    None => return,
                }
            }
            HeaderRef::Element { stack, .. } => {
                self.unresolved(*stack);
                None
            }
        };
        match (known, header) {
            (Some(id), _) if self.facts.in_place => {
                // The end of the unit writes the header, when all emissions are known.
                let valid = self.program.headers[id.index()].valid_slot();
                let valid = self.load_slot(valid);
                let valid = self.values().truth(valid);
                let place = (site.block, site.instruction);
                let at = self.facts.emits.iter().position(|emit| emit.place == place);
                if let Some(at) = at {
                    self.builder.def_var(self.emitted[at], valid);
                }
            }
            (Some(id), _) => {
                let number = self.number(u64::from(id.0));
                self.publish_length();
                self.call(RuntimeFunction::taking_2(runtime::packet::emit), &[self.pass, number]);
            }
            (None, HeaderRef::Element { stack, member, index }) => {
                let index = self.index_operand(index);
                let is_inside = self.is_inside(*stack, index);
                let joined = self.begin_if(is_inside);
                let declared = &self.program.stacks[stack.index()];
                let number =
                    self.builder.ins().imul_imm_s(index, i64::from(declared.headers_per_element));
                let first = i64::from(declared.first_header.0 + member);
                let number = self.builder.ins().iadd_imm_s(number, first);
                self.publish_length();
                self.call(RuntimeFunction::taking_2(runtime::packet::emit), &[self.pass, number]);
                self.end_if(joined);
            }
            (None, HeaderRef::Header(_)) => {}
        }
    }

    /// `Operation::ShiftStack`
    pub fn shift_stack(&mut self, stack: StackId, by: i32) {
        if !self.facts.is_in_storage(self.program, stack) {
            return self.move_elements(stack, by);
        }
        debug_assert!(matches!(
            self.slot_locations[self.program.stacks[stack.index()].next.index()],
            SlotLocation::Storage(_)
        ));
        let number = self.number(u64::from(stack.0));
        let by = self.builder.ins().iconst(cranelift_codegen::ir::types::I64, i64::from(by));
        self.publish_length();
        self.call(
            RuntimeFunction::taking_3(runtime::packet::shift_stack),
            &[self.pass, number, by],
        );
    }

    /// The number of bytes of all valid headers that the deparser gets.
    pub fn measure(&mut self) -> Value {
        let mut known_bits = 0;
        let mut total = None;
        for header in self.facts.deparsed.clone() {
            let fixed = u64::from(fixed_bits(self.program, header));
            let varbit = fields_of(self.program, header)
                .find(|(_, ty, _)| matches!(ty, ValueType::Varbit(_)))
                .map(|(slot, _, _)| slot);
            let valid = self.program.headers[header.index()].valid_slot();
            let valid = self.load_slot(valid);
            let valid = self.values().truth(valid);
            match (self.known_number(valid), varbit) {
                (Some(0), _) => continue,
                (Some(_), None) => {
                    known_bits += fixed;
                    continue;
                }
                _ => {}
            }
            let mut bits = self.number(fixed);
            if let Some(slot) = varbit {
                let length = self.varbit_length(slot);
                bits = self.builder.ins().iadd(bits, length);
            }
            let zero = self.number(0);
            let counted = self.builder.ins().select(valid, bits, zero);
            total = Some(match total {
                Some(total) => self.builder.ins().iadd(total, counted),
                None => counted,
            });
        }
        match total {
            None => self.number(known_bits / 8),
            Some(total) => {
                let total = self.builder.ins().iadd_imm_s(total, known_bits as i64);
                self.builder.ins().ushr_imm_u(total, 3)
            }
        }
    }

    fn varbit_length(&mut self, slot: SlotId) -> Value {
        let offset_bytes = self.storage_offset_bytes(slot) - 8;
        let storage = self.storage();
        self.load_word(storage, offset_bytes)
    }
}

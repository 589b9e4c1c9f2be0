// SPDX-License-Identifier: Apache-2.0
//! Reading and writing slots: in variables, in storage, in the packet, and in stacks at indices known
//! only at run time.

use super::facts::{constant_element, known_slot};
use super::function::{FunctionCompiler, SlotLocation};
use super::path::HeaderOffset;
use super::temporaries::{PacketBits, TempValue};
use super::values::{Val, words_of};
use crate::runtime;
use crate::runtime::RuntimeFunction;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::{HeaderId, Place, SlotId, StackId, Temp, ValueType};

/// Ranges of words up to this length are zeroed by unrolled stores.
const MAX_WORDS_ZEROED_INLINE: usize = 16;

impl FunctionCompiler<'_, '_> {
    /// Offset of a slot's value in storage; a varbit's length is in the word before.
    pub fn storage_offset_bytes(&self, slot: SlotId) -> i32 {
        self.layout.offset_words(slot) as i32 * 8
    }

    /// The value of a slot.
    pub fn load_slot(&mut self, slot: SlotId) -> Val {
        let ty = self.slot_type(slot);
        if let (Some(number), ValueType::Bits(width_bits)) =
            (self.path.number(self.facts, slot), ty)
        {
            return match width_bits {
                0..=64 => Val::Word(self.number(number)),
                _ => self.zero(ty),
            };
        }
        if let Some(bits) = self.bits_in_packet(slot) {
            return self.read_packet(bits);
        }
        match self.slot_locations[slot.index()].clone() {
            SlotLocation::Variables(variables) => match variables[..] {
                [word] => Val::Word(self.builder.use_var(word)),
                [low, high] => Val::Pair(self.builder.use_var(low), self.builder.use_var(high)),
                _ => self.zero(ty),
            },
            SlotLocation::Storage(offset_bytes) => {
                let storage = self.storage();
                self.values().load_words(ty, storage, offset_bytes)
            }
        }
    }

    /// The low 64 bits of a slot.
    pub fn slot_number(&mut self, slot: ir::SlotId) -> Value {
        match self.load_slot(slot) {
            Val::Word(word) | Val::Pair(word, _) => word,
            Val::Memory(words) | Val::Varbit { words, .. } => self.load_word(words, 0),
        }
    }

    /// The bits of the packet that a field is, if it is unchanged since extraction.
    fn packet_bits(&mut self, slot: SlotId) -> Option<PacketBits> {
        let (header, offset_bits) = self.facts.field_of[slot.index()]?;
        if !self.path.is_pristine(slot) {
            return None;
        }
        let width_bits = self.slot_type(slot).width_bits();
        match self.path.header_offset(header) {
            HeaderOffset::NotExtracted => None,
            HeaderOffset::Constant(first_byte) => {
                let offset_bits = offset_bits + first_byte * 8;
                Some(PacketBits { address: self.packet, offset_bits, width_bits })
            }
            HeaderOffset::Variable => {
                let address = self.builder.use_var(self.header_addresses[&header]);
                Some(PacketBits { address, offset_bits, width_bits })
            }
        }
    }

    /// The bits of the packet that a slot's value is, if it can be read there.
    fn bits_in_packet(&mut self, slot: SlotId) -> Option<PacketBits> {
        self.packet_bits(slot).or_else(|| self.path.copy_of(slot))
    }

    /// Writes a slot: a value of the slot's type.
    pub fn store_slot(&mut self, slot: SlotId, value: Val) {
        let number = match value {
            Val::Word(word) if self.is_followed(slot) => self.known_number(word),
            _ => None,
        };
        self.path.written(slot, number);
        self.write_location(slot, value);
    }

    /// Writes a slot's variables or storage.
    pub fn write_location(&mut self, slot: SlotId, value: Val) {
        match (self.slot_locations[slot.index()].clone(), value) {
            (SlotLocation::Variables(variables), Val::Word(word)) => {
                self.builder.def_var(variables[0], word);
            }
            (SlotLocation::Variables(variables), Val::Pair(low, high)) => {
                self.builder.def_var(variables[0], low);
                self.builder.def_var(variables[1], high);
            }
            (SlotLocation::Variables(_), _) => {}
            (SlotLocation::Storage(offset_bytes), value) => {
                let ty = self.slot_type(slot);
                let storage = self.storage();
                self.values().store_words(ty, value, storage, offset_bytes);
            }
        }
    }

    /// Whether the path keeps constants of a slot: it lives in one variable.
    pub fn is_followed(&self, slot: SlotId) -> bool {
        matches!(&self.slot_locations[slot.index()], SlotLocation::Variables(variables) if variables.len() == 1)
    }

    /// The slot of a place. The outer `None` is a place chosen at run time, the inner one a place outside its
    /// stack.
    fn known_place(&mut self, place: &Place) -> Option<Option<SlotId>> {
        let Place::Element { stack, member, field, index } = place else {
            return known_slot(self.program, place);
        };
        let index = self.known_bits(index).or_else(|| {
            self.unresolved(*stack);
            None
        })?;
        let header = constant_element(self.program, *stack, *member, &index);
        Some(header.map(|header| SlotId(self.program.headers[header.index()].first_slot.0 + field)))
    }

    /// Records that an element of the stack is chosen at run time: the stack has to be in storage.
    pub fn unresolved(&mut self, stack: StackId) {
        if !self.facts.is_in_storage(self.program, stack) && !self.is_unreachable {
            self.unresolved.push(stack);
        }
    }

    /// `Operation::Load`
    pub fn load(&mut self, result: Temp, place: &Place) {
        match self.known_place(place) {
            Some(Some(slot)) => {
                let known = match self.bits_in_packet(slot) {
                    Some(bits) => TempValue::InPacket(bits),
                    None => TempValue::Computed(self.load_slot(slot)),
                };
                self.temps[result.index()] = Some(known);
            }
            Some(None) => {
                let zero = self.zero(self.temp_types[result.index()]);
                self.define(result, zero);
            }
            None => {
                let Place::Element { stack, member, field, index } = place else { return };
                let index = self.index_operand(index);
                let ty = self.element_type(*stack, *member, *field);
                // Outside the stack, element 0 is read and discarded.
                let is_inside = self.is_inside(*stack, index);
                let zero_index = self.number(0);
                let index = self.builder.ins().select(is_inside, index, zero_index);
                let (address, offset_bytes) = self.element_address(*stack, *member, *field, index);
                let found = self.values().load_words(ty, address, offset_bytes);
                let zero = self.zero(ty);
                let value = self.values().select(is_inside, ty, found, zero);
                self.define(result, value);
            }
        }
    }

    /// `Operation::Store`
    pub fn store(&mut self, place: &Place, value: &ir::Operand) {
        let found = self.operand_type(value);
        let place_known = self.known_place(place);
        if let (Some(Some(slot)), Some(bits)) = (place_known, self.packet_operand(value))
            && found == self.slot_type(slot)
            && self.holds_copies(slot)
        {
            return self.path.copied_from_packet(slot, bits);
        }
        let value = self.operand(value);
        match place_known {
            Some(Some(slot)) => {
                let wanted = self.slot_type(slot);
                let value = self.values().as_type(wanted, found, value);
                self.store_slot(slot, value);
            }
            Some(None) => {}
            None => {
                let Place::Element { stack, member, field, index } = place else { return };
                let index = self.index_operand(index);
                let is_inside = self.is_inside(*stack, index);
                let joined = self.begin_if(is_inside);
                let ty = self.element_type(*stack, *member, *field);
                let value = self.values().as_type(ty, found, value);
                let (address, offset_bytes) = self.element_address(*stack, *member, *field, index);
                self.values().store_words(ty, value, address, offset_bytes);
                self.end_if(joined);
            }
        }
    }

    /// Whether a slot that becomes a copy of bits of the packet is read from the packet. In large units most
    /// copies are read often, and variables are cheaper.
    fn holds_copies(&self, slot: SlotId) -> bool {
        !self.facts.is_large
            && self.facts.field_of[slot.index()].is_none()
            && self.is_followed(slot)
    }

    /// Whether an index is inside a stack.
    pub fn is_inside(&mut self, stack: StackId, index: Value) -> Value {
        let size = u64::from(self.program.stacks[stack.index()].size);
        self.compare(IntCC::UnsignedLessThan, index, size)
    }

    fn element_slot(&self, stack: StackId, element: u32, member: u32, field: u32) -> SlotId {
        let stack = &self.program.stacks[stack.index()];
        let header = stack.first_header.0 + element * stack.headers_per_element + member;
        SlotId(self.program.headers[header as usize].first_slot.0 + field)
    }

    fn element_type(&self, stack: StackId, member: u32, field: u32) -> ValueType {
        self.slot_type(self.element_slot(stack, 0, member, field))
    }

    /// Bytes from an element of a stack to the next.
    pub fn element_stride_bytes(&self, stack: StackId) -> i64 {
        if self.program.stacks[stack.index()].size < 2 {
            return 0;
        }
        let first = self.storage_offset_bytes(self.element_slot(stack, 0, 0, 0));
        let second = self.storage_offset_bytes(self.element_slot(stack, 1, 0, 0));
        i64::from(second - first)
    }

    /// Address and offset of a field of the element with this index, which is inside the stack.
    pub fn element_address(
        &mut self,
        stack: StackId,
        member: u32,
        field: u32,
        index: Value,
    ) -> (Value, i32) {
        let first = self.storage_offset_bytes(self.element_slot(stack, 0, member, field));
        let stride = self.element_stride_bytes(stack);
        let distance = self.builder.ins().imul_imm_s(index, stride);
        let storage = self.storage();
        (self.builder.ins().iadd(storage, distance), first)
    }

    /// Zeroes everything that a fresh unit may read before it writes.
    pub fn begin_fresh(&mut self) {
        let zero = self.number(0);
        for at in 0..self.slot_locations.len() {
            if let SlotLocation::Variables(variables) = self.slot_locations[at].clone() {
                variables.into_iter().for_each(|variable| self.builder.def_var(variable, zero));
                if self.facts.field_of[at].is_none() {
                    self.path.written(SlotId(at as u32), Some(0));
                }
            }
        }
        let ranges = self.storage_ranges(|compiler, slot| {
            matches!(compiler.slot_locations[slot.index()], SlotLocation::Storage(_))
                && compiler.facts.needs_location[slot.index()]
                && compiler.facts.field_of[slot.index()].is_none()
        });
        self.zero_ranges(&ranges);
    }

    /// Ranges of storage whose slots have a property: first word and number of words.
    fn storage_ranges(&self, has: impl Fn(&Self, SlotId) -> bool) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for at in 0..self.program.slots.len() {
            let slot = SlotId(at as u32);
            if !has(self, slot) {
                continue;
            }
            let value = self.layout.offset_words(slot);
            let first = self.layout.length_word(slot).unwrap_or(value);
            let words = words_of(self.slot_type(slot));
            match ranges.last_mut() {
                Some((start, count)) if *start + *count == first => *count += words,
                _ => ranges.push((first, words)),
            }
        }
        ranges
    }

    fn zero_ranges(&mut self, ranges: &[(usize, usize)]) {
        if ranges.is_empty() {
            return;
        }
        let storage = self.storage();
        for &(first, words) in ranges {
            let offset_bytes = first as i32 * 8;
            if words <= MAX_WORDS_ZEROED_INLINE {
                let zero = self.number(0);
                for word in 0..words as i32 {
                    self.store_word(zero, storage, offset_bytes + word * 8);
                }
            } else {
                let address = self.builder.ins().iadd_imm_s(storage, i64::from(offset_bytes));
                let words = self.number(words as u64);
                self.call(
                    RuntimeFunction::taking_2(runtime::packet::zero_words),
                    &[address, words],
                );
            }
        }
    }

    /// Shifts a stack that is not in storage.
    pub fn move_elements(&mut self, stack: StackId, by: i32) {
        let declared = &self.program.stacks[stack.index()];
        let (size, first, per_element) =
            (declared.size, declared.first_header.0, declared.headers_per_element);
        let distance = by.unsigned_abs().min(size);
        let moves: Vec<(u32, u32)> = match by > 0 {
            true => (distance..size).rev().map(|to| (to - distance, to)).collect(),
            false => (0..size - distance).map(|to| (to + distance, to)).collect(),
        };
        for (from, to) in moves {
            for member in 0..per_element {
                let header = |element: u32| HeaderId(first + element * per_element + member);
                self.copy_header(header(from), header(to));
            }
        }
        let zero = self.number(0);
        let invalid = if by > 0 { 0..distance } else { size - distance..size };
        for header in invalid.start * per_element..invalid.end * per_element {
            let valid = self.program.headers[(first + header) as usize].valid_slot();
            self.store_slot(valid, Val::Word(zero));
        }
        // The index is a number of 32 bits within 0 and the size.
        let next = self.slot_number(declared.next);
        let most = self.number(u64::from(size));
        let distance = self.number(u64::from(distance));
        let moved = match self.known_number(next) {
            Some(next) => {
                let next = next.min(u64::from(size)) as i64 + i64::from(by);
                self.number(next.clamp(0, i64::from(size)) as u64)
            }
            None if by > 0 => {
                let next = self.builder.ins().umin(next, most);
                let next = self.builder.ins().iadd(next, distance);
                self.builder.ins().umin(next, most)
            }
            None => {
                let next = self.builder.ins().umin(next, most);
                let next = self.builder.ins().umax(next, distance);
                self.builder.ins().isub(next, distance)
            }
        };
        self.store_slot(declared.next, Val::Word(moved));
    }

    fn copy_header(&mut self, from: HeaderId, to: HeaderId) {
        let (first, target) = (
            self.program.headers[from.index()].first_slot.0,
            self.program.headers[to.index()].first_slot.0,
        );
        let count = self.program.header_type(from).fields.len() as u32;
        for offset in 0..=count {
            let slots = [SlotId(first + offset), SlotId(target + offset)];
            match slots.map(|slot| self.slot_locations[slot.index()].clone()) {
                [SlotLocation::Variables(from), SlotLocation::Variables(to)] => {
                    for (from, to) in from.into_iter().zip(to) {
                        let value = self.builder.use_var(from);
                        self.builder.def_var(to, value);
                    }
                }
                [_, _] if self.path.is_pristine(slots[0]) => {}
                [_, _] => {
                    let value = self.load_slot(slots[0]);
                    self.write_location(slots[1], value);
                }
            }
        }
        if let (Some(from), Some(to)) =
            (self.header_addresses.get(&from), self.header_addresses.get(&to))
        {
            let address = self.builder.use_var(*from);
            self.builder.def_var(*to, address);
        }
        self.path.copied(self.program, from, to);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Accesses of instructions to storage: slots, fields of stack elements, extraction, emission, and shifts of
//! stacks.

use crate::bit_string::{read_bits, read_number};
use crate::block_run::Outcome;
use crate::engine::{Frame, Run};
use crate::observer::Event;
use ir::{Bits, HeaderId, HeaderRef, Operand, OriginId, Place, SlotId, StackId, ValueType};

impl Run<'_> {
    /// Writes a slot.
    pub(crate) fn store_slot(&mut self, slot: SlotId, value: &Bits, origin: OriginId) {
        let before = self.observer.is_some().then(|| self.context.value(slot));
        self.context.set_slot(slot, value);
        if let Some(before) = before {
            let after = self.context.value(slot);
            let event = |_| Event::SlotStored { slot, before: &before, after: &after };
            self.notify(Some(origin), event);
        }
    }

    /// The header of a stack's element; `None` outside the stack.
    fn element(
        &self,
        frame: Frame<'_>,
        stack: StackId,
        member: u32,
        index: &Operand,
    ) -> Option<HeaderId> {
        let stack = &self.program.stacks[stack.index()];
        let index = self.value(frame, index).to_u64()?;
        if index >= u64::from(stack.size) {
            return None;
        }
        Some(HeaderId(stack.first_header.0 + index as u32 * stack.headers_per_element + member))
    }

    fn header(&self, frame: Frame<'_>, header: &HeaderRef) -> Option<HeaderId> {
        match header {
            HeaderRef::Header(header) => Some(*header),
            HeaderRef::Element { stack, member, index } => {
                self.element(frame, *stack, *member, index)
            }
        }
    }

    /// The slot of a place; `None` outside the stack.
    fn slot_of(&self, frame: Frame<'_>, place: &Place) -> Option<SlotId> {
        match place {
            Place::Slot(slot) => Some(*slot),
            Place::Element { stack, member, field, index } => {
                let header = self.element(frame, *stack, *member, index)?;
                Some(SlotId(self.program.headers[header.index()].first_slot.0 + field))
            }
        }
    }

    pub(crate) fn load(&self, frame: Frame<'_>, place: &Place) -> Bits {
        if let Some(slot) = self.slot_of(frame, place) {
            return self.context.value(slot);
        }
        // The first element has the type of the missing one.
        match place {
            Place::Element { stack, member, field, .. } => {
                let first = self.program.stacks[stack.index()].first_header.0 + member;
                let ty = self
                    .program
                    .headers
                    .get(first as usize)
                    .and_then(|header| {
                        self.program.slots.get((header.first_slot.0 + field) as usize)
                    })
                    .map_or(ValueType::Bits(1), |slot| slot.ty);
                zero_of(ty)
            }
            Place::Slot(slot) => zero_of(self.program.slots[slot.index()].ty),
        }
    }

    pub(crate) fn store(
        &mut self,
        frame: Frame<'_>,
        place: &Place,
        value: &Operand,
        origin: OriginId,
    ) {
        if let Some(slot) = self.slot_of(frame, place) {
            let value = self.value(frame, value).clone();
            self.store_slot(slot, &value, origin);
        }
    }

    pub(crate) fn extract(
        &mut self,
        frame: Frame<'_>,
        header: &HeaderRef,
        varbit_bits: Option<&Operand>,
        origin: OriginId,
    ) -> Result<(), Outcome> {
        let errors = self.interpreter.core_errors;
        let program = self.program;
        let Some(id) = self.header(frame, header) else {
            return Err(self.reject(origin, errors.stack_out_of_bounds));
        };
        let header = &program.headers[id.index()];
        let fields = &program.header_types[header.ty.index()].fields;
        let fixed_bits = self.interpreter.fixed_bits[header.ty.index()];

        // A length beyond any packet is cut to one that is too, and still whole bytes.
        let varbit_bits = varbit_bits.map_or(0, |operand| {
            let bits = self.value(frame, operand).to_u64();
            bits.and_then(|bits| usize::try_from(bits).ok()).unwrap_or(usize::MAX / 16 * 8)
        });
        let packet_bits = self.context.packet.len().saturating_mul(8);
        let left_bits = packet_bits.saturating_sub(self.context.cursor_bits);
        // P4_16 v1.2.5 §13.8.2, in the order of its pseudo-code.
        let length_bits = fixed_bits.saturating_add(varbit_bits);
        if varbit_bits > 0 && !length_bits.is_multiple_of(8) {
            return Err(self.reject(origin, errors.parser_invalid_argument));
        }
        if length_bits > left_bits {
            return Err(self.reject(origin, errors.packet_too_short));
        }
        let most_varbit_bits = fields
            .iter()
            .find_map(|field| match field.ty {
                ValueType::Varbit(width_bits) => Some(width_bits as usize),
                ValueType::Bits(_) => None,
            })
            .unwrap_or(0);
        if varbit_bits > most_varbit_bits {
            return Err(self.reject(origin, errors.header_too_short));
        }

        self.context.set_number(header.valid_slot(), 1);
        for (number, field) in fields.iter().enumerate() {
            let width_bits = match field.ty {
                ValueType::Bits(width_bits) => width_bits,
                ValueType::Varbit(_) => varbit_bits as u32,
            };
            let slot = header.field_slot(number);
            let from_bit = self.context.cursor_bits;
            match field.ty {
                ValueType::Bits(0..=64) => {
                    let number = read_number(&self.context.packet, from_bit, width_bits);
                    self.context.set_number(slot, number as u64);
                }
                _ => {
                    let value = read_bits(&self.context.packet, from_bit, width_bits)
                        .unwrap_or_else(|| Bits::zero(width_bits));
                    self.context.set_slot(slot, &value);
                }
            }
            self.context.cursor_bits += width_bits as usize;
        }
        self.notify(Some(origin), |context| Event::Extracted {
            header: id,
            slots: context.slots(),
        });
        Ok(())
    }

    pub(crate) fn emit(&mut self, frame: Frame<'_>, header: &HeaderRef, origin: OriginId) {
        let Some(id) = self.header(frame, header) else { return };
        let header = &self.program.headers[id.index()];
        if !self.context.flag(header.valid_slot()) {
            return;
        }
        for (number, field) in
            self.program.header_types[header.ty.index()].fields.iter().enumerate()
        {
            let slot = header.field_slot(number);
            match field.ty {
                ValueType::Bits(width_bits @ 0..=64) => {
                    let number = self.context.number(slot);
                    self.context.emitted.push_number(u128::from(number), width_bits);
                }
                _ => {
                    let value = self.context.value(slot);
                    self.context.emitted.push(&value);
                }
            }
        }
        self.notify(Some(origin), |context| Event::Emitted { header: id, slots: context.slots() });
    }

    /// P4_16 v1.2.5 §8.20.
    pub(crate) fn shift_stack(&mut self, stack: StackId, by: i32, origin: OriginId) {
        let declared = &self.program.stacks[stack.index()];
        let size = declared.size;
        let distance = by.unsigned_abs().min(size);
        if by > 0 {
            for to in (distance..size).rev() {
                self.copy_element(stack, to - distance, to);
            }
            (0..distance).for_each(|element| self.invalidate_element(stack, element));
        } else {
            for to in 0..size - distance {
                self.copy_element(stack, to + distance, to);
            }
            (size - distance..size).for_each(|element| self.invalidate_element(stack, element));
        }
        let index = self.context.number(declared.next).min(u64::from(size));
        let moved = match by > 0 {
            true => (index + u64::from(distance)).min(u64::from(size)),
            false => index.saturating_sub(u64::from(distance)),
        };
        self.context.set_number(declared.next, moved);
        self.notify(Some(origin), |_| Event::StackShifted { stack, by });
    }

    /// Headers of an element of a stack, by number.
    fn element_headers(&self, stack: StackId, element: u32) -> std::ops::Range<usize> {
        let stack = &self.program.stacks[stack.index()];
        let first = (stack.first_header.0 + element * stack.headers_per_element) as usize;
        first..first + stack.headers_per_element as usize
    }

    fn copy_element(&mut self, stack: StackId, from: u32, to: u32) {
        for (from, to) in self.element_headers(stack, from).zip(self.element_headers(stack, to)) {
            let (from, to) = (&self.program.headers[from], &self.program.headers[to]);
            let field_count = self.program.header_types[from.ty.index()].fields.len();
            for offset in 0..=field_count as u32 {
                let slot = |header: &ir::Header| SlotId(header.first_slot.0 + offset);
                self.context.copy_slot(slot(from), slot(to));
            }
        }
    }

    fn invalidate_element(&mut self, stack: StackId, element: u32) {
        for header in self.element_headers(stack, element) {
            self.context.set_number(self.program.headers[header].valid_slot(), 0);
        }
    }
}

/// The value at the start of a packet.
fn zero_of(ty: ValueType) -> Bits {
    match ty {
        ValueType::Bits(width_bits) => Bits::zero(width_bits),
        ValueType::Varbit(_) => Bits::zero(0),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Storage as instructions reach it: slots, fields of stack elements, extraction, emission, and shifts
//! of stacks.

use crate::bit_string::read_bits;
use crate::context::{in_width, zero_of};
use crate::engine::{Frame, Outcome, Run};
use crate::observer::Event;
use ir::{Bits, HeaderId, HeaderRef, Operand, OriginId, Place, SlotId, StackId, ValueType};

impl Run<'_> {
    /// Writes a slot.
    pub(crate) fn store_slot(&mut self, slot: SlotId, value: Bits, origin: OriginId) {
        let value = match self.program.slots[slot.index()].ty {
            ValueType::Bits(width_bits) if value.width_bits() != width_bits => {
                in_width(&value, width_bits)
            }
            _ => value,
        };
        let before = std::mem::replace(&mut self.context.slots[slot.index()], value);
        self.tell(Some(origin), |context| Event::SlotStored {
            slot,
            before: &before,
            after: &context.slots[slot.index()],
        });
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
            return self.context.slots[slot.index()].clone();
        }
        // The first element stands for the type of the missing one.
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
            self.store_slot(slot, value, origin);
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

        self.context.slots[header.valid_slot().index()] = Bits::from_bit(true);
        for (number, field) in fields.iter().enumerate() {
            let width_bits = match field.ty {
                ValueType::Bits(width_bits) => width_bits,
                ValueType::Varbit(_) => varbit_bits as u32,
            };
            let value = read_bits(&self.context.packet, self.context.cursor_bits, width_bits)
                .unwrap_or_else(|| Bits::zero(width_bits));
            self.context.slots[header.field_slot(number).index()] = value;
            self.context.cursor_bits += width_bits as usize;
        }
        self.tell(Some(origin), |context| Event::Extracted { header: id, slots: &context.slots });
        Ok(())
    }

    pub(crate) fn emit(&mut self, frame: Frame<'_>, header: &HeaderRef, origin: OriginId) {
        let Some(id) = self.header(frame, header) else { return };
        let header = &self.program.headers[id.index()];
        if !self.context.slots[header.valid_slot().index()].is_true() {
            return;
        }
        let field_count = self.program.header_types[header.ty.index()].fields.len();
        let first = header.field_slot(0).index();
        for value in &self.context.slots[first..first + field_count] {
            self.context.emitted.push(value);
        }
        self.tell(Some(origin), |context| Event::Emitted { header: id, slots: &context.slots });
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
        let next = &mut self.context.slots[declared.next.index()];
        let index = next.low_u64().min(u64::from(size));
        let moved = match by > 0 {
            true => (index + u64::from(distance)).min(u64::from(size)),
            false => index.saturating_sub(u64::from(distance)),
        };
        *next = Bits::from_u64(next.width_bits(), moved);
        self.tell(Some(origin), |_| Event::StackShifted { stack, by });
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
            for offset in 0..=field_count {
                self.context.slots[to.first_slot.index() + offset] =
                    self.context.slots[from.first_slot.index() + offset].clone();
            }
        }
    }

    fn invalidate_element(&mut self, stack: StackId, element: u32) {
        for header in self.element_headers(stack, element) {
            let valid = self.program.headers[header].valid_slot();
            self.context.slots[valid.index()] = Bits::from_bit(false);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What loads, stores and shifts of stacks do to slots on a path. A stack's element at a run-time index is a choice among
//! the slots of all elements.

use super::super::predicates::Predicate;
use super::store::{ValueId, Values};
use super::walk::{Path, Walk};
use crate::{BinaryOperation, Bits, Place, SlotId, StackId, Temp, ValueType};
use std::collections::HashMap;
use std::rc::Rc;

impl Walk<'_> {
    /// The slots of a field of all elements of a stack.
    fn element_slots(&self, stack: StackId, member: u32, field: u32) -> Vec<SlotId> {
        let declared = &self.program.stacks[stack.index()];
        let header = |element: u32| {
            let at = declared.first_header.0 + element * declared.headers_per_element + member;
            &self.program.headers[at as usize]
        };
        (0..declared.size).map(|element| SlotId(header(element).first_slot.0 + field)).collect()
    }

    /// The slots that a place may be, each with the predicate that it is the one.
    fn slots_of(
        &mut self,
        place: &Place,
        temps: &HashMap<Temp, ValueId>,
    ) -> Vec<(Predicate, SlotId)> {
        match place {
            Place::Slot(slot) => vec![(Predicate::TRUE, *slot)],
            Place::Element { stack, member, field, index } => {
                let index = self.operand(index, temps);
                let width_bits = self.values.ty(index).width_bits();
                let slots = self.element_slots(*stack, *member, *field);
                let fits = |number: usize| width_bits >= 32 || (number as u64) >> width_bits == 0;
                let slots = slots.into_iter().enumerate().filter(|(number, _)| fits(*number));
                let mut all = Vec::new();
                for (number, slot) in slots {
                    let number = self.values.constant(Bits::from_u64(width_bits, number as u64));
                    all.push((self.values.equal(index, number), slot));
                }
                all
            }
        }
    }

    pub fn load(
        &mut self,
        place: &Place,
        ty: ValueType,
        path: &Path,
        temps: &HashMap<Temp, ValueId>,
    ) -> ValueId {
        if let Place::Slot(slot) = place {
            return path.storage[slot.index()];
        }
        let mut value = match ty {
            ValueType::Bits(width_bits) => self.values.constant(Bits::zero(width_bits)),
            ValueType::Varbit(_) => return self.values.unknown(ty),
        };
        for (is_it, slot) in self.slots_of(place, temps) {
            value = self.values.choice(is_it, path.storage[slot.index()], value);
        }
        value
    }

    pub fn store(
        &mut self,
        place: &Place,
        value: ValueId,
        path: &mut Path,
        temps: &HashMap<Temp, ValueId>,
    ) {
        for (is_it, slot) in self.slots_of(place, temps) {
            let before = path.storage[slot.index()];
            let after = self.values.choice(is_it, value, before);
            Rc::make_mut(&mut path.storage)[slot.index()] = after;
        }
    }

    pub fn shift_stack(&mut self, stack: StackId, by: i32, path: &mut Path) {
        let declared = &self.program.stacks[stack.index()];
        let (size, distance) = (declared.size, by.unsigned_abs().min(declared.size));
        let first = declared.first_header.0;
        for member in 0..declared.headers_per_element {
            let header = &self.program.headers[(first + member) as usize];
            let fields = self.program.header_types[header.ty.index()].fields.len() as u32;
            for field in 0..=fields {
                let slots = self.element_slots(stack, member, field);
                let before: Vec<ValueId> =
                    slots.iter().map(|slot| path.storage[slot.index()]).collect();
                for (to, slot) in (0..size).zip(&slots) {
                    let from = match by > 0 {
                        true => to.checked_sub(distance),
                        false => Some(to + distance).filter(|from| *from < size),
                    };
                    let after = match from {
                        Some(from) => before[from as usize],
                        // An invalid header's fields keep what was last stored.
                        None if field > 0 => continue,
                        None => self.values.constant(Bits::zero(1)),
                    };
                    Rc::make_mut(&mut path.storage)[slot.index()] = after;
                }
            }
        }
        let next = declared.next;
        let width_bits = self.program.slots[next.index()].ty.width_bits();
        let number = |values: &mut Values, number: u32| {
            values.constant(Bits::from_u64(width_bits, u64::from(number)))
        };
        let (most, distance) = (number(&mut self.values, size), number(&mut self.values, distance));
        let clamped = |values: &mut Values, value: ValueId| {
            let above = values.binary(BinaryOperation::LessUnsigned, most, value, 1);
            let above = values.predicate(above);
            values.choice(above, most, value)
        };
        let index = clamped(&mut self.values, path.storage[next.index()]);
        let operation = match by > 0 {
            true => BinaryOperation::AddSaturatingUnsigned,
            false => BinaryOperation::SubtractSaturatingUnsigned,
        };
        let moved = self.values.binary(operation, index, distance, width_bits);
        let moved = clamped(&mut self.values, moved);
        Rc::make_mut(&mut path.storage)[next.index()] = moved;
    }
}

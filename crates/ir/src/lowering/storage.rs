// SPDX-License-Identifier: Apache-2.0
//! Allocates storage: slots, headers, stacks and unions. A [`Location`] says which of them an
//! l-value denotes. `locations` evaluates l-value expressions.

use super::shapes::scalar_count;
use super::{Lowered, Lowering, SLOT_LIMIT, Shape};
use crate::{
    BinaryOperation, Display, Header, HeaderId, HeaderRef, HeaderTypeId, Operand, Place, Slot,
    SlotId, Stack, StackId, Union, ValueType,
};
use std::collections::HashSet;
use std::sync::Arc;

/// What an l-value denotes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Location {
    /// One slot or field.
    Scalar(Place, ValueType),
    /// A struct or tuple.
    Struct(Arc<[(Arc<str>, Location)]>),
    /// A header; `siblings` are the other members of its union.
    Header {
        /// Which.
        header: HeaderRef,
        /// Its layout.
        ty: HeaderTypeId,
        /// The other members of its union.
        siblings: Arc<[HeaderRef]>,
    },
    /// A union by its members.
    Union(Arc<[(Arc<str>, Location)]>),
    /// A stack; every element has this layout.
    Stack(StackId, Arc<Shape>),
    /// Some bits of a scalar.
    Slice {
        /// Of what.
        base: Box<Location>,
        /// The lowest bit.
        low: Operand,
        /// How many bits.
        width: u32,
    },
    /// The element of an array that an index chooses at run time; none when it lies outside.
    Choice {
        /// All elements.
        elements: Arc<[Location]>,
        /// Which.
        index: Operand,
    },
    /// Takes no storage.
    Nothing,
}

impl Lowering<'_> {
    /// Adds a slot. If the name is taken, a number is appended.
    pub(crate) fn add_slot(&mut self, name: &str, ty: ValueType, display: Display) -> SlotId {
        let name = unique(&mut self.slot_names, name);
        self.program.slots.push(Slot { name, ty, display, origin: self.origin });
        SlotId(self.program.slots.len() as u32 - 1)
    }

    /// New storage for a layout. The name is made unique.
    pub(crate) fn allocate(&mut self, shape: &Shape, name: &str) -> Lowered<Location> {
        let needed = self.slot_count(shape);
        if needed.saturating_add(self.program.slots.len() as u64) > SLOT_LIMIT {
            return Err(self.error(
                super::codes::CODE_GROWTH,
                format!("the program needs more than {SLOT_LIMIT} fields and variables"),
            ));
        }
        let name = unique(&mut self.storage_names, name);
        Ok(self.allocate_named(shape, &name))
    }

    fn slot_count(&self, shape: &Shape) -> u64 {
        let header =
            |ty: HeaderTypeId| self.program.header_types[ty.index()].fields.len() as u64 + 1;
        match shape {
            Shape::Scalar(..) => 1,
            Shape::Struct(fields) => {
                fields.iter().map(|(_, field)| self.slot_count(field)).fold(0, u64::saturating_add)
            }
            Shape::Header(ty) => header(*ty),
            Shape::Union(members) => members.iter().map(|(_, ty)| header(*ty)).sum(),
            Shape::Stack(element, size) => {
                self.slot_count(element).saturating_mul(u64::from(*size).max(1)).saturating_add(1)
            }
            Shape::Empty => 0,
        }
    }

    fn allocate_named(&mut self, shape: &Shape, name: &str) -> Location {
        match shape {
            Shape::Scalar(ty, display) => {
                let slot = self.add_slot(name, *ty, display.clone());
                Location::Scalar(Place::Slot(slot), *ty)
            }
            Shape::Struct(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(field, shape)| {
                        let full = match field.starts_with(|first: char| first.is_ascii_digit()) {
                            true => format!("{name}[{field}]"),
                            false => format!("{name}.{field}"),
                        };
                        (field.clone(), self.allocate_named(shape, &full))
                    })
                    .collect();
                Location::Struct(fields.into())
            }
            Shape::Header(ty) => {
                let header = self.add_header(*ty, name);
                Location::Header {
                    header: HeaderRef::Header(header),
                    ty: *ty,
                    siblings: Arc::new([]),
                }
            }
            Shape::Union(members) => {
                let headers: Vec<HeaderId> = members
                    .iter()
                    .map(|(member, ty)| self.add_header(*ty, &format!("{name}.{member}")))
                    .collect();
                self.program.unions.push(Union { name: name.into(), members: headers.clone() });
                let headers: Vec<HeaderRef> = headers.into_iter().map(HeaderRef::Header).collect();
                union_of(members, &headers)
            }
            Shape::Stack(element, size) => {
                let first_header = HeaderId(self.program.headers.len() as u32);
                // A stack without elements keeps one header that no index reaches: it has the
                // layout of an element, for code that uses one all the same.
                for index in 0..(*size).max(1) {
                    self.allocate_named(element, &format!("{name}[{index}]"));
                }
                let next =
                    self.add_slot(&format!("{name}.$next"), ValueType::Bits(32), Display::Unsigned);
                let headers_per_element = match &**element {
                    Shape::Union(members) => members.len() as u32,
                    _ => 1,
                };
                self.program.stacks.push(Stack {
                    name: name.into(),
                    first_header,
                    headers_per_element,
                    size: *size,
                    next,
                });
                Location::Stack(StackId(self.program.stacks.len() as u32 - 1), element.clone())
            }
            Shape::Empty => Location::Nothing,
        }
    }

    fn add_header(&mut self, ty: HeaderTypeId, name: &str) -> HeaderId {
        let valid = self.add_slot(&format!("{name}.$valid"), ValueType::Bits(1), Display::Bool);
        for field in self.flat_fields(ty) {
            self.add_slot(&format!("{name}.{}", field.name), field.ty, field.display);
        }
        self.program.headers.push(Header { name: name.into(), ty, first_slot: valid });
        HeaderId(self.program.headers.len() as u32 - 1)
    }

    /// The place of the validity bit (`field` 0) or of the flat field `field - 1`.
    pub(crate) fn header_place(&self, header: &HeaderRef, field: u32) -> Place {
        match header {
            HeaderRef::Header(id) => {
                Place::Slot(SlotId(self.program.headers[id.index()].first_slot.0 + field))
            }
            HeaderRef::Element { stack, member, index } => {
                Place::Element { stack: *stack, member: *member, field, index: index.clone() }
            }
        }
    }

    /// The location of a named member of a location: a field or a union's member.
    pub(crate) fn member_location(&self, base: &Location, name: &str) -> Option<Location> {
        match base {
            Location::Struct(fields) | Location::Union(fields) => fields
                .iter()
                .find(|(field, _)| &**field == name)
                .map(|(_, location)| location.clone()),
            Location::Header { header, ty, .. } => {
                let (index, shape) = self.header_field(*ty, name)?;
                Some(self.field_location(header, index, &shape))
            }
            Location::Choice { elements, index } => {
                let members: Option<Vec<Location>> =
                    elements.iter().map(|element| self.member_location(element, name)).collect();
                Some(Location::Choice { elements: members?.into(), index: index.clone() })
            }
            _ => None,
        }
    }

    /// Element `index` of an array that is no stack.
    pub(crate) fn array_element(&self, array: &Location, index: &Operand) -> Option<Location> {
        match array {
            Location::Struct(fields) => match index {
                Operand::Constant(bits) => {
                    let at = usize::try_from(bits.to_u64()?).ok()?;
                    fields.get(at).map(|(_, element)| element.clone())
                }
                Operand::Temp(_) => {
                    let elements: Vec<Location> =
                        fields.iter().map(|(_, element)| element.clone()).collect();
                    Some(Location::Choice { elements: elements.into(), index: index.clone() })
                }
            },
            Location::Choice { elements, index: outer } => {
                let inner: Option<Vec<Location>> =
                    elements.iter().map(|element| self.array_element(element, index)).collect();
                Some(Location::Choice { elements: inner?.into(), index: outer.clone() })
            }
            _ => None,
        }
    }

    fn field_location(&self, header: &HeaderRef, index: u32, shape: &Shape) -> Location {
        match shape {
            Shape::Scalar(ty, _) => Location::Scalar(self.header_place(header, index + 1), *ty),
            Shape::Struct(fields) => {
                let mut at = index;
                let mut members = Vec::with_capacity(fields.len());
                for (name, shape) in fields.iter() {
                    members.push((name.clone(), self.field_location(header, at, shape)));
                    at += scalar_count(shape);
                }
                Location::Struct(members.into())
            }
            _ => Location::Nothing,
        }
    }

    /// Element `index` of a stack: a header or union of its own when the index is a constant inside.
    pub(crate) fn element_location(
        &self,
        stack: StackId,
        element: &Shape,
        index: &Operand,
    ) -> Location {
        let layout = &self.program.stacks[stack.index()];
        let known = match index {
            Operand::Constant(bits) => bits.to_u64().filter(|at| *at < u64::from(layout.size)),
            Operand::Temp(_) => None,
        };
        let header = |member: u32| match known {
            Some(at) => HeaderRef::Header(HeaderId(
                layout.first_header.0 + at as u32 * layout.headers_per_element + member,
            )),
            None => HeaderRef::Element { stack, member, index: index.clone() },
        };
        match element {
            Shape::Header(ty) => {
                Location::Header { header: header(0), ty: *ty, siblings: Arc::new([]) }
            }
            Shape::Union(members) => {
                let headers: Vec<HeaderRef> = (0..members.len() as u32).map(header).collect();
                union_of(members, &headers)
            }
            _ => Location::Nothing,
        }
    }

    /// All elements of a stack in order.
    pub(crate) fn elements(&self, stack: StackId, element: &Shape) -> Vec<Location> {
        let size = self.program.stacks[stack.index()].size;
        (0..size)
            .map(|index| {
                self.element_location(stack, element, &super::number(32, u64::from(index)))
            })
            .collect()
    }

    /// All slots of a location, in order.
    pub(crate) fn slots_of(&self, location: &Location) -> Vec<SlotId> {
        let mut slots = Vec::new();
        self.collect_slots(location, &mut slots);
        slots
    }

    fn collect_slots(&self, location: &Location, slots: &mut Vec<SlotId>) {
        match location {
            Location::Scalar(Place::Slot(slot), _) => slots.push(*slot),
            Location::Scalar(Place::Element { stack, .. }, _)
            | Location::Header { header: HeaderRef::Element { stack, .. }, .. } => {
                self.stack_slots(*stack, slots);
            }
            Location::Struct(fields) | Location::Union(fields) => {
                for (_, field) in fields.iter() {
                    self.collect_slots(field, slots);
                }
            }
            Location::Header { header: HeaderRef::Header(id), ty, .. } => {
                let first = self.program.headers[id.index()].first_slot.0;
                let count = self.program.header_types[ty.index()].fields.len() as u32;
                slots.extend((first..=first + count).map(SlotId));
            }
            Location::Stack(stack, _) => self.stack_slots(*stack, slots),
            Location::Slice { base, .. } => self.collect_slots(base, slots),
            Location::Choice { elements, .. } => {
                for element in elements.iter() {
                    self.collect_slots(element, slots);
                }
            }
            Location::Nothing => {}
        }
    }

    fn stack_slots(&self, stack: StackId, slots: &mut Vec<SlotId>) {
        let layout = &self.program.stacks[stack.index()];
        for header in 0..layout.size * layout.headers_per_element {
            let header = &self.program.headers[(layout.first_header.0 + header) as usize];
            let count = self.program.header_types[header.ty.index()].fields.len() as u32;
            slots.extend((header.first_slot.0..=header.first_slot.0 + count).map(SlotId));
        }
        slots.push(layout.next);
    }

    /// Makes every header in a location invalid (P4_16 v1.2.5 §6.8, `out` parameters).
    pub(crate) fn invalidate(&mut self, location: &Location) {
        match location {
            Location::Struct(fields) | Location::Union(fields) => {
                for (_, field) in fields.iter() {
                    self.invalidate(field);
                }
            }
            Location::Header { header, .. } => {
                let place = self.header_place(header, 0);
                self.store_place(place, super::bit(false));
            }
            Location::Stack(stack, element) => {
                for element in self.elements(*stack, element) {
                    self.invalidate(&element);
                }
                let next = self.program.stacks[stack.index()].next;
                self.store_slot(next, super::number(32, 0));
            }
            _ => {}
        }
    }

    /// Makes a location zero and its headers invalid.
    pub(crate) fn clear(&mut self, location: &Location) {
        match location {
            Location::Scalar(place, ValueType::Bits(width)) => {
                self.store_place(place.clone(), super::number(*width, 0));
            }
            Location::Scalar(place, ValueType::Varbit(_)) => {
                self.store_place(place.clone(), super::number(0, 0));
            }
            Location::Struct(fields) => {
                for (_, field) in fields.iter() {
                    self.clear(field);
                }
            }
            _ => self.invalidate(location),
        }
    }

    /// The storage of a declared variable in the current expansion.
    pub(super) fn variable(
        &mut self,
        id: p4::ast::NodeId,
        ty: &p4::typed::Type,
        name: &str,
    ) -> Lowered<Location> {
        if let Some(known) = self.variables.get(&(self.context, id)) {
            return Ok(known.clone());
        }
        let shape = self.shape(ty)?;
        let full = self.local_name(name);
        let location = self.allocate(&shape, &full)?;
        self.variables.insert((self.context, id), location.clone());
        Ok(location)
    }

    /// Unsigned sum of a stack's `nextIndex` and a number.
    pub(crate) fn next_plus(&mut self, stack: StackId, operation: BinaryOperation) -> Operand {
        let next = self.program.stacks[stack.index()].next;
        let value = self.load_slot(next);
        self.binary(operation, value, super::number(32, 1))
    }
}

/// A union over given headers.
fn union_of(members: &[(Arc<str>, HeaderTypeId)], headers: &[HeaderRef]) -> Location {
    let locations: Vec<(Arc<str>, Location)> = members
        .iter()
        .enumerate()
        .map(|(at, (name, ty))| {
            let siblings: Vec<HeaderRef> = headers
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, header)| header.clone())
                .collect();
            let location = Location::Header {
                header: headers[at].clone(),
                ty: *ty,
                siblings: siblings.into(),
            };
            (name.clone(), location)
        })
        .collect();
    Location::Union(locations.into())
}

/// Returns the name, with a number appended if it is taken.
fn unique(taken: &mut HashSet<Arc<str>>, name: &str) -> Arc<str> {
    let mut candidate: Arc<str> = name.into();
    let mut count = 1u32;
    while !taken.insert(candidate.clone()) {
        count += 1;
        candidate = format!("{name}${count}").into();
    }
    candidate
}

// SPDX-License-Identifier: Apache-2.0
//! Per-packet storage: slots, their types, and the headers, stacks and unions that group them. How storage is
//! laid out in memory is in `storage_layout`.

use crate::{Bits, HeaderId, HeaderTypeId, OriginId, SlotId};
use std::sync::Arc;

/// The type of a slot or temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// Exactly this many bits (0 is allowed: the value is 0).
    Bits(u32),
    /// Up to this many bits; the length is part of the value.
    Varbit(u32),
}

impl ValueType {
    /// The width, or the largest width, in bits.
    pub fn width_bits(self) -> u32 {
        match self {
            ValueType::Bits(width) | ValueType::Varbit(width) => width,
        }
    }
}

/// How a value is shown to people and typed in control messages; it does not change its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Display {
    /// A number without sign.
    Unsigned,
    /// A two's complement number.
    Signed,
    /// `true` or `false`.
    Bool,
    /// An error name.
    Error,
    /// An enum: its name and its members with their values.
    Enum(Arc<str>, Vec<(Arc<str>, Bits)>),
}

/// One piece of per-packet storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Full name such as `hdr.ipv4.ttl`, `hdr.ipv4.$valid`, `ingress.tmp`.
    pub name: Arc<str>,
    /// Type.
    pub ty: ValueType,
    /// How to show it.
    pub display: Display,
    /// Where it is declared.
    pub origin: OriginId,
}

/// A header's layout: fields in wire order.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderType {
    /// Name.
    pub name: Arc<str>,
    /// Fields in wire order; at most one is `Varbit`.
    pub fields: Vec<HeaderField>,
}

impl HeaderType {
    /// Bits of all fields but a varbit.
    pub fn fixed_bits(&self) -> u32 {
        let bits = |field: &HeaderField| match field.ty {
            ValueType::Bits(width_bits) => width_bits,
            ValueType::Varbit(_) => 0,
        };
        self.fields.iter().map(bits).sum()
    }

    /// Index of the varbit among the fields.
    pub fn varbit_field(&self) -> Option<usize> {
        self.fields.iter().position(|field| matches!(field.ty, ValueType::Varbit(_)))
    }
}

/// A field of a header type.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderField {
    /// Name.
    pub name: Arc<str>,
    /// Type.
    pub ty: ValueType,
    /// How to show it.
    pub display: Display,
}

/// A header instance. Its slots are consecutive: the validity bit at `first_slot`, then one a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Full name such as `hdr.ipv4` or `hdr.mpls[2]`.
    pub name: Arc<str>,
    /// Layout.
    pub ty: HeaderTypeId,
    /// The validity slot (one bit).
    pub first_slot: SlotId,
}

impl Header {
    /// The validity slot.
    pub fn valid_slot(&self) -> SlotId {
        self.first_slot
    }

    /// The slot of the field with this index.
    pub fn field_slot(&self, field: usize) -> SlotId {
        SlotId(self.first_slot.0 + 1 + field as u32)
    }
}

/// A header stack, or a stack of unions. Element `i`'s headers are
/// `first_header + i * headers_per_element ..`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Full name.
    pub name: Arc<str>,
    /// First header of element 0.
    pub first_header: HeaderId,
    /// 1 for a header stack, the number of members for a stack of unions.
    pub headers_per_element: u32,
    /// How many elements.
    pub size: u32,
    /// `nextIndex` (32 bits).
    pub next: SlotId,
}

/// A header union: at most one member is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// Full name.
    pub name: Arc<str>,
    /// Members.
    pub members: Vec<HeaderId>,
}

/// Slots that survive a new pass of the packet.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldList {
    /// The list's number in the program.
    pub number: u32,
    /// What survives.
    pub slots: Vec<SlotId>,
}

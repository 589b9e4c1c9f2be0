// SPDX-License-Identifier: Apache-2.0
//! Where v1model's standard metadata, the packet's headers and the user's metadata stand in a
//! program's storage. When they are read and written is said in the parent module.

use crate::architectures::described_program::DescribedProgram;
use crate::output::LoadError;
use interpreter::PacketContext;
use ir::{Bits, BlockKind, HeaderId, Program, SlotId};

/// How a packet came to be, as `standard_metadata.instance_type` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstanceType {
    Normal = 0,
    IngressClone = 1,
    EgressClone = 2,
    Recirculated = 4,
    Replicated = 5,
    Resubmitted = 6,
}

/// A field of standard metadata; absent when the program's interface has no such field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field(Option<(SlotId, u32)>);

impl Field {
    /// Stores a number, low bits kept.
    pub fn set(self, context: &mut PacketContext, value: u64) {
        if let Some((slot, _)) = self.0 {
            context.set_number(slot, value);
        }
    }

    /// Where it is.
    pub fn slot(self) -> Option<SlotId> {
        self.0.map(|(slot, _)| slot)
    }

    /// How wide it is, if it is there.
    pub fn width_bits(self) -> Option<u32> {
        self.0.map(|(_, width_bits)| width_bits)
    }

    /// The largest number that fits, as far as ports go.
    pub fn largest(self) -> u32 {
        match self.0 {
            Some((_, width_bits)) if width_bits < 32 => (1 << width_bits) - 1,
            _ => u32::MAX,
        }
    }

    /// The number there, or 0.
    pub fn get(self, context: &PacketContext) -> u64 {
        self.0.map_or(0, |(slot, _)| context.number(slot))
    }
}

/// A program's storage as v1model sees it.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    pub ingress_port: Field,
    pub egress_spec: Field,
    pub egress_port: Field,
    pub instance_type: Field,
    pub packet_length: Field,
    pub enq_timestamp: Field,
    pub enq_qdepth: Field,
    pub deq_timedelta: Field,
    pub deq_qdepth: Field,
    pub ingress_global_timestamp: Field,
    pub egress_global_timestamp: Field,
    pub mcast_grp: Field,
    pub egress_rid: Field,
    pub priority: Field,
    /// Slots that are neither a header's nor a stack's.
    metadata_slots: Vec<SlotId>,
    /// Headers that the deparser gets: validity slot, bits without a varbit, slot of a varbit.
    headers: Vec<(SlotId, u64, Option<SlotId>)>,
}

impl Metadata {
    pub fn new(described: DescribedProgram<'_>) -> Result<Metadata, LoadError> {
        let program = described.program;
        let width_bits = |slot: SlotId| program.slots[slot.index()].ty.width_bits();
        let field = |name: &str| -> Result<Field, LoadError> {
            let slot = described.field("standard_metadata", name)?;
            Ok(Field(slot.map(|slot| (slot, width_bits(slot)))))
        };
        Ok(Metadata {
            ingress_port: field("ingress_port")?,
            egress_spec: field("egress_spec")?,
            egress_port: field("egress_port")?,
            instance_type: field("instance_type")?,
            packet_length: field("packet_length")?,
            enq_timestamp: field("enq_timestamp")?,
            enq_qdepth: field("enq_qdepth")?,
            deq_timedelta: field("deq_timedelta")?,
            deq_qdepth: field("deq_qdepth")?,
            ingress_global_timestamp: field("ingress_global_timestamp")?,
            egress_global_timestamp: field("egress_global_timestamp")?,
            mcast_grp: field("mcast_grp")?,
            egress_rid: field("egress_rid")?,
            priority: field("priority")?,
            metadata_slots: metadata_slots(program),
            headers: deparsed_headers(program),
        })
    }

    /// Slots of the standard metadata that the device reads and writes.
    pub fn slots(&self) -> Vec<SlotId> {
        let fields = [
            self.ingress_port,
            self.egress_spec,
            self.egress_port,
            self.instance_type,
            self.packet_length,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.ingress_global_timestamp,
            self.egress_global_timestamp,
            self.mcast_grp,
            self.egress_rid,
            self.priority,
        ];
        fields.into_iter().filter_map(Field::slot).collect()
    }

    /// Sets all metadata to zero; headers stay.
    pub fn clear(&self, context: &mut PacketContext) {
        for slot in &self.metadata_slots {
            // Also the length of a varbit.
            context.set_slot(*slot, &Bits::zero(0));
        }
    }

    /// Length of all valid headers in bytes.
    pub fn header_bytes(&self, context: &PacketContext) -> u32 {
        let bits: u64 = self
            .headers
            .iter()
            .filter(|(valid, _, _)| context.flag(*valid))
            .map(|(_, fixed, varbit)| {
                let variable = varbit.map_or(0, |slot| context.varbit_length_bits(slot));
                fixed + u64::from(variable)
            })
            .sum();
        u32::try_from(bits / 8).unwrap_or(u32::MAX)
    }
}

fn metadata_slots(program: &Program) -> Vec<SlotId> {
    let mut is_metadata = vec![true; program.slots.len()];
    for header in &program.headers {
        let fields = program.header_types[header.ty.index()].fields.len();
        for slot in &mut is_metadata[header.first_slot.index()..][..=fields] {
            *slot = false;
        }
    }
    for stack in &program.stacks {
        is_metadata[stack.next.index()] = false;
    }
    (0..program.slots.len())
        .filter(|slot| is_metadata[*slot])
        .map(|slot| SlotId(slot as u32))
        .collect()
}

fn deparsed_headers(program: &Program) -> Vec<(SlotId, u64, Option<SlotId>)> {
    let mut is_deparsed = vec![false; program.slots.len()];
    for block in program.blocks.iter().filter(|block| block.kind == BlockKind::Deparser) {
        for slot in block.parameters.iter().flat_map(|parameter| &parameter.slots) {
            is_deparsed[slot.index()] = true;
        }
    }
    let layout = |id: usize| {
        let header = &program.headers[id];
        let ty = program.header_type(HeaderId(id as u32));
        let varbit = ty.varbit_field().map(|field| header.field_slot(field));
        (header.valid_slot(), u64::from(ty.fixed_bits()), varbit)
    };
    (0..program.headers.len())
        .map(layout)
        .filter(|(valid, _, _)| is_deparsed[valid.index()])
        .collect()
}

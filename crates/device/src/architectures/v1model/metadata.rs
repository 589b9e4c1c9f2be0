// SPDX-License-Identifier: Apache-2.0
//! The slots of v1model's standard metadata, the packet's headers and the user's metadata in a program's storage. The
//! parent module says when the device reads and writes them.

use crate::architectures::described_program::DescribedProgram;
use crate::architectures::storage_field::StorageField;
use crate::output::LoadError;
use interpreter::PacketContext;
use ir::{Bits, BlockKind, HeaderId, Program, SlotId};

/// The values of `standard_metadata.instance_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstanceType {
    Normal = 0,
    IngressClone = 1,
    EgressClone = 2,
    Recirculated = 4,
    Replicated = 5,
    Resubmitted = 6,
}

/// What the length of a header depends on.
#[derive(Clone, Copy, Debug)]
struct DeparsedHeader {
    /// The slot of its validity.
    valid: SlotId,
    /// Its length without a varbit field.
    fixed_bits: u64,
    /// The slot of its varbit field.
    varbit: Option<SlotId>,
}

/// The metadata fields and headers in a program's storage.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    pub ingress_port: StorageField,
    pub egress_spec: StorageField,
    pub egress_port: StorageField,
    pub instance_type: StorageField,
    pub packet_length: StorageField,
    pub enq_timestamp: StorageField,
    pub enq_qdepth: StorageField,
    pub deq_timedelta: StorageField,
    pub deq_qdepth: StorageField,
    pub ingress_global_timestamp: StorageField,
    pub egress_global_timestamp: StorageField,
    pub mcast_grp: StorageField,
    pub egress_rid: StorageField,
    pub priority: StorageField,
    /// Slots that belong neither to a header nor to a header stack.
    metadata_slots: Vec<SlotId>,
    /// The headers that the deparser gets.
    headers: Vec<DeparsedHeader>,
}

impl Metadata {
    pub fn new(described: DescribedProgram<'_>) -> Result<Metadata, LoadError> {
        let program = described.program;
        let field = |name: &str| StorageField::of(described, "standard_metadata", name);
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

    /// Returns the slots of the standard metadata that the device reads and writes.
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
        fields.into_iter().filter_map(StorageField::slot).collect()
    }

    /// Sets all metadata to zero and keeps the headers.
    pub fn clear(&self, context: &mut PacketContext) {
        for slot in &self.metadata_slots {
            // This also resets the length of a varbit.
            context.set_slot(*slot, &Bits::zero(0));
        }
    }

    /// Returns the length of all valid headers in bytes.
    pub fn header_bytes(&self, context: &PacketContext) -> u32 {
        let length_bits = |header: &DeparsedHeader| {
            let varbit_bits = header.varbit.map_or(0, |slot| context.varbit_length_bits(slot));
            header.fixed_bits + u64::from(varbit_bits)
        };
        let valid = self.headers.iter().filter(|header| context.flag(header.valid));
        let bits: u64 = valid.map(length_bits).sum();
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

fn deparsed_headers(program: &Program) -> Vec<DeparsedHeader> {
    let mut is_deparsed = vec![false; program.slots.len()];
    for block in program.blocks.iter().filter(|block| block.kind == BlockKind::Deparser) {
        for slot in block.parameters.iter().flat_map(|parameter| &parameter.slots) {
            is_deparsed[slot.index()] = true;
        }
    }
    let layout = |id: usize| {
        let header = &program.headers[id];
        let ty = program.header_type(HeaderId(id as u32));
        DeparsedHeader {
            valid: header.valid_slot(),
            fixed_bits: u64::from(ty.fixed_bits()),
            varbit: ty.varbit_field().map(|field| header.field_slot(field)),
        }
    };
    (0..program.headers.len())
        .map(layout)
        .filter(|header| is_deparsed[header.valid.index()])
        .collect()
}

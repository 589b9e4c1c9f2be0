// SPDX-License-Identifier: Apache-2.0
//! Where Tofino's intrinsic metadata stands: fields of the program's storage, and the bytes in front of
//! packets. When they are read and written is said in the parent module.

use crate::architectures::described_program::DescribedProgram;
use crate::output::LoadError;
use crate::trace::Cause;
use interpreter::PacketContext;
use ir::{Operation, Place, Program, SlotId, effects};
use state::PacketExclusion;

/// Intrinsic metadata and port metadata in front of a packet for ingress.
pub(super) const INGRESS_PREFIX_BYTES: usize = 16;

/// Intrinsic metadata in front of a packet for egress.
pub(super) const EGRESS_PREFIX_BYTES: usize = 27;

/// Where the port metadata begins, which a resubmission writes over.
const PORT_METADATA_BYTE: usize = 8;

/// A field of the program's storage; absent when no block has it as a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field(Option<SlotId>);

impl Field {
    fn of(program: DescribedProgram<'_>, storage: &str, name: &str) -> Result<Field, LoadError> {
        program.field(storage, name).map(Field)
    }

    /// Stores a number, low bits kept.
    pub fn set(self, context: &mut PacketContext, value: u64) {
        if let Some(slot) = self.0 {
            context.set_number(slot, value);
        }
    }

    /// The number there, or 0.
    pub fn get(self, context: &PacketContext) -> u64 {
        self.0.map_or(0, |slot| context.number(slot))
    }

    /// Where it is.
    pub fn slot(self) -> Option<SlotId> {
        self.0
    }
}

/// What ingress and egress both have.
#[derive(Clone, Copy, Debug)]
pub(super) struct GressMetadata {
    pub global_tstamp: Field,
    pub parser_err: Field,
    /// The parser's error as a number of the program's.
    error: Field,
    pub drop_ctl: Field,
}

impl GressMetadata {
    fn new(
        program: DescribedProgram<'_>,
        from_parser: &str,
        for_deparser: &str,
    ) -> Result<GressMetadata, LoadError> {
        Ok(GressMetadata {
            global_tstamp: Field::of(program, from_parser, "global_tstamp")?,
            parser_err: Field::of(program, from_parser, "parser_err")?,
            error: Field::of(program, from_parser, "$error")?,
            drop_ctl: Field::of(program, for_deparser, "drop_ctl")?,
        })
    }

    /// The parser's error as its place in [`ir::Program::errors`].
    pub fn error_number(&self, context: &PacketContext) -> usize {
        self.error.get(context) as usize
    }

    /// Whether a block reads `parser_err`, itself or in an action.
    pub fn reads_error(&self, program: &Program, block: usize) -> bool {
        let Some(slot) = self.parser_err.0 else { return false };
        let reads = |operation: &Operation| match operation {
            Operation::Load { place: Place::Slot(read), .. } => *read == slot,
            Operation::Apply { .. } => false,
            operation => effects::of_operation(program, operation).slots_read().contains(&slot),
        };
        program.regions_of_block(block).into_iter().any(|region| {
            let blocks = &program.regions[region.index()].blocks;
            blocks.iter().flat_map(|block| &block.instructions).any(|it| reads(&it.operation))
        })
    }
}

/// What ingress tells the traffic manager.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForTrafficManager {
    ucast_egress_port: Field,
    /// Whether that was set.
    ucast_set: Field,
    bypass_egress: Field,
    ingress_cos: Field,
    qid: Field,
    pub copy_to_cpu: Field,
    mcast_grp_a: Field,
    mcast_grp_b: Field,
    rid: Field,
    level1_exclusion_id: Field,
    level2_exclusion_id: Field,
}

/// What becomes of a packet, and what its copies have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    pub unicast: Option<u32>,
    /// Multicast groups; 0 is none.
    pub groups: [u32; 2],
    /// Which of their copies it does not want.
    pub exclusion: PacketExclusion,
    pub bypass_egress: bool,
    pub queue: u32,
    pub class: u32,
    pub cause: Cause,
}

impl Default for Orders {
    fn default() -> Orders {
        Orders {
            unicast: None,
            groups: [0; 2],
            exclusion: PacketExclusion::default(),
            bypass_egress: false,
            queue: 0,
            class: 0,
            cause: Cause::Queue,
        }
    }
}

impl ForTrafficManager {
    fn new(program: DescribedProgram<'_>) -> Result<ForTrafficManager, LoadError> {
        let field = |name| Field::of(program, "ig_intr_md_for_tm", name);
        Ok(ForTrafficManager {
            ucast_egress_port: field("ucast_egress_port")?,
            ucast_set: field("$ucast_set")?,
            bypass_egress: field("bypass_egress")?,
            ingress_cos: field("ingress_cos")?,
            qid: field("qid")?,
            copy_to_cpu: field("copy_to_cpu")?,
            mcast_grp_a: field("mcast_grp_a")?,
            mcast_grp_b: field("mcast_grp_b")?,
            rid: field("rid")?,
            level1_exclusion_id: field("level1_exclusion_id")?,
            level2_exclusion_id: field("level2_exclusion_id")?,
        })
    }

    /// What the program wants.
    pub fn orders(&self, context: &PacketContext) -> Orders {
        let number = |field: Field| field.get(context) as u32;
        let is_set = number(self.ucast_set) != 0;
        Orders {
            unicast: is_set.then(|| number(self.ucast_egress_port)),
            groups: [number(self.mcast_grp_a), number(self.mcast_grp_b)],
            exclusion: PacketExclusion {
                replication_id: number(self.rid),
                level_1: number(self.level1_exclusion_id),
                level_2: number(self.level2_exclusion_id),
            },
            bypass_egress: number(self.bypass_egress) != 0,
            queue: number(self.qid),
            class: number(self.ingress_cos),
            cause: Cause::Queue,
        }
    }
}

/// A program's storage as Tofino sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metadata {
    pub ingress: GressMetadata,
    pub egress: GressMetadata,
    pub tm: ForTrafficManager,
}

impl Metadata {
    pub fn new(program: DescribedProgram<'_>) -> Result<Metadata, LoadError> {
        Ok(Metadata {
            ingress: GressMetadata::new(program, "ig_intr_md_from_prsr", "ig_intr_md_for_dprsr")?,
            egress: GressMetadata::new(program, "eg_intr_md_from_prsr", "eg_intr_md_for_dprsr")?,
            tm: ForTrafficManager::new(program)?,
        })
    }
}

/// What stands in front of a packet for ingress: `ingress_intrinsic_metadata_t` and port metadata.
pub(super) fn ingress_prefix(port: u32, arrived_ps: u64) -> [u8; INGRESS_PREFIX_BYTES] {
    let time_ns = (arrived_ps / 1000) & 0xffff_ffff_ffff;
    let intrinsic = u64::from(port & 0x1ff) << 48 | time_ns;
    let mut bytes = [0; INGRESS_PREFIX_BYTES];
    bytes[..PORT_METADATA_BYTE].copy_from_slice(&intrinsic.to_be_bytes());
    bytes
}

/// Marks a packet for ingress as resubmitted, with what it takes along.
pub(super) fn note_resubmission(bytes: &mut [u8], header: &[u8]) {
    let Some(prefix) = bytes.get_mut(..INGRESS_PREFIX_BYTES) else { return };
    prefix[0] |= 0x80;
    let place = &mut prefix[PORT_METADATA_BYTE..];
    place.fill(0);
    for (to, from) in place.iter_mut().zip(header) {
        *to = *from;
    }
}

/// `egress_rid` of `egress_intrinsic_metadata_t`.
pub(super) fn replication_id(prefix: &[u8]) -> u32 {
    prefix.get(19..21).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]).into())
}

/// The bytes of `egress_intrinsic_metadata_t` in front of a packet for egress.
pub(super) struct EgressPrefix<'a>(pub &'a mut Vec<u8>);

impl EgressPrefix<'_> {
    /// Writes a number to some bytes, most significant first.
    fn put(&mut self, first: usize, count: usize, number: u64) {
        if let Some(place) = self.0.get_mut(first..first + count) {
            place.copy_from_slice(&number.to_be_bytes()[8 - count..]);
        }
    }

    /// What is known when the copy is made.
    pub fn set_copy(
        &mut self,
        queue: u32,
        class: u32,
        replication_id: u32,
        is_first: bool,
        length_bytes: u32,
    ) {
        self.put(19, 2, u64::from(replication_id));
        self.put(21, 1, u64::from(is_first));
        self.put(22, 1, u64::from(queue & 0x1f));
        self.put(23, 1, u64::from(class & 7));
        self.put(25, 2, u64::from(length_bytes.min(0xffff)));
    }

    /// `egress_qid`
    pub fn queue(&self) -> u32 {
        self.0.get(22).map_or(0, |byte| u32::from(*byte))
    }

    /// What is known when it comes to a queue, with the number of packets there.
    pub fn set_enqueued(&mut self, port: u32, depth_packets: u32, time_ns: u64) {
        self.put(0, 2, u64::from(port & 0x1ff));
        self.put(2, 3, u64::from(depth_packets.min(0x7_ffff)));
        self.put(6, 4, time_ns & 0x3_ffff);
    }

    /// What is known when it leaves its queue.
    pub fn set_dequeued(&mut self, depth_packets: u32, waited_ns: u64) {
        self.put(10, 3, u64::from(depth_packets.min(0x7_ffff)));
        self.put(15, 4, waited_ns.min(0x3_ffff));
    }
}

/// An error of a parser as bits of `parser_err`.
pub(super) fn error_flags(name: &str) -> u64 {
    match name {
        "PacketTooShort" | "HeaderTooShort" => 0x0002,
        "CounterRange" => 0x0004,
        "Timeout" | "ParserTimeout" => 0x0008,
        "PhvOwner" => 0x0080,
        "MultiWrite" => 0x0100,
        "StackOutOfBounds" => 0xc000,
        // No case fits, or the program rejects, which is a case that does not fit.
        _ => 0x0001,
    }
}

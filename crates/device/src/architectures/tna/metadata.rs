// SPDX-License-Identifier: Apache-2.0
//! The layout of Tofino's intrinsic metadata: fields of the program's storage, and the bytes before a packet at each
//! parser. The parent module says when the device reads and writes them.

use crate::architectures::described_program::DescribedProgram;
use crate::architectures::storage_field::StorageField;
use crate::output::LoadError;
use crate::trace::Cause;
use interpreter::PacketContext;
use ir::{Operation, Place, Program, effects};
use state::PacketExclusion;

/// Length of the intrinsic metadata and port metadata before a packet at the ingress parser.
pub(super) const INGRESS_PREFIX_BYTES: usize = 16;

/// Length of the intrinsic metadata before a packet at the egress parser.
pub(super) const EGRESS_PREFIX_BYTES: usize = 27;

/// Offset of the port metadata, which a resubmission overwrites.
const PORT_METADATA_BYTE: usize = 8;

/// Metadata that ingress and egress both have.
#[derive(Clone, Copy, Debug)]
pub(super) struct GressMetadata {
    pub global_tstamp: StorageField,
    pub parser_err: StorageField,
    /// The parser's error as its index in [`ir::Program::errors`].
    error: StorageField,
    pub drop_ctl: StorageField,
}

impl GressMetadata {
    fn new(
        program: DescribedProgram<'_>,
        from_parser: &str,
        for_deparser: &str,
    ) -> Result<GressMetadata, LoadError> {
        Ok(GressMetadata {
            global_tstamp: StorageField::of(program, from_parser, "global_tstamp")?,
            parser_err: StorageField::of(program, from_parser, "parser_err")?,
            error: StorageField::of(program, from_parser, "$error")?,
            drop_ctl: StorageField::of(program, for_deparser, "drop_ctl")?,
        })
    }

    /// Returns the parser's error as its index in [`ir::Program::errors`].
    pub fn error_number(&self, context: &PacketContext) -> usize {
        self.error.get(context) as usize
    }

    /// Returns whether a block or one of its actions reads `parser_err`.
    pub fn reads_error(&self, program: &Program, block: usize) -> bool {
        let Some(slot) = self.parser_err.slot() else { return false };
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

/// `ig_intr_md_for_tm`: what ingress sets for the traffic manager.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForTrafficManager {
    ucast_egress_port: StorageField,
    /// Whether the program has set it.
    ucast_set: StorageField,
    bypass_egress: StorageField,
    ingress_cos: StorageField,
    qid: StorageField,
    pub copy_to_cpu: StorageField,
    mcast_grp_a: StorageField,
    mcast_grp_b: StorageField,
    rid: StorageField,
    level1_exclusion_id: StorageField,
    level2_exclusion_id: StorageField,
}

/// Where a packet goes after ingress, and the properties that all its copies share.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForwardingDecision {
    pub unicast: Option<u32>,
    /// Multicast groups; 0 means no group.
    pub groups: [u32; 2],
    /// Pruning of their copies.
    pub exclusion: PacketExclusion,
    pub bypass_egress: bool,
    pub queue: u32,
    pub class: u32,
    pub cause: Cause,
}

impl Default for ForwardingDecision {
    fn default() -> ForwardingDecision {
        ForwardingDecision {
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
        let field = |name| StorageField::of(program, "ig_intr_md_for_tm", name);
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

    /// Reads the program's decision.
    pub fn decision(&self, context: &PacketContext) -> ForwardingDecision {
        let number = |field: StorageField| field.get(context) as u32;
        let is_set = number(self.ucast_set) != 0;
        ForwardingDecision {
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

/// The metadata fields in a program's storage.
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

/// Writes the bytes before a packet at the ingress parser: `ingress_intrinsic_metadata_t` and port metadata.
pub(super) fn ingress_prefix(port: u32, arrived_ps: u64) -> [u8; INGRESS_PREFIX_BYTES] {
    let time_ns = (arrived_ps / 1000) & 0xffff_ffff_ffff;
    let intrinsic = u64::from(port & 0x1ff) << 48 | time_ns;
    let mut bytes = [0; INGRESS_PREFIX_BYTES];
    bytes[..PORT_METADATA_BYTE].copy_from_slice(&intrinsic.to_be_bytes());
    bytes
}

/// Marks a packet as resubmitted and writes the resubmit header over the port metadata.
pub(super) fn note_resubmission(bytes: &mut [u8], header: &[u8]) {
    let Some(prefix) = bytes.get_mut(..INGRESS_PREFIX_BYTES) else { return };
    prefix[0] |= 0x80;
    let place = &mut prefix[PORT_METADATA_BYTE..];
    place.fill(0);
    for (to, from) in place.iter_mut().zip(header) {
        *to = *from;
    }
}

/// Reads `egress_rid` of `egress_intrinsic_metadata_t`.
pub(super) fn replication_id(prefix: &[u8]) -> u32 {
    prefix.get(19..21).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]).into())
}

/// The bytes of `egress_intrinsic_metadata_t` before a packet at the egress parser.
pub(super) struct EgressPrefix<'a>(pub &'a mut Vec<u8>);

impl EgressPrefix<'_> {
    /// Writes a number to `count` bytes from `first` on, most significant byte first.
    fn put(&mut self, first: usize, count: usize, number: u64) {
        if let Some(place) = self.0.get_mut(first..first + count) {
            place.copy_from_slice(&number.to_be_bytes()[8 - count..]);
        }
    }

    /// Writes the fields that are known when the copy is made.
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

    /// Reads `egress_qid`.
    pub fn queue(&self) -> u32 {
        self.0.get(22).map_or(0, |byte| u32::from(*byte))
    }

    /// Writes the fields that are known at enqueue; `depth_packets` is the queue's depth.
    pub fn set_enqueued(&mut self, port: u32, depth_packets: u32, time_ns: u64) {
        self.put(0, 2, u64::from(port & 0x1ff));
        self.put(2, 3, u64::from(depth_packets.min(0x7_ffff)));
        self.put(6, 4, time_ns & 0x3_ffff);
    }

    /// Writes the fields that are known at dequeue.
    pub fn set_dequeued(&mut self, depth_packets: u32, waited_ns: u64) {
        self.put(10, 3, u64::from(depth_packets.min(0x7_ffff)));
        self.put(15, 4, waited_ns.min(0x3_ffff));
    }
}

/// Returns the bits of `parser_err` for a parser error.
pub(super) fn error_flags(name: &str) -> u64 {
    match name {
        "PacketTooShort" | "HeaderTooShort" => 0x0002,
        "CounterRange" => 0x0004,
        "Timeout" | "ParserTimeout" => 0x0008,
        "PhvOwner" => 0x0080,
        "MultiWrite" => 0x0100,
        "StackOutOfBounds" => 0xc000,
        // No select case matched, or the program rejects, which Tofino reports alike.
        _ => 0x0001,
    }
}

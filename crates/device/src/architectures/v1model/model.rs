// SPDX-License-Identifier: Apache-2.0
//! `V1Model`: the blocks, metadata fields and requests of a v1model program, and the requests that a block issued.
//! `finish` executes the requests.

use super::metadata::Metadata;
use crate::architectures::described_program::DescribedProgram;
use crate::output::{DigestMessage, LoadError};
use crate::packet::QueuedPacket;
use crate::pass::PassInfo;
use crate::services::Services;
use interpreter::PacketContext;
use ir::{Bits, SlotId};
use std::ops::Range;
use std::sync::Arc;

/// The kind of a request of the program, with the positions of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestKind {
    Clone { session: usize, field_list: Option<usize> },
    Resubmit { field_list: Option<usize> },
    Recirculate { field_list: Option<usize> },
    Truncate,
    Digest,
}

/// Indices of the blocks in the program; controls have one for each stage.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    pub parser: usize,
    pub verify: Range<usize>,
    pub ingress: Range<usize>,
    pub egress: Range<usize>,
    pub compute: Range<usize>,
    pub deparser: usize,
}

impl Blocks {
    /// The blocks before the queue.
    pub fn before_queue(&self) -> impl Iterator<Item = usize> {
        [self.parser].into_iter().chain(self.verify.clone()).chain(self.ingress.clone())
    }

    /// The blocks behind the queue.
    pub fn behind_queue(&self) -> impl Iterator<Item = usize> {
        self.egress.clone().chain(self.to_bytes())
    }

    /// The blocks that make the outgoing packet.
    pub fn to_bytes(&self) -> impl Iterator<Item = usize> {
        self.compute.clone().chain([self.deparser])
    }
}

/// The v1model architecture bound to a program.
#[derive(Debug)]
pub(crate) struct V1Model {
    pub(super) blocks: Blocks,
    /// The blocks of a pass through ingress and of one through egress, in order.
    pub(super) pass_blocks: [Arc<[usize]>; 2],
    pub(super) metadata: Metadata,
    requests: Vec<Option<RequestKind>>,
    pub(super) drop_port: u32,
    /// Whether egress may run ahead.
    pub(super) egress_runs_ahead: bool,
}

impl V1Model {
    /// Without a drop port in the options, the description's drops.
    pub fn new(
        program: DescribedProgram<'_>,
        drop_port: Option<u32>,
    ) -> Result<V1Model, LoadError> {
        let kind = |request: &ir::Request| {
            let field = |name: &str| request.fields.iter().position(|field| &*field.0 == name);
            let field_list = field("field_list");
            match &*request.name {
                "clone_i2e" | "clone_e2e" => {
                    let session = field("session").unwrap_or(0);
                    Some(RequestKind::Clone { session, field_list })
                }
                "resubmit" => Some(RequestKind::Resubmit { field_list }),
                "recirculate" => Some(RequestKind::Recirculate { field_list }),
                "truncate" => Some(RequestKind::Truncate),
                "digest" => Some(RequestKind::Digest),
                _ => None,
            }
        };
        let [parser, verify, ingress, egress, compute, deparser] = program.blocks()?;
        let described_drop_port = program.description.ports.and_then(|ports| ports.drop);
        let (parser, deparser) = (parser.start, deparser.start);
        let blocks = Blocks { parser, verify, ingress, egress, compute, deparser };
        Ok(V1Model {
            pass_blocks: [blocks.before_queue().collect(), blocks.egress.clone().collect()],
            blocks,
            metadata: Metadata::new(program)?,
            requests: program.request_kinds(kind)?,
            drop_port: drop_port.or(described_drop_port).unwrap_or(u32::MAX),
            egress_runs_ahead: false,
        })
    }

    /// Moves the requests that the last block issued to the packet, and returns its digests.
    pub(super) fn take_requests(
        &self,
        services: &mut Services<'_>,
        run: &PassInfo,
        packet: &mut QueuedPacket,
    ) -> Vec<DigestMessage> {
        let mut digests = Vec::new();
        for (request, values) in std::mem::take(&mut packet.context.requests) {
            let number = |at: usize| values.get(at).map_or(0, |value: &Bits| value.low_u64());
            let list = |at: Option<usize>| at.map(|at| number(at) as u32);
            let pending = &mut packet.requests;
            let Some(kind) = self.requests[request.index()] else { continue };
            match kind {
                RequestKind::Clone { session, field_list } => {
                    pending.clone = Some((number(session) as u32, list(field_list)));
                }
                RequestKind::Resubmit { field_list } => pending.resubmit = Some(list(field_list)),
                RequestKind::Recirculate { field_list } => {
                    pending.recirculate = Some(list(field_list));
                }
                RequestKind::Truncate => {
                    let before = pending.truncate_bytes.unwrap_or(u64::MAX);
                    pending.truncate_bytes = Some(before.min(number(0)));
                }
                RequestKind::Digest => {
                    digests.push(services.digest(run, request, values));
                }
            }
        }
        digests
    }

    /// Returns the slots and values of a field list; a list that does not exist preserves nothing.
    pub(super) fn preserved(
        &self,
        services: &Services<'_>,
        context: &PacketContext,
        list: Option<u32>,
    ) -> Vec<(SlotId, Bits)> {
        let lists = services.program().field_lists.iter();
        lists
            .filter(|field_list| Some(field_list.number) == list)
            .flat_map(|field_list| &field_list.slots)
            .map(|slot| (*slot, context.value(*slot)))
            .collect()
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `Tna`: the blocks, metadata fields and requests of a TNA program, and the requests that a deparser issued. `finish`
//! executes the requests.

use super::metadata::{Metadata, error_flags};
use crate::architectures::described_program::DescribedProgram;
use crate::output::{DigestMessage, LoadError};
use crate::pass::{Half, Pass, PassInfo};
use crate::services::Services;
use interpreter::PacketContext;
use ir::Bits;
use ir::architecture::Ports;
use std::sync::Arc;

/// The kind of a request of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestKind {
    Mirror,
    Resubmit,
    Digest,
}

/// The TNA architecture bound to a program.
#[derive(Debug)]
pub(crate) struct Tna {
    /// The ingress and the egress parser.
    pub(super) parsers: [usize; 2],
    /// The blocks of a pass through ingress and of one through egress, in order.
    pub(super) pass_blocks: [Arc<[usize]>; 2],
    pub(super) ports: Ports,
    pub(super) metadata: Metadata,
    requests: Vec<Option<RequestKind>>,
    /// Bits of `parser_err` for each error of the program.
    error_flags: Vec<u64>,
    /// Whether packets with a parser error continue to ingress.
    pub(super) accepts_parser_errors: bool,
}

/// The requests that a deparser issued.
#[derive(Debug, Default)]
pub(super) struct DeparserRequests {
    /// Session and header of a mirror copy.
    pub mirror: Option<(u32, Vec<u8>)>,
    /// The resubmit header.
    pub resubmit: Option<Vec<u8>>,
    pub digests: Vec<DigestMessage>,
}

impl Tna {
    pub fn new(described: DescribedProgram<'_>) -> Result<Tna, LoadError> {
        let DescribedProgram { program, description } = described;
        let kind = |request: &ir::Request| match &*request.name {
            "mirror" => Some(RequestKind::Mirror),
            "resubmit" => Some(RequestKind::Resubmit),
            "digest" => Some(RequestKind::Digest),
            _ => None,
        };
        let [ingress_parser, ingress, ingress_deparser, egress_parser, egress, egress_deparser] =
            described.blocks()?;
        let metadata = Metadata::new(described)?;
        let accepts_parser_errors =
            ingress.clone().any(|block| metadata.ingress.reads_error(program, block));
        Ok(Tna {
            parsers: [ingress_parser.start, egress_parser.start],
            pass_blocks: [
                ingress_parser.chain(ingress).chain(ingress_deparser).collect(),
                egress_parser.chain(egress).chain(egress_deparser).collect(),
            ],
            ports: description.ports.ok_or_else(|| described.missing("ports"))?,
            metadata,
            requests: described.request_kinds(kind)?,
            error_flags: program.errors.iter().map(|name| error_flags(name)).collect(),
            accepts_parser_errors,
        })
    }

    /// Takes the requests that the last deparser issued.
    pub(super) fn take_requests(
        &self,
        services: &mut Services<'_>,
        run: &PassInfo,
        context: &mut PacketContext,
    ) -> DeparserRequests {
        let mut requests = DeparserRequests::default();
        for (request, values) in std::mem::take(&mut context.requests) {
            let Some(kind) = self.requests[request.index()] else { continue };
            match kind {
                RequestKind::Mirror => {
                    let session = values.first().map_or(0, Bits::low_u64) as u32;
                    requests.mirror = Some((session, header_bytes(values.get(1..).unwrap_or(&[]))));
                }
                RequestKind::Resubmit => requests.resubmit = Some(header_bytes(&values)),
                RequestKind::Digest => {
                    requests.digests.push(services.digest(run, request, values));
                }
            }
        }
        requests
    }

    /// Sets `parser_err` of ingress or egress from the parser's error.
    pub(super) fn note_parser_error(&self, pass: &mut Pass) {
        let context = &mut pass.packet.context;
        let flags = |number: usize| self.error_flags.get(number).copied();
        let flags = |number| flags(number).unwrap_or_else(|| error_flags(""));
        match pass.half {
            Half::Ingress => {
                let error = self.metadata.ingress.error_number(context);
                self.metadata.ingress.parser_err.set(context, flags(error));
            }
            Half::Egress(_) => {
                let error = self.metadata.egress.error_number(context);
                self.metadata.egress.parser_err.set(context, flags(error));
            }
        }
    }
}

/// Concatenates values and pads the last byte with zeros.
fn header_bytes(values: &[Bits]) -> Vec<u8> {
    let mut string = interpreter::bit_string::BitString::new();
    for value in values {
        string.push(value);
    }
    string.into_bytes()
}

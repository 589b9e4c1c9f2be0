// SPDX-License-Identifier: Apache-2.0
//! ICMP messages (RFC 792): echo, and destination unreachable.

use super::{View, WireError, checksum};

/// The length of a header in bytes.
pub const HEADER_BYTES: usize = 8;

/// Code of "destination unreachable": the router or host cannot reach the host.
pub const HOST_UNREACHABLE: u8 = 1;
/// Code of "destination unreachable": no socket is bound to the port.
pub const PORT_UNREACHABLE: u8 = 3;

/// An ICMP message without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpHeader {
    /// Asks for a reply with the same payload.
    EchoRequest {
        /// Names the sending program.
        identifier: u16,
        /// Counts requests.
        sequence: u16,
    },
    /// Answers an echo request.
    EchoReply {
        /// The request's.
        identifier: u16,
        /// The request's.
        sequence: u16,
    },
    /// The payload is the begin of a packet that did not arrive.
    Unreachable {
        /// Why.
        code: u8,
    },
    /// The payload is the begin of a packet whose time to live ended.
    TimeExceeded,
    /// Another type.
    Other {
        /// The type.
        message_type: u8,
    },
}

/// The numbers of messages that ICMP and ICMPv6 share.
pub(super) struct MessageTypes {
    pub(super) echo_request: u8,
    pub(super) echo_reply: u8,
    pub(super) unreachable: u8,
    pub(super) time_exceeded: u8,
}

const TYPES: MessageTypes =
    MessageTypes { echo_request: 8, echo_reply: 0, unreachable: 3, time_exceeded: 11 };

impl IcmpHeader {
    /// Decodes a header whose checksum is right.
    pub(super) fn decode(bytes: &[u8; HEADER_BYTES], types: &MessageTypes) -> IcmpHeader {
        let identifier = u16::from_be_bytes([bytes[4], bytes[5]]);
        let sequence = u16::from_be_bytes([bytes[6], bytes[7]]);
        match (bytes[0], bytes[1]) {
            (message_type, 0) if message_type == types.echo_request => {
                IcmpHeader::EchoRequest { identifier, sequence }
            }
            (message_type, 0) if message_type == types.echo_reply => {
                IcmpHeader::EchoReply { identifier, sequence }
            }
            (message_type, code) if message_type == types.unreachable => {
                IcmpHeader::Unreachable { code }
            }
            (message_type, _) if message_type == types.time_exceeded => IcmpHeader::TimeExceeded,
            (message_type, _) => IcmpHeader::Other { message_type },
        }
    }

    /// Appends the header with a checksum of zero, and the payload's stored bytes.
    pub(super) fn append(&self, types: &MessageTypes, payload: View<'_>, to: &mut Vec<u8>) {
        let (message_type, code, identifier, sequence) = match *self {
            IcmpHeader::EchoRequest { identifier, sequence } => {
                (types.echo_request, 0, identifier, sequence)
            }
            IcmpHeader::EchoReply { identifier, sequence } => {
                (types.echo_reply, 0, identifier, sequence)
            }
            IcmpHeader::Unreachable { code } => (types.unreachable, code, 0, 0),
            IcmpHeader::TimeExceeded => (types.time_exceeded, 0, 0, 0),
            IcmpHeader::Other { message_type } => (message_type, 0, 0, 0),
        };
        to.extend_from_slice(&[message_type, code, 0, 0]);
        to.extend_from_slice(&identifier.to_be_bytes());
        to.extend_from_slice(&sequence.to_be_bytes());
        to.extend_from_slice(payload.bytes);
    }

    /// Reads a message and checks its checksum; returns it with its payload.
    pub fn read(message: View<'_>) -> Result<(IcmpHeader, View<'_>), WireError> {
        let bytes = message.header::<HEADER_BYTES>()?;
        if checksum::of(message.bytes) != 0 {
            return Err(WireError::Checksum);
        }
        let header = IcmpHeader::decode(bytes, &TYPES);
        Ok((header, message.skip(HEADER_BYTES)))
    }

    /// Appends the message with this payload's stored bytes; returns the number of its absent bytes.
    pub fn write(&self, payload: View<'_>, to: &mut Vec<u8>) -> u32 {
        let start = to.len();
        self.append(&TYPES, payload, to);
        let sum = checksum::of(&to[start..]);
        to[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
        payload.absent_bytes
    }
}

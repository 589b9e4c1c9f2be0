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

impl IcmpHeader {
    /// Reads a message and checks its checksum; returns it with its payload.
    pub fn read(message: View<'_>) -> Result<(IcmpHeader, View<'_>), WireError> {
        let bytes = message.header::<HEADER_BYTES>()?;
        if checksum::of(message.bytes) != 0 {
            return Err(WireError::Checksum);
        }
        let identifier = u16::from_be_bytes([bytes[4], bytes[5]]);
        let sequence = u16::from_be_bytes([bytes[6], bytes[7]]);
        let header = match (bytes[0], bytes[1]) {
            (8, 0) => IcmpHeader::EchoRequest { identifier, sequence },
            (0, 0) => IcmpHeader::EchoReply { identifier, sequence },
            (3, code) => IcmpHeader::Unreachable { code },
            (11, _) => IcmpHeader::TimeExceeded,
            (message_type, _) => IcmpHeader::Other { message_type },
        };
        Ok((header, message.skip(HEADER_BYTES)))
    }

    /// Appends the message with this payload's stored bytes; returns the number of its absent bytes.
    pub fn write(&self, payload: View<'_>, to: &mut Vec<u8>) -> u32 {
        let (message_type, code, identifier, sequence) = match *self {
            IcmpHeader::EchoRequest { identifier, sequence } => (8, 0, identifier, sequence),
            IcmpHeader::EchoReply { identifier, sequence } => (0, 0, identifier, sequence),
            IcmpHeader::Unreachable { code } => (3, code, 0, 0),
            IcmpHeader::TimeExceeded => (11, 0, 0, 0),
            IcmpHeader::Other { message_type } => (message_type, 0, 0, 0),
        };
        let start = to.len();
        to.extend_from_slice(&[message_type, code, 0, 0]);
        to.extend_from_slice(&identifier.to_be_bytes());
        to.extend_from_slice(&sequence.to_be_bytes());
        to.extend_from_slice(payload.bytes);
        let sum = checksum::of(&to[start..]);
        to[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
        payload.absent_bytes
    }
}

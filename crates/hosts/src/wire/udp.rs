// SPDX-License-Identifier: Apache-2.0
//! UDP headers (RFC 768).

use super::{View, WireError, checksum, ipv4};
use std::net::IpAddr;

/// The length of a header in bytes.
pub const HEADER_BYTES: usize = 8;

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
}

impl UdpHeader {
    /// Reads a header and checks its checksum unless that is zero; returns it with the payload.
    pub fn read(
        source: IpAddr,
        destination: IpAddr,
        datagram: View<'_>,
    ) -> Result<(UdpHeader, View<'_>), WireError> {
        let bytes = datagram.header::<HEADER_BYTES>()?;
        let length = usize::from(u16::from_be_bytes([bytes[4], bytes[5]]));
        if length < HEADER_BYTES {
            return Err(WireError::Malformed);
        }
        if length > datagram.length() {
            return Err(WireError::Truncated);
        }
        let datagram = datagram.take(length);
        if bytes[6..8] != [0, 0]
            && checksum::of_payload(source, destination, ipv4::UDP, datagram) != 0
        {
            return Err(WireError::Checksum);
        }
        let header = UdpHeader {
            source_port: u16::from_be_bytes([bytes[0], bytes[1]]),
            destination_port: u16::from_be_bytes([bytes[2], bytes[3]]),
        };
        Ok((header, datagram.skip(HEADER_BYTES)))
    }

    /// Appends the header and the payload's stored bytes; returns the number of its absent bytes.
    pub fn write(
        &self,
        source: IpAddr,
        destination: IpAddr,
        payload: View<'_>,
        to: &mut Vec<u8>,
    ) -> u32 {
        let start = to.len();
        let length = HEADER_BYTES + payload.length();
        to.extend_from_slice(&self.source_port.to_be_bytes());
        to.extend_from_slice(&self.destination_port.to_be_bytes());
        to.extend_from_slice(&(length as u16).to_be_bytes());
        to.extend_from_slice(&[0, 0]);
        to.extend_from_slice(payload.bytes);
        let datagram = View { bytes: &to[start..], absent_bytes: payload.absent_bytes };
        let sum = match checksum::of_payload(source, destination, ipv4::UDP, datagram) {
            // Zero means "no checksum".
            0 => 0xffff,
            sum => sum,
        };
        to[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
        payload.absent_bytes
    }
}

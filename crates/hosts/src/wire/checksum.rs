// SPDX-License-Identifier: Apache-2.0
//! The Internet checksum (RFC 1071).

use super::View;
use std::net::IpAddr;

/// Adds bytes, as big-endian words of 16 bits with a zero behind an odd end, to a sum.
#[inline]
pub fn add(mut sum: u64, bytes: &[u8]) -> u64 {
    // Words of 32 bits have the same sum modulo 2^16 - 1.
    let mut chunks = bytes.chunks_exact(4);
    for chunk in &mut chunks {
        sum += u64::from(u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
    let mut rest = [0; 4];
    let tail = chunks.remainder();
    rest[..tail.len()].copy_from_slice(tail);
    sum + u64::from(u32::from_be_bytes(rest))
}

/// Returns the checksum of a sum: the complement of its 16-bit one's complement form.
#[inline]
pub fn finish(mut sum: u64) -> u16 {
    sum = (sum >> 32) + (sum & 0xffff_ffff);
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    !(sum as u16)
}

/// Returns the checksum of bytes.
pub fn of(bytes: &[u8]) -> u16 {
    finish(add(0, bytes))
}

/// Returns the sum of the pseudo header of UDP, TCP and ICMPv6 (RFC 9293 section 3.1, RFC 8200 section 8.1).
#[inline]
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, length: usize) -> u64 {
    address(source) + address(destination) + u64::from(protocol) + length as u64
}

#[inline]
fn address(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => add(0, &address.octets()),
    }
}

/// Returns the checksum of an IP payload with its pseudo header; zeros that are not stored add only their length.
#[inline]
pub fn of_payload(source: IpAddr, destination: IpAddr, protocol: u8, payload: View<'_>) -> u16 {
    finish(add(pseudo_header(source, destination, protocol, payload.length()), payload.bytes))
}

// SPDX-License-Identifier: Apache-2.0
//! Capture files: reading pcap and pcapng, merging several by time, and writing pcap.
//!
//! A [`CaptureReader`] turns any [`std::io::Read`] into a stream of [`CapturedPacket`]s in bounded
//! memory; a [`CaptureWriter`] writes a file that Wireshark and tcpdump read. Nothing here looks
//! inside a packet, and nothing here knows a device.

mod error;
mod explanation;
mod input;
mod link_type;
mod merge;
mod pcap;
mod pcapng;
mod reader;
mod remark;
mod writer;

#[cfg(test)]
mod tests;

pub use error::{CaptureError, CaptureErrorKind};
pub use explanation::EXPLANATIONS;
pub use link_type::LinkType;
pub use merge::{ArrivingPacket, MergedCaptures};
pub use reader::{CaptureInput, CaptureReader};
pub use remark::{Remark, first_snapped};
pub use writer::{CaptureWriter, PcapEncoder};

/// The longest packet that is read or written, in bytes: the limit of libpcap, so every file
/// tcpdump writes can be read, and a corrupt length cannot make us allocate gigabytes.
pub const MAXIMUM_PACKET_LENGTH_BYTES: u32 = 262_144;

/// One packet of a capture file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// When it was captured, in picoseconds since 1970-01-01 00:00 UTC. 64 bits of picoseconds end
    /// in the year 1970; with 128 no time stamp either format can express overflows. Negative only
    /// for a pcapng interface with a negative `if_tsoffset`. A packet without a time stamp (pcapng
    /// Simple Packet Block) has that of the packet before it in the file, or zero.
    pub timestamp_ps: i128,
    /// The bytes in the file, from the first byte of the link-layer header, without a frame check
    /// sequence.
    pub data: Vec<u8>,
    /// How long the packet was on the wire, in bytes, without a frame check sequence.
    pub original_length_bytes: u32,
    /// How its first header is to be read.
    pub link_type: LinkType,
}

impl CapturedPacket {
    /// Whether the capture's snapshot length cut the packet off, so that `data` is only its start.
    pub fn is_snapped(&self) -> bool {
        (self.data.len() as u64) < u64::from(self.original_length_bytes)
    }

    /// Appends zeros for the bytes that the capture has cut off, up to the longest packet of captures.
    pub fn fill_up(&mut self) {
        let length_bytes = self.original_length_bytes.min(MAXIMUM_PACKET_LENGTH_BYTES);
        self.data.resize(self.data.len().max(length_bytes as usize), 0);
    }
}

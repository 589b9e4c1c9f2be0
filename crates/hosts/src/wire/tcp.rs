// SPDX-License-Identifier: Apache-2.0
//! TCP headers (RFC 9293) with the options maximum segment size, window scale and timestamps (RFC 7323), and selective
//! acknowledgements (RFC 2018). Unknown options are skipped.

use super::{View, WireError, checksum, ipv4};
use std::net::IpAddr;
use std::ops::BitOr;

/// The length of a header without options, in bytes.
pub const HEADER_BYTES: usize = 20;
/// The length of the timestamps option with its padding, in bytes.
pub const TIMESTAMPS_BYTES: usize = 12;

/// The control bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No bit.
    pub const NONE: Flags = Flags(0);
    /// The sender has no more data.
    pub const FIN: Flags = Flags(1);
    /// Synchronizes sequence numbers.
    pub const SYN: Flags = Flags(2);
    /// Resets the connection.
    pub const RST: Flags = Flags(4);
    /// The sender pushes its data to the application.
    pub const PSH: Flags = Flags(8);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(16);
    /// ECN echo (RFC 3168 section 6.1).
    pub const ECE: Flags = Flags(64);
    /// Congestion window reduced (RFC 3168 section 6.1).
    pub const CWR: Flags = Flags(128);

    /// Returns whether all bits of the other are set.
    #[inline]
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether a bit of the other is set.
    #[inline]
    pub fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// The most blocks of a selective acknowledgement: four without timestamps, else three.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Blocks of a selective acknowledgement: first sequence number, and the one behind the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Adds a block if there is room.
    pub fn push(&mut self, block: (u32, u32)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = block;
            self.count += 1;
        }
    }

    /// The blocks in order.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size.
    pub maximum_segment_size: Option<u16>,
    /// The shift of the sender's windows.
    pub window_scale: Option<u8>,
    /// Whether the sender accepts selective acknowledgements.
    pub sack_permitted: bool,
    /// The sender's clock, and the clock that it echoes.
    pub timestamps: Option<(u32, u32)>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
}

impl Options {
    /// Writes the options with padding to a multiple of four; returns their length.
    #[inline]
    fn write(&self, to: &mut [u8; 40]) -> usize {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            to[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(size) = self.maximum_segment_size {
            let [high, low] = size.to_be_bytes();
            put(&[2, 4, high, low]);
        }
        match (self.sack_permitted, self.timestamps) {
            (true, Some(_)) => put(&[4, 2]),
            (true, None) => put(&[1, 1, 4, 2]),
            (false, Some(_)) => put(&[1, 1]),
            (false, None) => {}
        }
        if let Some((value, echo)) = self.timestamps {
            put(&[8, 10]);
            put(&value.to_be_bytes());
            put(&echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            put(&[1, 3, 3, shift]);
        }
        let most = if self.timestamps.is_some() { MAX_SACK_BLOCKS - 1 } else { MAX_SACK_BLOCKS };
        let blocks = self.sack.as_slice();
        let blocks = &blocks[..blocks.len().min(most)];
        if !blocks.is_empty() {
            put(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
            for (start, end) in blocks {
                put(&start.to_be_bytes());
                put(&end.to_be_bytes());
            }
        }
        at
    }

    fn read(mut bytes: &[u8]) -> Result<Options, WireError> {
        let mut options = Options::default();
        loop {
            match *bytes {
                [] | [0, ..] => return Ok(options),
                [1, ref rest @ ..] => bytes = rest,
                // By far the most frequent layout comes with timestamps alone.
                [8, 10, a, b, c, d, e, f, g, h, ref rest @ ..] => {
                    let value = u32::from_be_bytes([a, b, c, d]);
                    options.timestamps = Some((value, u32::from_be_bytes([e, f, g, h])));
                    bytes = rest;
                }
                [kind, length, ..] => {
                    let length = usize::from(length);
                    let option = bytes.get(..length).ok_or(WireError::Malformed)?;
                    if length < 2 {
                        return Err(WireError::Malformed);
                    }
                    options.take(kind, &option[2..]);
                    bytes = &bytes[length..];
                }
                [_] => return Err(WireError::Malformed),
            }
        }
    }

    fn take(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (2, &[high, low]) => self.maximum_segment_size = Some(u16::from_be_bytes([high, low])),
            // RFC 7323 section 2.3: a larger shift counts as 14.
            (3, &[shift]) => self.window_scale = Some(shift.min(14)),
            (4, []) => self.sack_permitted = true,
            (5, blocks) => {
                for block in blocks.chunks_exact(8) {
                    let number = |at: usize| {
                        u32::from_be_bytes(std::array::from_fn(|n: usize| block[at + n]))
                    };
                    self.sack.push((number(0), number(4)));
                }
            }
            _ => {}
        }
    }
}

/// A TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The sequence number of the first byte, or of SYN.
    pub sequence: u32,
    /// The next sequence number that the sender expects.
    pub acknowledgement: u32,
    /// The control bits.
    pub flags: Flags,
    /// The window as in the header, without scale.
    pub window: u16,
    /// The options.
    pub options: Options,
}

impl TcpHeader {
    /// Reads a header and checks its checksum; returns it with the payload.
    #[inline]
    pub fn read(
        source: IpAddr,
        destination: IpAddr,
        segment: View<'_>,
    ) -> Result<(TcpHeader, View<'_>), WireError> {
        let bytes = segment.header::<HEADER_BYTES>()?;
        let header_bytes = usize::from(bytes[12] >> 4) * 4;
        if header_bytes < HEADER_BYTES {
            return Err(WireError::Malformed);
        }
        let options = segment.bytes.get(HEADER_BYTES..header_bytes).ok_or(WireError::Truncated)?;
        if checksum::of_payload(source, destination, ipv4::TCP, segment) != 0 {
            return Err(WireError::Checksum);
        }
        let header = TcpHeader {
            source_port: u16::from_be_bytes([bytes[0], bytes[1]]),
            destination_port: u16::from_be_bytes([bytes[2], bytes[3]]),
            sequence: u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            acknowledgement: u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
            flags: Flags(bytes[13]),
            window: u16::from_be_bytes([bytes[14], bytes[15]]),
            options: Options::read(options)?,
        };
        Ok((header, segment.skip(header_bytes)))
    }

    /// Returns the length with options, in bytes.
    #[inline]
    pub fn length(&self) -> usize {
        HEADER_BYTES + self.options.write(&mut [0; 40])
    }

    /// Appends the header and the payload's stored bytes; returns the number of its absent bytes.
    #[inline]
    pub fn write(
        &self,
        source: IpAddr,
        destination: IpAddr,
        payload: View<'_>,
        to: &mut Vec<u8>,
    ) -> u32 {
        let start = to.len();
        let mut options = [0; 40];
        let options_bytes = self.options.write(&mut options);
        let options = &options[..options_bytes];
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.acknowledgement.to_be_bytes());
        bytes[12] = (((HEADER_BYTES + options.len()) / 4) << 4) as u8;
        bytes[13] = self.flags.0;
        bytes[14..16].copy_from_slice(&self.window.to_be_bytes());
        to.extend_from_slice(&bytes);
        to.extend_from_slice(options);
        to.extend_from_slice(payload.bytes);
        let segment = View { bytes: &to[start..], absent_bytes: payload.absent_bytes };
        let sum = checksum::of_payload(source, destination, ipv4::TCP, segment);
        to[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
        payload.absent_bytes
    }
}

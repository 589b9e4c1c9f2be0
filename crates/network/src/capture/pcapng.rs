// SPDX-License-Identifier: Apache-2.0
//! The pcapng format (IETF draft `draft-ietf-opsawg-pcapng`): sections of blocks, each with its own
//! byte order and interfaces. Reads section headers, interface descriptions and the three kinds of
//! packet blocks; every other block is passed over. Reading only.

use super::input::{ByteOrder, CountedInput, Step};
use super::pcap::{SECOND_PS, packet, read_packet_data};
use super::{CaptureErrorKind, LinkType};
use std::io::Read;

/// The block type of a section header: a palindrome, the same in both byte orders.
pub(super) const SECTION_HEADER_BYTES: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

const INTERFACE_DESCRIPTION_BLOCK: u32 = 1;
const OBSOLETE_PACKET_BLOCK: u32 = 2;
const SIMPLE_PACKET_BLOCK: u32 = 3;
const ENHANCED_PACKET_BLOCK: u32 = 6;

/// The longest block that is kept in memory or that holds a packet; other blocks are streamed over.
const MAXIMUM_BLOCK_LENGTH_BYTES: u32 = 16 << 20;
/// How many interfaces one section may describe: a bound on memory, far above any real file.
const MAXIMUM_INTERFACES: usize = 65_536;

/// How an interface counts time (options `if_tsresol` and `if_tsoffset`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    resolution: u8,
    offset_seconds: i64,
}

impl Clock {
    /// A count of ticks in picoseconds since the epoch. 2^64 ticks of one second are less than
    /// 2^104 ps and the offset is less than 2^103 ps, so nothing here overflows.
    fn timestamp_ps(self, ticks: u64) -> i128 {
        let exponent = u32::from(self.resolution & 0x7f);
        let scaled = i128::from(ticks) * SECOND_PS;
        let since_offset = if self.resolution & 0x80 != 0 {
            scaled >> exponent
        } else {
            10_i128.checked_pow(exponent).map_or(0, |divisor| scaled / divisor)
        };
        since_offset + i128::from(self.offset_seconds) * SECOND_PS
    }
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: LinkType,
    snapshot_length_bytes: u32,
    clock: Clock,
    frame_check_sequence_bytes: u32,
}

/// The section being read.
#[derive(Debug)]
pub(super) struct PcapngState {
    byte_order: ByteOrder,
    interfaces: Vec<Interface>,
    last_timestamp_ps: i128,
}

impl PcapngState {
    /// Returns the shortest snap length of the section's interfaces that is not 0, which is no limit.
    pub(super) fn snap_length_bytes(&self) -> Option<u32> {
        let lengths = self.interfaces.iter().map(|interface| interface.snapshot_length_bytes);
        lengths.filter(|length| *length > 0).min()
    }

    /// Reads the first section header, after its block type.
    pub(super) fn start<R: Read>(
        input: &mut CountedInput<R>,
    ) -> Result<PcapngState, CaptureErrorKind> {
        let mut state = PcapngState {
            byte_order: ByteOrder::Little,
            interfaces: Vec::new(),
            last_timestamp_ps: 0,
        };
        state.section_header(input)?;
        Ok(state)
    }

    /// Reads one block.
    pub(super) fn next_block<R: Read>(
        &mut self,
        input: &mut CountedInput<R>,
    ) -> Result<Step, CaptureErrorKind> {
        let mut block_type = [0; 4];
        if !input.fill_all_or_end(&mut block_type, "a block's type")? {
            return Ok(Step::End);
        }
        if block_type == SECTION_HEADER_BYTES {
            self.section_header(input)?;
            return Ok(Step::Other);
        }
        let mut length = [0; 4];
        input.fill_all(&mut length, "a block's length")?;
        let total = self.byte_order.u32(&length);
        let body = body_length(total)?;
        match self.byte_order.u32(&block_type) {
            INTERFACE_DESCRIPTION_BLOCK => {
                check_limit(body)?;
                let bytes = input.take(body as usize, "an interface description")?;
                self.interface(&bytes)?;
                self.closing_length(input, total)?;
                Ok(Step::Other)
            }
            ENHANCED_PACKET_BLOCK => self.packet_block(input, total, body, true),
            OBSOLETE_PACKET_BLOCK => self.packet_block(input, total, body, false),
            SIMPLE_PACKET_BLOCK => self.simple_packet(input, total, body),
            _ => {
                input.skip(u64::from(body), "a block")?;
                self.closing_length(input, total)?;
                Ok(Step::Other)
            }
        }
    }

    /// A section header, after its block type: byte order, version, and a new set of interfaces.
    fn section_header<R: Read>(
        &mut self,
        input: &mut CountedInput<R>,
    ) -> Result<(), CaptureErrorKind> {
        let mut header = [0; 20];
        input.fill_all(&mut header, "a section header")?;
        self.byte_order = match header[4..8] {
            [0x1a, 0x2b, 0x3c, 0x4d] => ByteOrder::Big,
            [0x4d, 0x3c, 0x2b, 0x1a] => ByteOrder::Little,
            _ => {
                return Err(CaptureErrorKind::Malformed(
                    "the section header has no byte-order magic (1a2b3c4d)".to_owned(),
                ));
            }
        };
        let (major, minor) =
            (self.byte_order.u16(&header[8..]), self.byte_order.u16(&header[10..]));
        // Minor version 2 was written by mistake and is defined to be read as 0.
        if major != 1 {
            return Err(CaptureErrorKind::UnsupportedVersion { format: "pcapng", major, minor });
        }
        let total = self.byte_order.u32(&header);
        let Some(options) = body_length(total)?.checked_sub(16) else {
            return Err(CaptureErrorKind::Malformed(format!(
                "a section header of {total} bytes is too short"
            )));
        };
        input.skip(u64::from(options), "a section header")?;
        self.closing_length(input, total)?;
        self.interfaces.clear();
        Ok(())
    }

    fn interface(&mut self, body: &[u8]) -> Result<(), CaptureErrorKind> {
        if body.len() < 8 {
            return Err(CaptureErrorKind::Malformed(
                "an interface description is shorter than its fixed fields".to_owned(),
            ));
        }
        if self.interfaces.len() >= MAXIMUM_INTERFACES {
            return Err(CaptureErrorKind::Malformed(format!(
                "the section describes more than {MAXIMUM_INTERFACES} interfaces"
            )));
        }
        let mut interface = Interface {
            link_type: LinkType(self.byte_order.u16(body)),
            snapshot_length_bytes: self.byte_order.u32(&body[4..]),
            // Without if_tsresol the unit is the microsecond.
            clock: Clock { resolution: 6, offset_seconds: 0 },
            frame_check_sequence_bytes: 0,
        };
        let mut options = &body[8..];
        while options.len() >= 4 {
            let code = self.byte_order.u16(options);
            let length = usize::from(self.byte_order.u16(&options[2..]));
            let padded = length.next_multiple_of(4);
            let Some(value) = options.get(4..4 + length) else {
                return Err(CaptureErrorKind::Malformed(format!(
                    "option {code} of an interface description claims {length} bytes, more than \
                     the block has"
                )));
            };
            match (code, value.len()) {
                (0, _) => break,
                (9, 1) => interface.clock.resolution = value[0],
                (13, 1) => interface.frame_check_sequence_bytes = u32::from(value[0]),
                (14, 8) => {
                    interface.clock.offset_seconds = self.byte_order.u64(value).cast_signed();
                }
                (9 | 13 | 14, wrong) => {
                    return Err(CaptureErrorKind::Malformed(format!(
                        "option {code} of an interface description has {wrong} bytes"
                    )));
                }
                _ => {}
            }
            options = options.get(4 + padded..).unwrap_or_default();
        }
        self.interfaces.push(interface);
        Ok(())
    }

    /// An enhanced packet block, or the obsolete packet block it replaced: they differ only in
    /// that the latter's first word is an interface number and a drop count of 16 bits each.
    fn packet_block<R: Read>(
        &mut self,
        input: &mut CountedInput<R>,
        total: u32,
        body: u32,
        is_enhanced: bool,
    ) -> Result<Step, CaptureErrorKind> {
        check_limit(body)?;
        if body < 20 {
            return Err(CaptureErrorKind::Malformed(format!(
                "a packet block of {total} bytes is too short"
            )));
        }
        let mut fields = [0; 20];
        input.fill_all(&mut fields, "a packet block")?;
        let interface_number = if is_enhanced {
            self.byte_order.u32(&fields)
        } else {
            u32::from(self.byte_order.u16(&fields))
        };
        let interface = self.interface_numbered(interface_number)?;
        let ticks = (u64::from(self.byte_order.u32(&fields[4..])) << 32)
            | u64::from(self.byte_order.u32(&fields[8..]));
        let captured = self.byte_order.u32(&fields[12..]);
        let original = self.byte_order.u32(&fields[16..]);
        let data = self.data(input, body - 20, captured)?;
        self.closing_length(input, total)?;
        self.last_timestamp_ps = interface.clock.timestamp_ps(ticks);
        packet(
            self.last_timestamp_ps,
            data,
            original,
            interface.link_type,
            interface.frame_check_sequence_bytes,
        )
        .map(Step::Packet)
    }

    /// A simple packet block: no time stamp, always of interface 0, cut at its snapshot length.
    fn simple_packet<R: Read>(
        &mut self,
        input: &mut CountedInput<R>,
        total: u32,
        body: u32,
    ) -> Result<Step, CaptureErrorKind> {
        check_limit(body)?;
        if body < 4 {
            return Err(CaptureErrorKind::Malformed(format!(
                "a packet block of {total} bytes is too short"
            )));
        }
        let mut field = [0; 4];
        input.fill_all(&mut field, "a packet block")?;
        let interface = self.interface_numbered(0)?;
        let original = self.byte_order.u32(&field);
        let captured = match interface.snapshot_length_bytes {
            0 => original,
            limit => original.min(limit),
        };
        let data = self.data(input, body - 4, captured)?;
        self.closing_length(input, total)?;
        packet(
            self.last_timestamp_ps,
            data,
            original,
            interface.link_type,
            interface.frame_check_sequence_bytes,
        )
        .map(Step::Packet)
    }

    fn interface_numbered(&self, number: u32) -> Result<Interface, CaptureErrorKind> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.interfaces.get(index).copied().ok_or_else(|| {
            CaptureErrorKind::Malformed(format!(
                "a packet names interface {number}, but the section describes {}",
                self.interfaces.len()
            ))
        })
    }

    /// Reads a packet's bytes out of the `room` bytes left of its block and passes over the rest.
    fn data<R: Read>(
        &self,
        input: &mut CountedInput<R>,
        room: u32,
        captured: u32,
    ) -> Result<Vec<u8>, CaptureErrorKind> {
        let Some(rest) = room.checked_sub(captured) else {
            return Err(CaptureErrorKind::Malformed(format!(
                "a packet claims {captured} captured bytes, but its block has room for {room}"
            )));
        };
        let data = read_packet_data(input, captured)?;
        input.skip(u64::from(rest), "a packet block")?;
        Ok(data)
    }

    /// Every block ends with its length again.
    fn closing_length<R: Read>(
        &self,
        input: &mut CountedInput<R>,
        total: u32,
    ) -> Result<(), CaptureErrorKind> {
        let mut length = [0; 4];
        input.fill_all(&mut length, "a block's closing length")?;
        let closing = self.byte_order.u32(&length);
        if closing != total {
            return Err(CaptureErrorKind::Malformed(format!(
                "a block says {total} bytes at its start and {closing} at its end"
            )));
        }
        Ok(())
    }
}

/// The length of a block's body: without type and the two lengths.
fn body_length(total: u32) -> Result<u32, CaptureErrorKind> {
    match total.checked_sub(12) {
        Some(body) if total.is_multiple_of(4) => Ok(body),
        _ => Err(CaptureErrorKind::Malformed(format!(
            "a block's length is {total}; it must be a multiple of 4 and at least 12"
        ))),
    }
}

fn check_limit(body: u32) -> Result<(), CaptureErrorKind> {
    if body > MAXIMUM_BLOCK_LENGTH_BYTES {
        return Err(CaptureErrorKind::TooLong {
            what: "a block",
            length_bytes: u64::from(body),
            limit_bytes: u64::from(MAXIMUM_BLOCK_LENGTH_BYTES),
        });
    }
    Ok(())
}

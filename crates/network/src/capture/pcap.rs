// SPDX-License-Identifier: Apache-2.0
//! The classic pcap format as libpcap's `pcap-savefile(5)` describes it: one header, then records.
//! Reading only; `writer` writes it.

use super::input::{ByteOrder, CountedInput, Step, without_frame_check_sequence};
use super::{CaptureErrorKind, CapturedPacket, LinkType, MAXIMUM_PACKET_LENGTH_BYTES};
use std::io::Read;

/// Picoseconds in one second.
pub(super) const SECOND_PS: i128 = 1_000_000_000_000;
const MICROSECOND_PS: i128 = 1_000_000;
const NANOSECOND_PS: i128 = 1_000;

/// Byte order and length of a fraction tick in picoseconds of a magic number.
pub(super) fn magic_meaning(magic: [u8; 4]) -> Option<(ByteOrder, i128)> {
    Some(match magic {
        [0xa1, 0xb2, 0xc3, 0xd4] => (ByteOrder::Big, MICROSECOND_PS),
        [0xd4, 0xc3, 0xb2, 0xa1] => (ByteOrder::Little, MICROSECOND_PS),
        [0xa1, 0xb2, 0x3c, 0x4d] => (ByteOrder::Big, NANOSECOND_PS),
        [0x4d, 0x3c, 0xb2, 0xa1] => (ByteOrder::Little, NANOSECOND_PS),
        _ => return None,
    })
}

/// What the file header says about all records.
#[derive(Debug)]
pub(super) struct PcapSection {
    byte_order: ByteOrder,
    fraction_ps: i128,
    link_type: LinkType,
    snap_length_bytes: u32,
    frame_check_sequence_bytes: u32,
}

impl PcapSection {
    /// Reads the rest of the file header, after its magic number.
    pub(super) fn start<R: Read>(
        input: &mut CountedInput<R>,
        byte_order: ByteOrder,
        fraction_ps: i128,
    ) -> Result<PcapSection, CaptureErrorKind> {
        let mut header = [0; 20];
        input.fill_all(&mut header, "the file header")?;
        let (major, minor) = (byte_order.u16(&header[0..]), byte_order.u16(&header[2..]));
        if (major, minor) != (2, 4) {
            return Err(CaptureErrorKind::UnsupportedVersion { format: "pcap", major, minor });
        }
        // The last word holds the link type, and in its top bits whether and how long a frame
        // check sequence ends every packet, in units of two bytes.
        let network = byte_order.u32(&header[16..]);
        let has_sequence = network & 0x0400_0000 != 0;
        Ok(PcapSection {
            byte_order,
            fraction_ps,
            link_type: LinkType((network & 0xffff) as u16),
            snap_length_bytes: byte_order.u32(&header[12..]),
            frame_check_sequence_bytes: if has_sequence { (network >> 28) * 2 } else { 0 },
        })
    }

    /// Returns the snap length that the file declares.
    pub(super) fn snap_length_bytes(&self) -> u32 {
        self.snap_length_bytes
    }

    /// Reads one record.
    pub(super) fn next_record<R: Read>(
        &mut self,
        input: &mut CountedInput<R>,
    ) -> Result<Step, CaptureErrorKind> {
        let mut header = [0; 16];
        if !input.fill_all_or_end(&mut header, "a packet's header")? {
            return Ok(Step::End);
        }
        let field = |index: usize| self.byte_order.u32(&header[index * 4..]);
        let (seconds, fraction) = (i128::from(field(0)), i128::from(field(1)));
        let (captured, original) = (field(2), field(3));
        let data = read_packet_data(input, captured)?;
        packet(
            seconds * SECOND_PS + fraction * self.fraction_ps,
            data,
            original,
            self.link_type,
            self.frame_check_sequence_bytes,
        )
        .map(Step::Packet)
    }
}

/// Reads the bytes of a packet after checking their number.
pub(super) fn read_packet_data<R: Read>(
    input: &mut CountedInput<R>,
    captured_length_bytes: u32,
) -> Result<Vec<u8>, CaptureErrorKind> {
    if captured_length_bytes > MAXIMUM_PACKET_LENGTH_BYTES {
        return Err(CaptureErrorKind::TooLong {
            what: "a packet",
            length_bytes: u64::from(captured_length_bytes),
            limit_bytes: u64::from(MAXIMUM_PACKET_LENGTH_BYTES),
        });
    }
    input.take(captured_length_bytes as usize, "a packet's data")
}

/// Puts a packet together after checking that its two lengths can both be true.
pub(super) fn packet(
    timestamp_ps: i128,
    mut data: Vec<u8>,
    original_length_bytes: u32,
    link_type: LinkType,
    frame_check_sequence_bytes: u32,
) -> Result<CapturedPacket, CaptureErrorKind> {
    if data.len() as u64 > u64::from(original_length_bytes) {
        return Err(CaptureErrorKind::Malformed(format!(
            "{} bytes were captured of a packet said to have only {original_length_bytes}",
            data.len()
        )));
    }
    let original_length_bytes =
        without_frame_check_sequence(&mut data, original_length_bytes, frame_check_sequence_bytes);
    Ok(CapturedPacket { timestamp_ps, data, original_length_bytes, link_type })
}

// SPDX-License-Identifier: Apache-2.0
//! Completes the TCP or UDP checksum of a frame whose sender left it to hardware that does not exist.

use hosts::wire::checksum::{add, finish};

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Completes it in an Ethernet frame with any VLAN tags, IPv4 or IPv6 without extension headers, and TCP or UDP. Other
/// frames stay.
pub fn complete(frame: &mut [u8]) {
    let _ = complete_if_known(frame);
}

fn complete_if_known(frame: &mut [u8]) -> Option<()> {
    let mut at = 12;
    while matches!(word(frame, at)?, 0x8100 | 0x88a8) {
        at += 4;
    }
    let kind = word(frame, at)?;
    let ip = at + 2;
    let (protocol, addresses, begin, end) = match kind {
        0x0800 => {
            let header_bytes = usize::from(frame.get(ip)? & 0xf) * 4;
            let end = ip + usize::from(word(frame, ip + 2)?);
            (*frame.get(ip + 9)?, ip + 12..ip + 20, ip + header_bytes, end)
        }
        0x86dd => {
            let begin = ip + 40;
            (*frame.get(ip + 6)?, ip + 8..ip + 40, begin, begin + usize::from(word(frame, ip + 4)?))
        }
        _ => return None,
    };
    let checksum_at = begin
        + match protocol {
            6 => 16,
            17 => 6,
            _ => return None,
        };
    if end > frame.len() || checksum_at + 2 > end {
        return None;
    }
    frame[checksum_at..checksum_at + 2].fill(0);
    let pseudo = add(u64::from(protocol) + (end - begin) as u64, frame.get(addresses)?);
    // UDP sends 0 for no checksum, so a sum of 0 is sent as its other form (RFC 768).
    let checksum = match finish(add(pseudo, &frame[begin..end])) {
        0 if protocol == 17 => 0xffff,
        checksum => checksum,
    };
    frame[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram from 10.0.0.1:1 to 10.0.0.2:2 with the payload "hey" and the checksum that tcpdump calls correct.
    fn datagram(tags: &[u8]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        frame.extend(tags);
        frame.extend([8, 0, 0x45, 0, 0, 31, 0, 0, 0, 0, 64, 17, 0x66, 0xcc]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 11, 0x01, 0x57]);
        frame.extend(*b"hey");
        frame
    }

    #[test]
    fn a_checksum_is_completed_behind_any_tags() {
        // By hand: 0a00+0001+0a00+0002 + 0011+000b + 0001+0002+000b + 6865+7900 = f592, and its complement is 0a6d.
        for tags in [&[][..], &[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 5]] {
            let mut frame = datagram(tags);
            let at = frame.len() - 5;
            complete(&mut frame);
            assert_eq!(frame[at..at + 2], [0x0a, 0x6d], "{tags:?}");
        }
    }

    #[test]
    fn other_frames_stay() {
        let whole = datagram(&[]);
        for length in 0..whole.len() - 3 {
            let mut frame = whole[..length].to_vec();
            complete(&mut frame);
            assert_eq!(frame, whole[..length]);
        }
    }
}

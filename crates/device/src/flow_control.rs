// SPDX-License-Identifier: Apache-2.0
//! Priority-based flow control (IEEE 802.1Q clause 36, "802.1Qbb"): reads and writes its frames, and computes pause times.
//! The traffic manager pauses the queues.

use crate::wire::transmission_ps;

/// The destination address of MAC control frames.
const MAC_CONTROL_ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// The type field of MAC control frames, and the opcode of priority-based flow control in it.
const TYPE_AND_OPCODE: [u8; 4] = [0x88, 0x08, 0x01, 0x01];
/// Two addresses before the type, then opcode, class vector and eight times.
const FRAME_BYTES: usize = 12 + 4 + 2 + 16;
/// The shortest Ethernet frame, without its check sequence.
const MIN_FRAME_BYTES: usize = 60;
/// A quantum is the transmission time of 512 bits.
const QUANTUM_BYTES: u64 = 512 / 8;

/// Options of flow control at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowControlOptions {
    /// The queue of each of the eight classes. A class whose queue does not exist pauses nothing.
    pub queue_of_class: [u32; 8],
}

impl Default for FlowControlOptions {
    /// Maps class n to queue n.
    fn default() -> FlowControlOptions {
        FlowControlOptions { queue_of_class: [0, 1, 2, 3, 4, 5, 6, 7] }
    }
}

/// A frame of priority-based flow control: for each class in its class vector, the pause time of the queue in quanta (0
/// resumes it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseFrame {
    /// Quanta of 512 bit times.
    pub quanta: [Option<u16>; 8],
}

impl PauseFrame {
    /// Returns the longest pause that one frame can set at a port of this rate, in picoseconds: unlimited without a rate.
    pub fn longest_ps(rate_bps: Option<u64>) -> u64 {
        pause_end_ps(u16::MAX, rate_bps, 0).unwrap_or(u64::MAX).max(1)
    }

    /// Makes a frame for one class.
    pub fn of_class(class: u8, quanta: u16) -> PauseFrame {
        let mut frame = PauseFrame::default();
        if let Some(named) = frame.quanta.get_mut(usize::from(class)) {
            *named = Some(quanta);
        }
        frame
    }

    /// Reads a frame, if it is one.
    pub fn read(bytes: &[u8]) -> Option<PauseFrame> {
        let is_one = bytes.len() >= FRAME_BYTES
            && bytes[..6] == MAC_CONTROL_ADDRESS
            && bytes[12..16] == TYPE_AND_OPCODE;
        is_one.then(|| {
            // The lower byte has a bit a class; the upper one is reserved.
            let vector = bytes[17];
            let time =
                |class: usize| u16::from_be_bytes([bytes[18 + class * 2], bytes[19 + class * 2]]);
            let quanta = |class: usize| (vector >> class & 1 == 1).then(|| time(class));
            PauseFrame { quanta: std::array::from_fn(quanta) }
        })
    }

    /// Encodes the frame, padded to the minimum length, without a check sequence.
    pub fn bytes(&self, source_address: [u8; 6]) -> Vec<u8> {
        let mut bytes = MAC_CONTROL_ADDRESS.to_vec();
        bytes.extend(source_address);
        bytes.extend(TYPE_AND_OPCODE);
        let named = self.quanta.iter().enumerate().filter(|(_, quanta)| quanta.is_some());
        let vector = named.fold(0, |vector: u16, (class, _)| vector | 1 << class);
        bytes.extend(vector.to_be_bytes());
        for quanta in self.quanta {
            bytes.extend(quanta.unwrap_or(0).to_be_bytes());
        }
        bytes.resize(MIN_FRAME_BYTES, 0);
        bytes
    }
}

/// Returns the end of a pause that begins now, in picoseconds: `None` for zero quanta, `u64::MAX` if only another frame
/// ends it, because a port without a rate has no bit times.
pub(crate) fn pause_end_ps(quanta: u16, rate_bps: Option<u64>, now_ps: u64) -> Option<u64> {
    match (quanta, rate_bps) {
        (0, _) => None,
        (_, None | Some(0)) => Some(u64::MAX),
        (quanta, rate_bps) => {
            let bytes = u64::from(quanta) * QUANTUM_BYTES;
            Some(now_ps.saturating_add(transmission_ps(bytes, rate_bps)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frame_stands_as_in_the_standard() {
        let frame = PauseFrame::of_class(3, 0x1234);
        let mut expected = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9];
        expected.extend([0x88, 0x08, 0x01, 0x01, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x12, 0x34]);
        expected.resize(60, 0);
        assert_eq!(frame.bytes([2, 0, 0, 0, 0, 9]), expected);
    }

    #[test]
    fn other_frames_are_none() {
        let frame = PauseFrame::of_class(0, 1).bytes([0; 6]);
        for (place, value) in [(0, 0xff), (5, 0x02), (12, 0x08), (15, 0x02)] {
            let mut other = frame.clone();
            other[place] = value;
            assert_eq!(PauseFrame::read(&other), None, "byte {place}");
        }
        assert_eq!(PauseFrame::read(&frame[..33]), None);
        assert_eq!(PauseFrame::read(&[]), None);
    }

    #[test]
    fn quanta_are_bit_times() {
        // 512 bits at 100 Gb/s are 5.12 ns.
        assert_eq!(pause_end_ps(1, Some(100_000_000_000), 7), Some(5127));
        assert_eq!(pause_end_ps(u16::MAX, Some(100_000_000_000), 0), Some(335_539_200));
        assert_eq!(pause_end_ps(0, Some(1), 7), None);
        assert_eq!(pause_end_ps(1, None, 7), Some(u64::MAX));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(quanta: [Option<u16>; 8], source: [u8; 6]) {
            let frame = PauseFrame { quanta };
            prop_assert_eq!(PauseFrame::read(&frame.bytes(source)), Some(frame));
        }
    }
}

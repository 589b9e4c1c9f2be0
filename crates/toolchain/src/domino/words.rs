// SPDX-License-Identifier: Apache-2.0
//! Packets as frames of words, a field each, and their way through a device: in bursts, or on several pipelines.

use crate::threads::Pipelines;
use device::{Burst, Device};
use frontend::{Console, Failure, Work};
use scale::ahead::AheadDevice;
use scale::staged::StagedControl;
use std::sync::Arc;

/// Packets that enter the device together. They run one after the other.
const BURST: usize = 1024;

/// Bytes of a field in a frame.
pub(super) const WORD_BYTES: usize = 4;

/// What left, in the order of what entered. A dropped packet is `None`.
pub(super) type Left = Vec<Option<Vec<u32>>>;

/// Packets that enter a device.
pub(super) struct Packets<'p> {
    pub(super) packets: &'p [Vec<u32>],
    /// The number of fields of each.
    pub(super) fields: usize,
}

impl Packets<'_> {
    /// Runs them in bursts.
    pub(super) fn in_bursts(
        &self,
        mut device: Device,
        console: &dyn Console,
    ) -> Result<(Device, Left), Failure> {
        let spinner = console.spinner(Work::Packets, console.is_quiet());
        let mut left: Left = vec![None; self.packets.len()];
        let mut done = 0;
        let mut burst = Burst::new(BURST, self.fields * WORD_BYTES);
        let mut frame = Vec::new();
        for (packets, left) in self.packets.chunks(BURST).zip(left.chunks_mut(BURST)) {
            burst.clear();
            for packet in packets {
                frame.clear();
                write_frame(packet, &mut frame);
                burst.push(0, &frame).map_err(|error| error.to_string())?;
            }
            device.forward(&mut burst).map_err(|error| error.to_string())?;
            for output in burst.outputs() {
                left[output.packet] = Some(words(output.bytes));
            }
            done += packets.len() as u64;
            spinner.set_position(done);
        }
        Ok((device, left))
    }

    /// Runs them on several pipelines.
    pub(super) fn ahead(
        &self,
        device: Device,
        control: Arc<StagedControl>,
        workers: usize,
        console: &dyn Console,
    ) -> Result<(Device, Left, Pipelines), Failure> {
        let spinner = console.spinner(Work::Packets, console.is_quiet());
        let mut left: Left = vec![None; self.packets.len()];
        let mut ahead = AheadDevice::start(device, control, workers)?;
        let mut finish = |ahead: &mut AheadDevice, packets: usize| -> Result<(), Failure> {
            for _ in 0..packets {
                if !ahead.finish_next().map_err(|error| error.to_string())? {
                    break;
                }
            }
            for sent in ahead.device.drain_transmitted() {
                left[sent.packet as usize] = Some(words(&sent.bytes));
            }
            Ok(())
        };
        for (number, packet) in (0..).zip(self.packets) {
            if ahead.is_full() {
                let burst = ahead.burst();
                finish(&mut ahead, burst)?;
                spinner.set_position(number);
            }
            let mut frame = Vec::with_capacity(self.fields * WORD_BYTES);
            write_frame(packet, &mut frame);
            ahead.begin(0, 0, frame).map_err(|error| error.to_string())?;
        }
        finish(&mut ahead, self.packets.len())?;
        ahead.halt();
        let (device, workers) = ahead.end();
        Ok((device, left, Pipelines::Many(workers)))
    }
}

/// Appends the words of a packet.
pub(super) fn write_frame(packet: &[u32], frame: &mut Vec<u8>) {
    packet.iter().for_each(|word| frame.extend(word.to_be_bytes()));
}

/// Returns the words of a frame.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes
        .chunks_exact(WORD_BYTES)
        .map(|word| word.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)));
    words.collect()
}

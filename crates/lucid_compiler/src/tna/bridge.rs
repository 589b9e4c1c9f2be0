// SPDX-License-Identifier: Apache-2.0
//! The bridge: the header that ingress puts in front of a packet and that tells egress what it has to do,
//! declared for the program, and read from the bytes that a tap of a device shows.

/// What egress has to do with a packet: nothing.
pub(super) const TASK_PASS: u32 = 0;
/// It waited.
pub(super) const TASK_WAIT: u32 = 1;
/// A copy for one member of a group of switches.
pub(super) const TASK_MEMBER: u32 = 2;
/// An event that goes round; its egress handler runs.
pub(super) const TASK_ROUND: u32 = 3;
/// An event in its frame that leaves by a port; its egress handler runs.
pub(super) const TASK_LEAVE: u32 = 4;
/// An event in its frame that goes round as a mirror copy, without what follows it.
pub(super) const TASK_CUT: u32 = 5;
/// This bit: copies of a packet with several slots.
pub(super) const TASK_COPIES: u32 = 0x80;

/// Copies, of which the one with replica number 0 leaves by a port with the event of this slot.
pub(super) fn task_direct(slot: u32) -> u32 {
    TASK_COPIES + 1 + slot
}

/// The declaration, for so many slots. Their bits are in front of the task: the parser compares both in several states, and
/// with the task in front p4c finds too few match registers. At the end is a time stamp with so many zero bits below it
/// that the last 32 bits of the bridge hold nanoseconds.
pub(super) fn declaration(slots: u32, stamp_shift: u32) -> String {
    let mut text = String::from("header bridge_h {");
    for slot in 0..slots {
        text.push_str(&format!("bit<1> slot{slot};"));
    }
    let padding_bits = 8 * slot_bytes(slots) - slots;
    if padding_bits > 0 {
        text.push_str(&format!("@padding bit<{padding_bits}> _pad;"));
    }
    text.push_str("bit<8> task; bit<16> arrived;");
    if stamp_shift > 0 {
        text.push_str(&format!("@padding bit<{stamp_shift}> _below;"));
    }
    text.push('}');
    text
}

/// Bytes for the bits that say which slots hold an event: one at least, so that 32 bits end with the time stamp.
fn slot_bytes(slots: u32) -> u32 {
    slots.div_ceil(8).max(1)
}

/// Bits of the bridge below the task.
pub(super) fn bits_below_task(stamp_shift: u32) -> u32 {
    16 + stamp_shift
}

/// Bytes of the bridge.
pub(super) fn bytes(slots: u32, stamp_shift: u32) -> u32 {
    3 + slot_bytes(slots) + stamp_shift / 8
}

/// A task as far as egress handlers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One event that goes round.
    Round,
    /// One that leaves by a port.
    Leave,
    /// Several, a copy for each; the copy with replica number 0 leaves with the event of this slot.
    Copies {
        /// That slot; nothing if none leaves.
        leaves: Option<u32>,
    },
    /// No egress handler runs.
    Other,
}

/// A bridge that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// What egress is to do.
    pub task: Task,
    /// Which slots hold an event.
    pub slots: Vec<bool>,
}

impl Bridge {
    /// Reads the bridge of a program with so many slots and a unit of time stamps; what follows it.
    pub fn read(slots: u32, stamp_shift: u32, bytes: &[u8]) -> Option<(Bridge, &[u8])> {
        let (bits, rest) = bytes.split_at_checked(slot_bytes(slots) as usize)?;
        let (task, rest) = rest.split_first()?;
        let task = match u32::from(*task) {
            TASK_ROUND => Task::Round,
            TASK_LEAVE => Task::Leave,
            task if task & TASK_COPIES != 0 => {
                Task::Copies { leaves: (task ^ TASK_COPIES).checked_sub(1) }
            }
            _ => Task::Other,
        };
        let rest = rest.get(2 + stamp_shift as usize / 8..)?;
        let is_there = |slot: u32| bits[slot as usize / 8] >> (7 - slot % 8) & 1 == 1;
        Some((Bridge { task, slots: (0..slots).map(is_there).collect() }, rest))
    }
}

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

/// Whether the bits of slots are in front of the task. The parser compares both in several states, and p4c finds match
/// registers for programs of two slots in one order and of three in the other only. This was found by trying.
fn begins_with_slots(slots: u32) -> bool {
    slots > 2
}

/// The declaration, for so many slots. At the end is a time stamp with so many zero bits below it that the last 32 bits of
/// the bridge hold nanoseconds.
pub(super) fn declaration(slots: u32, stamp_shift: u32) -> String {
    let mut bits: String = (0..slots).map(|slot| format!("bit<1> slot{slot};")).collect();
    let padding_bits = 8 * slot_bytes(slots) - slots;
    if padding_bits > 0 {
        bits.push_str(&format!("@padding bit<{padding_bits}> _pad;"));
    }
    let apart = if apart_bytes(slots) > 0 { "@padding bit<8> _apart;" } else { "" };
    let mut text = match begins_with_slots(slots) {
        true => format!("header bridge_h {{ {bits} bit<8> task; bit<16> arrived;"),
        false => format!("header bridge_h {{ bit<8> task; {apart} {bits} bit<16> arrived;"),
    };
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

/// Bytes between the task and the bits of slots behind it: side by side they would take the only match register of 16
/// bits, which numbers of events need.
fn apart_bytes(slots: u32) -> u32 {
    u32::from(slots > 0 && !begins_with_slots(slots))
}

/// Bytes of the bridge.
pub(super) fn bytes(slots: u32, stamp_shift: u32) -> u32 {
    3 + apart_bytes(slots) + slot_bytes(slots) + stamp_shift / 8
}

/// The bridge of a task without slots and time stamp, as a number.
pub(super) fn of_task(task: u32, slots: u32, stamp_shift: u32) -> u128 {
    let behind = match begins_with_slots(slots) {
        true => 2 + stamp_shift / 8,
        false => bytes(slots, stamp_shift) - 1,
    };
    u128::from(task) << (8 * behind)
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
        let length = slot_bytes(slots) as usize;
        let (bits, task, rest) = match begins_with_slots(slots) {
            true => {
                let (bits, rest) = bytes.split_at_checked(length)?;
                let (task, rest) = rest.split_first()?;
                (bits, task, rest)
            }
            false => {
                let (task, rest) = bytes.split_first()?;
                let rest = rest.get(apart_bytes(slots) as usize..)?;
                let (bits, rest) = rest.split_at_checked(length)?;
                (bits, task, rest)
            }
        };
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

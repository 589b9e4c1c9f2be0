// SPDX-License-Identifier: Apache-2.0
//! The phantom channel: phantoms and cancellations move one stage a cycle and are never queued on the way (MP5 §3.4, Invariant
//! 1). It is wide enough for all of them.

use std::collections::VecDeque;

/// A message for an access of a packet in flight.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The packet's slot.
    pub flight: u32,
    /// The index of the access.
    pub index: u8,
}

/// The messages on their way.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Phantoms by stage, with the cycle in which they arrive, in order of arrival.
    phantoms: Vec<VecDeque<(u64, Message)>>,
    /// Cancellations by the cycle in which they arrive, modulo the number of slots.
    cancellations: Vec<Vec<Message>>,
    /// The number of messages on their way.
    len: usize,
}

impl Channel {
    /// An empty channel along so many stages.
    pub fn new(stages: usize) -> Channel {
        Channel {
            phantoms: vec![VecDeque::new(); stages],
            cancellations: vec![Vec::new(); stages + 1],
            len: 0,
        }
    }

    /// Sends a phantom from address resolution to a stage.
    #[inline]
    pub fn send_phantom(&mut self, cycle: u64, stage: usize, message: Message) {
        self.phantoms[stage].push_back((cycle + stage as u64, message));
        self.len += 1;
    }

    /// Sends a cancellation over a number of stages.
    pub fn cancel(&mut self, cycle: u64, distance: usize, message: Message) {
        debug_assert!((1..self.cancellations.len()).contains(&distance));
        let slot = (cycle + distance as u64) % self.cancellations.len() as u64;
        self.cancellations[slot as usize].push(message);
        self.len += 1;
    }

    /// Takes a phantom that arrives at a stage in a cycle.
    #[inline]
    pub fn take_phantom(&mut self, cycle: u64, stage: usize) -> Option<Message> {
        let queue = &mut self.phantoms[stage];
        if queue.front()?.0 != cycle {
            return None;
        }
        self.len -= 1;
        queue.pop_front().map(|(_, message)| message)
    }

    /// Takes the cancellations that arrive in a cycle.
    pub fn take_cancellations(&mut self, cycle: u64) -> Vec<Message> {
        let slot = (cycle % self.cancellations.len() as u64) as usize;
        let messages = std::mem::take(&mut self.cancellations[slot]);
        self.len -= messages.len();
        messages
    }

    /// Says whether no message is on its way.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Rings between workers: a wait-free ring of one producer and one consumer ([`rtrb`]) from each worker to each other one.
//! Sending never blocks: what finds its ring full waits with its sender.

use rtrb::{Consumer, Producer, RingBuffer};
use std::collections::VecDeque;

/// Messages that a ring holds.
const RING_SIZE: usize = 256;

/// The end of a ring that sends.
#[derive(Debug)]
struct Sender<T> {
    ring: Producer<T>,
    /// Messages behind those of the ring, in order.
    waiting: VecDeque<T>,
}

impl<T> Sender<T> {
    fn flush(&mut self) {
        while let Some(message) = self.waiting.pop_front() {
            if let Err(rtrb::PushError::Full(message)) = self.ring.push(message) {
                self.waiting.push_front(message);
                return;
            }
        }
    }
}

/// A worker's ends of its rings.
#[derive(Debug)]
pub(super) struct Links<T> {
    /// By receiver; none to itself.
    to: Vec<Option<Sender<T>>>,
    /// By sender.
    from: Vec<Option<Consumer<T>>>,
    /// Messages that wait for room.
    waiting: usize,
}

impl<T> Links<T> {
    /// Connects workers, each with all others.
    pub(super) fn mesh(workers: usize) -> Vec<Links<T>> {
        let none = |_| Links {
            to: (0..workers).map(|_| None).collect(),
            from: (0..workers).map(|_| None).collect(),
            waiting: 0,
        };
        let mut links: Vec<Links<T>> = (0..workers).map(none).collect();
        for sender in 0..workers {
            for receiver in (0..workers).filter(|receiver| *receiver != sender) {
                let (ring, consumer) = RingBuffer::new(RING_SIZE);
                links[sender].to[receiver] = Some(Sender { ring, waiting: VecDeque::new() });
                links[receiver].from[sender] = Some(consumer);
            }
        }
        links
    }

    /// Sends a message to another worker. Messages to one worker arrive in the order of the calls.
    pub(super) fn send(&mut self, receiver: usize, message: T) {
        let sender = self.to[receiver].as_mut().expect("no worker sends to itself");
        if sender.waiting.is_empty() {
            match sender.ring.push(message) {
                Ok(()) => return,
                Err(rtrb::PushError::Full(message)) => sender.waiting.push_back(message),
            }
        } else {
            sender.waiting.push_back(message);
        }
        self.waiting += 1;
    }

    /// Moves waiting messages to rings that have room.
    #[inline]
    pub(super) fn flush(&mut self) {
        if self.waiting > 0 {
            let senders = self.to.iter_mut().flatten();
            self.waiting = senders.fold(0, |waiting, sender| {
                sender.flush();
                waiting + sender.waiting.len()
            });
        }
    }

    /// Whether messages wait for room in a ring whose receiver still exists.
    pub(super) fn has_waiting(&self) -> bool {
        let mut senders = self.to.iter().flatten();
        senders.any(|sender| !sender.waiting.is_empty() && !sender.ring.is_abandoned())
    }

    /// Takes the next message of a worker.
    #[inline]
    pub(super) fn receive(&mut self, sender: usize) -> Option<T> {
        self.from[sender].as_mut()?.pop().ok()
    }

    /// Whether a message has arrived, or can be moved to its ring.
    pub(super) fn can_work(&self) -> bool {
        let arrived = self.from.iter().flatten().any(|ring| !ring.is_empty());
        let senders = self.to.iter().flatten();
        let has_room = |sender: &Sender<T>| !sender.waiting.is_empty() && !sender.ring.is_full();
        arrived || senders.into_iter().any(has_room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_beyond_a_full_ring_arrive_in_order() {
        let mut links = Links::mesh(2);
        let (mut one, mut other) = (links.remove(0), links.remove(0));
        let count = 3 * RING_SIZE;
        (0..count).for_each(|number| one.send(1, number));
        let mut received = Vec::new();
        while received.len() < count {
            assert!(one.has_waiting() || other.can_work());
            one.flush();
            received.extend(other.receive(0));
        }
        assert!(received.iter().copied().eq(0..count));
        assert!(!one.has_waiting() && !other.can_work());
    }
}

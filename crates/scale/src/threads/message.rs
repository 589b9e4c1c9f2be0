// SPDX-License-Identifier: Apache-2.0
//! What workers send each other: packets between stages, phantoms, cancellations, shares of the arriving packets, and at
//! halts the program with its cells.

use crate::work::Access;
use smallvec::SmallVec;

/// A packet between its arrival and its end.
#[derive(Debug)]
pub(super) struct Flight<P> {
    /// Its number in order of arrival.
    pub number: u64,
    /// The worker that resolves it.
    pub resolver: usize,
    /// The stage that it runs next.
    pub stage: usize,
    /// Its resolved accesses, in the order of stages.
    pub accesses: SmallVec<[Access; 4]>,
    /// The accesses that do not happen, as bits.
    pub cancelled: u64,
    pub packet: P,
}

impl<P> Flight<P> {
    /// A packet that arrives.
    pub(super) fn new(number: u64, packet: P) -> Flight<P> {
        Flight { number, resolver: 0, stage: 0, accesses: SmallVec::new(), cancelled: 0, packet }
    }
}

/// A batch: packets that arrived one after the other.
#[derive(Debug)]
pub(super) struct Share<P> {
    /// Its number in order of arrival.
    pub batch: u64,
    pub flights: Vec<Box<Flight<P>>>,
}

/// The place that a packet has in the order of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phantom {
    pub number: u64,
    pub group: u32,
}

/// A message.
#[derive(Debug)]
pub(super) enum Message<W, P> {
    /// A batch for its resolver.
    Share(Share<P>),
    /// The phantoms of a batch of this number for the receiver, in order of arrival.
    Phantoms(u64, Vec<Phantom>),
    /// A packet for the owner of its next access.
    Packet(Box<Flight<P>>),
    /// The access of a phantom does not happen.
    Cancelled(Phantom),
    /// A packet behind its last stage, for the first worker.
    Done(Box<Flight<P>>),
    /// The receiver gives its program to the first worker and waits.
    Halt,
    /// The program: to the first worker at a halt, to its worker at the end of the halt.
    Program(Box<W>),
    /// The receiver ends.
    End,
}

// SPDX-License-Identifier: Apache-2.0
//! The table of packets in flight: packets with their resolved accesses, by slot. A slot outlives its packet until all
//! cancellations of its accesses have reached their stages.

use super::queue::Place;
use crate::work::Access;
use smallvec::SmallVec;

/// No slot.
pub const NONE: u32 = super::queue::NO_SLOT;

/// Whether an access is still to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is still to happen, or it happened in a stage that the packet has left.
    Pending,
    /// It does not happen.
    Cancelled,
    /// It does not happen, because its phantom found its ring full. The packet will be dropped where its place should be.
    Lost,
}

/// A resolved access of a packet: what the packet's header carries (MP5 §3.3).
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// The cell.
    pub access: Access,
    /// The stage.
    pub stage: u16,
    /// The pipeline that resolution found in the map.
    pub pipeline: u8,
    /// Whether it is still to happen.
    pub state: State,
    /// The cell's in-flight counter no longer counts it.
    pub is_released: bool,
    /// The place of its phantom: the directory's entry. Nothing before the phantom arrives and after it was dropped.
    pub place: Option<Place>,
}

/// A packet in flight.
#[derive(Clone, Debug)]
pub struct Flight<P> {
    /// The packet; nothing once it has left.
    pub packet: Option<P>,
    /// Its place in the order of arrival.
    pub sequence: u64,
    /// The place in the order in which packets entered.
    pub stamp: u64,
    /// The cycle in which it arrived.
    pub arrival: u64,
    /// The pipeline that resolved it, and its ring in queues.
    pub lane: u8,
    /// It waited in a queue longer than the threshold.
    pub is_marked: bool,
    /// It met some cell after a packet that arrived later.
    pub is_reordered: bool,
    /// Its accesses in ascending order of stages.
    pub accesses: SmallVec<[Planned; 4]>,
    /// The index of its next pending access.
    pub next: u8,
    /// The stage of its next pending access; `u16::MAX` without one.
    pub next_stage: u16,
    /// The number of its cancellations that have not reached their stage.
    pub cancellations: u32,
}

impl<P> Flight<P> {
    /// Finds the next pending access in a stage from `stage` on.
    #[inline]
    pub fn seek(&mut self, stage: u16) {
        while let Some(planned) = self.accesses.get(usize::from(self.next)) {
            if matches!(planned.state, State::Pending | State::Lost) && planned.stage >= stage {
                self.next_stage = planned.stage;
                return;
            }
            self.next += 1;
        }
        self.next_stage = u16::MAX;
    }
}

/// All packets in flight.
#[derive(Clone, Debug)]
pub struct Flights<P> {
    /// Slots.
    slots: Vec<Flight<P>>,
    /// Slots not in use.
    free: Vec<u32>,
}

impl<P> Flights<P> {
    /// No packets.
    pub fn new() -> Flights<P> {
        Flights { slots: Vec::new(), free: Vec::new() }
    }

    /// Adds a packet without accesses. Returns its slot.
    pub fn add(&mut self, packet: P, sequence: u64, stamp: u64, arrival: u64, lane: u8) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Flight {
                packet: None,
                sequence: 0,
                stamp: 0,
                arrival: 0,
                lane: 0,
                is_marked: false,
                is_reordered: false,
                accesses: SmallVec::new(),
                next: 0,
                next_stage: u16::MAX,
                cancellations: 0,
            });
            self.slots.len() as u32 - 1
        });
        let flight = &mut self.slots[slot as usize];
        flight.packet = Some(packet);
        (flight.sequence, flight.stamp, flight.arrival, flight.lane) =
            (sequence, stamp, arrival, lane);
        (flight.is_marked, flight.is_reordered) = (false, false);
        flight.accesses.clear();
        flight.next = 0;
        flight.next_stage = u16::MAX;
        slot
    }

    /// Frees the slot of a packet that has left, if no cancellation is on its way.
    pub fn free(&mut self, slot: u32) {
        let flight = &self.slots[slot as usize];
        if flight.packet.is_none() && flight.cancellations == 0 {
            self.free.push(slot);
        }
    }

    /// Returns the number of slots in use.
    pub fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The packet of a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> &Flight<P> {
        &self.slots[slot as usize]
    }

    /// The packet of a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut Flight<P> {
        &mut self.slots[slot as usize]
    }
}

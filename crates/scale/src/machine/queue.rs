// SPDX-License-Identifier: Apache-2.0
//! The queues in front of a stateful stage: for each pipeline `k` rings with push, insert and pop (MP5 §3.2). As all rings are filled in
//! the order of timestamps, the rings of a pipeline are one list in that order; each entry knows its ring, because rings fill up
//! alone. A queue by cell keeps only the entries of each cell in order.

mod cell_lists;
mod entry;

pub use entry::{Content, Entry, NO_SLOT, Place, Popped};

use crate::design::Queues;
use crate::work::Access;
use cell_lists::CellLists;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The queues of all pipelines in front of one stage.
#[derive(Clone, Debug)]
pub struct Bank {
    /// The entries a ring holds, if bounded.
    depth: Option<usize>,
    /// The entries in use, by pipeline and ring; empty without a depth.
    rings: Vec<u32>,
    /// The number of pipelines.
    pipelines: usize,
    /// The queues by pipeline.
    queues: Vec<Queue>,
    /// How they keep order.
    order: Order,
}

/// The queue of a pipeline.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// Entries in order; of queues by cell nothing.
    entries: VecDeque<Entry>,
    /// The address of the first of `entries`.
    base: u32,
    /// Entries that can be processed, of queues by cell: stamp and address.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    /// The number of entries.
    len: u32,
    /// The number of entries that are packets.
    packets: u32,
}

/// How queues keep order.
#[derive(Clone, Debug)]
enum Order {
    /// All entries of a pipeline.
    Fifo,
    /// The entries of each cell.
    ByCell(CellLists),
}

impl Bank {
    /// Empty queues for the groups of a stage with so many cells each, the first of them `first_group`.
    pub fn new(
        kind: Queues,
        pipelines: usize,
        depth: Option<usize>,
        first_group: u32,
        groups: &[u32],
    ) -> Bank {
        Bank {
            depth,
            rings: if depth.is_some() { vec![0; pipelines * pipelines] } else { Vec::new() },
            pipelines,
            queues: vec![Queue::default(); pipelines],
            order: match kind {
                Queues::Fifo => Order::Fifo,
                Queues::ByCell => Order::ByCell(CellLists::new(first_group, groups)),
            },
        }
    }

    /// Adds an entry behind all others. Returns its place, or nothing if its ring is full.
    #[inline]
    pub fn push(&mut self, pipeline: usize, entry: Entry) -> Option<Place> {
        if let Some(depth) = self.depth {
            let used = &mut self.rings[pipeline * self.pipelines + usize::from(entry.ring)];
            if *used as usize >= depth {
                return None;
            }
            *used += 1;
        }
        let queue = &mut self.queues[pipeline];
        queue.len += 1;
        let is_packet = entry.content.is_packet();
        queue.packets += u32::from(is_packet);
        let address = match &mut self.order {
            Order::Fifo => {
                queue.entries.push_back(entry);
                queue.base.wrapping_add(queue.entries.len() as u32 - 1)
            }
            Order::ByCell(lists) => {
                let address = lists.push(entry);
                if is_packet && lists.is_first(entry.access, address) {
                    queue.ready.push(Reverse((entry.stamp, address)));
                }
                address
            }
        };
        Some(Place::new(pipeline, address))
    }

    /// The entry at a place.
    #[inline]
    fn entry_mut(&mut self, place: Place) -> &mut Entry {
        match &mut self.order {
            Order::Fifo => {
                let queue = &mut self.queues[place.pipeline()];
                let index = place.address().wrapping_sub(queue.base) as usize;
                &mut queue.entries[index]
            }
            Order::ByCell(lists) => lists.entry_mut(place.address()),
        }
    }

    /// Replaces a phantom by its packet.
    #[inline]
    pub fn insert(&mut self, place: Place, cycle: u64) {
        self.replace(place, Content::Packet { since: cycle as u32 });
        self.queues[place.pipeline()].packets += 1;
    }

    /// Marks a phantom whose access does not happen. Entries of its cell do not wait for it.
    pub fn cancel(&mut self, place: Place) {
        let entry = self.entry_mut(place);
        entry.flight = NO_SLOT;
        let (stamp, access) = (entry.stamp, entry.access);
        let Order::ByCell(lists) = &mut self.order else {
            self.replace(place, Content::Cancelled);
            return;
        };
        let address = place.address();
        lists.entry_mut(address).content = Content::Cancelled;
        let ready = &mut self.queues[place.pipeline()].ready;
        ready.push(Reverse((stamp, address)));
        if let Some(following) = lists.unlink(access, address) {
            ready.push(Reverse((lists.entry(following).stamp, following)));
        }
    }

    #[inline]
    fn replace(&mut self, place: Place, content: Content) {
        let entry = self.entry_mut(place);
        debug_assert_eq!(entry.content, Content::Phantom);
        entry.content = content;
        let (stamp, access) = (entry.stamp, entry.access);
        if let Order::ByCell(lists) = &self.order
            && lists.is_first(access, place.address())
        {
            self.queues[place.pipeline()].ready.push(Reverse((stamp, place.address())));
        }
    }

    /// Says whether the pipeline has an entry to process.
    #[inline]
    pub fn is_ready(&self, pipeline: usize) -> bool {
        let queue = &self.queues[pipeline];
        match &self.order {
            Order::Fifo => {
                queue.entries.front().is_some_and(|entry| entry.content != Content::Phantom)
            }
            Order::ByCell(_) => !queue.ready.is_empty(),
        }
    }

    /// Returns the cycle since which the packet that would be processed next waits, modulo 2^32.
    pub fn waits_since(&self, pipeline: usize) -> Option<u32> {
        let queue = &self.queues[pipeline];
        let entry = match &self.order {
            Order::Fifo => queue.entries.front()?,
            Order::ByCell(lists) => {
                let Reverse((_, address)) = queue.ready.peek()?;
                lists.entry(*address)
            }
        };
        match entry.content {
            Content::Packet { since } => Some(since),
            _ => None,
        }
    }

    /// Takes the next entry that can be processed.
    #[inline]
    pub fn pop(&mut self, pipeline: usize) -> Option<Popped> {
        let queue = &mut self.queues[pipeline];
        let entry = match &mut self.order {
            Order::Fifo => {
                if queue.entries.front()?.content == Content::Phantom {
                    return None;
                }
                queue.base = queue.base.wrapping_add(1);
                queue.entries.pop_front()?
            }
            Order::ByCell(lists) => {
                let Reverse((_, address)) = queue.ready.pop()?;
                let entry = *lists.entry(address);
                if entry.content != Content::Cancelled
                    && let Some(following) = lists.remove_first(entry.access)
                {
                    queue.ready.push(Reverse((lists.entry(following).stamp, following)));
                }
                lists.release(address);
                entry
            }
        };
        queue.len -= 1;
        if self.depth.is_some() {
            self.rings[pipeline * self.pipelines + usize::from(entry.ring)] -= 1;
        }
        if entry.content.is_packet() {
            queue.packets -= 1;
            Some(Popped::Packet(entry))
        } else {
            Some(Popped::Cancelled(entry))
        }
    }

    /// Finds the oldest phantom of a ring, for tests without the directory.
    pub fn oldest_phantom(&self, pipeline: usize, ring: u8) -> Option<(Place, Entry)> {
        let Order::Fifo = &self.order else { return None };
        let queue = &self.queues[pipeline];
        let (index, entry) = queue
            .entries
            .iter()
            .enumerate()
            .find(|(_, entry)| entry.ring == ring && entry.content == Content::Phantom)?;
        let address = queue.base.wrapping_add(index as u32);
        Some((Place::new(pipeline, address), *entry))
    }

    /// Exchanges the packets that two entries stand for.
    pub fn assign(&mut self, place: Place, flight: u32, index: u8, access: Access) {
        let entry = self.entry_mut(place);
        (entry.flight, entry.index, entry.access) = (flight, index, access);
    }

    /// Moves the entries of a cell to another pipeline, if their rings have room there. Returns the new places of all entries that
    /// changed theirs, with the new one; nothing if a ring has no room.
    pub fn move_cell(
        &mut self,
        access: Access,
        from: usize,
        to: usize,
    ) -> Option<Vec<(Entry, Place)>> {
        let moving: Vec<Entry> = match &self.order {
            Order::Fifo => {
                let entries = self.queues[from].entries.iter();
                entries.filter(|entry| entry.access == access).copied().collect()
            }
            Order::ByCell(lists) => {
                lists.of_cell(access).map(|address| *lists.entry(address)).collect()
            }
        };
        if let Some(depth) = self.depth {
            for ring in 0..self.pipelines {
                let count = moving.iter().filter(|entry| usize::from(entry.ring) == ring).count();
                if self.rings[to * self.pipelines + ring] as usize + count > depth {
                    return None;
                }
            }
            for entry in &moving {
                self.rings[from * self.pipelines + usize::from(entry.ring)] -= 1;
                self.rings[to * self.pipelines + usize::from(entry.ring)] += 1;
            }
        }
        let packets = moving.iter().filter(|entry| entry.content.is_packet()).count();
        for (pipeline, sign) in [(from, -1_i32), (to, 1)] {
            let queue = &mut self.queues[pipeline];
            queue.len = queue.len.wrapping_add_signed(sign * moving.len() as i32);
            queue.packets = queue.packets.wrapping_add_signed(sign * packets as i32);
        }
        let mut places = Vec::new();
        match &mut self.order {
            Order::Fifo => {
                self.queues[from].entries.retain(|entry| entry.access != access);
                let target = &mut self.queues[to].entries;
                target.extend(moving);
                target.make_contiguous().sort_by_key(|entry| entry.stamp);
                for pipeline in [from, to] {
                    let queue = &self.queues[pipeline];
                    for (index, entry) in queue.entries.iter().enumerate() {
                        let address = queue.base.wrapping_add(index as u32);
                        let place = Place::new(pipeline, address);
                        places.push((*entry, place));
                    }
                }
            }
            Order::ByCell(lists) => {
                let head = lists.of_cell(access).next();
                self.queues[from].ready.retain(|Reverse((_, address))| Some(*address) != head);
                for address in lists.of_cell(access) {
                    let entry = lists.entry(address);
                    places.push((*entry, Place::new(to, address)));
                    if Some(address) == head && entry.content != Content::Phantom {
                        self.queues[to].ready.push(Reverse((entry.stamp, address)));
                    }
                }
            }
        }
        Some(places)
    }

    /// Returns the number of entries of a pipeline.
    #[inline]
    pub fn len(&self, pipeline: usize) -> u32 {
        self.queues[pipeline].len
    }

    /// Returns the number of entries of a pipeline that are packets.
    #[inline]
    pub fn packets(&self, pipeline: usize) -> u32 {
        self.queues[pipeline].packets
    }

    /// Returns the entries of a pipeline in order, of queues in order; for pictures.
    pub fn entries(&self, pipeline: usize) -> impl Iterator<Item = &Entry> {
        self.queues[pipeline].entries.iter()
    }
}

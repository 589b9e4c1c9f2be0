// SPDX-License-Identifier: Apache-2.0
//! The queues in front of a stateful stage: for each pipeline `k` rings with push, insert and pop (MP5 §3.2). As all rings are filled in
//! the order of timestamps, the rings of a pipeline are one list in that order; each entry knows its ring, because rings fill up
//! alone. A queue by cell keeps only the entries of each cell in order.

use crate::design::Queues;
use crate::work::Access;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU64;

/// No index.
const NONE: u32 = u32::MAX;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A phantom packet.
    Phantom,
    /// A packet, with the cycle in which it came, modulo 2^32.
    Packet {
        /// The cycle.
        since: u32,
    },
    /// The phantom of an access that does not happen.
    Cancelled,
}

/// An entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The place in the order of pushes of all queues.
    pub stamp: u64,
    /// The packet's slot in the table of packets in flight.
    pub flight: u32,
    /// The index of the access among the packet's resolved accesses.
    pub index: u8,
    /// The ring.
    pub ring: u8,
    /// What it is.
    pub content: Content,
    /// The cell.
    pub access: Access,
}

/// Where an entry is: what the directory holds for a packet (MP5 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(NonZeroU64);

impl Place {
    /// An address in the queue of a pipeline.
    #[inline]
    fn new(pipeline: usize, address: u32) -> Place {
        Place(NonZeroU64::MIN | (pipeline as u64) << 33 | u64::from(address) << 1)
    }

    /// The pipeline of the queue.
    #[inline]
    pub fn pipeline(self) -> usize {
        (self.0.get() >> 33) as usize
    }

    /// The place in the queue.
    #[inline]
    fn address(self) -> u32 {
        (self.0.get() >> 1) as u32
    }
}

/// What a pop gives.
#[derive(Clone, Copy, Debug)]
pub enum Popped {
    /// The oldest entry with its packet.
    Packet(Entry),
    /// A cancelled entry, which costs the cycle.
    Cancelled(Entry),
}

/// The queues of all pipelines in front of one stage.
#[derive(Clone, Debug)]
pub struct Bank {
    /// The first group of the stage; cells are numbered through all groups of the stage.
    first_group: u32,
    /// The number of the first cell of each group of the stage.
    first_cells: Vec<u32>,
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
    ByCell {
        /// Entries by address.
        entries: Vec<Entry>,
        /// The next entry of the cell, by address.
        next: Vec<u32>,
        /// Addresses not in use.
        free: Vec<u32>,
        /// The first and last entry of each cell.
        cells: Vec<(u32, u32)>,
    },
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
        let mut first_cells = Vec::new();
        let mut cells = 0;
        for count in groups {
            first_cells.push(cells);
            cells += count;
        }
        Bank {
            first_group,
            first_cells,
            depth,
            rings: if depth.is_some() { vec![0; pipelines * pipelines] } else { Vec::new() },
            pipelines,
            queues: vec![Queue::default(); pipelines],
            order: match kind {
                Queues::Fifo => Order::Fifo,
                Queues::ByCell => Order::ByCell {
                    entries: Vec::new(),
                    next: Vec::new(),
                    free: Vec::new(),
                    cells: vec![(NONE, NONE); cells as usize],
                },
            },
        }
    }

    /// The number of the cell among all cells of the stage.
    #[inline]
    fn cell(&self, access: Access) -> usize {
        (self.first_cells[(access.group - self.first_group) as usize] + access.cell) as usize
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
        let cell = self.cell(entry.access);
        let queue = &mut self.queues[pipeline];
        queue.len += 1;
        let is_packet = matches!(entry.content, Content::Packet { .. });
        queue.packets += u32::from(is_packet);
        let address = match &mut self.order {
            Order::Fifo => {
                queue.entries.push_back(entry);
                queue.base.wrapping_add(queue.entries.len() as u32 - 1)
            }
            Order::ByCell { entries, next, free, cells } => {
                let address = match free.pop() {
                    Some(address) => {
                        entries[address as usize] = entry;
                        next[address as usize] = NONE;
                        address
                    }
                    None => {
                        entries.push(entry);
                        next.push(NONE);
                        entries.len() as u32 - 1
                    }
                };
                let ends = &mut cells[cell];
                if ends.0 == NONE {
                    ends.0 = address;
                    if is_packet {
                        queue.ready.push(Reverse((entry.stamp, address)));
                    }
                } else {
                    next[ends.1 as usize] = address;
                }
                ends.1 = address;
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
            Order::ByCell { entries, .. } => &mut entries[place.address() as usize],
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
        entry.flight = NONE;
        let (stamp, cell) = (entry.stamp, entry.access);
        let cell = self.cell(cell);
        let pipeline = place.pipeline();
        let Order::ByCell { entries, next, cells, .. } = &mut self.order else {
            self.replace(place, Content::Cancelled);
            return;
        };
        entries[place.address() as usize].content = Content::Cancelled;
        let ready = &mut self.queues[pipeline].ready;
        ready.push(Reverse((stamp, place.address())));
        let following = next[place.address() as usize];
        let ends = &mut cells[cell];
        let mut before = NONE;
        if ends.0 == place.address() {
            ends.0 = following;
            if following != NONE {
                let following_entry = &entries[following as usize];
                if following_entry.content != Content::Phantom {
                    ready.push(Reverse((following_entry.stamp, following)));
                }
            }
        } else {
            before = ends.0;
            while next[before as usize] != place.address() {
                before = next[before as usize];
            }
            next[before as usize] = following;
        }
        if ends.1 == place.address() {
            ends.1 = before;
        }
    }

    #[inline]
    fn replace(&mut self, place: Place, content: Content) {
        let entry = self.entry_mut(place);
        debug_assert_eq!(entry.content, Content::Phantom);
        entry.content = content;
        let (stamp, access) = (entry.stamp, entry.access);
        let cell = self.cell(access);
        if let Order::ByCell { cells, .. } = &self.order
            && cells[cell].0 == place.address()
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
            Order::ByCell { .. } => !queue.ready.is_empty(),
        }
    }

    /// Returns the cycle since which the packet that would be processed next waits, modulo 2^32.
    pub fn waits_since(&self, pipeline: usize) -> Option<u32> {
        let queue = &self.queues[pipeline];
        let entry = match &self.order {
            Order::Fifo => queue.entries.front()?,
            Order::ByCell { entries, .. } => {
                let Reverse((_, address)) = queue.ready.peek()?;
                &entries[*address as usize]
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
            Order::ByCell { entries, next, free, cells } => {
                let Reverse((_, address)) = queue.ready.pop()?;
                let entry = entries[address as usize];
                if entry.content != Content::Cancelled {
                    let first = self.first_cells[(entry.access.group - self.first_group) as usize];
                    let ends = &mut cells[(first + entry.access.cell) as usize];
                    ends.0 = next[address as usize];
                    if ends.0 == NONE {
                        ends.1 = NONE;
                    } else {
                        let following = &entries[ends.0 as usize];
                        if following.content != Content::Phantom {
                            queue.ready.push(Reverse((following.stamp, ends.0)));
                        }
                    }
                }
                free.push(address);
                entry
            }
        };
        queue.len -= 1;
        if self.depth.is_some() {
            self.rings[pipeline * self.pipelines + usize::from(entry.ring)] -= 1;
        }
        if matches!(entry.content, Content::Packet { .. }) {
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
        let cell = self.cell(access);
        let moving: Vec<Entry> = match &self.order {
            Order::Fifo => {
                let entries = self.queues[from].entries.iter();
                entries.filter(|entry| entry.access == access).copied().collect()
            }
            Order::ByCell { entries, next, cells, .. } => {
                let mut addresses = Vec::new();
                let mut address = cells[cell].0;
                while address != NONE {
                    addresses.push(entries[address as usize]);
                    address = next[address as usize];
                }
                addresses
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
        let packets =
            moving.iter().filter(|entry| matches!(entry.content, Content::Packet { .. })).count();
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
            Order::ByCell { entries, next, cells, .. } => {
                let head = cells[cell].0;
                self.queues[from].ready.retain(|Reverse((_, address))| *address != head);
                let mut address = head;
                while address != NONE {
                    let entry = &entries[address as usize];
                    places.push((*entry, Place::new(to, address)));
                    if address == head && entry.content != Content::Phantom {
                        self.queues[to].ready.push(Reverse((entry.stamp, address)));
                    }
                    address = next[address as usize];
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

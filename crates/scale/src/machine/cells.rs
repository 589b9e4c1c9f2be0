// SPDX-License-Identifier: Apache-2.0
//! Where the cells of a group are active: the index-to-pipeline map with its access and in-flight counters (MP5 §3.4), of the widths
//! that the paper gives them. Counters that are full stay full; a cell whose in-flight counter was full never moves again.

/// The most that an in-flight counter holds (8 bits, MP5 §4.2).
const IN_FLIGHT_MAX: u8 = u8::MAX;

/// The cells of a group.
#[derive(Clone, Debug)]
pub struct GroupCells {
    /// The stage in which packets access the group.
    pub stage: usize,
    /// The pipeline of each cell.
    pub pipelines: Vec<u8>,
    /// The number of times that packets were resolved to each cell since the last reset.
    pub accesses: Vec<u16>,
    /// The number of packets in flight for each cell.
    in_flight: Vec<u8>,
    /// Cells whose in-flight counter was full, in the order in which that happened.
    pub pinned: Vec<u32>,
    /// The sum of the in-flight counters by pipeline.
    pub load: Vec<u32>,
    /// The last packet in the order of arrival that accessed each cell, plus 1.
    last: Vec<u64>,
}

impl GroupCells {
    /// The cells of a group in their first pipelines.
    pub fn new(stage: usize, pipelines: Vec<u8>, count: usize) -> GroupCells {
        let cells = pipelines.len();
        GroupCells {
            stage,
            pipelines,
            accesses: vec![0; cells],
            in_flight: vec![0; cells],
            pinned: Vec::new(),
            load: vec![0; count],
            last: vec![0; cells],
        }
    }

    /// Counts a packet that was resolved to a cell.
    #[inline]
    pub fn resolve(&mut self, cell: u32) {
        let index = cell as usize;
        self.accesses[index] = self.accesses[index].saturating_add(1);
        let in_flight = &mut self.in_flight[index];
        if *in_flight < IN_FLIGHT_MAX {
            *in_flight += 1;
            self.load[usize::from(self.pipelines[index])] += 1;
            if *in_flight == IN_FLIGHT_MAX {
                self.pinned.push(cell);
            }
        }
    }

    /// Counts a packet that is no longer in flight for a cell: it accessed the cell, or it never will. A full counter no longer knows
    /// how many packets are in flight, so it stays full.
    #[inline]
    pub fn release(&mut self, cell: u32) {
        let index = cell as usize;
        let in_flight = &mut self.in_flight[index];
        if *in_flight < IN_FLIGHT_MAX {
            debug_assert!(*in_flight > 0, "a packet in flight was counted");
            *in_flight -= 1;
            self.load[usize::from(self.pipelines[index])] -= 1;
        }
    }

    /// Says whether no packet is in flight for a cell.
    #[inline]
    pub fn is_idle(&self, cell: u32) -> bool {
        self.in_flight[cell as usize] == 0
    }

    /// Says whether a cell's in-flight counter was full.
    pub fn is_pinned(&self, cell: u32) -> bool {
        self.in_flight[cell as usize] == IN_FLIGHT_MAX
    }

    /// Makes a cell active in another pipeline.
    pub fn activate(&mut self, cell: u32, to: usize) {
        let index = cell as usize;
        let in_flight = u32::from(self.in_flight[index]);
        self.load[usize::from(self.pipelines[index])] -= in_flight;
        self.load[to] += in_flight;
        self.pipelines[index] = to as u8;
    }

    /// Notes an access. Says whether a later packet accessed the cell before, which breaks C1.
    #[inline]
    pub fn access(&mut self, cell: u32, packet: u64) -> bool {
        let last = &mut self.last[cell as usize];
        let is_late = *last > packet + 1;
        *last = (*last).max(packet + 1);
        is_late
    }

    /// Returns the packets in flight of all cells; full counters count as 0, because they no longer know.
    pub fn total_in_flight(&self) -> u64 {
        let known = self.in_flight.iter().filter(|count| **count < IN_FLIGHT_MAX);
        known.map(|count| u64::from(*count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_counters_stay_full() {
        let mut group = GroupCells::new(0, vec![0, 1], 2);
        for _ in 0..70_000 {
            group.resolve(1);
        }
        assert_eq!(group.accesses, [0, u16::MAX]);
        assert!(group.is_pinned(1) && !group.is_pinned(0));
        assert_eq!(group.pinned, [1]);
        for _ in 0..70_000 {
            group.release(1);
        }
        assert!(group.is_pinned(1) && !group.is_idle(1) && group.is_idle(0));
        assert_eq!(group.total_in_flight(), 0);
    }

    #[test]
    fn counters_below_their_limit_count() {
        let mut group = GroupCells::new(0, vec![0, 1], 2);
        for _ in 0..254 {
            group.resolve(0);
        }
        assert_eq!((group.total_in_flight(), group.load.clone()), (254, vec![254, 0]));
        group.activate(0, 1);
        for _ in 0..254 {
            group.release(0);
        }
        assert!(group.is_idle(0) && group.pinned.is_empty());
        assert_eq!(group.load, [0, 0]);
    }
}

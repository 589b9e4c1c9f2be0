// SPDX-License-Identifier: Apache-2.0
//! Figure 6 as hardware has it (`Remap::Scan`): a state machine for each group that reads the access counters of one cell a cycle, in
//! all pipelines at once. `rtl` emits the same machine, and the two agree cycle by cycle.
//!
//! A remap begins every so many cycles, if the one before is over. It freezes the counters of the epoch that ends, adds them up by
//! pipeline (a cycle a cell), finds the cell (a cycle a cell), and has one cycle to see that it can move. The in-flight counters that it
//! sees lack what left in the last cycles, so a cell moves only if nothing was in flight for it before them.

use super::Machine;
use super::candidate::{Candidate, candidate, sums};
use crate::trace::Recorder;
use crate::work::{Access, Work};

/// The cycles before a move from which on the cell must be without packets in flight: the registers between address resolution and
/// the stages, and one of the in-flight counters.
const SETTLED_CYCLES: u64 = 3;

/// Returns the cycles from the beginning of a remap to the first cycle in which the cell is elsewhere.
pub const fn scan_cycles(cells: u32) -> u64 {
    2 * cells as u64 + 1
}

/// A remap at work.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// The cycle in which the cell moves.
    end: u64,
    /// What it finds.
    found: Option<Found>,
}

/// The cell that moves.
#[derive(Clone, Copy, Debug)]
struct Found {
    cell: u32,
    from: usize,
    to: usize,
    /// No packet is in flight for it, and none was resolved to it since.
    is_settled: bool,
}

impl Scan {
    /// The next cycle, from `cycle` on, in which it does something.
    pub fn next_due(&self, cycle: u64) -> u64 {
        let settled = self.end.saturating_sub(SETTLED_CYCLES);
        if cycle <= settled { settled } else { self.end }
    }

    /// Notes that a packet is resolved to a cell.
    #[inline]
    pub fn resolve(&mut self, cell: u32) {
        if let Some(found) = &mut self.found
            && found.cell == cell
        {
            found.is_settled = false;
        }
    }
}

impl<P> Machine<P> {
    /// Runs the state machines of all groups for a cycle.
    pub(super) fn scan<W: Work<Packet = P>>(
        &mut self,
        is_due: bool,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        for index in 0..self.groups.len() {
            let group = &self.groups[index];
            let cells = group.pipelines.len() as u32;
            if cells < 2 {
                continue;
            }
            if let Some(scan) = &mut self.remaps.scans[index] {
                if let Some(found) = &mut scan.found
                    && self.cycle + SETTLED_CYCLES == scan.end
                {
                    found.is_settled = group.is_idle(found.cell);
                }
                if self.cycle == scan.end {
                    let found = scan.found;
                    self.remaps.scans[index] = None;
                    if let Some(Found { cell, from, to, is_settled: true }) = found
                        && self.is_active(Access { group: index as u32, cell }, from)
                    {
                        self.measures.remaps += 1;
                        let access = Access { group: index as u32, cell };
                        self.activate(access, from, to, work, recorder);
                    }
                }
            }
            if is_due && self.remaps.scans[index].is_none() {
                let group = &mut self.groups[index];
                let sums = sums(group, self.settings.pipelines);
                let found = candidate(group, &sums, false, 0);
                group.accesses.fill(0);
                self.remaps.scans[index] = Some(Scan {
                    end: self.cycle + scan_cycles(cells),
                    found: found.map(|Candidate { cell, from, to }| Found {
                        cell,
                        from,
                        to,
                        is_settled: false,
                    }),
                });
            }
        }
    }
}

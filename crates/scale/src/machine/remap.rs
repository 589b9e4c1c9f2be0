// SPDX-License-Identifier: Apache-2.0
//! Cells that move between pipelines at intervals: MP5's Figure 6, and a form that moves several cells with their entries.

use super::Machine;
use super::candidate::{Candidate, candidate, sums};
use super::queue::Content;
use super::scan::Scan;
use crate::design::{Design, Figure6, Remap};
use crate::trace::{Kind, Recorder};
use crate::work::{Access, Work};

/// When cells move next, and which have moved in this cycle.
pub struct Remaps {
    /// The number of cycles between two remaps; nothing if cells never move at intervals.
    every: Option<u64>,
    /// The cycle of the next remap.
    due: u64,
    /// Groups that try again in each cycle.
    retrying: Vec<bool>,
    /// State machines at work, by group.
    pub(super) scans: Vec<Option<Scan>>,
    /// Pipelines that a cell left by touch in this cycle, and pipelines that one entered, as bits by group.
    touched: Vec<(u64, u64)>,
    /// Any bit of `touched` is set.
    is_touched: bool,
}

impl Remaps {
    /// The remaps of a design.
    pub fn new(design: &Design, groups: usize) -> Remaps {
        let every = match design.remap {
            Remap::Never => None,
            Remap::Figure6(Figure6 { every, .. })
            | Remap::Fly { every, .. }
            | Remap::Scan { every } => Some(every.max(1)),
        };
        Remaps {
            every,
            due: every.unwrap_or(0),
            retrying: vec![false; groups],
            scans: vec![None; groups],
            touched: vec![(0, 0); groups],
            is_touched: false,
        }
    }

    /// The cycle of the next remap, from `cycle` on.
    pub fn next_due(&self, cycle: u64) -> Option<u64> {
        self.every?;
        if self.retrying.contains(&true) {
            return Some(cycle);
        }
        let next = self.scans.iter().flatten().map(|scan| scan.next_due(cycle)).min();
        Some(next.map_or(self.due, |next| next.min(self.due)))
    }

    /// Leaves out remaps before a cycle.
    pub fn skip(&mut self, cycle: u64) {
        if let Some(every) = self.every
            && self.due < cycle
        {
            self.due = cycle.next_multiple_of(every);
            self.retrying.fill(false);
        }
    }

    /// Forgets the touches of the last cycle.
    pub fn begin_cycle(&mut self) {
        if std::mem::take(&mut self.is_touched) {
            self.touched.fill((0, 0));
        }
    }

    /// Says whether a cell of a group may still move by touch between two pipelines in this cycle, and notes that it does.
    pub fn admit_touch(&mut self, group: u32, from: usize, to: usize) -> bool {
        let (left, entered) = &mut self.touched[group as usize];
        let is_free = *left & (1 << from) == 0 && *entered & (1 << to) == 0;
        if is_free {
            *left |= 1 << from;
            *entered |= 1 << to;
            self.is_touched = true;
        }
        is_free
    }
}

impl<P> Machine<P> {
    /// Moves the cells that move at the beginning of this cycle.
    pub(super) fn remap<W: Work<Packet = P>>(
        &mut self,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        let Some(every) = self.remaps.every else { return };
        let is_due = self.cycle >= self.remaps.due;
        if is_due {
            self.remaps.due = (self.cycle + 1).next_multiple_of(every);
        }
        match self.design.remap {
            Remap::Never => {}
            Remap::Scan { .. } => self.scan(is_due, work, recorder),
            Remap::Figure6(figure) => self.remap_one(figure, is_due, work, recorder),
            Remap::Fly { cells, significance, .. } => {
                if is_due {
                    self.remap_several(cells, significance, work, recorder);
                }
            }
        }
    }

    /// Figure 6 for each group.
    fn remap_one<W: Work<Packet = P>>(
        &mut self,
        figure: Figure6,
        is_due: bool,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        for index in 0..self.groups.len() {
            if !is_due && !self.remaps.retrying[index] {
                continue;
            }
            let group = &self.groups[index];
            let sums = sums(group, self.settings.pipelines);
            let mut has_moved = false;
            if let Some(Candidate { cell, from, to }) =
                candidate(group, &sums, figure.takes_half, figure.significance)
            {
                let access = Access { group: index as u32, cell };
                if self.can_move(access) {
                    self.measures.remaps += 1;
                    self.activate(access, from, to, work, recorder);
                    has_moved = true;
                }
            }
            self.remaps.retrying[index] = figure.retries && !has_moved;
            if !self.remaps.retrying[index] {
                self.groups[index].accesses.fill(0);
            }
        }
    }

    /// Says whether a cell is still where a scan found it.
    pub(super) fn is_active(&self, access: Access, pipeline: usize) -> bool {
        let group = &self.groups[access.group as usize];
        usize::from(group.pipelines[access.cell as usize]) == pipeline
    }

    /// Says whether a cell may move: no packet is in flight for it.
    fn can_move(&self, access: Access) -> bool {
        let group = &self.groups[access.group as usize];
        if self.design.mechanisms.in_flight_check {
            group.is_idle(access.cell)
        } else {
            !group.is_pinned(access.cell)
        }
    }

    /// Figure 6 for several cells of each group, with their entries.
    fn remap_several<W: Work<Packet = P>>(
        &mut self,
        cells: usize,
        significance: u32,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        for index in 0..self.groups.len() {
            let mut sums = sums(&self.groups[index], self.settings.pipelines);
            for _ in 0..cells {
                let group = &self.groups[index];
                let Some(Candidate { cell, from, to }) =
                    candidate(group, &sums, true, significance)
                else {
                    break;
                };
                let count = group.accesses[cell as usize];
                let access = Access { group: index as u32, cell };
                if count == 0 || !self.move_with_entries(access, from, to, recorder) {
                    break;
                }
                sums[from] -= u64::from(count);
                sums[to] += u64::from(count);
                self.measures.remaps += 1;
                self.activate(access, from, to, work, recorder);
            }
            self.groups[index].accesses.fill(0);
        }
    }

    /// Moves the entries of a cell. Says whether there was room for them.
    fn move_with_entries(
        &mut self,
        access: Access,
        from: usize,
        to: usize,
        recorder: &mut impl Recorder,
    ) -> bool {
        let stage = self.groups[access.group as usize].stage;
        let Some(queues) = &mut self.banks[stage] else { return false };
        let Some(places) = queues.bank.move_cell(access, from, to) else { return false };
        for (entry, place) in places {
            if entry.flight == super::flights::NONE {
                continue;
            }
            let flight = self.flights.get_mut(entry.flight);
            flight.accesses[usize::from(entry.index)].place = Some(place);
            if entry.access == access && matches!(entry.content, Content::Packet { .. }) {
                let packet = flight.sequence;
                recorder.record(self.cycle, Kind::MovedWithCell { packet, stage, from, to });
            }
        }
        true
    }

    /// Makes a cell active in another pipeline, map and values in one cycle.
    pub(super) fn activate<W: Work<Packet = P>>(
        &mut self,
        access: Access,
        from: usize,
        to: usize,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        recorder.record(self.cycle, Kind::Remapped { access, from, to });
        work.move_cell(access, from, to);
        self.groups[access.group as usize].activate(access.cell, to);
    }
}

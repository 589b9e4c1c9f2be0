// SPDX-License-Identifier: Apache-2.0
//! The judge: compares a run of a machine with the same packets on one pipeline, in the order of arrival (MP5 §2.2.1). It compares
//! all cells, all packets, and for each cell the order of accesses (C1, MP5 §3).

use crate::machine::outcome::{Arrival, Cause, Made, Outcome};
use crate::work::{Access, Comparable, Work};

/// A run on one pipeline.
#[derive(Clone, Debug)]
pub struct Reference<P> {
    /// The packets as they left, in the order of arrival; nothing for packets that the program dropped.
    pub packets: Vec<Option<P>>,
    /// All accesses in order: the accesses of one packet after those of the other.
    pub accesses: Vec<Made>,
    /// For each packet the end of its accesses in `accesses`.
    pub ends: Vec<usize>,
    /// The cycle in which each packet arrived.
    pub arrivals: Vec<u64>,
}

impl<P> Reference<P> {
    /// The accesses of a packet.
    pub fn accesses_of(&self, packet: usize) -> &[Made] {
        let first = if packet == 0 { 0 } else { self.ends[packet - 1] };
        &self.accesses[first..self.ends[packet]]
    }

    /// The number of accesses of each cell, by group.
    pub fn counts(&self, groups: &[crate::work::Group]) -> Vec<Vec<u64>> {
        let mut counts: Vec<Vec<u64>> =
            groups.iter().map(|group| vec![0; group.cells as usize]).collect();
        for made in &self.accesses {
            counts[made.access.group as usize][made.access.cell as usize] += 1;
        }
        counts
    }
}

/// Runs packets on one pipeline, one after the other. `work` has one pipeline. The arrivals are in any order; packets are numbered
/// in the order of (cycle, port).
pub fn reference<W: Work>(work: &mut W, arrivals: &[Arrival<W::Packet>]) -> Reference<W::Packet>
where
    W::Packet: Clone,
{
    let mut order: Vec<&Arrival<W::Packet>> = arrivals.iter().collect();
    order.sort_by_key(|arrival| (arrival.cycle, arrival.port));
    let stages = work.stages();
    let group_stages: Vec<usize> = work.groups().iter().map(|group| group.stage).collect();
    let mut run = Reference {
        packets: Vec::with_capacity(order.len()),
        accesses: Vec::new(),
        ends: Vec::with_capacity(order.len()),
        arrivals: order.iter().map(|arrival| arrival.cycle).collect(),
    };
    let mut resolved = Vec::new();
    for (sequence, arrival) in order.iter().enumerate() {
        let mut packet = arrival.packet.clone();
        resolved.clear();
        work.resolve(&mut packet, &mut resolved);
        let mut cancelled = 0_u64;
        let mut next = 0;
        let mut is_dropped = false;
        for stage in 0..stages {
            while let Some(access) = resolved.get(next)
                && group_stages[access.group as usize] <= stage
            {
                if cancelled >> next & 1 == 0 {
                    run.accesses.push(Made { access: *access, sequence: sequence as u64 });
                }
                next += 1;
            }
            let outcome = work.run(stage, 0, &mut packet);
            cancelled |= outcome.cancelled;
            if outcome.is_dropped {
                is_dropped = true;
                break;
            }
        }
        run.ends.push(run.accesses.len());
        run.packets.push((!is_dropped).then_some(packet));
    }
    run
}

/// What the judge found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Cells whose values differ, in order.
    pub cells: Vec<Access>,
    /// Packets whose contents differ, or that only one of the runs dropped, in order. Lost packets are not among them.
    pub packets: Vec<u64>,
    /// Packets that the machine lost: dropped for want of room, or left in it at the end.
    pub lost: Vec<u64>,
    /// Cells that other packets accessed, or in another order, in order of cells.
    pub accesses: Vec<Access>,
}

impl Verdict {
    /// Says whether the run is functionally equivalent to one pipeline: nothing lost, no difference.
    pub fn is_equivalent(&self) -> bool {
        self == &Verdict::default()
    }
}

/// Compares a machine's run with the reference. `work` is the machine's, `single` the reference's. The machine's outcome must have
/// its accesses.
pub fn judge<W: Comparable>(
    work: &W,
    outcome: &Outcome<W::Packet>,
    single: &mut W,
    reference: &Reference<W::Packet>,
) -> Verdict
where
    W::Packet: Clone,
{
    let mut verdict = Verdict::default();
    /// What became of a packet.
    #[derive(Clone, Copy)]
    enum End {
        Left(usize),
        Dropped,
        Lost,
    }
    let mut ends = vec![End::Lost; reference.packets.len()];
    for (index, departure) in outcome.departures.iter().enumerate() {
        ends[departure.sequence as usize] = End::Left(index);
    }
    for dropped in outcome.dropped.iter().filter(|dropped| dropped.cause == Cause::Program) {
        ends[dropped.sequence as usize] = End::Dropped;
    }
    for (sequence, (end, expected)) in ends.iter().zip(&reference.packets).enumerate() {
        let is_same = match (end, expected) {
            (End::Lost, _) => {
                verdict.lost.push(sequence as u64);
                continue;
            }
            (End::Left(index), Some(expected)) => {
                let departure = &outcome.departures[*index];
                if departure.is_marked {
                    let mut expected = expected.clone();
                    single.mark_congestion(&mut expected);
                    work.is_same_packet(&departure.packet, &expected)
                } else {
                    work.is_same_packet(&departure.packet, expected)
                }
            }
            (End::Dropped, None) => true,
            (End::Left(_), None) | (End::Dropped, Some(_)) => false,
        };
        if !is_same {
            verdict.packets.push(sequence as u64);
        }
    }
    for (group, cells) in outcome.map.iter().enumerate() {
        for (cell, pipeline) in cells.iter().enumerate() {
            let access = Access { group: group as u32, cell: cell as u32 };
            if !work.is_same_cell(access, usize::from(*pipeline), single) {
                verdict.cells.push(access);
            }
        }
    }
    let cells: Vec<usize> = outcome.map.iter().map(Vec::len).collect();
    let made = by_cell(&outcome.accesses, &cells);
    let expected = by_cell(&reference.accesses, &cells);
    verdict.accesses = differing_cells(&made, &expected);
    verdict
}

/// Accesses sorted by cell, those of a cell in their order: a counting sort.
fn by_cell(accesses: &[Made], cells: &[usize]) -> Vec<Made> {
    let mut first = Vec::with_capacity(cells.len());
    let mut count = 0;
    for group in cells {
        first.push(count);
        count += group;
    }
    let place = |made: &Made| first[made.access.group as usize] + made.access.cell as usize;
    let mut starts = vec![0_usize; count + 1];
    for made in accesses {
        starts[place(made) + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let none = Made { access: Access { group: 0, cell: 0 }, sequence: 0 };
    let mut sorted = vec![none; accesses.len()];
    for made in accesses {
        let start = &mut starts[place(made)];
        sorted[*start] = *made;
        *start += 1;
    }
    sorted
}

/// Cells whose accesses differ between two lists that are sorted by cell.
fn differing_cells(made: &[Made], expected: &[Made]) -> Vec<Access> {
    if made == expected {
        return Vec::new();
    }
    let mut made = made.chunk_by(|one, other| one.access == other.access).peekable();
    let mut expected = expected.chunk_by(|one, other| one.access == other.access).peekable();
    let mut differing = Vec::new();
    loop {
        let access = match (made.peek(), expected.peek()) {
            (None, None) => return differing,
            (Some(one), None) => one[0].access,
            (None, Some(other)) => other[0].access,
            (Some(one), Some(other)) => one[0].access.min(other[0].access),
        };
        let one = made.next_if(|chunk| chunk[0].access == access);
        let other = expected.next_if(|chunk| chunk[0].access == access);
        if one != other {
            differing.push(access);
        }
    }
}

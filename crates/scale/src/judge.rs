// SPDX-License-Identifier: Apache-2.0
//! The judge: compares a run of a machine with the same packets on one pipeline, in the order of arrival (MP5 §2.2.1). It compares
//! all cells, all packets, and for each cell the order of accesses (C1, MP5 §3).

use crate::machine::outcome::{Arrival, Cause, Departure, Made, Outcome};
use crate::work::{Access, Comparable, Group, Work};

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
    pub fn counts(&self, groups: &[Group]) -> Vec<Vec<u64>> {
        counts(&self.accesses, groups)
    }
}

/// Returns the number of accesses of each cell, by group.
pub fn counts(accesses: &[Made], groups: &[Group]) -> Vec<Vec<u64>> {
    let mut counts: Vec<Vec<u64>> =
        groups.iter().map(|group| vec![0; group.cells as usize]).collect();
    for made in accesses {
        counts[made.access.group as usize][made.access.cell as usize] += 1;
    }
    counts
}

/// A run on one pipeline, one packet after the other.
#[derive(Clone, Debug)]
pub struct SingleRun {
    /// All accesses so far, in order: the accesses of one packet after those of the other.
    pub accesses: Vec<Made>,
    /// The number of packets so far.
    packets: u64,
    group_stages: Vec<usize>,
    resolved: Vec<Access>,
}

impl SingleRun {
    /// A run of a program without packets so far.
    pub fn new(work: &impl Work) -> SingleRun {
        let group_stages = work.groups().iter().map(|group| group.stage).collect();
        SingleRun { accesses: Vec::new(), packets: 0, group_stages, resolved: Vec::new() }
    }

    /// Runs the next packet. `work` has one pipeline. Returns the packet as it left; `None` if the program dropped it.
    pub fn run<W: Work>(&mut self, work: &mut W, mut packet: W::Packet) -> Option<W::Packet> {
        let SingleRun { accesses, group_stages, resolved, .. } = self;
        let sequence = self.packets;
        self.packets += 1;
        resolved.clear();
        work.resolve(&mut packet, resolved);
        let mut cancelled = 0_u64;
        let mut next = 0;
        for stage in 0..work.stages() {
            while let Some(access) = resolved.get(next)
                && group_stages[access.group as usize] <= stage
            {
                if cancelled >> next & 1 == 0 {
                    accesses.push(Made { access: *access, sequence });
                }
                next += 1;
            }
            let outcome = work.run(stage, 0, &mut packet);
            cancelled |= outcome.cancelled;
            if outcome.is_dropped {
                return None;
            }
        }
        Some(packet)
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
    let mut single = SingleRun::new(work);
    let (mut packets, mut ends) = (Vec::new(), Vec::new());
    for arrival in &order {
        packets.push(single.run(work, arrival.packet.clone()));
        ends.push(single.accesses.len());
    }
    let arrivals = order.iter().map(|arrival| arrival.cycle).collect();
    Reference { packets, accesses: single.accesses, ends, arrivals }
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
    /// The counters of all pipelines together have other values.
    pub has_other_counts: bool,
}

impl Verdict {
    /// Says whether the run is functionally equivalent to one pipeline: nothing lost, no difference.
    pub fn is_equivalent(&self) -> bool {
        self == &Verdict::default()
    }
}

/// How a packet left a machine.
#[derive(Debug)]
pub enum End<'p, P> {
    /// Behind the last stage.
    Left(&'p Departure<P>),
    /// The program dropped it.
    Dropped,
    /// The machine dropped it, or it is in the machine still.
    Lost,
}

impl Verdict {
    /// Compares a packet with the one that left one pipeline; `None` if the program dropped it there. `work` is the machine's,
    /// `single` the reference's. Packets come in any order; [`Verdict::finish`] sorts them.
    pub fn add_packet<W: Comparable>(
        &mut self,
        (work, single): (&W, &mut W),
        sequence: u64,
        end: &End<'_, W::Packet>,
        expected: Option<&W::Packet>,
    ) where
        W::Packet: Clone,
    {
        let is_same = match (end, expected) {
            (End::Lost, _) => {
                self.lost.push(sequence);
                return;
            }
            (End::Left(departure), Some(expected)) if departure.is_marked => {
                let mut expected = expected.clone();
                single.mark_congestion(&mut expected);
                work.is_same_packet(&departure.packet, &expected)
            }
            (End::Left(departure), Some(expected)) => {
                work.is_same_packet(&departure.packet, expected)
            }
            (End::Dropped, None) => true,
            (End::Left(_), None) | (End::Dropped, Some(_)) => false,
        };
        if !is_same {
            self.packets.push(sequence);
        }
    }

    /// Compares what is left at the end: all cells, and the order of the accesses of each. `map` has the pipeline of each cell of
    /// the machine.
    pub fn finish<W: Comparable>(
        &mut self,
        (work, single): (&W, &W),
        map: &[Vec<u8>],
        (made, expected): (&[Made], &[Made]),
    ) {
        self.packets.sort_unstable();
        self.lost.sort_unstable();
        for (group, cells) in map.iter().enumerate() {
            for (cell, pipeline) in cells.iter().enumerate() {
                let access = Access { group: group as u32, cell: cell as u32 };
                if !work.is_same_cell(access, usize::from(*pipeline), single) {
                    self.cells.push(access);
                }
            }
        }
        let cells: Vec<usize> = map.iter().map(Vec::len).collect();
        self.accesses = differing_cells(&by_cell(made, &cells), &by_cell(expected, &cells));
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
    let mut ends: Vec<End<'_, W::Packet>> = Vec::new();
    ends.resize_with(reference.packets.len(), || End::Lost);
    for departure in &outcome.departures {
        ends[departure.sequence as usize] = End::Left(departure);
    }
    for dropped in outcome.dropped.iter().filter(|dropped| dropped.cause == Cause::Program) {
        ends[dropped.sequence as usize] = End::Dropped;
    }
    for ((sequence, end), expected) in (0..).zip(&ends).zip(&reference.packets) {
        verdict.add_packet((work, single), sequence, end, expected.as_ref());
    }
    let accesses = (&outcome.accesses[..], &reference.accesses[..]);
    verdict.finish((work, single), &outcome.map, accesses);
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

// SPDX-License-Identifier: Apache-2.0
//! The links of a network: which ports they join, their state, and shortest paths over those that are up. `direction` says
//! what a link does to a frame.

mod direction;

use arithmetic::random::stream::Stream;
use direction::Direction;
pub use direction::{Carried, LinkOptions, LinkStatistics, Loss, LossModel};
use std::collections::{BTreeMap, VecDeque};

/// An end of a link: node and port.
pub type End = (u32, u32);

/// The purposes of a link's random numbers. Runs of Lucid programs number theirs beside these.
#[derive(Clone, Copy)]
enum Purpose {
    Jitter = 3,
    Loss = 4,
    Corruption = 7,
    Duplication = 8,
    Reordering = 9,
    LossState = 10,
}

impl Purpose {
    fn stream(self, seed: u64, direction: u32) -> Stream {
        Stream::new(seed, self as u64, u64::from(direction))
    }
}

/// The properties of a path of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathQuality {
    /// The sum of latencies, in picoseconds.
    pub latency_ps: u64,
    /// The sum of maximal jitters, in picoseconds.
    pub jitter_ps: u64,
    /// Whether a link may lose something.
    pub has_loss: bool,
    /// Whether frames may wait for a link.
    pub has_rate: bool,
}

impl PathQuality {
    fn and(self, link: &LinkOptions) -> PathQuality {
        PathQuality {
            latency_ps: self.latency_ps.saturating_add(link.latency_ps),
            jitter_ps: self.jitter_ps.saturating_add(link.jitter_ps),
            has_loss: self.has_loss || link.loss.may_lose(),
            has_rate: self.has_rate || link.sender_rate_bps.is_some(),
        }
    }
}

/// All links of a network.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Ports with links of each node, in order of port, with the direction's number.
    ports: Vec<Vec<(u32, u32)>>,
    directions: Vec<Direction>,
    seed: u64,
    /// First hop of the shortest path between two nodes, by (from, to); emptied when a link changes.
    hops: BTreeMap<(u32, u32), Option<u32>>,
    /// The same with every link up: whether links join the two.
    joined: BTreeMap<(u32, u32), Option<u32>>,
}

impl Links {
    /// No links. Random numbers derive from the seed and the number of the direction.
    pub fn new(seed: u64) -> Links {
        Links { seed, ..Links::default() }
    }

    /// Joins two ports by a link with equal directions. False if a port has a link already, or both are one port.
    pub fn connect(&mut self, ends: [End; 2], options: LinkOptions) -> bool {
        self.connect_directions(ends, [options, options])
    }

    /// Joins two ports by a link; the first options hold from the first end to the second. False as above.
    pub fn connect_directions(&mut self, ends: [End; 2], options: [LinkOptions; 2]) -> bool {
        if ends[0] == ends[1] || ends.iter().any(|end| self.direction(*end).is_some()) {
            return false;
        }
        for (from, to, options) in [(ends[0], ends[1], options[0]), (ends[1], ends[0], options[1])]
        {
            let number = self.directions.len() as u32;
            self.directions.push(Direction::new(to, options, self.seed, number));
            if self.ports.len() <= from.0 as usize {
                self.ports.resize(from.0 as usize + 1, Vec::new());
            }
            let ports = &mut self.ports[from.0 as usize];
            let at = ports.partition_point(|other| other.0 < from.1);
            ports.insert(at, (from.1, number));
        }
        self.hops.clear();
        self.joined.clear();
        true
    }

    fn direction(&self, from: End) -> Option<u32> {
        let ports = self.ports.get(from.0 as usize)?;
        let at = ports.binary_search_by_key(&from.1, |other| other.0).ok()?;
        Some(ports[at].1)
    }

    /// The other end of a port's link.
    pub fn other_end(&self, from: End) -> Option<End> {
        self.direction(from).map(|number| self.directions[number as usize].to())
    }

    /// Ports of a node that have links to other nodes, in order.
    pub fn ports_to_others(&self, node: u32) -> impl Iterator<Item = u32> {
        self.ports_of(node)
            .iter()
            .filter(move |(_, number)| self.directions[*number as usize].to().0 != node)
            .map(|(port, _)| *port)
    }

    /// Both ends of all links, in the order in which they were connected.
    pub fn ends(&self) -> impl Iterator<Item = [End; 2]> {
        self.directions.chunks_exact(2).map(|pair| [pair[1].to(), pair[0].to()])
    }

    fn ports_of(&self, node: u32) -> &[(u32, u32)] {
        self.ports.get(node as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Sends a message out of a port with a link: where it arrives. `departs_ps` is the time at which its last bit
    /// leaves, or, if the link has the sender's rate, at which it is ready to be sent.
    pub fn carry(
        &mut self,
        from: End,
        departs_ps: u64,
        length_bytes: impl FnOnce() -> u64,
    ) -> Option<(End, Result<Carried, Loss>)> {
        let number = self.direction(from)?;
        let direction = &mut self.directions[number as usize];
        Some((direction.to(), direction.carry(departs_ps, length_bytes)))
    }

    /// Sends a message to a node along a shortest path of links that are up (fewest links; of equal ones the lowest port
    /// at each node), one link after the other: when it arrives. `None` if no links join the two.
    pub fn carry_to_node(
        &mut self,
        from: u32,
        to: u32,
        departs_ps: u64,
        length_bytes: impl Fn() -> u64,
    ) -> Option<Result<u64, Loss>> {
        if from == to {
            return Some(Ok(departs_ps));
        }
        self.next_hop(from, to, false)?;
        let (mut at, mut time_ps) = (from, departs_ps);
        while at != to {
            let Some(number) = self.next_hop(at, to, true) else {
                return Some(Err(Loss::Down));
            };
            let direction = &mut self.directions[number as usize];
            match direction.carry(time_ps, &length_bytes) {
                Ok(carried) => (at, time_ps) = (direction.to().0, carried.arrives_ps),
                Err(reason) => return Some(Err(reason)),
            }
        }
        Some(Ok(time_ps))
    }

    /// The port that the path of [`Links::carry_to_node`] begins with; where no path is up, the one that
    /// it would begin with if every link were. `None` if no links join the two.
    pub fn port_to_node(&mut self, from: u32, to: u32) -> Option<u32> {
        let joined = self.next_hop(from, to, false)?;
        let number = self.next_hop(from, to, true).unwrap_or(joined);
        self.ports_of(from)
            .iter()
            .find(|(_, direction)| *direction == number)
            .map(|(port, _)| *port)
    }

    /// The direction to take first from one node to another.
    fn next_hop(&mut self, from: u32, to: u32, only_up: bool) -> Option<u32> {
        let known = if only_up { &self.hops } else { &self.joined };
        if let Some(hop) = known.get(&(from, to)) {
            return *hop;
        }
        // Breadth first from the beginning, keeping the first link of each path.
        let mut first: BTreeMap<u32, Option<u32>> = BTreeMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            let begun = first.get(&node).copied().flatten();
            for (_, number) in self.ports_of(node) {
                let direction = &self.directions[*number as usize];
                let next = direction.to().0;
                if (direction.is_up() || !only_up) && !first.contains_key(&next) {
                    first.insert(next, begun.or(Some(*number)));
                    queue.push_back(next);
                }
            }
        }
        let found = first.get(&to).copied().flatten();
        let known = if only_up { &mut self.hops } else { &mut self.joined };
        for (reached, hop) in first {
            known.insert((from, reached), hop);
        }
        known.entry((from, to)).or_insert(found);
        found
    }

    /// Takes the link at an end down or up, in both directions, now. What left before still arrives. `None` if there is
    /// no link, else its other end.
    pub fn set_up(&mut self, end: End, is_up: bool, now_ps: u64) -> Option<End> {
        let number = self.direction(end)?;
        let other = self.directions[number as usize].to();
        // Directions of one link are neighbours.
        for number in [number, number ^ 1] {
            self.directions[number as usize].set_up(is_up, now_ps);
        }
        self.hops.clear();
        Some(other)
    }

    /// Whether the link at an end was down when what arrives now left, though it was up when the sender handed it over.
    pub fn was_down_at(&self, from: End, departed_ps: u64) -> bool {
        self.direction(from)
            .is_some_and(|number| self.directions[number as usize].was_down_at(departed_ps))
    }

    /// Counts as lost what [`Links::was_down_at`] found.
    pub fn count_lost_on_departure(&mut self, from: End, length_bytes: u64) {
        if let Some(number) = self.direction(from) {
            self.directions[number as usize].count_lost_on_departure(length_bytes);
        }
    }

    /// The properties of the link at a port, if it is up; `None` without a link.
    pub fn link_quality(&self, from: End) -> Option<Option<PathQuality>> {
        let direction = &self.directions[self.direction(from)? as usize];
        Some(direction.is_up().then(|| PathQuality::default().and(direction.options())))
    }

    /// The properties of the path to a node, if all of it is up; `None` if no links join the two. The path is that of
    /// [`Links::carry_to_node`].
    pub fn path_quality(&mut self, from: u32, to: u32) -> Option<Option<PathQuality>> {
        if from == to {
            return Some(Some(PathQuality::default()));
        }
        self.next_hop(from, to, false)?;
        let (mut at, mut quality) = (from, PathQuality::default());
        while at != to {
            let Some(number) = self.next_hop(at, to, true) else { return Some(None) };
            let direction = &self.directions[number as usize];
            (at, quality) = (direction.to().0, quality.and(direction.options()));
        }
        Some(Some(quality))
    }

    /// The first link that is down on the path from one node to another that a message would take if every link were
    /// up. `None` if none is down, or no other path is up.
    pub fn detour(&mut self, from: u32, to: u32) -> Option<[End; 2]> {
        if from == to {
            return None;
        }
        self.next_hop(from, to, true)?;
        let mut at = from;
        while at != to {
            let number = self.next_hop(at, to, false)?;
            let direction = &self.directions[number as usize];
            if !direction.is_up() {
                let port = self.ports_of(at).iter().find(|(_, own)| *own == number)?.0;
                return Some([(at, port), direction.to()]);
            }
            at = direction.to().0;
        }
        None
    }

    /// The options of the direction that leaves a port.
    pub fn options(&self, from: End) -> Option<&LinkOptions> {
        self.direction(from).map(|number| self.directions[number as usize].options())
    }

    /// The counters of the direction that leaves a port.
    pub fn statistics(&self, from: End) -> Option<LinkStatistics> {
        self.direction(from).map(|number| self.directions[number as usize].statistics())
    }
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0
//! The topology of a run: which ports are linked, what a link does to an event (latency, jitter, rate, loss,
//! failure), and shortest paths for events that name a switch and no port.

use super::observation::DropReason;
use super::random::{Purpose, Stream};
use std::collections::{BTreeMap, VecDeque};

/// An end of a link: switch and port.
pub type End = (u32, u32);

/// The properties of a link, equal in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkQuality {
    /// The latency, in picoseconds.
    pub latency_ps: u64,
    /// The maximal jitter, in picoseconds.
    pub(crate) jitter_ps: u64,
    /// Probability of loss, 0 to 1.
    pub(crate) loss: f64,
    pub(crate) rate_bps: Option<u64>,
}

/// The properties of a link or a path of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathQuality {
    /// The latency, in picoseconds.
    pub latency_ps: u64,
    pub(crate) jitter_ps: u64,
    pub(crate) has_loss: bool,
    pub(crate) has_rate: bool,
}

impl PathQuality {
    fn and(self, link: &LinkQuality) -> PathQuality {
        PathQuality {
            latency_ps: self.latency_ps.saturating_add(link.latency_ps),
            jitter_ps: self.jitter_ps.saturating_add(link.jitter_ps),
            has_loss: self.has_loss || link.loss > 0.0,
            has_rate: self.has_rate || link.rate_bps.is_some_and(|rate_bps| rate_bps > 0),
        }
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
struct Direction {
    to: End,
    quality: LinkQuality,
    is_up: bool,
    busy_until_ps: u64,
    jitter: Stream,
    loss: Stream,
}

impl Direction {
    /// When a message that is sent now arrives, or why it does not.
    fn carry(
        &mut self,
        now_ps: u64,
        length_bytes: impl FnOnce() -> u64,
    ) -> Result<u64, DropReason> {
        if !self.is_up {
            return Err(DropReason::LinkDown);
        }
        if self.loss.chance(self.quality.loss) {
            return Err(DropReason::Loss);
        }
        let sent_ps = match self.quality.rate_bps {
            None | Some(0) => now_ps,
            Some(rate_bps) => {
                let bits = u128::from(length_bytes()) * 8 * 1_000_000_000_000;
                let duration_ps = bits.div_ceil(u128::from(rate_bps));
                let duration_ps = u64::try_from(duration_ps).unwrap_or(u64::MAX);
                self.busy_until_ps = now_ps.max(self.busy_until_ps).saturating_add(duration_ps);
                self.busy_until_ps
            }
        };
        let late_ps = spread_ps(&mut self.jitter, self.quality.jitter_ps);
        Ok(sent_ps.saturating_add(self.quality.latency_ps).saturating_add(late_ps))
    }
}

/// A random time from 0 to `range_ps`, in whole nanoseconds if the range is.
pub(crate) fn spread_ps(stream: &mut Stream, range_ps: u64) -> u64 {
    if range_ps.is_multiple_of(1000) {
        stream.up_to(range_ps / 1000) * 1000
    } else {
        stream.up_to(range_ps)
    }
}

/// All links.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Ports with links of each switch, in order of port, with the direction's number.
    ports: Vec<Vec<(u32, u32)>>,
    directions: Vec<Direction>,
    ends: BTreeMap<End, u32>,
    /// First hop of the shortest path between two switches, by (from, to); emptied when a link changes.
    hops: BTreeMap<(u32, u32), Option<u32>>,
    /// The same with every link up: whether there is a path by the specification.
    joined: BTreeMap<(u32, u32), Option<u32>>,
}

impl Topology {
    /// Links between ends, each used once.
    pub(crate) fn new(switches: u32, links: &[([End; 2], LinkQuality)], seed: u64) -> Topology {
        let mut topology = Topology {
            ports: vec![Vec::new(); switches as usize],
            directions: Vec::new(),
            ends: BTreeMap::new(),
            hops: BTreeMap::new(),
            joined: BTreeMap::new(),
        };
        for (ends, quality) in links {
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                if topology.ends.contains_key(&from) {
                    continue;
                }
                let number = topology.directions.len() as u32;
                topology.directions.push(Direction {
                    to,
                    quality: *quality,
                    is_up: true,
                    busy_until_ps: 0,
                    jitter: Stream::new(seed, Purpose::Jitter, u64::from(number)),
                    loss: Stream::new(seed, Purpose::Loss, u64::from(number)),
                });
                topology.ends.insert(from, number);
                if let Some(ports) = topology.ports.get_mut(from.0 as usize) {
                    let at = ports.partition_point(|other| other.0 < from.1);
                    ports.insert(at, (from.1, number));
                }
            }
        }
        topology
    }

    fn direction(&self, from: End) -> Option<u32> {
        let ports = self.ports.get(from.0 as usize)?;
        let at = ports.binary_search_by_key(&from.1, |other| other.0).ok()?;
        Some(ports[at].1)
    }

    /// The other end of a port's link.
    pub fn other_end(&self, from: End) -> Option<End> {
        self.direction(from).map(|number| self.directions[number as usize].to)
    }

    /// Ports of a switch that have links to other switches.
    pub fn ports_to_others(&self, switch: u32) -> impl Iterator<Item = u32> {
        let ports = self.ports.get(switch as usize).map(Vec::as_slice).unwrap_or_default();
        let elsewhere = move |number: u32| self.directions[number as usize].to.0 != switch;
        ports.iter().filter(move |(_, number)| elsewhere(*number)).map(|(port, _)| *port)
    }

    /// Sends a message out of a port with a link.
    pub fn carry(
        &mut self,
        from: End,
        now_ps: u64,
        length_bytes: impl FnOnce() -> u64,
    ) -> Option<Result<(End, u64), DropReason>> {
        let number = self.direction(from)?;
        let direction = &mut self.directions[number as usize];
        let to = direction.to;
        Some(direction.carry(now_ps, length_bytes).map(|arrives_ps| (to, arrives_ps)))
    }

    /// Sends a message to a switch along a shortest path of links that are up (fewest links; of
    /// equal ones the lowest port at each switch), one link after the other. `None` if the
    /// specification's links do not join the two.
    pub fn carry_to_switch(
        &mut self,
        from: u32,
        to: u32,
        now_ps: u64,
        length_bytes: impl Fn() -> u64,
    ) -> Option<Result<u64, DropReason>> {
        if from == to {
            return Some(Ok(now_ps));
        }
        self.next_hop(from, to, false)?;
        let (mut at, mut time_ps) = (from, now_ps);
        while at != to {
            let Some(number) = self.next_hop(at, to, true) else {
                return Some(Err(DropReason::LinkDown));
            };
            let direction = &mut self.directions[number as usize];
            match direction.carry(time_ps, &length_bytes) {
                Ok(arrives_ps) => (at, time_ps) = (direction.to.0, arrives_ps),
                Err(reason) => return Some(Err(reason)),
            }
        }
        Some(Ok(time_ps))
    }

    /// The port that the path of [`Topology::carry_to_switch`] begins with; where no path is up, the one that
    /// it would begin with if every link were. `None` if the specification's links do not join the two.
    pub fn port_to_switch(&mut self, from: u32, to: u32) -> Option<u32> {
        let joined = self.next_hop(from, to, false)?;
        let number = self.next_hop(from, to, true).unwrap_or(joined);
        let ports = self.ports.get(from as usize)?;
        ports.iter().find(|(_, direction)| *direction == number).map(|(port, _)| *port)
    }

    /// The direction to take first from one switch to another.
    fn next_hop(&mut self, from: u32, to: u32, only_up: bool) -> Option<u32> {
        let known = if only_up { &self.hops } else { &self.joined };
        if let Some(hop) = known.get(&(from, to)) {
            return *hop;
        }
        // Breadth first from the beginning, keeping the first link of each path.
        let mut first: BTreeMap<u32, Option<u32>> = BTreeMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(switch) = queue.pop_front() {
            let begun = first.get(&switch).copied().flatten();
            for (_, number) in self.ports.get(switch as usize).into_iter().flatten() {
                let direction = &self.directions[*number as usize];
                let next = direction.to.0;
                if (direction.is_up || !only_up) && !first.contains_key(&next) {
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

    /// Takes the link at an end down or up, in both directions; messages in flight still arrive.
    /// False if there is none.
    pub fn set_up(&mut self, end: End, is_up: bool) -> bool {
        let Some(number) = self.direction(end) else { return false };
        let other = self.directions[number as usize].to;
        self.directions[number as usize].is_up = is_up;
        if let Some(back) = self.direction(other) {
            self.directions[back as usize].is_up = is_up;
        }
        self.hops.clear();
        true
    }

    /// The properties of the link at a port, if it is up; `None` without a link.
    pub(crate) fn link_quality(&self, from: End) -> Option<Option<PathQuality>> {
        let direction = &self.directions[self.direction(from)? as usize];
        Some(direction.is_up.then(|| PathQuality::default().and(&direction.quality)))
    }

    /// The properties of the path to a switch, if all of it is up; `None` if there is no path by the
    /// specification. The path is that of [`Topology::carry_to_switch`].
    pub(crate) fn path_quality(&mut self, from: u32, to: u32) -> Option<Option<PathQuality>> {
        if from == to {
            return Some(Some(PathQuality::default()));
        }
        self.next_hop(from, to, false)?;
        let (mut at, mut quality) = (from, PathQuality::default());
        while at != to {
            let Some(number) = self.next_hop(at, to, true) else { return Some(None) };
            let direction = &self.directions[number as usize];
            (at, quality) = (direction.to.0, quality.and(&direction.quality));
        }
        Some(Some(quality))
    }

    /// The first link that is down on the path from one switch to another that a message would take if every link
    /// were up. `None` if none is down, or no other path is up.
    pub(crate) fn detour(&mut self, from: u32, to: u32) -> Option<[End; 2]> {
        if from == to {
            return None;
        }
        self.next_hop(from, to, true)?;
        let mut at = from;
        while at != to {
            let number = self.next_hop(at, to, false)?;
            let direction = &self.directions[number as usize];
            if !direction.is_up {
                let port = self.ports.get(at as usize)?.iter().find(|(_, own)| *own == number)?.0;
                return Some([(at, port), direction.to]);
            }
            at = direction.to.0;
        }
        None
    }

    /// Latency of the link at a port.
    pub fn latency_ps(&self, from: End) -> Option<u64> {
        self.direction(from).map(|number| self.directions[number as usize].quality.latency_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: LinkQuality =
        LinkQuality { latency_ps: 1000, jitter_ps: 0, loss: 0.0, rate_bps: None };

    /// 0 - 1 - 2 and 0 - 2 directly by a link that is slow.
    fn triangle() -> Topology {
        let slow = LinkQuality { latency_ps: 9000, ..PLAIN };
        let links =
            [([(0, 1), (1, 0)], PLAIN), ([(1, 2), (2, 1)], PLAIN), ([(0, 2), (2, 0)], slow)];
        Topology::new(4, &links, 0)
    }

    #[test]
    fn paths_avoid_links_that_are_down() {
        let mut topology = triangle();
        assert_eq!(topology.carry_to_switch(0, 2, 0, || 64), Some(Ok(9000)));
        assert!(topology.set_up((2, 0), false));
        assert_eq!(topology.carry_to_switch(0, 2, 0, || 64), Some(Ok(2000)));
        assert!(topology.set_up((1, 0), false));
        assert_eq!(topology.carry_to_switch(0, 2, 0, || 64), Some(Err(DropReason::LinkDown)));
        assert!(topology.set_up((0, 1), true));
        assert_eq!(topology.carry_to_switch(0, 2, 5, || 64), Some(Ok(2005)));
        assert_eq!(topology.carry_to_switch(0, 3, 0, || 64), None);
        assert!(!topology.set_up((3, 0), false));
    }

    #[test]
    fn a_detour_names_the_link_that_is_down() {
        let mut topology = triangle();
        assert_eq!(topology.detour(0, 2), None);
        topology.set_up((2, 0), false);
        assert_eq!(topology.detour(0, 2), Some([(0, 2), (2, 0)]));
        assert_eq!(topology.detour(2, 0), Some([(2, 0), (0, 2)]));
        assert_eq!(topology.detour(0, 1), None);
        // Without another path it is lost.
        topology.set_up((1, 0), false);
        assert_eq!(topology.detour(0, 2), None);
        assert_eq!(topology.detour(0, 3), None);
    }

    #[test]
    fn a_rate_spaces_messages() {
        let slow = LinkQuality { rate_bps: Some(8_000_000_000), ..PLAIN };
        let mut topology = Topology::new(2, &[([(0, 7), (1, 3)], slow)], 0);
        assert_eq!(topology.carry((0, 7), 0, || 1), Some(Ok(((1, 3), 2000))));
        assert_eq!(topology.carry((0, 7), 0, || 1), Some(Ok(((1, 3), 3000))));
        assert_eq!(topology.carry((1, 3), 0, || 1), Some(Ok(((0, 7), 2000))));
        assert_eq!(topology.carry((1, 4), 0, || 1), None);
        assert_eq!(topology.ports_to_others(0).collect::<Vec<_>>(), [7]);
    }
}

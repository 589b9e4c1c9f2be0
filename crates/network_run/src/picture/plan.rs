// SPDX-License-Identifier: Apache-2.0
//! [`Plan`]: what a picture of a topology is laid out from: switches in tiers above their hosts if the links allow it, else
//! in a chain; at which side of its box each link ends; how large boxes are.

use crate::numbering::node_id;
use network_file::model::Network;
use std::collections::VecDeque;

/// A side of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Top,
    Bottom,
    Left,
    Right,
}

/// How switches are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// In rows by their distance from hosts, hosts at the bottom.
    Tiers,
    /// From left to right by their distance from the first switch, hosts below.
    Chain,
    /// Two switches with their hosts at the left and right.
    Dumbbell,
}

/// Nodes by number, switches first, and how they are arranged.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) arrangement: Arrangement,
    /// Of each switch its row from the bottom, or its place in the chain.
    pub(super) rank: Vec<u32>,
    /// Of each host the switch that it stands with.
    pub(super) owner: Vec<Option<usize>>,
    /// Of each switch its hosts.
    pub(super) hosts_of: Vec<Vec<usize>>,
    /// The nodes at the ends of each link, and the sides of their boxes.
    pub(super) ends: Vec<[(usize, Side); 2]>,
    /// Width and height of the box of each node.
    pub(super) sizes: Vec<(f64, f64)>,
    /// The distance of two links at a side of each node.
    pub(super) pitch: Vec<f64>,
}

/// The width of a text in a font of 11.5 pixels, a little too wide rather than too narrow.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.9
}

/// Distances from some nodes along links between switches.
fn distances(neighbors: &[Vec<usize>], from: &[usize]) -> Vec<Option<u32>> {
    let mut distance = vec![None; neighbors.len()];
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    from.iter().for_each(|node| distance[*node] = Some(0));
    while let Some(node) = queue.pop_front() {
        for next in &neighbors[node] {
            if distance[*next].is_none() {
                distance[*next] = distance[node].map(|distance| distance + 1);
                queue.push_back(*next);
            }
        }
    }
    distance
}

impl Plan {
    pub(super) fn new(network: &Network) -> Plan {
        let switches = network.switches.len();
        let links: Vec<[usize; 2]> = network
            .links
            .iter()
            .map(|link| link.ends.each_ref().map(|end| node_id(network, end.node).0 as usize))
            .collect();
        let mut neighbors = vec![Vec::new(); switches];
        let mut owner = vec![None; network.hosts.len()];
        let mut hosts_of = vec![Vec::new(); switches];
        for ends in &links {
            for [from, to] in [[ends[0], ends[1]], [ends[1], ends[0]]] {
                if from < switches && to < switches && from != to {
                    neighbors[from].push(to);
                }
                if from < switches && to >= switches && owner[to - switches].is_none() {
                    owner[to - switches] = Some(from);
                    hosts_of[from].push(to - switches);
                }
            }
        }
        hosts_of.iter_mut().for_each(|hosts| hosts.sort_unstable());
        let (arrangement, rank) = arrange(&neighbors, &hosts_of);
        let mut plan = Plan {
            arrangement,
            rank,
            owner,
            hosts_of,
            ends: Vec::new(),
            sizes: Vec::new(),
            pitch: vec![11.0; switches + network.hosts.len()],
        };
        plan.ends = links.iter().map(|ends| plan.sides(*ends)).collect();
        plan.measure(network);
        plan
    }

    pub(super) fn switches(&self) -> usize {
        self.rank.len()
    }

    /// Where a link ends at both nodes.
    fn sides(&self, [one, other]: [usize; 2]) -> [(usize, Side); 2] {
        let switches = self.switches();
        let (across, down) = ([Side::Right, Side::Left], [Side::Bottom, Side::Top]);
        let sides = match (one < switches, other < switches) {
            (true, true) => {
                let key = |node: usize| (self.rank[node], node);
                match self.arrangement {
                    Arrangement::Tiers if self.rank[one] > self.rank[other] => down,
                    Arrangement::Tiers => [Side::Top, Side::Bottom],
                    _ if key(one) <= key(other) => across,
                    _ => [Side::Left, Side::Right],
                }
            }
            (true, false) => self.host_sides(one),
            (false, true) => {
                let [switch, host] = self.host_sides(other);
                [host, switch]
            }
            (false, false) => across,
        };
        [(one, sides[0]), (other, sides[1])]
    }

    /// Where the link between a switch and its host ends.
    fn host_sides(&self, switch: usize) -> [Side; 2] {
        match self.arrangement {
            Arrangement::Dumbbell if self.rank[switch] == 0 => [Side::Left, Side::Right],
            Arrangement::Dumbbell => [Side::Right, Side::Left],
            _ => [Side::Bottom, Side::Top],
        }
    }

    /// Sizes of boxes: names and the numbers of ports have room.
    fn measure(&mut self, network: &Network) {
        let nodes = self.switches() + network.hosts.len();
        let mut counts = vec![[0_usize; 4]; nodes];
        for (ends, link) in self.ends.iter().zip(&network.links) {
            for ((node, side), end) in ends.iter().zip(&link.ends) {
                counts[*node][*side as usize] += 1;
                let digits = end.port.to_string().len() as f64;
                self.pitch[*node] = self.pitch[*node].max(5.2 * digits + 5.0);
            }
        }
        self.sizes = (0..nodes)
            .map(|node| match node.checked_sub(self.switches()) {
                None => {
                    let [top, bottom, left, right] = counts[node].map(|count| count as f64);
                    let beside = 5.2 * 2.0 * f64::from(left + right > 0.0);
                    let name = text_width(&network.switches[node].name) + 14.0 + 2.0 * beside;
                    let width = name.max(top.max(bottom) * self.pitch[node] + 6.0);
                    (width.max(40.0), 40_f64.max(left.max(right) * 13.0 + 8.0))
                }
                Some(host) => (text_width(&network.hosts[host].name) + 12.0, 20.0),
            })
            .collect();
    }
}

/// Chooses the arrangement, and the rank of each switch.
fn arrange(neighbors: &[Vec<usize>], hosts_of: &[Vec<usize>]) -> (Arrangement, Vec<u32>) {
    let with_hosts: Vec<usize> =
        (0..neighbors.len()).filter(|switch| !hosts_of[*switch].is_empty()).collect();
    let tiers = distances(neighbors, &with_hosts);
    let differ = |one: usize, other: usize| match (tiers[one], tiers[other]) {
        (Some(one), Some(other)) => one.abs_diff(other) == 1,
        _ => false,
    };
    let mut pairs = neighbors
        .iter()
        .enumerate()
        .flat_map(|(one, all)| all.iter().map(move |other| (one, *other)));
    if pairs.all(|(one, other)| differ(one, other)) {
        return (Arrangement::Tiers, tiers.iter().map(|tier| tier.unwrap_or(0)).collect());
    }
    if neighbors.len() == 2 {
        return (Arrangement::Dumbbell, vec![0, 1]);
    }
    // From a switch at the edge of the network: the farthest from the first one, and of equally far ones the first, so
    // that a line keeps its direction.
    let mut rank = vec![None; neighbors.len()];
    for start in 0..neighbors.len() {
        if rank[start].is_some() {
            continue;
        }
        let from_start = distances(neighbors, &[start]);
        let reached = |node: &usize| from_start[*node].is_some();
        let eccentricity = |node: usize| distances(neighbors, &[node]).into_iter().flatten().max();
        let members: Vec<usize> = (0..neighbors.len()).filter(reached).collect();
        // Large components are not searched: one end of the longest path from the first switch is good enough.
        let edge = match members.len() {
            0..=200 => members
                .iter()
                .copied()
                .max_by_key(|node| (eccentricity(*node), std::cmp::Reverse(*node))),
            _ => members
                .iter()
                .copied()
                .max_by_key(|node| (from_start[*node], std::cmp::Reverse(*node))),
        };
        for (node, distance) in distances(neighbors, &[edge.unwrap_or(start)]).iter().enumerate() {
            rank[node] = rank[node].or(*distance);
        }
    }
    (Arrangement::Chain, rank.into_iter().map(|rank| rank.unwrap_or(0)).collect())
}

// SPDX-License-Identifier: Apache-2.0
//! [`Layout`]: places of boxes and ways of links. `dagre` orders switches within tiers so that few links cross and pods
//! stay together, and places the switches of a chain; hosts stand in blocks below or beside their switch.

use super::plan::{Arrangement, Plan, Side};
use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir};
use std::collections::BTreeMap;

/// Between blocks, and between pods.
const GAP: f64 = 14.0;
const POD_GAP: f64 = 34.0;
/// The widest row of hosts that stand side by side.
const MAX_ROW_WIDTH: f64 = 1300.0;
/// The most hosts in one stack.
const MAX_STACK: usize = 8;
/// Between the ways to the hosts of a stack.
const TRUNK_PITCH: f64 = 6.0;
/// From a switch to its hosts.
const HOST_DISTANCE: f64 = 46.0;
/// More switches than this keep the order of the file: ordering takes minutes then.
const MAX_ORDERED_SWITCHES: usize = 130;

/// A point.
pub(super) type Point = (f64, f64);

/// A box by its centre and size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Area>,
    /// Of each link the points from its first end to its second one.
    pub(super) ways: Vec<Vec<Point>>,
}

/// The hosts of a switch in its block: their places relative to the top centre of the block, and the ways to them from the
/// same point.
struct Block {
    width: f64,
    height: f64,
    hosts: Vec<Point>,
    ways: Vec<Vec<Point>>,
}

impl Layout {
    pub(super) fn new(plan: &Plan) -> Layout {
        let mut layout = Layout {
            boxes: plan
                .sizes
                .iter()
                .map(|(width, height)| Area { width: *width, height: *height, ..Area::default() })
                .collect(),
            ways: vec![Vec::new(); plan.ends.len()],
        };
        let mut through = BTreeMap::new();
        let blocks = match plan.arrangement {
            Arrangement::Tiers => layout.place_tiers(plan),
            Arrangement::Chain => layout.place_chain(plan, &mut through),
            Arrangement::Dumbbell => layout.place_dumbbell(plan),
        };
        layout.place_free_hosts(plan);
        layout.draw_ways(plan, &blocks, &through);
        layout.move_to_origin();
        layout
    }

    /// Blocks of hosts: side by side if all fit into a row, else in stacks.
    fn blocks(&self, plan: &Plan) -> Vec<Block> {
        let row_width = |hosts: &Vec<usize>| -> f64 {
            let widths = hosts.iter().map(|host| self.boxes[plan.switches() + host].width + 8.0);
            widths.sum::<f64>() - 8.0
        };
        let total: f64 = plan.hosts_of.iter().map(|hosts| row_width(hosts).max(0.0) + GAP).sum();
        let is_in_rows = total <= MAX_ROW_WIDTH;
        let block = |hosts: &Vec<usize>| match (hosts.is_empty(), is_in_rows) {
            (true, _) => Block { width: 0.0, height: 0.0, hosts: Vec::new(), ways: Vec::new() },
            (false, true) => {
                let mut x = -row_width(hosts) / 2.0;
                let places = hosts.iter().map(|host| {
                    let width = self.boxes[plan.switches() + host].width;
                    x += width + 8.0;
                    (x - width / 2.0 - 8.0, HOST_DISTANCE)
                });
                let hosts: Vec<Point> = places.collect();
                let ways = hosts.iter().map(|(x, y)| vec![(*x, y - 10.0)]).collect();
                Block {
                    width: row_width(&plan.hosts_of[0]).max(0.0),
                    height: HOST_DISTANCE + 10.0,
                    hosts,
                    ways,
                }
            }
            (false, false) => self.stacks(plan, hosts),
        };
        let mut blocks: Vec<Block> = plan.hosts_of.iter().map(block).collect();
        if is_in_rows {
            for (block, hosts) in blocks.iter_mut().zip(&plan.hosts_of) {
                block.width = row_width(hosts).max(0.0);
            }
        }
        blocks
    }

    /// Hosts in columns, each with a way from the switch down its left side.
    fn stacks(&self, plan: &Plan, hosts: &[usize]) -> Block {
        let columns = hosts.len().div_ceil(MAX_STACK);
        let rows = hosts.len().div_ceil(columns);
        let widest =
            hosts.iter().map(|host| self.boxes[plan.switches() + host].width).fold(0.0, f64::max);
        let gutter = rows as f64 * TRUNK_PITCH + 4.0;
        let column_width = gutter + widest + 6.0;
        let width = column_width * columns as f64 - 6.0;
        let (mut places, mut ways) = (Vec::new(), Vec::new());
        for (at, host) in hosts.iter().enumerate() {
            let (column, row) = (at / rows, at % rows);
            let left = column as f64 * column_width - width / 2.0;
            let own = self.boxes[plan.switches() + host].width;
            let x = left + gutter + own / 2.0;
            let y = HOST_DISTANCE + row as f64 * 26.0;
            places.push((x, y));
            // The way to the highest host is the nearest to the hosts.
            let trunk = left + gutter - 4.0 - (row + 1) as f64 * TRUNK_PITCH + TRUNK_PITCH / 2.0;
            ways.push(vec![(trunk, HOST_DISTANCE - 16.0), (trunk, y), (x - own / 2.0, y)]);
        }
        let height = HOST_DISTANCE + (rows - 1) as f64 * 26.0 + 10.0;
        Block { width, height, hosts: places, ways }
    }

    fn place_hosts(&mut self, plan: &Plan, switch: usize, block: &Block) {
        let base = self.boxes[switch];
        for (host, (x, y)) in plan.hosts_of[switch].iter().zip(&block.hosts) {
            let area = &mut self.boxes[plan.switches() + host];
            (area.x, area.y) = (base.x + x, base.y + base.height / 2.0 + y);
        }
    }

    fn place_tiers(&mut self, plan: &Plan) -> Vec<Block> {
        let blocks = self.blocks(plan);
        let order = order_in_tiers(plan, &blocks);
        let pods = pods(plan);
        let (mut y, mut width_below) = (0.0, 0.0_f64);
        for (tier, members) in order.iter().enumerate() {
            let widths: Vec<f64> = members
                .iter()
                .map(|switch| self.boxes[*switch].width.max(blocks[*switch].width))
                .collect();
            let gap = |one: usize, other: usize| match pods[members[one]] == pods[members[other]] {
                true => GAP,
                false => POD_GAP,
            };
            let distances: Vec<f64> = (1..members.len())
                .map(|at| (widths[at - 1] + widths[at]) / 2.0 + gap(at - 1, at))
                .collect();
            let wanted: Vec<f64> = match tier {
                0 => vec![0.0; members.len()],
                _ => members.iter().map(|switch| self.mean_below(plan, *switch)).collect(),
            };
            let places = spread(&wanted, &distances);
            let height =
                members.iter().map(|switch| self.boxes[*switch].height).fold(0.0, f64::max);
            let width = places.last().zip(places.first()).map_or(0.0, |(last, first)| last - first);
            if tier > 0 {
                // Long links need height, so that they are not flat.
                y -= height / 2.0 + (width.max(width_below) / 9.0).clamp(56.0, 190.0);
            }
            width_below = width;
            for (switch, x) in members.iter().zip(&places) {
                (self.boxes[*switch].x, self.boxes[*switch].y) = (*x, y);
            }
            y -= height / 2.0;
        }
        for (switch, block) in blocks.iter().enumerate() {
            self.place_hosts(plan, switch, block);
        }
        blocks
    }

    /// The mean place of the switches below.
    fn mean_below(&self, plan: &Plan, switch: usize) -> f64 {
        let below = plan.ends.iter().filter_map(|ends| {
            let [one, other] = ends.map(|(node, _)| node);
            let peer = if one == switch {
                other
            } else if other == switch {
                one
            } else {
                return None;
            };
            let is_below = peer < plan.switches() && plan.rank[peer] < plan.rank[switch];
            is_below.then(|| self.boxes[peer].x)
        });
        let all: Vec<f64> = below.collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    }

    fn place_chain(
        &mut self,
        plan: &Plan,
        through: &mut BTreeMap<usize, Vec<Point>>,
    ) -> Vec<Block> {
        let blocks = self.blocks(plan);
        let options = GraphOptions { directed: true, multigraph: true, compound: false };
        let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
        for (switch, block) in blocks.iter().enumerate() {
            let own = self.boxes[switch];
            let label = NodeLabel {
                width: own.width.max(block.width),
                height: own.height + block.height,
                ..NodeLabel::default()
            };
            graph.set_node(switch.to_string(), Some(label));
        }
        let between = |ends: &[(usize, Side); 2]| {
            let [one, other] = *ends;
            match (one.0 < plan.switches() && other.0 < plan.switches(), one.1) {
                (false, _) => None,
                (true, Side::Right) => Some((one.0, other.0)),
                (true, _) => Some((other.0, one.0)),
            }
        };
        for (number, ends) in plan.ends.iter().enumerate() {
            if let Some((from, to)) = between(ends).filter(|(from, to)| from != to) {
                let name = number.to_string();
                graph.set_edge(
                    from.to_string(),
                    to.to_string(),
                    Some(EdgeLabel::default()),
                    Some(&name),
                );
            }
        }
        let options = LayoutOptions {
            rankdir: RankDir::LR,
            nodesep: 34.0,
            ranksep: 84.0,
            edgesep: 24.0,
            ..LayoutOptions::default()
        };
        dagre::layout(&mut graph, Some(options));
        for (switch, block) in blocks.iter().enumerate() {
            let label = graph.node(&switch.to_string());
            let place = label.and_then(|label| label.x.zip(label.y)).unwrap_or_default();
            let own = &mut self.boxes[switch];
            // The switch is at the top of its block.
            (own.x, own.y) = (place.0, place.1 - block.height / 2.0);
            self.place_hosts(plan, switch, block);
        }
        for (number, ends) in plan.ends.iter().enumerate() {
            let Some((from, to)) = between(ends) else { continue };
            let label = graph.edge(&from.to_string(), &to.to_string(), Some(&number.to_string()));
            let points: Vec<Point> = label
                .iter()
                .flat_map(|label| &label.points)
                .map(|point| (point.x, point.y))
                .collect();
            // The first and last are at the boxes; in between are those of links that pass others.
            if points.len() > 3 {
                let mut inner = points[1..points.len() - 1].to_vec();
                if ends[0].1 != Side::Right {
                    inner.reverse();
                }
                through.insert(number, inner);
            }
        }
        blocks
    }

    fn place_dumbbell(&mut self, plan: &Plan) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (switch, direction) in [(0, -1.0), (1, 1.0)] {
            let links =
                plan.ends.iter().filter(|ends| ends.iter().all(|end| end.0 < 2)).count() as f64;
            let half = 90.0 + self.boxes[switch].width / 2.0 + links.min(8.0) * 4.0;
            self.boxes[switch].x = direction * half;
            let own = self.boxes[switch];
            let hosts = &plan.hosts_of[switch];
            let places: Vec<Point> = (0..hosts.len())
                .map(|at| {
                    let width = self.boxes[plan.switches() + hosts[at]].width;
                    let x = own.x + direction * (own.width / 2.0 + 90.0 + width / 2.0);
                    (x, (at as f64 - (hosts.len() - 1) as f64 / 2.0) * 32.0)
                })
                .collect();
            for (host, (x, y)) in hosts.iter().zip(&places) {
                let area = &mut self.boxes[plan.switches() + host];
                (area.x, area.y) = (*x, *y);
            }
            let ways = places.iter().map(|_| Vec::new()).collect();
            blocks.push(Block { width: 0.0, height: 0.0, hosts: places, ways });
        }
        blocks
    }

    /// Hosts without a switch stand in a row below everything.
    fn place_free_hosts(&mut self, plan: &Plan) {
        let bottom = self.boxes.iter().map(|area| area.y + area.height / 2.0).fold(0.0, f64::max);
        let mut x = self.boxes.iter().map(|area| area.x - area.width / 2.0).fold(0.0, f64::min);
        for (host, owner) in plan.owner.iter().enumerate() {
            if owner.is_none() {
                let area = &mut self.boxes[plan.switches() + host];
                (area.x, area.y) = (x + area.width / 2.0, bottom + 50.0);
                x += area.width + 70.0;
            }
        }
    }

    /// Lets links end at different places of a side, in the order of where they go.
    fn draw_ways(&mut self, plan: &Plan, blocks: &[Block], through: &BTreeMap<usize, Vec<Point>>) {
        // The points of each link between its ends.
        let inner: Vec<Vec<Point>> = plan
            .ends
            .iter()
            .enumerate()
            .map(|(number, ends)| match through.get(&number) {
                Some(points) => points.clone(),
                None => self.way_to_host(plan, blocks, ends).unwrap_or_default(),
            })
            .collect();
        // By node and side: where each link goes, its number, and which of its ends this is.
        type Attached = (f64, usize, usize);
        let mut at_side: BTreeMap<(usize, Side), Vec<Attached>> = BTreeMap::new();
        for (number, ends) in plan.ends.iter().enumerate() {
            for (which, (node, side)) in ends.iter().enumerate() {
                let peer = self.boxes[ends[1 - which].0];
                let next = if which == 0 { inner[number].first() } else { inner[number].last() };
                let (x, y) = next.copied().unwrap_or((peer.x, peer.y));
                let key = match side {
                    Side::Top | Side::Bottom => x,
                    Side::Left | Side::Right => y,
                };
                at_side.entry((*node, *side)).or_default().push((key, number, which));
            }
        }
        let mut attached = vec![[(0.0, 0.0); 2]; plan.ends.len()];
        for ((node, side), mut links) in at_side {
            links.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            let area = self.boxes[node];
            let is_level = matches!(side, Side::Top | Side::Bottom);
            let room = if is_level { area.width } else { area.height };
            let pitch =
                if is_level { plan.pitch[node] } else { 13.0 }.min(room / links.len() as f64);
            for (at, (_, number, which)) in links.iter().enumerate() {
                let along = (at as f64 - (links.len() - 1) as f64 / 2.0) * pitch;
                attached[*number][*which] = match side {
                    Side::Top => (area.x + along, area.y - area.height / 2.0),
                    Side::Bottom => (area.x + along, area.y + area.height / 2.0),
                    Side::Left => (area.x - area.width / 2.0, area.y + along),
                    Side::Right => (area.x + area.width / 2.0, area.y + along),
                };
            }
        }
        for (number, ends) in plan.ends.iter().enumerate() {
            let mut way = vec![attached[number][0]];
            way.extend(&inner[number]);
            // The way into a block of hosts ends at the host's box.
            match self.way_to_host(plan, blocks, ends).is_some_and(|way| !way.is_empty()) {
                true if ends[0].0 >= plan.switches() => drop(way.remove(0)),
                true => {}
                false => way.push(attached[number][1]),
            }
            if ends[0].0 >= plan.switches() && way.len() < inner[number].len() + 1 {
                way.push(attached[number][1]);
            }
            self.ways[number] = way;
        }
    }

    /// The points of the way between a switch and a host in its block, in the direction of the link.
    fn way_to_host(
        &self,
        plan: &Plan,
        blocks: &[Block],
        ends: &[(usize, Side); 2],
    ) -> Option<Vec<Point>> {
        let switches = plan.switches();
        let (switch, host) = match ends.map(|(node, _)| node) {
            [one, other] if one < switches && other >= switches => (one, other - switches),
            [one, other] if one >= switches && other < switches => (other, one - switches),
            _ => return None,
        };
        let at = plan.hosts_of[switch].iter().position(|own| *own == host)?;
        let base = self.boxes[switch];
        let shift = |(x, y): &Point| (base.x + x, base.y + base.height / 2.0 + y);
        let mut way: Vec<Point> = blocks[switch].ways[at].iter().map(shift).collect();
        if ends[0].0 >= switches {
            way.reverse();
        }
        Some(way)
    }

    fn move_to_origin(&mut self) {
        let points = || self.ways.iter().flatten().copied();
        let lefts = self
            .boxes
            .iter()
            .map(|area| area.x - area.width / 2.0)
            .chain(points().map(|point| point.0));
        let tops = self
            .boxes
            .iter()
            .map(|area| area.y - area.height / 2.0)
            .chain(points().map(|point| point.1));
        let (left, top) = (lefts.fold(f64::MAX, f64::min), tops.fold(f64::MAX, f64::min));
        for area in &mut self.boxes {
            area.x -= left;
            area.y -= top;
        }
        for (x, y) in self.ways.iter_mut().flatten() {
            *x -= left;
            *y -= top;
        }
    }

    /// Width and height of everything.
    pub(super) fn size(&self) -> (f64, f64) {
        let points = || self.ways.iter().flatten().copied();
        let rights = self
            .boxes
            .iter()
            .map(|area| area.x + area.width / 2.0)
            .chain(points().map(|point| point.0));
        let bottoms = self
            .boxes
            .iter()
            .map(|area| area.y + area.height / 2.0)
            .chain(points().map(|point| point.1));
        (rights.fold(0.0, f64::max), bottoms.fold(0.0, f64::max))
    }
}

/// Which switches belong together without the highest tier, such as the pods of a fat tree.
fn pods(plan: &Plan) -> Vec<usize> {
    let highest = plan.rank.iter().copied().max().unwrap_or(0);
    let mut pod: Vec<usize> = (0..plan.switches()).collect();
    fn root(pod: &mut [usize], mut of: usize) -> usize {
        while pod[of] != of {
            pod[of] = pod[pod[of]];
            of = pod[of];
        }
        of
    }
    for ends in &plan.ends {
        let [one, other] = ends.map(|(node, _)| node);
        let is_below = |node: usize| node < plan.switches() && plan.rank[node] < highest;
        if is_below(one) && is_below(other) {
            let (one, other) = (root(&mut pod, one), root(&mut pod, other));
            pod[one.max(other)] = one.min(other);
        }
    }
    let mut all: Vec<usize> = (0..plan.switches()).map(|switch| root(&mut pod, switch)).collect();
    // The highest tier is together too.
    let top = (0..plan.switches()).find(|switch| plan.rank[*switch] == highest);
    for (pod, rank) in all.iter_mut().zip(&plan.rank) {
        if *rank == highest
            && let Some(top) = top
        {
            *pod = top;
        }
    }
    all
}

/// The switches of each tier from left to right.
fn order_in_tiers(plan: &Plan, blocks: &[Block]) -> Vec<Vec<usize>> {
    let tiers = plan.rank.iter().copied().max().map_or(0, |highest| highest as usize + 1);
    let mut order = vec![Vec::new(); tiers];
    for switch in 0..plan.switches() {
        order[plan.rank[switch] as usize].push(switch);
    }
    if tiers < 2 || plan.switches() > MAX_ORDERED_SWITCHES {
        return order;
    }
    let options = GraphOptions { directed: true, multigraph: true, compound: true };
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
    for (switch, block) in blocks.iter().enumerate() {
        let label = NodeLabel {
            width: plan.sizes[switch].0.max(block.width),
            height: 40.0,
            ..NodeLabel::default()
        };
        graph.set_node(switch.to_string(), Some(label));
    }
    let pods = pods(plan);
    let highest = tiers as u32 - 1;
    for switch in 0..plan.switches() {
        let size = pods.iter().filter(|pod| **pod == pods[switch]).count();
        if size > 1 && size < plan.switches() && plan.rank[switch] < highest {
            let pod = format!("pod {}", pods[switch]);
            graph.set_node(pod.clone(), Some(NodeLabel::default()));
            graph.set_parent(&switch.to_string(), Some(&pod));
        }
    }
    for (number, ends) in plan.ends.iter().enumerate() {
        let [one, other] = ends.map(|(node, _)| node);
        if one < plan.switches() && other < plan.switches() {
            let (upper, lower) =
                if plan.rank[one] > plan.rank[other] { (one, other) } else { (other, one) };
            let name = number.to_string();
            graph.set_edge(
                upper.to_string(),
                lower.to_string(),
                Some(EdgeLabel::default()),
                Some(&name),
            );
        }
    }
    dagre::layout(&mut graph, Some(LayoutOptions::default()));
    let x_of =
        |switch: usize| graph.node(&switch.to_string()).and_then(|label| label.x).unwrap_or(0.0);
    let places: Vec<f64> = (0..plan.switches()).map(x_of).collect();
    // Of a picture and its mirror image the one that is nearer to the order of the file.
    let inversions = |tier: &Vec<usize>| {
        let pairs = tier
            .iter()
            .enumerate()
            .flat_map(|(at, one)| tier[at + 1..].iter().map(move |other| (*one, *other)));
        pairs.map(|(one, other)| places[one].total_cmp(&places[other]) as i64).sum::<i64>()
    };
    let sign = if order.iter().map(inversions).sum::<i64>() > 0 { -1.0 } else { 1.0 };
    for tier in &mut order {
        tier.sort_by(|one, other| {
            (sign * places[*one]).total_cmp(&(sign * places[*other])).then(one.cmp(other))
        });
    }
    order
}

/// Places in order, with at least these distances, as near to the wanted ones as possible (least squares, by isotonic
/// regression).
fn spread(wanted: &[f64], distances: &[f64]) -> Vec<f64> {
    let mut offsets = vec![0.0];
    for distance in distances {
        offsets.push(offsets.last().copied().unwrap_or(0.0) + distance);
    }
    // Runs of equal values: their sum and count.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        runs.push((wanted - offset, 1));
        while let [.., before, last] = runs[..]
            && before.0 / before.1 as f64 > last.0 / last.1 as f64
        {
            runs.pop();
            runs.pop();
            runs.push((before.0 + last.0, before.1 + last.1));
        }
    }
    let values =
        runs.iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / *count as f64, *count));
    values.zip(&offsets).map(|(value, offset)| value + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_distances_and_are_near_to_the_wanted_ones() {
        assert_eq!(spread(&[0.0, 10.0, 20.0], &[5.0, 5.0]), [0.0, 10.0, 20.0]);
        assert_eq!(spread(&[0.0, 0.0, 0.0], &[5.0, 5.0]), [-5.0, 0.0, 5.0]);
        assert_eq!(spread(&[0.0, 1.0, 30.0], &[5.0, 5.0]), [-2.0, 3.0, 30.0]);
        assert_eq!(spread(&[], &[]), Vec::<f64>::new());
    }
}

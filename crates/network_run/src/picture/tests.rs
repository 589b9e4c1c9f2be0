// SPDX-License-Identifier: Apache-2.0
//! Layouts of generated and other topologies: nothing overlaps. A small picture as a whole.

use super::layout::{Area, Layout, Point};
use super::plan::{Arrangement, Plan};
use super::svg::Drawing;
use crate::results::{DirectionResult, Results, SwitchResult};
use hosts::InterfaceStatistics;
use network_file::model::Network;
use network_file::{Format, Kind, Options};
use source::SourceMap;

fn network(text: &str) -> Network {
    let mut map = SourceMap::new();
    let file = map.add("n.yaml", text);
    let (read, found) =
        network_file::read(&map, file, Format::of_name("n.yaml"), &Options::default());
    match read {
        Some(Kind::Network(network)) => *network,
        _ => panic!("{text}: {found:?}"),
    }
}

fn generated(fields: &str) -> Network {
    network(&format!("topology: {{{fields}, program: x.p4}}\n"))
}

/// Switches `s1`, ... with a host each, and these links between them.
fn linked(switches: usize, links: &[(usize, usize)]) -> Network {
    let mut next = vec![2; switches + 1];
    let mut text = "switches:\n".to_string();
    (1..=switches).for_each(|number| text.push_str(&format!("  s{number}: {{program: x.p4}}\n")));
    text.push_str("hosts:\n");
    (1..=switches).for_each(|number| {
        text.push_str(&format!("  h{number}: {{address: 10.0.{number}.1/24}}\n"))
    });
    text.push_str("links:\n");
    (1..=switches).for_each(|number| text.push_str(&format!("  - [h{number}, \"s{number}:1\"]\n")));
    for (one, other) in links {
        text.push_str(&format!("  - [\"s{one}:{}\", \"s{other}:{}\"]\n", next[*one], next[*other]));
        next[*one] += 1;
        next[*other] += 1;
    }
    network(&text)
}

fn overlap(one: &Area, other: &Area, apart: f64) -> bool {
    (one.x - other.x).abs() < (one.width + other.width) / 2.0 + apart
        && (one.y - other.y).abs() < (one.height + other.height) / 2.0 + apart
}

/// Whether a line passes through a box: points on it, a little apart.
fn passes(from: Point, to: Point, area: &Area) -> bool {
    let steps = ((to.0 - from.0).hypot(to.1 - from.1) / 2.0).ceil() as usize;
    (0..=steps).any(|step| {
        let share = step as f64 / steps.max(1) as f64;
        let (x, y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        (x - area.x).abs() < area.width / 2.0 - 1.0 && (y - area.y).abs() < area.height / 2.0 - 1.0
    })
}

/// No two boxes overlap, no link passes through the box of another node, and links end apart from each other.
fn check(network: &Network) -> (Plan, Layout) {
    let plan = Plan::new(network);
    let layout = Layout::new(&plan);
    let name = |node: usize| match node.checked_sub(plan.switches()) {
        None => network.switches[node].name.clone(),
        Some(host) => network.hosts[host].name.clone(),
    };
    for (node, area) in layout.boxes.iter().enumerate() {
        for (other, second) in layout.boxes.iter().enumerate().skip(node + 1) {
            assert!(
                !overlap(area, second, 3.0),
                "{} and {}: {area:?} {second:?}",
                name(node),
                name(other)
            );
        }
    }
    let mut ends: Vec<(Point, usize)> = Vec::new();
    for (number, way) in layout.ways.iter().enumerate() {
        let own = plan.ends[number].map(|(node, _)| node);
        assert!(way.len() >= 2, "link {number}");
        for (node, area) in layout.boxes.iter().enumerate().filter(|(node, _)| !own.contains(node))
        {
            for pair in way.windows(2) {
                assert!(
                    !passes(pair[0], pair[1], area),
                    "link {} - {} and {}",
                    name(own[0]),
                    name(own[1]),
                    name(node)
                );
            }
        }
        for (node, point) in own.into_iter().zip([way[0], way[way.len() - 1]]) {
            let area = &layout.boxes[node];
            let is_at = (point.0 - area.x).abs() <= area.width / 2.0 + 0.1
                && (point.1 - area.y).abs() <= area.height / 2.0 + 0.1;
            assert!(is_at, "link {number} ends at {}: {point:?} {area:?}", name(node));
            for (other, _) in ends.iter().filter(|(_, of)| *of == node) {
                let apart = (other.0 - point.0).hypot(other.1 - point.1);
                assert!(apart > 8.0, "links end {apart} apart at {}", name(node));
            }
            ends.push((point, node));
        }
    }
    (plan, layout)
}

#[test]
fn nothing_overlaps_in_any_topology() {
    for fields in [
        "kind: line, switches: 1, hosts_per_switch: 2",
        "kind: line, switches: 3",
        "kind: line, switches: 6, hosts_per_switch: 3",
        "kind: star, size: 3",
        "kind: star, size: 60",
        "kind: tree, depth: 2, fanout: 3",
        "kind: tree, depth: 4, fanout: 2",
        "kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4",
        "kind: leaf-spine, leaves: 16, spines: 4, hosts_per_leaf: 8",
        "kind: fat-tree, k: 2",
        "kind: fat-tree, k: 4",
        "kind: fat-tree, k: 8",
        "kind: dumbbell, hosts_per_side: 1",
        "kind: dumbbell, hosts_per_side: 4",
        "kind: dumbbell, hosts_per_side: 40",
    ] {
        check(&generated(fields));
    }
    check(&linked(3, &[(1, 2), (1, 3), (2, 3)]));
    check(&linked(6, &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1)]));
    check(&linked(4, &[(1, 2), (1, 2), (2, 3), (3, 4), (4, 1), (1, 3)]));
    check(&network(
        "hosts:\n  a: {address: 10.0.0.1/24}\n  b: {address: 10.0.0.2/24}\nlinks: [[a, b]]\n",
    ));
}

/// The pods of a fat tree stand in order, its tiers above each other, and hosts at the bottom.
#[test]
fn a_fat_tree_looks_as_in_its_paper() {
    let network = generated("kind: fat-tree, k: 4");
    let (plan, layout) = check(&network);
    assert_eq!(plan.arrangement, Arrangement::Tiers);
    let place = |name: &str| {
        let at = network.switches.iter().position(|switch| switch.name == name);
        let host = || {
            plan.switches()
                + network.hosts.iter().position(|host| host.name == name).expect("a node")
        };
        let area = layout.boxes[at.unwrap_or_else(host)];
        (area.x, area.y)
    };
    let rows = [
        ["p0a0", "p0a1", "p1a0", "p3a1"],
        ["p0e0", "p0e1", "p1e0", "p3e1"],
        ["h1", "h2", "h3", "h16"],
    ];
    let mut above = place("c1").1;
    assert!(["c2", "c3", "c4"].iter().all(|core| place(core).1 == above));
    for row in rows {
        let places = row.map(place);
        assert!(places.iter().all(|(_, y)| *y == places[0].1 && *y > above), "{row:?}: {places:?}");
        assert!(places.is_sorted_by(|one, other| one.0 < other.0), "{row:?}: {places:?}");
        above = places[0].1;
    }
}

#[test]
fn a_line_and_a_dumbbell_go_from_left_to_right() {
    let (plan, layout) = check(&generated("kind: line, switches: 5"));
    assert_eq!(plan.arrangement, Arrangement::Chain);
    let switches = &layout.boxes[..5];
    assert!(
        switches.is_sorted_by(|one, other| one.x < other.x && one.y == other.y),
        "{switches:?}"
    );
    let (plan, layout) = check(&generated("kind: dumbbell, hosts_per_side: 4"));
    assert_eq!(plan.arrangement, Arrangement::Dumbbell);
    let x = |node: usize| layout.boxes[node].x;
    assert!(x(2) < x(0) && x(0) < x(1) && x(1) < x(9), "{:?}", layout.boxes);
}

#[test]
fn layouts_repeat() {
    let network = generated("kind: fat-tree, k: 6");
    let first = Layout::new(&Plan::new(&network));
    let again = Layout::new(&Plan::new(&network));
    assert_eq!((first.boxes, first.ways), (again.boxes, again.ways));
}

#[test]
fn a_small_picture() {
    let network = network(
        "switches: {s1: {program: x.p4}}
hosts: {h1: {address: 10.0.1.1/24}, \"h2\": {address: 10.0.2.2/24}}
links:
  - [h1, \"s1:1\"]
  - {ends: [h2, \"s1:2\"], rate: 10Mbps, latency: 5ms}
events: [{at: 1s, link: \"s1:2\", state: down, for: 500ms}]
",
    );
    let direction = |sent, utilization, dropped| DirectionResult {
        sent,
        sent_bytes: sent * 1000,
        utilization: Some(utilization),
        dropped,
        peak_queue: dropped,
        mean_queue: 0.5,
        p99_queue: 2,
        ..DirectionResult::default()
    };
    let results = Results {
        ended_ps: 2_000_000_000_000,
        events: 100,
        frames: 40,
        applications: Vec::new(),
        links: vec![
            [direction(20, 0.004, 0), direction(5, 0.0, 0)],
            [direction(5, 0.3, 0), direction(17, 0.93, 3)],
        ],
        switches: vec![SwitchResult {
            received: 25,
            sent: 22,
            drops: vec![("queue full".to_string(), 3)],
        }],
        hosts: vec![InterfaceStatistics::default(); 2],
    };
    let plan = Plan::new(&network);
    let layout = Layout::new(&plan);
    let drawing = Drawing { network: &network, results: &results, plan: &plan, layout: &layout };
    testing::assert_snapshot!(drawing.svg("a <small> network"));
}

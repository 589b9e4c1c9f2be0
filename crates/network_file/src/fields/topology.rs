// SPDX-License-Identifier: Apache-2.0
//! Fields of generated topologies.

use super::link::{DIRECTION, PROPERTIES};
use super::node::{HOST, PROGRAM};
use crate::format::shape::{FieldShape, Section, Shape, field};

/// The kinds of topologies.
pub const KINDS: &[(&str, &str)] = &[
    ("line", "switches one after the other"),
    ("star", "hosts around one switch"),
    ("tree", "switches in a tree, hosts at its leaves"),
    ("leaf-spine", "each leaf switch linked with each spine switch"),
    ("fat-tree", "pods of edge and aggregation switches, and core switches (Al-Fares 2008)"),
    ("dumbbell", "hosts on both sides of one link"),
];

const fn count(most: u64) -> Shape {
    Shape::Count { least: 1, most }
}

static OWN: &[FieldShape] = &[
    field("kind", Shape::Word(KINDS), "Kind of topology.").required("`kind: fat-tree`"),
    field("k", Shape::Count { least: 2, most: 48 }, "fat-tree: ports of a switch, an even number."),
    field("switches", count(10_000), "line: number of switches."),
    field("depth", count(16), "tree: levels of switches."),
    field("fanout", count(256), "tree: children of a switch, and hosts of a leaf switch."),
    field("leaves", count(1_000), "leaf-spine: number of leaf switches."),
    field("spines", count(250), "leaf-spine: number of spine switches."),
    field("hosts_per_leaf", count(250), "leaf-spine: hosts of a leaf switch."),
    field("hosts_per_switch", count(250), "line: hosts of a switch; 1 if absent."),
    field("hosts_per_side", count(250), "dumbbell: hosts of each side."),
    field("size", count(250), "star: number of hosts."),
    field(
        "bottleneck",
        Shape::Record(&DIRECTION),
        "dumbbell: properties of the link between the switches.",
    ),
    field("hosts", Shape::Record(&HOST), "Fields of all generated hosts, such as `applications`."),
];

/// A generated topology.
pub static TOPOLOGY: Section = Section {
    what: "a topology",
    groups: &[OWN, PROGRAM, PROPERTIES],
    foreign_names: &[("type", "kind"), ("delay", "latency"), ("bw", "rate"), ("pods", "k")],
};

// SPDX-License-Identifier: Apache-2.0
//! Fields of the whole file, of events and of captures.

use super::application::APPLICATION;
use super::expectation::EXPECTATION;
use super::link::{DIRECTION, LINK};
use super::node::{CONTROLLER, HOST, SWITCH};
use super::topology::TOPOLOGY;
use crate::format::shape::{Section, Shape, field};

const STATES: &[(&str, &str)] = &[("down", "fails"), ("up", "returns")];

/// An event.
pub static EVENT: Section = Section {
    what: "an event",
    groups: &[&[
        field("at", Shape::Time, "When.").required("`at: 1s`"),
        field("link", Shape::OneOrMany(&Shape::Text), "A link: its name, an end, or both."),
        field("node", Shape::Text, "A switch, host or controller."),
        field("state", Shape::Word(STATES), "What happens."),
        field("for", Shape::Time, "Time until the opposite happens; never if absent."),
        field(
            "reload",
            Shape::Text,
            "A P4R program whose reactions a switch takes instead of its own.",
        ),
        field("init", Shape::Truth, "Of a reload: whether its `init` runs; false if absent."),
        field(
            "fresh",
            Shape::Truth,
            "Of a reload: whether `state` variables begin anew; false if absent.",
        ),
    ]],
    foreign_names: &[("time", "at"), ("timestamp", "at")],
};

const DIRECTIONS: &[(&str, &str)] = &[
    ("in", "frames that the node receives"),
    ("out", "frames that the node sends"),
    ("both", "both"),
];

/// A capture.
pub static CAPTURE: Section = Section {
    what: "a capture",
    groups: &[&[
        field("port", Shape::Text, "A port, such as s1:1, or a host.").required("`port: \"s1:1\"`"),
        field(
            "file",
            Shape::Text,
            "pcap file to write, relative to the output folder; by the port if absent.",
        ),
        field("direction", Shape::Word(DIRECTIONS), "Which frames; both if absent."),
    ]],
    foreign_names: &[("at", "port"), ("interface", "port")],
};

/// Defaults of items.
pub static DEFAULTS: Section = Section {
    what: "the section of defaults",
    groups: &[&[
        field("switches", Shape::Record(&SWITCH), "Fields of switches that do not have them."),
        field("hosts", Shape::Record(&HOST), "Fields of hosts that do not have them."),
        field("links", Shape::Record(&DIRECTION), "Properties of links that do not have them."),
    ]],
    foreign_names: &[("switch", "switches"), ("host", "hosts"), ("link", "links")],
};

/// A network file.
pub static NETWORK: Section = Section {
    what: "a network",
    groups: &[&[
        field(
            "switches",
            Shape::Named { what: "a switch", shape: &Shape::Record(&SWITCH) },
            "Switches by name.",
        ),
        field(
            "hosts",
            Shape::Named { what: "a host", shape: &Shape::Record(&HOST) },
            "Hosts by name.",
        ),
        field(
            "links",
            Shape::List(&Shape::Any(&[Shape::List(&Shape::Text), Shape::Record(&LINK)])),
            "Links: pairs of ends, or objects with properties.",
        ),
        field(
            "topology",
            Shape::Record(&TOPOLOGY),
            "Generates switches, hosts and links with addresses and routes.",
        ),
        field(
            "base",
            Shape::Text,
            "A topology.json of the P4 tutorials, whose nodes and links the file completes.",
        ),
        field("defaults", Shape::Record(&DEFAULTS), "Fields of items that do not have them."),
        field(
            "controllers",
            Shape::Named { what: "a controller", shape: &Shape::Record(&CONTROLLER) },
            "Controllers by name.",
        ),
        field(
            "applications",
            Shape::List(&APPLICATION),
            "Applications, each with the hosts `from` that run it.",
        ),
        field(
            "events",
            Shape::List(&Shape::Record(&EVENT)),
            "Failures and returns of links and nodes, and reloads of reactions.",
        ),
        field(
            "captures",
            Shape::List(&Shape::Short { section: &CAPTURE, field: "port" }),
            "Captures that the run writes.",
        ),
        field(
            "expect",
            Shape::List(&Shape::Record(&EXPECTATION)),
            "Expected results; the run fails if one is not met.",
        ),
        field(
            "seed",
            Shape::Count { least: 0, most: u64::MAX },
            "Seed of all random numbers; 0 if absent.",
        ),
        field("until", Shape::Time, "End of the run; when nothing is left to do if absent."),
    ]],
    foreign_names: &[
        ("nodes", "switches"),
        ("duration", "until"),
        ("controller", "controllers"),
        ("expectations", "expect"),
        ("expectation", "expect"),
        ("random_seed", "seed"),
    ],
};

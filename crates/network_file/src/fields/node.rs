// SPDX-License-Identifier: Apache-2.0
//! Fields of switches, hosts and controllers.

use super::application::APPLICATION;
use crate::format::shape::{FieldShape, Section, Shape, field};

/// Engines of switches.
pub const ENGINES: &[(&str, &str)] = &[
    ("jit", "compiles the program to machine code"),
    ("interp", "interprets the pipeline IR"),
    ("reference", "runs Lucid programs from their source"),
];

/// The program and entries of switches.
pub static PROGRAM: &[FieldShape] = &[
    field(
        "program",
        Shape::Text,
        "Program: a .p4, .dpt or other source file, relative to this file.",
    ),
    field(
        "entries",
        Shape::OneOrMany(&Shape::Text),
        "Entries files: commands, runtime JSON, or P4Runtime text.",
    ),
    field("device", Shape::Text, "Device file with ports, queues and clock."),
    field("engine", Shape::Word(ENGINES), "What executes the program."),
    field("target", Shape::Text, "Architecture that Lucid programs are compiled for."),
    field("symbolics", Shape::Text, "File of symbolics of a Lucid program."),
];

static SWITCH_ONLY: &[FieldShape] = &[
    field("controller", Shape::Text, "Name of the controller of this switch."),
    field("cpu_port", Shape::Count { least: 0, most: 65_535 }, "Port to the controller."),
    field("priority_queues", Shape::Count { least: 1, most: 64 }, "Queues of each port."),
];

/// A switch.
pub static SWITCH: Section = Section {
    what: "a switch",
    groups: &[PROGRAM, SWITCH_ONLY],
    foreign_names: &[("runtime_json", "entries"), ("cli_input", "entries")],
};

/// A route of a host.
pub static ROUTE: Section = Section {
    what: "a route",
    groups: &[&[
        field("to", Shape::Prefix, "Destinations.").required("`to: 10.0.0.0/8`"),
        field("via", Shape::Ip, "Next hop; absent if the destinations are on the host's link."),
    ]],
    foreign_names: &[("gateway", "via"), ("prefix", "to"), ("destination", "to")],
};

const ADDRESS: FieldShape = field(
    "address",
    Shape::OneOrMany(&Shape::Interface),
    "Addresses with the length of their prefix.",
);
const MAC: FieldShape = field("mac", Shape::Mac, "Ethernet address; generated if absent.");

/// An interface of a host.
pub static INTERFACE: Section = Section {
    what: "an interface",
    groups: &[&[ADDRESS, MAC]],
    foreign_names: &[("ip", "address"), ("addresses", "address")],
};

/// A host.
pub static HOST: Section = Section {
    what: "a host",
    groups: &[&[
        ADDRESS,
        MAC,
        field(
            "interfaces",
            Shape::List(&Shape::Record(&INTERFACE)),
            "Interfaces of a host with several links, in the order of its ports from 0 on.",
        ),
        field(
            "gateway",
            Shape::OneOrMany(&Shape::Ip),
            "Next hop of all destinations without a route; one for each version of IP.",
        ),
        field("routes", Shape::List(&Shape::Record(&ROUTE)), "Routes beside the gateway."),
        field(
            "arp",
            Shape::Named { what: "an address", shape: &Shape::Mac },
            "Ethernet addresses of neighbours by IP address, known without ARP or neighbor discovery.",
        ),
        field("applications", Shape::List(&APPLICATION), "Applications that run on the host."),
        field(
            "commands",
            Shape::List(&Shape::Text),
            "Shell commands of the P4 tutorials: routes and ARP entries.",
        ),
    ]],
    foreign_names: &[
        ("ip", "address"),
        ("addresses", "address"),
        ("defaultRoute", "gateway"),
        ("default_route", "gateway"),
        ("apps", "applications"),
    ],
};

/// A command of a controller.
pub static COMMAND: Section = Section {
    what: "a command",
    groups: &[&[
        field("at", Shape::Time, "When; the start of the run if absent."),
        field("text", Shape::Text, "Commands, one a line, such as `table_add t act key => arg`."),
        field("file", Shape::Text, "File of commands in place of `text`."),
    ]],
    foreign_names: &[("time", "at"), ("command", "text")],
};

/// A controller.
pub static CONTROLLER: Section = Section {
    what: "a controller",
    groups: &[&[
        field(
            "switches",
            Shape::OneOrMany(&Shape::Text),
            "Switches that it controls; `all` for all.",
        ),
        field(
            "commands",
            Shape::List(&Shape::Short { section: &COMMAND, field: "text" }),
            "Commands at times.",
        ),
        field(
            "program",
            Shape::OneOrMany(&Shape::Text),
            "Program with arguments that reads notifications and writes commands as JSON lines.",
        ),
        field(
            "latency",
            Shape::Time,
            "Time from a command to its effect, and from a notification to the program.",
        ),
    ]],
    foreign_names: &[],
};

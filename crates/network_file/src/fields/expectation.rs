// SPDX-License-Identifier: Apache-2.0
//! Fields of expectations: for each subject the metrics that conditions compare.

use crate::format::shape::{FieldShape, Section, Shape, field};

const TIME: Shape = Shape::Condition(&Shape::Time);
const RATE: Shape = Shape::Condition(&Shape::Rate);
const SIZE: Shape = Shape::Condition(&Shape::Size);
const SHARE: Shape = Shape::Condition(&Shape::Probability);
const COUNT: Shape = Shape::Condition(&Shape::Count { least: 0, most: u64::MAX });

/// Metrics that conditions compare.
pub static METRICS: &[FieldShape] = &[
    field(
        "loss",
        SHARE,
        "Share of requests without a reply, of datagrams that did not arrive, or of frames that a link lost.",
    ),
    field("sent", COUNT, "Requests, datagrams, frames or packets sent."),
    field("received", COUNT, "Replies, datagrams, frames or packets received."),
    field("rtt", TIME, "Mean round-trip time."),
    field("min_rtt", TIME, "Least round-trip time."),
    field("max_rtt", TIME, "Greatest round-trip time."),
    field("ttl", COUNT, "Time to live of each reply."),
    field("goodput", RATE, "Payload that the receiver got, over the time of sending."),
    field("bytes", SIZE, "Payload that the receiver got."),
    field("retransmissions", COUNT, "Segments sent again."),
    field("timeouts", COUNT, "Retransmission timeouts."),
    field("completion", TIME, "Mean time from the start of a flow or request to its last byte."),
    field("p99_completion", TIME, "99th percentile of this time."),
    field("completed", COUNT, "Flows or requests that ended."),
    field("lost", COUNT, "Frames that the link lost."),
    field("delivered", COUNT, "Frames that the link delivered."),
    field("use", SHARE, "Share of time in which the link was busy, in its busier direction."),
    field("dropped", COUNT, "Packets that the full queue of the port dropped."),
    field("queue", COUNT, "Greatest number of packets that waited at the port."),
    field("mean_queue", COUNT, "Mean number of packets that waited at the port, over time."),
    field(
        "p99_queue",
        COUNT,
        "Number of waiting packets that was not exceeded for 99 % of the time.",
    ),
    field("count", COUNT, "Packets that the host received, or of the counter."),
    field("value", COUNT, "Value of the register."),
];

/// A subject of expectations: the field that names it, the metrics it has, and its other fields.
pub struct Subject {
    /// The field.
    pub name: &'static str,
    /// The metrics.
    pub metrics: &'static [&'static str],
    /// Other fields.
    pub fields: &'static [&'static str],
}

const APPLICATION_METRICS: &[&str] = &[
    "loss",
    "sent",
    "received",
    "rtt",
    "min_rtt",
    "max_rtt",
    "ttl",
    "goodput",
    "bytes",
    "retransmissions",
    "timeouts",
    "completion",
    "p99_completion",
    "completed",
];

/// All subjects.
pub const SUBJECTS: &[Subject] = &[
    Subject {
        name: "ping",
        metrics: &["loss", "sent", "received", "rtt", "min_rtt", "max_rtt", "ttl"],
        fields: &[],
    },
    Subject { name: "application", metrics: APPLICATION_METRICS, fields: &[] },
    Subject { name: "link", metrics: &["loss", "lost", "delivered", "use"], fields: &[] },
    Subject {
        name: "port",
        metrics: &["sent", "received", "dropped", "queue", "mean_queue", "p99_queue"],
        fields: &[],
    },
    Subject { name: "host", metrics: &["count"], fields: &["where", "after", "before"] },
    Subject { name: "counter", metrics: &["count", "bytes"], fields: &["switch", "index", "at"] },
    Subject { name: "register", metrics: &["value"], fields: &["switch", "index", "at"] },
];

/// Entries of `expect`, each with the field that names its subject.
pub static EXPECTATION: Section = Section {
    what: "an expectation",
    groups: &[
        &[
            field("ping", Shape::Text, "A ping by its hosts, such as h1-h2."),
            field("application", Shape::Text, "An application by its name."),
            field("link", Shape::Text, "A link by its name, an end, or its nodes, such as s1-s2."),
            field("port", Shape::Text, "A port, such as s1:1 or s1-p1."),
            field(
                "host",
                Shape::Text,
                "A host, which receives `count` packets with the fields `where`.",
            ),
            field("counter", Shape::Text, "A counter of `switch`; `count` is its packets."),
            field("register", Shape::Text, "A register of `switch`; `value` is a cell."),
            field("switch", Shape::Text, "Switch of a counter or register."),
            field(
                "index",
                Shape::Count { least: 0, most: u32::MAX as u64 },
                "Index of a counter or register; 0 if absent.",
            ),
            field(
                "where",
                Shape::Named { what: "a header field", shape: &Shape::Text },
                "Fields of the packets to count, such as `ipv4.ttl: 61`.",
            ),
            field("after", Shape::Time, "Counts packets from this time on."),
            field("before", Shape::Time, "Counts packets until this time."),
            field(
                "at",
                Shape::Time,
                "When a counter or register is read; the end of the run if absent.",
            ),
        ],
        METRICS,
    ],
    foreign_names: &[("app", "application"), ("flow", "application")],
};

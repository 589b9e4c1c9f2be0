// SPDX-License-Identifier: Apache-2.0
//! Fields of links.

use crate::format::shape::{FieldShape, Section, Shape, field};

/// Names that Mininet, containerlab and ns-3 use for properties of links.
const FOREIGN_NAMES: &[(&str, &str)] = &[
    ("bw", "rate"),
    ("bandwidth", "rate"),
    ("datarate", "rate"),
    ("delay", "latency"),
    ("max_queue_size", "queue"),
    ("limit", "queue"),
    ("corruption", "corrupt"),
    ("duplication", "duplicate"),
    ("endpoints", "ends"),
];

/// A burst loss model.
pub static BURST_LOSS: Section = Section {
    what: "a burst loss",
    groups: &[&[
        field(
            "p",
            Shape::Probability,
            "Probability per packet to change from the good to the bad state.",
        )
        .required("`p: 1%`"),
        field(
            "r",
            Shape::Probability,
            "Probability per packet to change from the bad to the good state; 1 - p if absent.",
        ),
        field(
            "loss_in_bad",
            Shape::Probability,
            "Probability of loss in the bad state (1-h of tc-netem); 100% if absent.",
        ),
        field(
            "loss_in_good",
            Shape::Probability,
            "Probability of loss in the good state (1-k of tc-netem); 0 if absent.",
        ),
    ]],
    foreign_names: &[],
};

/// What holds for one direction of a link.
pub static PROPERTIES: &[FieldShape] = &[
    field("rate", Shape::Rate, "Bit rate of the ports at both ends, such as 10Mbps."),
    field("latency", Shape::Time, "Time from the last bit sent to the last bit received."),
    field("jitter", Shape::Time, "Greatest random additional latency, uniform."),
    field("loss", Shape::Probability, "Probability that a frame is lost."),
    field(
        "burst_loss",
        Shape::Record(&BURST_LOSS),
        "Gilbert-Elliott loss, the gemodel of tc-netem.",
    ),
    field("corrupt", Shape::Probability, "Probability that one bit of a frame is inverted."),
    field("duplicate", Shape::Probability, "Probability that a frame arrives twice."),
    field(
        "reorder",
        Shape::Any(&[Shape::Truth, Shape::Probability]),
        "Probability that a frame arrives without latency, before earlier ones; true: only jitter reorders.",
    ),
    field(
        "queue",
        Shape::Queue,
        "Most packets or bytes that wait at a port for the link, without the packet being sent.",
    ),
    field("overhead", Shape::Size, "Bytes that each packet takes on the wire besides its own."),
];

/// A direction of a link.
pub static DIRECTION: Section =
    Section { what: "a direction of a link", groups: &[PROPERTIES], foreign_names: FOREIGN_NAMES };

static OWN: &[FieldShape] = &[
    field("name", Shape::Text, "Name of the link, for events and expectations."),
    field(
        "ends",
        Shape::List(&Shape::Text),
        "Both ends: a host, or a port such as s1-p1 or s1:1; required without `link`.",
    ),
    field(
        "link",
        Shape::Text,
        "A link of the topology to change, in place of `ends`: an end, or both nodes, such as s1-s2.",
    ),
    field("forth", Shape::Record(&DIRECTION), "Properties from the first end to the second only."),
    field("back", Shape::Record(&DIRECTION), "Properties from the second end to the first only."),
];

/// A link.
pub static LINK: Section =
    Section { what: "a link", groups: &[OWN, PROPERTIES], foreign_names: FOREIGN_NAMES };

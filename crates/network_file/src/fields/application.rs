// SPDX-License-Identifier: Apache-2.0
//! Fields of applications. The names are those of `iperf3`, `ping` and `tc` where these have one.

use crate::format::shape::{FieldShape, Kind, Section, Shape, field};

/// Congestion control algorithms.
pub const CONTROLS: &[(&str, &str)] = &[
    ("reno", "NewReno that grows once an acknowledgement (RFC 6582)"),
    ("linux-reno", "NewReno that counts acknowledged segments, as Linux does"),
    ("cubic", "Cubic (RFC 9438)"),
    ("dctcp", "DCTCP (RFC 8257)"),
];

/// Arrival processes.
pub const ARRIVALS: &[(&str, &str)] =
    &[("constant", "equal gaps"), ("poisson", "exponentially distributed gaps")];

/// Published distributions of flow sizes.
pub const DISTRIBUTIONS: &[(&str, &str)] = &[
    ("web-search", "the web search cluster of the DCTCP paper (2010), mean 1.71 MB"),
    ("data-mining", "the data mining cluster of the VL2 paper (2009), mean 12.7 MB"),
];

const COUNT: Shape = Shape::Count { least: 1, most: u64::MAX };
const PORT: Shape = Shape::Count { least: 1, most: 65_535 };

/// What every application has.
static COMMON: &[FieldShape] = &[
    field("name", Shape::Text, "Name for results and expectations."),
    field("start", Shape::Time, "Start; the beginning of the run if absent."),
    field(
        "from",
        Shape::OneOrMany(&Shape::Text),
        "Hosts that run it, or `all`, in the file's list `applications`; the senders of an incast.",
    ),
];

const TO_TEXT: &str = "Destinations: hosts, IP addresses, or `all` for all other hosts.";
const TO: FieldShape = field("to", Shape::OneOrMany(&Shape::Text), TO_TEXT).required("`to: h2`");

static TCP_OPTIONS: &[FieldShape] = &[
    field("control", Shape::Word(CONTROLS), "Congestion control; cubic if absent."),
    field("segment", Shape::Size, "Payload of a segment; 1448 bytes if absent."),
    field("window", Shape::Size, "Receive window; 8 MB if absent."),
    field(
        "initial_window",
        Shape::Count { least: 1, most: 1_000 },
        "Segments of the initial window; 10 if absent.",
    ),
    field("min_rto", Shape::Time, "Least retransmission timeout; 200 ms if absent."),
    field(
        "delayed_ack",
        Shape::Any(&[Shape::Truth, Shape::Time]),
        "Whether every second segment is acknowledged, or the longest delay; 40 ms if absent.",
    ),
    field(
        "ecn",
        Shape::Truth,
        "Explicit congestion notification (RFC 3168); true for dctcp, else false.",
    ),
    field("sack", Shape::Truth, "Selective acknowledgements; true if absent."),
    field(
        "small_queue",
        Shape::Truth,
        "Whether a flow has at most two segments in its host's port, or 1 ms of its rate; true if absent.",
    ),
    field("port", PORT, "Destination port."),
    field("tos", Shape::Count { least: 0, most: 255 }, "Type of service byte of IPv4."),
];

static PING: Section = Section {
    what: "a ping",
    groups: &[
        COMMON,
        &[
            TO,
            field("count", COUNT, "Requests; 5 if absent."),
            field("interval", Shape::Time, "From one request to the next; 1 s if absent."),
            field("size", Shape::Size, "Payload of a request; 56 bytes if absent."),
            field("timeout", Shape::Time, "Longest wait for a reply; 1 s if absent."),
            field("tos", Shape::Count { least: 0, most: 255 }, "Type of service byte of IPv4."),
        ],
    ],
    foreign_names: &[],
};

static TCP: Section = Section {
    what: "a TCP flow",
    groups: &[
        COMMON,
        &[
            TO,
            field("bytes", Shape::Size, "Bytes to send; `duration` or neither otherwise."),
            field("duration", Shape::Time, "Time to send; until the end of the run if absent."),
            field("rate", Shape::Rate, "Rate of the application; unlimited if absent."),
            field(
                "parallel",
                Shape::Count { least: 1, most: 100_000 },
                "Number of flows to each destination.",
            ),
        ],
        TCP_OPTIONS,
    ],
    foreign_names: &[
        ("time", "duration"),
        ("bitrate", "rate"),
        ("bandwidth", "rate"),
        ("congestion", "control"),
        ("mss", "segment"),
        ("size", "bytes"),
        ("streams", "parallel"),
    ],
};

static REQUEST_RESPONSE: Section = Section {
    what: "a request and response",
    groups: &[
        COMMON,
        &[
            TO,
            field("request", Shape::Size, "Bytes of a request.").required("`request: 200B`"),
            field("response", Shape::Size, "Bytes of a response.").required("`response: 10KB`"),
            field("count", COUNT, "Requests; 1 if absent."),
            field(
                "interval",
                Shape::Time,
                "From one request to the next; after each response if absent.",
            ),
        ],
        TCP_OPTIONS,
    ],
    foreign_names: &[],
};

/// A distribution of payloads of datagrams.
static EXPONENTIAL: Section = Section {
    what: "a distribution of datagram sizes",
    groups: &[&[field(
        "exponential",
        Shape::Size,
        "Mean payload; from 1 byte to what the MTU allows.",
    )
    .required("`exponential: 500B`")]],
    foreign_names: &[("mean", "exponential")],
};

static UDP: Section = Section {
    what: "a UDP flow",
    groups: &[
        COMMON,
        &[
            TO,
            field(
                "rate",
                Shape::Any(&[Shape::Frequency, Shape::Rate]),
                "Bits of payload, or datagrams, per second.",
            )
            .required("`rate: 1Mbps`"),
            field(
                "size",
                Shape::Any(&[Shape::Record(&EXPONENTIAL), Shape::Size]),
                "Payload of a datagram, or its distribution; 1470 bytes if absent.",
            ),
            field("duration", Shape::Time, "Time to send; until the end of the run if absent."),
            field("count", COUNT, "Datagrams, in place of `duration`."),
            field("arrivals", Shape::Word(ARRIVALS), "Gaps between datagrams; constant if absent."),
            field("port", PORT, "Destination port."),
            field("source_port", PORT, "Source port."),
            field("tos", Shape::Count { least: 0, most: 255 }, "Type of service byte of IPv4."),
        ],
    ],
    foreign_names: &[
        ("bitrate", "rate"),
        ("bandwidth", "rate"),
        ("time", "duration"),
        ("length", "size"),
    ],
};

/// A point of a distribution of flow sizes.
static POINT: Section = Section {
    what: "a point of a distribution",
    groups: &[&[
        field("size", Shape::Size, "Bytes.").required("`size: 10KB`"),
        field("probability", Shape::Probability, "Share of the flows of at most this size.")
            .required("`probability: 15%`"),
    ]],
    foreign_names: &[],
};

static SIZES_FILE: Section = Section {
    what: "a file of flow sizes",
    groups: &[&[field("file", Shape::Text, "File with a size and a probability a line.")
        .required("`file: sizes.txt`")]],
    foreign_names: &[],
};

static FLOWS: Section = Section {
    what: "a group of flows",
    groups: &[
        COMMON,
        &[
            field("to", Shape::OneOrMany(&Shape::Text), "Destinations of which each flow takes one at random.")
                .required("`to: all`"),
            field(
                "sizes",
                Shape::Any(&[
                    Shape::Word(DISTRIBUTIONS),
                    Shape::Record(&SIZES_FILE),
                    Shape::List(&Shape::Record(&POINT)),
                    Shape::Size,
                ]),
                "Distribution of flow sizes: a published one, a file, a list of points, or one size.",
            )
            .required("`sizes: web-search`"),
            field("load", Shape::Probability, "Mean share of the rate of the host's link."),
            field("rate", Shape::Rate, "Mean rate, in place of `load`."),
            field("count", COUNT, "Flows."),
            field("duration", Shape::Time, "Time in which flows start; until the end of the run if absent."),
        ],
        TCP_OPTIONS,
    ],
    foreign_names: &[("distribution", "sizes")],
};

static MEMCACHED_SERVER: Section = Section {
    what: "a memcached server",
    groups: &[
        COMMON,
        &[
            field("port", PORT, "UDP port; 11211 if absent."),
            field("value", Shape::Size, "Bytes of a value that was not set; 64 if absent."),
            field("service_time", Shape::Time, "Time to answer a request; 0 if absent."),
        ],
    ],
    foreign_names: &[],
};

static MEMCACHED_CLIENT: Section = Section {
    what: "a memcached client",
    groups: &[
        COMMON,
        &[
            TO,
            field("rate", Shape::Frequency, "Requests per second.").required("`rate: 10k/s`"),
            field("keys", COUNT, "Number of keys; 10000 if absent."),
            field("key", Shape::Size, "Bytes of a key; 16 if absent."),
            field("value", Shape::Size, "Bytes of a value; 64 if absent."),
            field(
                "zipf",
                Shape::Decimal,
                "Exponent of the Zipf distribution of keys; all keys equal if absent.",
            ),
            field(
                "get_share",
                Shape::Probability,
                "Share of GET requests, the others are SET; 95% if absent.",
            ),
            field("arrivals", Shape::Word(ARRIVALS), "Gaps between requests; poisson if absent."),
            field("count", COUNT, "Requests."),
            field("duration", Shape::Time, "Time to send; until the end of the run if absent."),
            field("port", PORT, "UDP port; 11211 if absent."),
        ],
    ],
    foreign_names: &[("exponent", "zipf"), ("gets", "get_share")],
};

static REPLAY: Section = Section {
    what: "a replay",
    groups: &[
        COMMON,
        &[
            field("capture", Shape::Text, "pcap or pcapng file, relative to this file.")
                .required("`capture: trace.pcap`"),
            field("scale", Shape::Decimal, "Factor of the distances of packets; 1 if absent."),
        ],
    ],
    foreign_names: &[("file", "capture"), ("at", "start"), ("time_scale", "scale")],
};

static TRACE: Section = Section {
    what: "a packet trace",
    groups: &[
        COMMON,
        &[
            field("flows", COUNT, "Flows, exactly.").required("`flows: 10000`"),
            field("packets", COUNT, "Packets, exactly; 24 for each flow if absent."),
            field("duration", Shape::Time, "Time in which all packets are.")
                .required("`duration: 1s`"),
            field(
                "median",
                Shape::Decimal,
                "Median number of packets of a flow; a sixth of the mean if absent.",
            ),
            field("source_net", Shape::Prefix, "Network of senders; public addresses if absent."),
            field(
                "destination_net",
                Shape::Prefix,
                "Network of receivers; public addresses if absent.",
            ),
            field("sources", COUNT, "Senders; a fourth of the flows if absent."),
            field("destinations", COUNT, "Receivers; a fourth of the flows if absent."),
            field(
                "destination_mac",
                Shape::Mac,
                "Ethernet address of the receiver; that of the gateway in `arp` if absent.",
            ),
        ],
    ],
    foreign_names: &[
        ("time", "duration"),
        ("count", "packets"),
        ("source", "source_net"),
        ("destination", "destination_net"),
    ],
};

static INCAST: Section = Section {
    what: "an incast",
    groups: &[
        COMMON,
        &[
            field("to", Shape::Text, "Receiver; the host that has the application if absent."),
            field("bytes", Shape::Size, "Bytes from each sender.").required("`bytes: 64KB`"),
            field("count", COUNT, "Repetitions; 1 if absent."),
            field(
                "interval",
                Shape::Time,
                "From one start to the next; after the last byte if absent.",
            ),
        ],
        TCP_OPTIONS,
    ],
    foreign_names: &[("size", "bytes"), ("senders", "from")],
};

static FRAME: Section = Section {
    what: "a frame",
    groups: &[&[
        field("at", Shape::Time, "When; the start of the application if absent."),
        field("bytes", Shape::Bytes, "The frame from its destination address on.")
            .required("`bytes: \"ffff ffff ffff ...\"`"),
        field("count", COUNT, "Copies; 1 if absent."),
        field("interval", Shape::Time, "From one copy to the next; 1 s if absent."),
    ]],
    foreign_names: &[("time", "at"), ("frame", "bytes")],
};

static SEND: Section = Section {
    what: "a list of frames",
    groups: &[
        COMMON,
        &[field(
            "frames",
            Shape::List(&Shape::Short { section: &FRAME, field: "bytes" }),
            "Frames with times from the start of the application on.",
        )
        .required("`frames: [{at: 1s, bytes: \"ffff ffff ffff ...\"}]`")],
    ],
    foreign_names: &[],
};

static RECEIVER: Section = Section {
    what: "a receiver",
    groups: &[COMMON, &[field("port", PORT, "TCP and UDP port; all ports if absent.")]],
    foreign_names: &[],
};

static COMMAND: Section = Section {
    what: "a program",
    groups: &[
        COMMON,
        &[field("run", Shape::Text, "Text for the shell, in the folder of the file.")
            .required("`run: python3 server.py`")],
    ],
    foreign_names: &[],
};

const fn kind(name: &'static str, shape: Shape, text: &'static str) -> Kind {
    Kind { name, shape, text }
}

const fn to(section: &'static Section) -> Shape {
    Shape::Short { section, field: "to" }
}

/// An application.
pub static APPLICATION: Shape =
    Shape::Tagged { what: "an application", common: COMMON, kinds: KINDS };

/// All kinds of applications.
pub static KINDS: &[Kind] = &[
    kind("ping", to(&PING), "Sends echo requests."),
    kind("tcp", to(&TCP), "Sends bytes over TCP, as iperf3 does."),
    kind(
        "request_response",
        Shape::Record(&REQUEST_RESPONSE),
        "Sends requests over TCP and waits for responses.",
    ),
    kind("udp", Shape::Record(&UDP), "Sends UDP datagrams."),
    kind("flows", Shape::Record(&FLOWS), "Starts TCP flows of random sizes at random times."),
    kind(
        "memcached_server",
        Shape::Record(&MEMCACHED_SERVER),
        "Answers memcached requests over UDP.",
    ),
    kind(
        "memcached_client",
        Shape::Record(&MEMCACHED_CLIENT),
        "Sends memcached requests over UDP.",
    ),
    kind(
        "replay",
        Shape::Short { section: &REPLAY, field: "capture" },
        "Sends the packets of a capture.",
    ),
    kind(
        "trace",
        Shape::Record(&TRACE),
        "Sends a generated packet trace with the shape of CAIDA's traces.",
    ),
    kind(
        "incast",
        Shape::Record(&INCAST),
        "Receives bytes from several senders that start at once.",
    ),
    kind("send", Shape::Record(&SEND), "Sends frames at times."),
    kind("listen", Shape::Record(&RECEIVER), "Receives and lists packets."),
    kind("sink", Shape::Record(&RECEIVER), "Receives and discards bytes."),
    kind("echo", Shape::Record(&RECEIVER), "Returns what it receives."),
    kind(
        "command",
        Shape::Short { section: &COMMAND, field: "run" },
        "Runs a program of yours in a live network.",
    ),
];

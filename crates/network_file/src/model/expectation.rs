// SPDX-License-Identifier: Apache-2.0
//! Expected results of a run.

use super::link::End;
use crate::format::condition::Range;
use crate::format::value::Located;
use source::Span;

/// An expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The place.
    pub span: Span,
    /// What it is about.
    pub subject: Subject,
    /// Conditions; all must hold.
    pub conditions: Vec<Condition>,
}

/// A host's application: the index of the host and of the application in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApplicationIndex {
    /// The host.
    pub host: usize,
    /// The application.
    pub application: usize,
}

/// What an expectation is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A ping from a host to another; the application may have further destinations.
    Ping {
        /// The application.
        application: ApplicationIndex,
        /// The destination, as an index into the application's list.
        destination: usize,
    },
    /// Applications of one name, together.
    Applications(Vec<ApplicationIndex>),
    /// A link, by its index; both directions.
    Link(usize),
    /// A port.
    Port(End),
    /// Packets that a host receives.
    Received {
        /// The host, by its index.
        host: usize,
        /// Values of header fields; a packet must have all.
        fields: Vec<(Located<String>, Located<String>)>,
        /// From this time on, in picoseconds.
        after_ps: Option<u64>,
        /// Until this time, in picoseconds.
        before_ps: Option<u64>,
    },
    /// A cell of a counter.
    Counter(Cell),
    /// A cell of a register.
    Register(Cell),
}

/// A cell of a counter or register.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The switch, by its index.
    pub switch: usize,
    /// The name in the program.
    pub name: Located<String>,
    /// The index.
    pub index: u32,
    /// When it is read, in picoseconds; `None` at the end of the run.
    pub at_ps: Option<u64>,
}

/// A condition on a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// What is compared.
    pub metric: Metric,
    /// The values that fulfil it: picoseconds, bits per second, bytes, counts, or probabilities.
    pub range: Range,
    /// The place, where the file has the condition's text.
    pub span: Span,
}

/// What a condition compares. The file's names are those of the table in docs/networks.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of docs/networks.md")]
pub enum Metric {
    Loss,
    Sent,
    Received,
    Rtt,
    MinRtt,
    MaxRtt,
    Ttl,
    Goodput,
    Bytes,
    Retransmissions,
    Timeouts,
    Completion,
    P99Completion,
    Completed,
    Lost,
    Delivered,
    Use,
    Dropped,
    Queue,
    MeanQueue,
    P99Queue,
    Count,
    Value,
}

impl Metric {
    /// All metrics with their names.
    pub const ALL: &[(&str, Metric)] = &[
        ("loss", Metric::Loss),
        ("sent", Metric::Sent),
        ("received", Metric::Received),
        ("rtt", Metric::Rtt),
        ("min_rtt", Metric::MinRtt),
        ("max_rtt", Metric::MaxRtt),
        ("ttl", Metric::Ttl),
        ("goodput", Metric::Goodput),
        ("bytes", Metric::Bytes),
        ("retransmissions", Metric::Retransmissions),
        ("timeouts", Metric::Timeouts),
        ("completion", Metric::Completion),
        ("p99_completion", Metric::P99Completion),
        ("completed", Metric::Completed),
        ("lost", Metric::Lost),
        ("delivered", Metric::Delivered),
        ("use", Metric::Use),
        ("dropped", Metric::Dropped),
        ("queue", Metric::Queue),
        ("mean_queue", Metric::MeanQueue),
        ("p99_queue", Metric::P99Queue),
        ("count", Metric::Count),
        ("value", Metric::Value),
    ];

    /// The metric of a name.
    pub fn of_name(name: &str) -> Option<Metric> {
        Metric::ALL.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        Metric::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }
}

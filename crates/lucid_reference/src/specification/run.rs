// SPDX-License-Identifier: Apache-2.0
//! A run's specification as data, before `simulation::resolve` looks up its names in a program. Times are in
//! picoseconds here; in the file they are in nanoseconds unless a unit is given.

#![allow(missing_docs, reason = "the text of a variant explains its fields")]

use lucid::core::DEFAULT_RECIRCULATION_PORT;
use source::Span;
use std::collections::BTreeMap;

/// Picoseconds in a nanosecond, the unit of times without one.
pub const PS_PER_NS: u64 = 1_000;

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// `program`: the program's file, relative to the specification.
    pub program: Option<String>,
    /// Symbolics given inline (`symbolics`, `sizes`).
    pub symbolics: lucid::elaborate::Symbolics,
    /// `symbolics file`: a file of symbolics, relative to the specification; what stands inline
    /// counts over it.
    pub symbolics_file: Option<String>,
    /// Number of switches; at least 1.
    pub switches: u32,
    /// Links.
    pub links: Links,
    /// Recirculation port of each switch; the default is 196.
    pub recirculation_ports: Vec<u32>,
    /// Where ports of links and recirculation ports are written, by switch and port, for messages.
    pub port_places: BTreeMap<(u32, u32), Span>,
    /// When the run ends; nothing after this time happens. The default is 10,000 ns.
    pub max_time_ps: u64,
    /// Between inputs without a timestamp; the default is 1 ns.
    pub default_input_gap_ps: u64,
    /// From generation to arrival at the same switch; the default is 600 ns.
    pub generate_delay_ps: u64,
    /// On links, besides the above; the default is 0.
    pub propagate_delay_ps: u64,
    /// A generated event takes up to so much longer, at random; the default is 0.
    pub random_delay_range_ps: u64,
    /// On links, up to so much longer, at random; the default is 0.
    pub random_propagate_range_ps: u64,
    /// Probability in percent (reference) that a link loses an event.
    pub drop_chance_percent: f64,
    /// Seed of all randomness.
    pub seed: u64,
    /// Extern values by name, one a switch.
    pub externs: BTreeMap<String, Vec<Argument>>,
    /// Where each of them stands, for messages.
    pub extern_places: BTreeMap<String, Span>,
    /// What happens from outside, in the order of the file.
    pub inputs: Vec<Input>,
    /// Expectations (`expect`).
    pub expectations: Vec<Expectation>,
    /// Delayed events wait in a pausable queue that is released every so long (0: delays are exact).
    pub delay_granularity_ps: u64,
    /// Where that is written, for messages.
    pub delay_granularity_place: Span,
    /// Switches stop at an access beyond the end of an array (the reference does).
    pub stop_on_out_of_range: bool,
}

/// One switch that runs for 10,000 ns without inputs.
impl Default for Run {
    fn default() -> Run {
        Run {
            program: None,
            symbolics: lucid::elaborate::Symbolics::default(),
            symbolics_file: None,
            switches: 1,
            links: Links::List(Vec::new()),
            recirculation_ports: vec![DEFAULT_RECIRCULATION_PORT],
            port_places: BTreeMap::new(),
            max_time_ps: 10_000 * PS_PER_NS,
            default_input_gap_ps: PS_PER_NS,
            generate_delay_ps: 600 * PS_PER_NS,
            propagate_delay_ps: 0,
            random_delay_range_ps: 0,
            random_propagate_range_ps: 0,
            drop_chance_percent: 0.0,
            seed: 0,
            externs: BTreeMap::new(),
            extern_places: BTreeMap::new(),
            inputs: Vec::new(),
            expectations: Vec::new(),
            delay_granularity_ps: 0,
            delay_granularity_place: Span::NONE,
            stop_on_out_of_range: false,
        }
    }
}

/// How switches are connected.
#[derive(Clone, Debug, PartialEq)]
pub enum Links {
    /// `"full mesh"`: the port to switch n is port n.
    FullMesh,
    /// Pairs of (switch, port), in both directions.
    List(Vec<Link>),
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its ends, (switch, port).
    pub ends: [(u32, u32); 2],
    /// Instead of the run's propagation delay.
    pub latency_ps: Option<u64>,
    /// Up to so much longer at random.
    pub jitter_ps: Option<u64>,
    /// Probability of loss, 0 to 1.
    pub loss: Option<f64>,
    /// Bits a second; unlimited if absent.
    pub rate_bps: Option<u64>,
}

/// An argument in a specification. The meaning of a text depends on the type of the parameter:
/// `argument.rs` has the conversions.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Int(u128),
    /// A boolean.
    Bool(bool),
    /// A text as it stands: a number (`"0xff"`, `"5<32>"`, `"10.0.0.1"`), a truth value, the bytes
    /// of a payload in hexadecimal, or the name of a global for events over globals.
    Text(String),
    /// A group, or the parts of a record or vector.
    List(Vec<Argument>),
}

/// The spans of an entry's fields, for messages about names and types that are checked
/// only against the program. Missing fields have [`Span::NONE`] and empty lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSpans {
    /// The whole entry.
    pub whole: Span,
    /// The event's, array's or table's name.
    pub name: Span,
    /// One an argument.
    pub arguments: Vec<Span>,
    /// One a field of a table's key.
    pub key: Vec<Span>,
    /// The action's name.
    pub action: Span,
}

impl Default for FieldSpans {
    fn default() -> FieldSpans {
        let none = Span::NONE;
        FieldSpans { whole: none, name: none, arguments: Vec::new(), key: Vec::new(), action: none }
    }
}

/// An input from outside the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// When; absent: the default gap after the one before.
    pub time_ps: Option<u64>,
    /// (switch, port) pairs; the default is switch 0, port 0.
    pub locations: Vec<(u32, u32)>,
    /// What.
    pub kind: InputKind,
    /// Where it stands.
    pub field_spans: FieldSpans,
}

/// The kind of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum InputKind {
    /// An event by name.
    Event { name: String, arguments: Vec<Argument> },
    /// A packet, for the program's parser.
    Packet { bytes: Vec<u8> },
    /// A command of a control plane.
    Command(Command),
    /// Many events.
    Generator(Generator),
    /// The packets of a capture, from this file, as packets or as events.
    Capture { file: String, event: Option<CaptureEvent>, time_scale: f64 },
    /// A link goes down or up.
    Link { ends: [(u32, u32); 2], up: bool },
}

/// How packets of a capture become events where a program has no parser: fields by their names
/// (`ipv4.src`, `tcp.dst_port`, `length`), one an argument.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureEvent {
    /// The event.
    pub name: String,
    /// Field names or numbers.
    pub arguments: Vec<String>,
}

/// Events at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// The event.
    pub name: String,
    /// Each a constant or a distribution.
    pub arguments: Vec<Draw>,
    /// How many.
    pub count: u64,
    /// Between two of them.
    pub gap: Gap,
}

/// Time between two generated inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
    /// Always the same, in picoseconds.
    Constant(u64),
    /// Exponential with this mean in picoseconds (Poisson arrivals).
    Exponential(f64),
}

/// The source of an argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// Always this.
    Constant(Argument),
    /// Even, both ends included.
    Uniform(u128, u128),
    /// 1 to n with probability proportional to 1 / k^exponent, plus an offset.
    Zipf { items: u64, exponent: f64, offset: u128 },
    /// start, start + step, ...
    Sequence { start: u128, step: u128 },
}

/// A command of a control plane.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `Array.get`, `Array.getrange`
    ArrayGet { array: String, start: u64, end: Option<u64> },
    /// `Array.set`, `Array.setrange`; two values for pairs.
    ArraySet { array: String, start: u64, end: Option<u64>, values: Vec<u128> },
    /// `Table.install`
    TableInstall {
        table: String,
        key: Vec<KeyPattern>,
        priority: Option<u32>,
        action: String,
        arguments: Vec<Argument>,
    },
    /// `Table.remove` (ours).
    TableRemove { table: String, key: Vec<KeyPattern> },
    /// `Table.get` (ours): lists the entries.
    TableGet { table: String },
}

/// A key of a table command: value and mask; no mask: exact.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPattern {
    /// Value.
    pub value: u128,
    /// Which bits count; `None` all.
    pub mask: Option<u128>,
}

/// What should be so.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its number in the list, from 0.
    pub index: usize,
    /// What.
    pub kind: ExpectationKind,
    /// `for`: names of the executions that it is for, with their places; empty for all.
    pub executions: Vec<(String, Span)>,
    /// Where it stands.
    pub field_spans: FieldSpans,
}

impl Expectation {
    /// Whether it is for runs by this execution.
    pub fn is_for(&self, execution: &str) -> bool {
        self.executions.is_empty() || self.executions.iter().any(|(name, _)| name == execution)
    }
}

/// Kinds of expectations.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectationKind {
    /// The number of times that an event is handled, generated, leaves or is dropped, within a time span.
    Event {
        what: LifecycleStep,
        name: String,
        /// Absent arguments match anything.
        arguments: Option<Vec<Option<Argument>>>,
        switch: Option<u32>,
        port: Option<u32>,
        after_ps: Option<u64>,
        before_ps: Option<u64>,
        count: Count,
    },
    /// Cells of an array at a time (the end if absent).
    Array { name: String, switch: u32, start: u64, values: Vec<Vec<u128>>, at_ps: Option<u64> },
    /// A counter of the run.
    Counter { name: String, switch: Option<u32>, count: Count },
}

/// The expectation of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleStep {
    /// Its handler runs.
    Handled,
    /// It is generated.
    Generated,
    /// It leaves the network.
    Left,
    /// It is lost.
    Dropped,
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least.
    pub least: u64,
    /// At most.
    pub most: Option<u64>,
}

// SPDX-License-Identifier: Apache-2.0
//! `DeviceOptions`: the settings of a device (ports, queues, buffer, latencies, seed). The defaults are those of an ideal
//! switch with BMv2's queue depths.

use crate::flow_control::FlowControlOptions;
use crate::packet_generator::{GeneratorApplication, PacketTrain};
use crate::pass_timing::PassTiming;
use crate::wire::OutputPath;
use control::latency::LatencyModel;
use state::externs::ExternRegistry;
use std::collections::BTreeMap;

/// Queue depths at which a queue signals congestion and relief, in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionThresholds {
    /// At this depth the queue signals congestion.
    pub pause_packets: u32,
    /// At this depth or below, after congestion, it signals relief.
    pub resume_packets: u32,
}

/// Options of an output path: its wire and its queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOptions {
    /// Bits per second on the wire; `None` is infinite.
    pub rate_bps: Option<u64>,
    /// From the last bit sent to the last bit received, in picoseconds.
    pub latency_ps: u64,
    /// Number of queues, at least 1; the highest number has the highest priority.
    pub queue_count: u32,
    /// Capacity of each queue in packets.
    pub queue_depth_packets: u32,
    /// Capacity of each queue in bytes beside that in packets; an empty queue accepts any packet. `None` is no limit.
    pub queue_depth_bytes: Option<u64>,
    /// Bytes that each packet takes on the wire beside its own: 24 for preamble, check sequence and gap of Ethernet.
    pub overhead_bytes: u32,
    /// Rate limit of each queue in packets per second; 0 is no limit.
    pub queue_rate_pps: u64,
    /// When queues signal congestion; `None` is never.
    pub congestion: Option<CongestionThresholds>,
    /// Whether this port is in loopback: a transmitted packet arrives at the same port again, as at a recirculation port
    /// (Lucid §2.2) or with a cable from the port to itself.
    pub loopback: bool,
    /// Priority-based flow control: the port's MAC obeys and consumes flow control frames. With `None` the program
    /// receives them as packets.
    pub flow_control: Option<FlowControlOptions>,
}

impl Default for PortOptions {
    /// An infinite rate, no latency, 8 queues (a value of v1model's `priority` each) of 64 packets
    /// (BMv2's depth), no signals, no loopback.
    fn default() -> PortOptions {
        PortOptions {
            rate_bps: None,
            latency_ps: 0,
            queue_count: 8,
            queue_depth_packets: 64,
            queue_depth_bytes: None,
            overhead_bytes: 0,
            queue_rate_pps: 0,
            congestion: None,
            loopback: false,
            flow_control: None,
        }
    }
}

impl PortOptions {
    /// Returns whether a single packet leaves the device at once without a congestion signal. Ignores depths, which
    /// controllers may set later.
    pub(crate) fn is_ideal(&self) -> bool {
        self.rate_bps.is_none_or(|rate| rate == 0)
            && self.latency_ps == 0
            && !self.loopback
            && self.is_prompt()
    }

    /// Returns whether a single packet leaves its queue at once if the wire is idle.
    pub(crate) fn is_prompt(&self) -> bool {
        self.queue_rate_pps == 0 && self.congestion.is_none_or(|at| at.pause_packets > 1)
    }

    /// Returns the options of the internal paths back to ingress: one queue of 1024 packets (BMv2's depth).
    pub fn internal() -> PortOptions {
        PortOptions { queue_count: 1, queue_depth_packets: 1024, ..PortOptions::default() }
    }
}

/// Options of the output paths and their shared buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficManagerOptions {
    /// Capacity of all queues together in bytes; `None` is no limit.
    pub shared_buffer_bytes: Option<u64>,
    /// Options of ports that `ports` does not list.
    pub default_port: PortOptions,
    /// Options of single ports.
    pub ports: BTreeMap<u32, PortOptions>,
    /// The recirculation path.
    pub recirculation: PortOptions,
    /// The resubmission path.
    pub resubmission: PortOptions,
}

impl Default for TrafficManagerOptions {
    fn default() -> TrafficManagerOptions {
        TrafficManagerOptions {
            shared_buffer_bytes: None,
            default_port: PortOptions::default(),
            ports: BTreeMap::new(),
            recirculation: PortOptions::internal(),
            resubmission: PortOptions::internal(),
        }
    }
}

/// The options that machine code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeOptions {
    drop_port: Option<u32>,
    min_queue_count: u32,
}

impl DeviceOptions {
    /// Returns the options that machine code depends on.
    pub(crate) fn code_options(&self) -> CodeOptions {
        let min_queue_count = self.traffic_manager.min_queue_count();
        CodeOptions { drop_port: self.drop_port, min_queue_count }
    }

    /// Returns whether packets may take the fast path, which has no taps and takes no time in ingress.
    pub(crate) fn may_use_fast_path(&self) -> bool {
        !self.tap && self.ingress_latency_ps == 0
    }

    /// Returns the engine of a device with these options: traces need the interpreter.
    pub fn effective_engine(&self) -> EngineChoice {
        if self.trace { EngineChoice::Interpreter } else { self.engine }
    }
}

impl TrafficManagerOptions {
    /// Returns the smallest number of queues of a port, at least 1.
    pub(crate) fn min_queue_count(&self) -> u32 {
        let ports = self.ports.values().chain([&self.default_port]);
        ports.map(|port| port.queue_count.max(1)).min().unwrap_or(1)
    }

    /// Returns the options of a port.
    pub fn port(&self, port: u32) -> &PortOptions {
        self.ports.get(&port).unwrap_or(&self.default_port)
    }

    /// Returns whether some port has a rate or a latency.
    pub(crate) fn wires_take_time(&self) -> bool {
        let takes_time = |port: &PortOptions| port.rate_bps.is_some() || port.latency_ps > 0;
        self.ports.values().chain([&self.default_port]).any(takes_time)
    }

    /// Returns whether some port has flow control.
    pub(crate) fn has_flow_control(&self) -> bool {
        self.ports.values().chain([&self.default_port]).any(|port| port.flow_control.is_some())
    }

    /// Returns whether a port is in loopback.
    pub fn is_loopback(&self, port: u32) -> bool {
        self.port(port).loopback
    }

    /// Returns the options of a path.
    pub fn of(&self, path: OutputPath) -> &PortOptions {
        match path {
            OutputPath::Port(port) => self.port(port),
            OutputPath::Recirculation => &self.recirculation,
            OutputPath::Resubmission => &self.resubmission,
        }
    }
}

/// Default of [`DeviceOptions::pass_limit`].
pub const DEFAULT_PASS_LIMIT: u32 = 100_000;

/// The engine that runs the blocks of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// Machine code, compiled when the program is loaded.
    #[default]
    Jit,
    /// The reference interpreter.
    Interpreter,
}

impl EngineChoice {
    /// Returns its name in reports and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Jit => "jit",
            EngineChoice::Interpreter => "interpreter",
        }
    }
}

/// The unit of v1model's time stamps. Other architectures define their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampUnit {
    /// The unit of BMv2.
    #[default]
    Microseconds,
    /// The unit of Lucid and Tofino.
    Nanoseconds,
}

impl TimestampUnit {
    /// Returns its length in picoseconds.
    #[inline]
    pub const fn picoseconds(self) -> u64 {
        match self {
            TimestampUnit::Microseconds => 1_000_000,
            TimestampUnit::Nanoseconds => 1_000,
        }
    }
}

/// The settings of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceOptions {
    /// The engine of the blocks. A device with [`DeviceOptions::trace`] always uses the interpreter.
    pub engine: EngineChoice,
    /// The device's number in its network; part of the random key.
    pub device_id: u64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Ports, queues and buffer.
    pub traffic_manager: TrafficManagerOptions,
    /// The CPU port, if there is one.
    pub cpu_port: Option<u32>,
    /// The `egress_spec` that drops a packet; `None` uses the architecture's (v1model: 511).
    pub drop_port: Option<u32>,
    /// The largest number of passes through ingress or egress of a received packet and all its copies. The device drops
    /// packets above the limit as [`crate::DropReason::PassLimit`], so every run ends. With `None`, packets may loop
    /// forever and the caller bounds the run by [`crate::Device::advance`]; each loop must then take device time (a rate
    /// or a latency on its path).
    pub pass_limit: Option<u32>,
    /// The unit of v1model's time stamps.
    pub timestamp_unit: TimestampUnit,
    /// Smallest time between two packets that enter ingress, in picoseconds; 0 is no limit. Other packets wait in the
    /// order of arrival, from ports and internal paths alike. A pipeline that accepts a packet each cycle of 1 GHz has
    /// 1000 (Lucid §7.3).
    pub ingress_interval_ps: u64,
    /// Trains of the packet generator.
    pub packet_generator: Vec<PacketTrain>,
    /// Applications of the packet generator; of equal numbers the last one counts.
    pub generator_applications: Vec<GeneratorApplication>,
    /// The latency model of controllers' batches; with `None` they take no time.
    pub control_latency: Option<LatencyModel>,
    /// Latency of the ingress pipeline from arrival to queue, in picoseconds.
    pub ingress_latency_ps: u64,
    /// Latency of the egress pipeline from queue to wire, in picoseconds.
    pub egress_latency_ps: u64,
    /// Whether packets run egress when they are queued, and leave at the time that they will have, without an event: for
    /// v1model programs whose egress reads nothing that is known only at the end of the queue and shares no state, on ports
    /// whose packets leave in order. Results are the same as long as nobody changes tables, rates or pauses while packets
    /// wait; [`crate::Device::buffered_bytes`] does not count packets that wait.
    pub plans_departures: bool,
    /// Times of the stages of a pass, so that each access sees the state at its own time. Needs the interpreter.
    pub pass_timing: Option<PassTiming>,
    /// Providers of externs that the architecture's interface does not declare.
    pub externs: ExternRegistry,
    /// Whether the device records a trace of every packet.
    pub trace: bool,
    /// Whether the device records events for [`crate::Device::drain_taps`]. Then no packet takes the fast path.
    pub tap: bool,
    /// Whether the device records the updates of controllers for [`crate::Device::drain_updates`]. Then its driver applies all
    /// of them, between two packets.
    pub records_updates: bool,
}

impl Default for DeviceOptions {
    fn default() -> DeviceOptions {
        DeviceOptions {
            engine: EngineChoice::default(),
            device_id: 0,
            seed: 0,
            traffic_manager: TrafficManagerOptions::default(),
            cpu_port: None,
            drop_port: None,
            pass_limit: Some(DEFAULT_PASS_LIMIT),
            timestamp_unit: TimestampUnit::default(),
            ingress_interval_ps: 0,
            packet_generator: Vec::new(),
            generator_applications: Vec::new(),
            control_latency: None,
            ingress_latency_ps: 0,
            egress_latency_ps: 0,
            plans_departures: false,
            pass_timing: None,
            externs: ExternRegistry::new(),
            trace: false,
            tap: false,
            records_updates: false,
        }
    }
}

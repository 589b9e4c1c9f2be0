// SPDX-License-Identifier: Apache-2.0
//! What a user sets when a device is built: ports, queues, buffer, seed. Defaults are those of an
//! ideal switch with BMv2's queue depths. What a device does with them lives elsewhere.

use crate::flow_control::FlowControlOptions;
use crate::packet_generator::{GeneratorApplication, PacketTrain};
use crate::pass_timing::PassTiming;
use crate::wire::OutputPath;
use control::latency::LatencyModel;
use state::externs::ExternRegistry;
use std::collections::BTreeMap;

/// When a queue asks senders to pause, in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionThresholds {
    /// At this depth the queue signals congestion.
    pub pause_packets: u32,
    /// At this depth or below, after congestion, it signals relief.
    pub resume_packets: u32,
}

/// An output path: its wire and its queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOptions {
    /// Bits per second on the wire; `None` is infinite.
    pub rate_bps: Option<u64>,
    /// From the last bit sent to the last bit there, in picoseconds.
    pub latency_ps: u64,
    /// How many queues; the highest number has the highest priority. At least 1.
    pub queue_count: u32,
    /// How many packets each queue holds.
    pub queue_depth_packets: u32,
    /// Packets per second that each queue lets through; 0 is no limit.
    pub queue_rate_pps: u64,
    /// When queues signal congestion; `None` is never.
    pub congestion: Option<CongestionThresholds>,
    /// Whether packets that leave by this numbered port come back by it, as new arrivals at ingress: a
    /// recirculation port (Lucid §2.2), or a cable from the port to itself.
    pub loopback: bool,
    /// Whether the port's MAC obeys frames of priority-based flow control that come to it, and ends them;
    /// `None` is that they are packets like others.
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
            queue_rate_pps: 0,
            congestion: None,
            loopback: false,
            flow_control: None,
        }
    }
}

impl PortOptions {
    /// Whether packets leave at once, one alone without a signal, and are gone. Depths aside, which may be
    /// set later.
    pub(crate) fn is_ideal(&self) -> bool {
        self.rate_bps.is_none_or(|rate| rate == 0)
            && self.latency_ps == 0
            && !self.loopback
            && self.is_prompt()
    }

    /// Whether one packet alone leaves its queue at once, when the wire is idle.
    pub(crate) fn is_prompt(&self) -> bool {
        self.queue_rate_pps == 0 && self.congestion.is_none_or(|at| at.pause_packets > 1)
    }

    /// The ways back to ingress: one queue of 1024 packets (BMv2's depth).
    pub fn internal() -> PortOptions {
        PortOptions { queue_count: 1, queue_depth_packets: 1024, ..PortOptions::default() }
    }
}

/// Paths of a device and what they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficManagerOptions {
    /// Bytes that all queues together hold; `None` is no limit.
    pub shared_buffer_bytes: Option<u64>,
    /// Ports that `ports` does not list.
    pub default_port: PortOptions,
    /// Ports of their own.
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

/// What of the options goes into machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeOptions {
    drop_port: Option<u32>,
    min_queue_count: u32,
}

impl DeviceOptions {
    /// What of them goes into machine code.
    pub(crate) fn code_options(&self) -> CodeOptions {
        let min_queue_count = self.traffic_manager.min_queue_count();
        CodeOptions { drop_port: self.drop_port, min_queue_count }
    }

    /// The engine that a device with these options has.
    pub fn effective_engine(&self) -> EngineChoice {
        if self.trace { EngineChoice::Interpreter } else { self.engine }
    }
}

impl TrafficManagerOptions {
    /// The fewest queues that a port has, 1 at least.
    pub(crate) fn min_queue_count(&self) -> u32 {
        let ports = self.ports.values().chain([&self.default_port]);
        ports.map(|port| port.queue_count.max(1)).min().unwrap_or(1)
    }

    /// The options of a numbered port.
    pub fn port(&self, port: u32) -> &PortOptions {
        self.ports.get(&port).unwrap_or(&self.default_port)
    }

    /// Whether some port has a rate or a latency.
    pub(crate) fn wires_take_time(&self) -> bool {
        let takes_time = |port: &PortOptions| port.rate_bps.is_some() || port.latency_ps > 0;
        self.ports.values().chain([&self.default_port]).any(takes_time)
    }

    /// Whether some port's MAC has to look at what arrives.
    pub(crate) fn has_flow_control(&self) -> bool {
        self.ports.values().chain([&self.default_port]).any(|port| port.flow_control.is_some())
    }

    /// Whether packets that leave by a port come back by it.
    pub fn is_loopback(&self, port: u32) -> bool {
        self.port(port).loopback
    }

    /// The options of a path.
    pub fn of(&self, path: OutputPath) -> &PortOptions {
        match path {
            OutputPath::Port(port) => self.port(port),
            OutputPath::Recirculation => &self.recirculation,
            OutputPath::Resubmission => &self.resubmission,
        }
    }
}

/// How many passes through ingress or egress one received packet and all its copies may take before
/// they are dropped, unless set otherwise.
pub const DEFAULT_PASS_LIMIT: u32 = 100_000;

/// What runs the blocks of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// Machine code, made when the program is loaded.
    #[default]
    Jit,
    /// The reference semantics, one instruction at a time.
    Interpreter,
}

impl EngineChoice {
    /// Its name in reports and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Jit => "jit",
            EngineChoice::Interpreter => "interpreter",
        }
    }
}

/// The unit of v1model's time stamps; those of other architectures are their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampUnit {
    /// As BMv2 counts.
    #[default]
    Microseconds,
    /// As Lucid and Tofino count.
    Nanoseconds,
}

impl TimestampUnit {
    /// How many picoseconds it is.
    #[inline]
    pub const fn picoseconds(self) -> u64 {
        match self {
            TimestampUnit::Microseconds => 1_000_000,
            TimestampUnit::Nanoseconds => 1_000,
        }
    }
}

/// How a device is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceOptions {
    /// What runs the blocks. Traces come from the interpreter, so a device with [`DeviceOptions::trace`]
    /// has it whatever is chosen here.
    pub engine: EngineChoice,
    /// Tells devices of a network apart; part of what randomness is derived from.
    pub device_id: u64,
    /// What randomness is derived from.
    pub seed: u64,
    /// Ports, queues and buffer.
    pub traffic_manager: TrafficManagerOptions,
    /// The port of the control plane's packets, where there is one.
    pub cpu_port: Option<u32>,
    /// The `egress_spec` that means drop; `None` is the architecture's (v1model: 511).
    pub drop_port: Option<u32>,
    /// How many passes through ingress or egress one received packet may take, those of all its
    /// copies counted with it; what would need more is dropped as
    /// [`crate::DropReason::PassLimit`], so every run ends. `None` is no limit: packets may go round
    /// for ever, and the caller bounds time by [`crate::Device::advance`]; what goes round must then take
    /// time (a rate or a latency on its way), else the clock stands still.
    pub pass_limit: Option<u32>,
    /// The unit of v1model's time stamps.
    pub timestamp_unit: TimestampUnit,
    /// From one packet into ingress to the next, in picoseconds, at least: others wait, in the order in
    /// which they came, ports and ways back alike. 0 is no limit. A pipeline that takes a packet each
    /// cycle of 1 GHz has 1000 (Lucid §7.3).
    pub ingress_interval_ps: u64,
    /// Trains that the packet generator makes.
    pub packet_generator: Vec<PacketTrain>,
    /// Its applications; of those with equal numbers the last.
    pub generator_applications: Vec<GeneratorApplication>,
    /// How long controllers' batches take; `None` is no time, as in software.
    pub control_latency: Option<LatencyModel>,
    /// Time of the ingress pipeline from arrival to queue, in picoseconds.
    pub ingress_latency_ps: u64,
    /// Time of the egress pipeline from queue to wire, in picoseconds.
    pub egress_latency_ps: u64,
    /// Whether passes take time, so that each access sees the state of its own moment. Only the interpreter
    /// runs such passes.
    pub pass_timing: Option<PassTiming>,
    /// Providers of externs that the architecture's interface does not declare.
    pub externs: ExternRegistry,
    /// Whether a trace of every packet is kept.
    pub trace: bool,
    /// Whether what happens to packets is kept for [`crate::Device::drain_taps`]; no packet takes the
    /// fast path then.
    pub tap: bool,
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
            pass_timing: None,
            externs: ExternRegistry::new(),
            trace: false,
            tap: false,
        }
    }
}

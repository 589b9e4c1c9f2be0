// SPDX-License-Identifier: Apache-2.0
//! One switch: ports, queues, replication, recirculation and a clock, with an architecture's
//! description deciding in which order the blocks of a program run. The outside world (files,
//! links, live ports) is not here.
//!
//! **Time** is integer picoseconds, given by the caller with each packet. At one time, packets
//! leaving queues come first (lower path first), then packets back to ingress (by the internal paths and
//! by loopback ports), then generated packets and packets from ports, each by port and sequence; so with
//! infinite rates every packet runs to its end before the next one begins. A pause by flow control that
//! is over ends last. Where passes take time ([`PassTiming`]), packets under way have their moments behind
//! packets that leave queues and pauses, and before all packets that come, in the order in which their passes
//! began.
//!
//! **Two engines** run the blocks, chosen by [`DeviceOptions::engine`]; what comes out is the same. A
//! packet goes block by block the slow path, with queues between, or, where nothing would show the
//! difference, the fast path: from port to port by one function, in its own memory. [`Burst`]s and
//! single packets take it alike. What shows it is the packet's own queue: while others are paused or full,
//! code with gates ([`jit::Gate`]) lets through whom nothing holds up.
//!
//! **A run ends.** Every pass of a packet and its copies is counted against
//! [`DeviceOptions::pass_limit`], and blocks have a step limit of their own.
//!
//! **A run repeats.** The same program, options, control writes and packets give the same outputs.

mod architecture;
mod architectures;
mod burst;
mod compiled_program;
pub mod configuration;
mod configuration_view;
mod control_request;
mod control_target;
mod device;
mod driver;
mod drop_reason;
mod engine;
mod environment;
mod event_loop;
mod executor;
mod explanation;
mod extern_actions;
mod externs;
mod fast_path;
mod fast_path_run;
pub mod flow_control;
mod forwarding;
mod held_packets;
mod loaded_program;
mod loopback_bursts;
pub mod options;
mod output;
mod packet;
pub mod packet_generator;
mod pass;
pub mod pass_timing;
mod replica_run;
mod services;
mod shared_switch;
pub mod side_by_side;
pub mod statistics;
mod switch;
mod switch_core;
pub mod tap;
mod timed_pass;
mod timed_run;
pub mod trace;
pub mod traffic_manager;
mod wire;

pub use architectures::SUPPORTED_ARCHITECTURES;
pub use burst::{Burst, BurstError, HEADROOM_BYTES, Output};
pub use control_target::DeviceTarget;
pub use device::{CellsView, Device, PreparedProgram};
pub use drop_reason::DropReason;
pub use executor::{Executor, Ran};
pub use explanation::EXPLANATIONS;
pub use flow_control::{FlowControlOptions, PauseFrame};
pub use options::{
    CongestionThresholds, DeviceOptions, EngineChoice, PortOptions, TimestampUnit,
    TrafficManagerOptions,
};
pub use output::{DeviceError, DigestMessage, ExternProblem, LoadError, LogLine, Transmitted};
pub use packet::{IngressSource, ProgramId};
pub use packet_generator::{
    GENERATED_PACKET, GENERATOR_APPLICATIONS, GENERATOR_PORT, GeneratorApplication, GeneratorTimer,
    MOST_BATCHES, PacketTrain, TrainTarget,
};
pub use pass::{CallerPasses, Gress, Pass};
pub use pass_timing::PassTiming;
pub use statistics::{PortStatistics, Statistics};
pub use tap::{EgressPacket, ExternDeed, Tapped, TappedEvent};
pub use trace::PacketTrace;
pub use traffic_manager::{CongestionSignal, QueueStatistics};
pub use wire::OutputPath;

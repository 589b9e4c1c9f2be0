// SPDX-License-Identifier: Apache-2.0
//! A switch: ports, queues, replication, recirculation and a clock. The architecture decides in which order the blocks of a
//! program run. Files, links and live ports are in other crates.
//!
//! **Time** is integer picoseconds, given by the caller with each packet. At one time, packets
//! leaving queues come first (lower path first), then packets back to ingress (by the internal paths and
//! by loopback ports), then generated packets and packets from ports, each by port and sequence; so with
//! infinite rates every packet runs to its end before the next one begins. A pause by flow control that
//! has expired ends last. Timed passes ([`PassTiming`]) have their moments after dequeues and pauses and before all
//! arrivals, in the order in which the passes began.
//!
//! **A pass begins, runs and is finished.** An architecture begins the pass of a packet through ingress or egress
//! (numbers, metadata), an executor runs its blocks, and the architecture finishes it (clones, groups, queues,
//! wire). The device runs passes itself, or hands the [`Pass`], an owned value, to its caller ([`Device::begin`],
//! [`Device::give_passes`]), whose [`Executor`]s run the blocks on their own cells, on any thread and at any
//! time; [`Device::finish`] finishes passes in the order of the calls.
//!
//! **Programs side by side**: a device has one program or several ([`Device::load`]), each with its own
//! configuration, cells and target ([`Device::target_of`]). They share clock, ports, queues, packet generator and the
//! controllers' driver. A rule ([`Admission`]) chooses the program of a packet by port, bytes and length, once, when
//! ingress takes the packet; a looped-back packet counts as a new packet. Clones, copies, resubmitted and recirculated
//! packets stay with the program and the code that they entered, also after a change of the rule, of a program's code
//! ([`Device::replace_code`]) or a swap ([`Device::swap`]: a change of the rule with migration of state). Unloading ends
//! when the last packet has left.
//!
//! **Two engines** run the blocks, chosen by [`DeviceOptions::engine`], with the same outputs. On the slow path a packet
//! runs block by block with queues between. On the fast path one function takes it from port to port, in place. Bursts
//! ([`Burst`]) and single packets take the fast path when its effects equal those of the slow path, that is, when the
//! packet's queue would not make it wait. While some queues are paused or full, code with gates ([`jit::Gate`]) forwards
//! the packets of the others.
//!
//! **A run ends.** Every pass of a packet and its copies is counted against
//! [`DeviceOptions::pass_limit`], and blocks have a step limit of their own.
//!
//! **A run repeats.** The same program, options, control writes and packets give the same outputs.

mod admission;
mod ahead;
mod architecture;
mod architectures;
mod burst;
pub mod circulation;
mod circulation_rounds;
mod compiled_program;
pub mod configuration;
mod configuration_view;
mod control_inbox;
mod control_request;
mod control_target;
mod device;
mod device_programs;
mod driven_passes;
mod driver;
mod drop_reason;
mod engine;
mod environment;
mod event;
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
mod ingress_source;
mod loaded_program;
mod loopback_bursts;
mod mailbox;
pub mod options;
mod output;
mod outputs;
mod own_line;
mod packet;
pub mod packet_generator;
mod pass;
pub mod pass_timing;
mod program_changes;
mod program_shape;
mod programs;
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

pub use admission::{Admission, AdmissionRule, Admitted, MaskedBytes};
pub use burst::{Burst, BurstError, HEADROOM_BYTES, Output};
pub use control_target::DeviceTarget;
pub use device::{CellsView, Device};
pub use device_programs::PreparedProgram;
pub use drop_reason::DropReason;
pub use executor::{Executor, PassStatus};
pub use explanation::EXPLANATIONS;
pub use flow_control::{FlowControlOptions, PauseFrame};
pub use ingress_source::IngressSource;
pub use options::{
    CongestionThresholds, DeviceOptions, EngineChoice, PortOptions, TimestampUnit,
    TrafficManagerOptions,
};
pub use output::{
    AppliedUpdate, DeviceError, DigestMessage, ExternProblem, LoadError, LogLine, Transmitted,
};
pub use outputs::Outputs;
pub use packet::ProgramId;
pub use packet_generator::{
    GENERATED_PACKET, GENERATOR_APPLICATIONS, GENERATOR_PORT, GeneratorApplication, GeneratorTimer,
    MAX_BATCHES, PacketTrain, TrainTarget,
};
pub use pass::{CallerPasses, Gress, Pass};
pub use pass_timing::PassTiming;
pub use statistics::{PortStatistics, Statistics};
pub use tap::{EgressPacket, ExternAction, Tapped, TappedEvent};
pub use trace::PacketTrace;
pub use traffic_manager::{CongestionSignal, DepthTimes, QueueStatistics};
pub use wire::OutputPath;

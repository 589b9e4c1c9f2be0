// SPDX-License-Identifier: Apache-2.0
//! The compiler: from the core program to P4_16 for a target, with what the control plane has to set
//! up. The reference interpreter judges it: every pass that gives a core program again can be run
//! and compared, and what a device does with the compiled program is a schedule that has to be legal
//! and to replay.
//!
//! ```text
//! core program
//!   normal/    generated events have a known constructor each, groups a known set or a flood;
//!              event values, `this`, groups in variables are gone: still a core program
//!   support    what a target cannot do, with reasons
//!   v1model/   structured code straight from the normal form
//!   atomic/    statements of one ALU each, branches as guards, dependencies: a `pisa::Problem`
//!   tna/       merged tables by a `pisa::Layout`, register actions, hashes, pragmas
//!   wire       events as frames; scheduler/ serialisation, dispatch, forwarding, delay
//! ```
//!
//! Everything ends in a [`p4::build::BuiltProgram`]: what is printed is what runs.

pub mod atomic;
pub mod codes;
pub mod expressions;
pub mod names;
pub mod normal;
mod observed;
pub mod scheduler;
pub mod support;
pub mod tna;
mod user;
pub mod v1model;
pub mod wire;

use crate::core::GlobalId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What to compile for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// BMv2's architecture: runs on our switch and on BMv2.
    #[default]
    V1Model,
    /// Tofino's native architecture.
    Tna,
}

/// How delayed events wait (Lucid §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delay {
    /// In a queue of the recirculation port that is paused most of the time and released by pairs of
    /// PFC frames.
    #[default]
    Queue,
    /// Going round through the recirculation port until they are due.
    Recirculation,
}

/// The unit of v1model's time stamps. Other targets count nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Our device, told to count nanoseconds.
    #[default]
    Nanoseconds,
    /// As BMv2 does.
    Microseconds,
}

/// How packets come back to ingress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recirculation {
    /// The recirculation port is a port whose packets come back, as hardware has it.
    #[default]
    Port,
    /// v1model's `recirculate_preserving_field_list`, for BMv2, whose ports all lead outside.
    Primitive,
}

/// How often the delay queue is released unless the user says otherwise, in picoseconds: 100
/// microseconds (Lucid §3.2).
pub const DELAY_PERIOD_PS: u64 = 100_000_000;

/// The longest period of a delay queue with which events on Tofino count their rounds by time stamps of 16 bits,
/// in picoseconds. With longer ones a round is a small part of the period, and they count their time in the
/// queue alone, as Lucid §3.2 has it.
const LONGEST_STAMPED_PERIOD_PS: u64 = 50_000_000;

/// Choices of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to compile for.
    pub target: Target,
    /// How delayed events wait.
    pub delay: Delay,
    /// How often the delay queue is released, in picoseconds.
    pub delay_period_ps: u64,
    /// The unit of v1model's time stamps.
    pub clock: Clock,
    /// The port whose packets come back (`recirculation_port`); 68 on Tofino, 196 in runs.
    pub recirculation_port: u32,
    /// Whether switches have recirculation ports of their own, which the control plane says; then a program
    /// for TNA does not know its port.
    pub own_recirculation_ports: bool,
    /// Queue of the recirculation port that is paused; events that need not wait take the highest.
    pub delay_queue: u32,
    /// How packets come back to ingress on v1model.
    pub recirculation: Recirculation,
    /// Whether what cannot be seen from outside is logged, for whoever records dispatches: what egress
    /// handlers on v1model run on, and what happens at P4 of the user's. A program for TNA then calls
    /// `log_msg`, which devices of ours know and no Tofino has.
    pub observed: bool,
    /// The user's P4_16 that runs in front of the dispatcher (Lucid §8.1): declarations, among them
    /// `control before(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t
    /// standard_metadata)`, or on TNA one with the parameters of an ingress control.
    pub before: Option<UserP4>,
    /// The same behind it: `control after`.
    pub after: Option<UserP4>,
}

/// P4_16 text of the user's, with all that it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserP4 {
    /// The file, as the user calls it.
    pub name: Arc<str>,
    /// What it says.
    pub text: Arc<str>,
    /// Folders that are searched for what it includes.
    pub include_dirs: Vec<String>,
    /// Macros and their bodies.
    pub defines: Vec<(String, Option<String>)>,
    /// What was found where included files were looked for, or why a file cannot be read.
    pub included: BTreeMap<String, Result<Arc<str>, String>>,
}

impl Options {
    /// Whether P4 of the user's runs around the dispatcher.
    pub fn has_user_p4(&self) -> bool {
        self.before.is_some() || self.after.is_some()
    }

    /// Whether the program tells what happens at P4 of the user's.
    pub(crate) fn observes_user_p4(&self) -> bool {
        self.observed && self.has_user_p4()
    }

    /// Whether a delayed event on Tofino has a time stamp with it, so that the time between two stays in a
    /// queue counts.
    pub(crate) fn has_stamps(&self) -> bool {
        self.delay == Delay::Recirculation || self.delay_period_ps <= LONGEST_STAMPED_PERIOD_PS
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: Target::default(),
            delay: Delay::default(),
            delay_period_ps: DELAY_PERIOD_PS,
            clock: Clock::default(),
            recirculation_port: crate::core::DEFAULT_RECIRCULATION_PORT,
            own_recirculation_ports: false,
            delay_queue: 0,
            recirculation: Recirculation::default(),
            observed: false,
            before: None,
            after: None,
        }
    }
}

/// Compiles a program. The map has its sources.
///
/// # Errors
///
/// What the target cannot do, with reasons; spans point into the map.
pub fn compile(
    program: &crate::core::Program,
    map: &source::SourceMap,
    options: &Options,
) -> Result<Compiled, source::Diagnostics> {
    match options.target {
        Target::V1Model => {
            let supported = support::normal_form(program, options.target)?;
            let mut compiled = v1model::compile(&supported.program, map.clone(), options)?;
            compiled.warnings.append(supported.warnings);
            Ok(compiled)
        }
        Target::Tna => {
            let target = tna::tofino()?;
            tna::compile(program, map.clone(), options, &target)
        }
    }
}

/// What the compiler makes of a program, for any target.
#[derive(Debug)]
pub struct Compiled {
    /// The P4_16 program, with all sources.
    pub built: p4::build::BuiltProgram,
    /// What the compiled program leaves out of the source; those of the P4_16 checker are in `built`.
    pub warnings: source::Diagnostics,
    /// The choices it was made with.
    pub options: Options,
    /// Where each global of the core program is.
    pub globals: Vec<GlobalPlace>,
    /// Groups of ports that the program names; the n-th is multicast group
    /// [`wire::FIRST_GROUP`]` + n`.
    pub port_groups: Vec<PortGroup>,
    /// Groups of switches that the program names; the n-th is multicast group
    /// [`wire::FIRST_SWITCHES`]` + n`.
    pub switch_groups: Vec<PortGroup>,
    /// Whether something is flooded, so that the flood groups are needed.
    pub floods: bool,
    /// Most events that one run of a handler generates: the serialiser's groups 2 to this one are
    /// needed.
    pub most_generated: u32,
    /// Whether egress handlers ask for `self` or externs, so that the control plane sets them there too
    /// (TNA).
    pub egress_values: bool,
    /// Whether an event may leave by a port while others of the same handler go round: the groups of
    /// [`wire::FIRST_MIXED`] are needed.
    pub mixes: bool,
    /// How often the delay queue is released, in picoseconds; 0 without one.
    pub delay_period_ps: u64,
    /// Custom CRC calculations: control-plane name and polynomial (without the top bit; reflected in
    /// and out, initial value and final exclusive or as [`crate::core::hash`] has them).
    pub hashes: Vec<(Arc<str>, u32)>,
}

/// Where the control plane finds a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobalPlace {
    /// A register array by its control-plane name.
    Register {
        /// The global.
        global: GlobalId,
        /// Control-plane name.
        name: Arc<str>,
        /// Width of one cell in bits; a pair is a value of twice the width with the first cell in the
        /// upper half.
        cell_bits: u32,
        /// Whether it is a pair.
        is_pair: bool,
    },
    /// A match table by its control-plane name; its keys and actions in the order of the core's.
    Table {
        /// The global.
        global: GlobalId,
        /// Control-plane name.
        name: Arc<str>,
        /// Control-plane names of the actions, in the order of the table's actions.
        actions: Vec<Arc<str>>,
    },
    /// Nothing uses it.
    Absent(GlobalId),
}

/// A group of ports or switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortGroup {
    /// These.
    Ports(Vec<u32>),
    /// The value of an extern.
    Extern(crate::core::ExternId),
}

// SPDX-License-Identifier: Apache-2.0
//! What a program is compiled for, and the user's choices: target, how delayed events wait, clocks and ports, P4 of
//! the user's around the dispatcher.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The architecture that a program is compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// BMv2's architecture: runs on our switch and on BMv2.
    #[default]
    V1Model,
    /// Tofino's native architecture.
    Tna,
}

impl Backend {
    /// All targets.
    pub const ALL: [Backend; 2] = [Backend::V1Model, Backend::Tna];

    /// The name of the target's architecture.
    pub fn name(self) -> &'static str {
        match self {
            Backend::V1Model => "v1model",
            Backend::Tna => "tna",
        }
    }

    /// What the target is, for lists of targets.
    pub fn description(self) -> &'static str {
        match self {
            Backend::V1Model => "BMv2's architecture",
            Backend::Tna => "Tofino's native architecture",
        }
    }

    /// The target with this name.
    pub fn named(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|target| target.name() == name)
    }
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
    /// A device whose clock counts nanoseconds, as device files can say.
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

/// The longest period of a delay queue on Tofino of which a time stamp of 16 bits in nanoseconds counts two, in
/// picoseconds. For longer periods the stamp counts larger units.
const NANOSECOND_STAMP_PERIOD_PS: u64 = 25_000_000;

/// A delay has 32 bits of nanoseconds, so the stamp of 16 bits is above at most so many.
const MAX_STAMP_SHIFT: u32 = 16;

/// The longest period of a delay queue on Tofino, in picoseconds: a stamp of the largest unit counts two.
pub const LONGEST_TNA_PERIOD_PS: u64 = 1_500_000_000_000;

/// Choices of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to compile for.
    pub target: Backend,
    /// How delayed events wait.
    pub delay: Delay,
    /// How often the delay queue is released, in picoseconds.
    pub delay_period_ps: u64,
    /// The unit of v1model's time stamps.
    pub clock: Clock,
    /// The port whose packets come back (`recirculation_port`); 68 on Tofino, 196 in runs.
    pub recirculation_port: u32,
    /// The recirculation ports of the switches if they differ. Then the control plane says which a switch has, and a
    /// program for TNA does not know its port.
    pub own_recirculation_ports: Vec<u32>,
    /// Queue of the recirculation port that is paused; events that need not wait take the highest.
    pub delay_queue: u32,
    /// How packets come back to ingress on v1model.
    pub recirculation: Recirculation,
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

    /// Whether switches have recirculation ports of their own.
    pub fn has_own_recirculation_ports(&self) -> bool {
        !self.own_recirculation_ports.is_empty()
    }

    /// The unit of the time stamps of delayed events on Tofino is this power of two, in nanoseconds.
    pub fn stamp_shift(&self) -> u32 {
        let is_enough = |shift: &u32| self.delay_period_ps <= NANOSECOND_STAMP_PERIOD_PS << shift;
        match self.delay {
            Delay::Recirculation => 0,
            // Whole bytes: a parser puts them where they are to be.
            Delay::Queue => {
                (0..MAX_STAMP_SHIFT).step_by(8).find(is_enough).unwrap_or(MAX_STAMP_SHIFT)
            }
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: Backend::default(),
            delay: Delay::default(),
            delay_period_ps: DELAY_PERIOD_PS,
            clock: Clock::default(),
            recirculation_port: lucid::core::DEFAULT_RECIRCULATION_PORT,
            own_recirculation_ports: Vec::new(),
            delay_queue: 0,
            recirculation: Recirculation::default(),
            before: None,
            after: None,
        }
    }
}

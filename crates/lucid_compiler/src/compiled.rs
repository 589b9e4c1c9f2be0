// SPDX-License-Identifier: Apache-2.0
//! What the compiler makes of a program, for any target: the P4_16 program, and what a control plane has to know of
//! it.

use crate::options::Options;
use crate::probes::Probes;
use lucid::core::{ExternId, GlobalId};
use std::sync::Arc;

/// What the compiler makes of a program, for any target.
#[derive(Debug)]
pub struct Compiled {
    /// The P4_16 program, with all sources.
    pub built: p4::build::BuiltProgram,
    /// What the compiled program leaves out of the source; those of the P4_16 checker are in `built`.
    pub warnings: source::Diagnostics,
    /// The choices it was made with.
    pub options: Options,
    /// What probes see of the program when it runs.
    pub probes: Probes,
    /// Where each global of the core program is.
    pub globals: Vec<GlobalPlace>,
    /// Groups of ports that the program names; the n-th is multicast group
    /// [`crate::wire::FIRST_GROUP`]` + n`.
    pub port_groups: Vec<PortGroup>,
    /// Groups of switches that the program names; the n-th is multicast group
    /// [`crate::wire::FIRST_SWITCHES`]` + n`.
    pub switch_groups: Vec<PortGroup>,
    /// Whether something is flooded, so that the flood groups are needed.
    pub floods: bool,
    /// Most events that one run of a handler generates: the serialiser's groups 2 to this one are
    /// needed.
    pub most_generated: u32,
    /// Lengths in bytes of the mirror sessions, from [`crate::wire::FIRST_CUT_SESSION`] on, that events go by to lose
    /// the payload of their packet (TNA).
    pub cut_lengths: Vec<u32>,
    /// Whether egress handlers ask for `self` or externs, so that the control plane sets them there too
    /// (TNA).
    pub egress_values: bool,
    /// Whether an event may leave by a port while others of the same handler go round: the groups of
    /// [`crate::wire::FIRST_MIXED`] are needed.
    pub mixes: bool,
    /// Whether packet events go to switches by number: their parsers read what is behind the frames of such events.
    pub addresses_packets: bool,
    /// How often the delay queue is released, in picoseconds; 0 without one.
    pub delay_period_ps: u64,
    /// Custom CRC calculations: control-plane name and polynomial (without the top bit; reflected in
    /// and out, initial value and final exclusive or as [`lucid::core::hash`] has them).
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
    /// A match table. On Tofino each place that looks it up has a copy of its own; all copies hold the same entries.
    Table {
        /// The global.
        global: GlobalId,
        /// The copies; at least one.
        copies: Vec<TableCopy>,
    },
    /// Nothing uses it.
    Absent(GlobalId),
}

impl GlobalPlace {
    /// The global.
    pub fn global(&self) -> GlobalId {
        match self {
            GlobalPlace::Register { global, .. }
            | GlobalPlace::Table { global, .. }
            | GlobalPlace::Absent(global) => *global,
        }
    }
}

/// A table of the compiled program that stands for one of the source; its keys are in the order of the source's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCopy {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Control-plane names of the actions, in the order of the table's actions.
    pub actions: Vec<Arc<str>>,
}

/// A group of ports or switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortGroup {
    /// These.
    Ports(Vec<u32>),
    /// The value of an extern.
    Extern(ExternId),
}

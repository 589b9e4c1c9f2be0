// SPDX-License-Identifier: Apache-2.0
//! On which state the index and the guard of each register access depend, by the slices of
//! [`crate::analysis`]: through temporaries and slots, across basic blocks and programmable blocks, and through
//! the branches, table results and exits that decide whether an access happens at all.

use crate::analysis::{AccessSlices, Analysis, Slice};
use crate::effects::Location;
use crate::{BlockId, Program, RegionId, RegisterId};
use std::collections::BTreeSet;

/// What is known of one register access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFact {
    /// Where it stands.
    pub region: RegionId,
    /// Where it stands.
    pub block: BlockId,
    /// Which instruction of the block.
    pub instruction: u32,
    /// The accessed object.
    pub register: RegisterId,
    /// Whether the old value is used.
    pub reads: bool,
    /// Whether a new value is written.
    pub writes: bool,
    /// Registers, meters, externs, tables and value sets on which the index depends.
    pub index_sources: BTreeSet<Location>,
    /// The same for whether the access happens.
    pub guard_sources: BTreeSet<Location>,
    /// Whether the index depends on registers, meters or externs.
    pub index_depends_on_state: bool,
    /// Whether it depends on registers, meters or externs that the access happens.
    pub guard_depends_on_state: bool,
    /// Whether index or guard depend on tables or value sets.
    pub depends_on_tables: bool,
}

/// The facts about every register access of a program, in the order of regions and instructions.
pub fn register_access_facts(program: &Program) -> Vec<AccessFact> {
    let analysis = Analysis::of(program);
    let accesses = analysis.accesses().iter().zip(analysis.access_slices());
    let sources = |slice: &Slice| -> BTreeSet<Location> {
        slice.sources.iter().copied().filter(|source| *source != Location::Random).collect()
    };
    let facts = accesses.filter_map(|(access, AccessSlices { index, guard })| {
        let Location::Register(register) = access.object else { return None };
        Some(AccessFact {
            region: access.at.region,
            block: access.at.block,
            instruction: access.at.instruction,
            register,
            reads: access.reads,
            writes: access.writes,
            index_depends_on_state: index.depends_on_state(),
            guard_depends_on_state: guard.depends_on_state(),
            depends_on_tables: index.depends_on_configuration() || guard.depends_on_configuration(),
            index_sources: sources(index),
            guard_sources: sources(guard),
        })
    });
    facts.collect()
}

// SPDX-License-Identifier: Apache-2.0
//! [`Work`]: a program as the machine sees it. Packets are opaque; the machine knows which cells of which groups a packet
//! accesses in which stage, asks for stages to be run, and tells where cells live. What a stage computes is the
//! implementation's.

/// Register arrays that are sharded together: each of their cells is active in one pipeline, the same for all arrays of the
/// group (MP5 §3.1 D2). Arrays of one codelet with equal index make one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its arrays' names, for people.
    pub name: String,
    /// The stage in which packets access it, from 0.
    pub stage: usize,
    /// The number of cells that are sharded. A group that is not sharded has one: all its arrays lie in one pipeline, and
    /// every access is one of cell 0.
    pub cells: u32,
}

/// An access that a packet makes, or may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The index of the group.
    pub group: u32,
    /// The cell.
    pub cell: u32,
}

/// What running a stage told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageOutcome {
    /// The packet is dropped at the end of this stage. Its remaining accesses do not happen.
    pub is_dropped: bool,
    /// Accesses that are known, from this stage on, not to happen: bit `i` is entry `i` of the packet's resolved accesses
    /// (MP5 §3.3, predicates that depend on state).
    pub cancelled: u64,
}

/// A program, its packets and its state in every pipeline.
///
/// Per packet the machine calls [`Work::resolve`] once, at arrival, in order of arrival; then [`Work::run`] for each stage in
/// ascending order. In a stage in which the packet has an access that is not cancelled, the pipeline is the one where the
/// cell is active. A packet has at most one access a stage that is not cancelled when the packet reaches the stage, and at
/// most 64 accesses.
pub trait Work {
    /// A packet in flight.
    type Packet;

    /// Returns the number of stages behind address resolution.
    fn stages(&self) -> usize;

    /// Returns the groups, in ascending order of stages.
    fn groups(&self) -> &[Group];

    /// Resolves the addresses of an arriving packet: appends its accesses in ascending order of stages. Accesses whose
    /// predicate depends on state are included; those whose predicate is known to be false are not.
    fn resolve(&mut self, packet: &mut Self::Packet, accesses: &mut Vec<Access>);

    /// Runs a stage of the packet on the cells of a pipeline.
    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Self::Packet) -> StageOutcome;

    /// Moves the values of a cell of all arrays of a group to another pipeline.
    fn move_cell(&mut self, access: Access, from: usize, to: usize);

    /// Marks a packet that waited in a queue longer than the threshold (MP5 §3.4, explicit congestion notification). The
    /// machine calls it behind the last stage, the judge at the same place of its own run. Without a field to mark it does
    /// nothing.
    fn mark_congestion(&mut self, _packet: &mut Self::Packet) {}
}

/// A program whose runs can be compared: what a judge asks.
pub trait Comparable: Work {
    /// Says whether two packets left with the same contents.
    fn is_same_packet(&self, packet: &Self::Packet, reference: &Self::Packet) -> bool;

    /// Says whether all arrays of a group have the same values in a cell: in a pipeline of this run, and in the only
    /// pipeline of a reference run.
    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &Self) -> bool;
}

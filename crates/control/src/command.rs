// SPDX-License-Identifier: Apache-2.0
//! Control commands with names and values as text. Readers of each format produce them; `session` resolves them
//! against a program and applies them to a target.

use crate::target::GeneratorTimer;

/// The place of a command in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file as the user named it.
    pub file: String,
    /// A line (`12`), or line and column of a JSON file (`12:5`).
    pub place: String,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.place.is_empty() {
            write!(formatter, "{}", self.file)
        } else {
            write!(formatter, "{}:{}", self.file, self.place)
        }
    }
}

/// A command with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The place.
    pub origin: Origin,
    /// The command.
    pub command: Command,
}

/// What one key of an entry is compared with, as text: numbers, IPv4, IPv6 or MAC addresses, names of
/// enum members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchText {
    /// A single value; for a ternary key all bits count, for a range both ends are it.
    Value(String),
    /// `value/length` or `[value, length]`.
    Prefix(String, u32),
    /// `value&&&mask`, or for an LPM or ternary key `[value, mask]`.
    Masked(String, String),
    /// `low->high` or `low..high`.
    Range(String, String),
    /// Digits with `*` for any: `0x0a****` or `0b1**0`.
    Wildcard(String),
    /// Two values whose meaning the key's match kind decides: `[a, b]`.
    Pair(String, String),
    /// Anything.
    Any,
}

/// The keys of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matches {
    /// In the order of the table's keys.
    Positional(Vec<MatchText>),
    /// By name; keys left out match anything.
    Named(Vec<(String, MatchText)>),
}

/// Arguments of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// In the order of the action's parameters.
    Positional(Vec<String>),
    /// By name.
    Named(Vec<(String, String)>),
}

/// The priority of an entry, and which number wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// No priority.
    Absent,
    /// The smallest number wins, as in BMv2's command line.
    SmallestWins(i64),
    /// The largest number wins, as in P4Runtime.
    LargestWins(i64),
}

/// The action of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// An action with arguments.
    Action(String, Arguments),
    /// A member of the table's action profile, by handle.
    Member(u64),
    /// A group of the table's action selector, by handle.
    Group(u64),
    /// The file names no action: an error that is reported after a wrong table.
    Missing,
}

/// One rate of a meter: units per second and burst in units, in the unit of the meter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeterRate {
    /// Packets or bytes per microsecond, as BMv2's commands have it.
    pub per_microsecond: f64,
    /// Burst in packets or bytes.
    pub burst: u64,
}

/// One control command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Adds an entry. STF may name it for later use.
    TableAdd {
        /// Table.
        table: String,
        /// Keys.
        matches: Matches,
        /// The action.
        target: EntryAction,
        /// Priority.
        priority: Priority,
        /// Idle timeout in milliseconds.
        timeout_ms: Option<u64>,
        /// Name for later commands (STF's `= NAME`).
        label: Option<String>,
    },
    /// Sets the default action.
    TableSetDefault {
        /// Table.
        table: String,
        /// The action.
        target: EntryAction,
    },
    /// Resets the default action to that of the program.
    TableResetDefault {
        /// Table.
        table: String,
    },
    /// Changes an entry by handle.
    TableModify {
        /// Table.
        table: String,
        /// New action.
        target: EntryAction,
        /// Handle.
        handle: u64,
    },
    /// Changes the idle timeout of an entry by handle.
    TableSetTimeout {
        /// Table.
        table: String,
        /// Handle.
        handle: u64,
        /// Idle timeout in milliseconds; 0 is none.
        timeout_ms: u64,
    },
    /// Removes an entry by handle.
    TableDelete {
        /// Table.
        table: String,
        /// Handle.
        handle: u64,
    },
    /// Removes all entries.
    TableClear {
        /// Table.
        table: String,
    },
    /// Adds a member to an action profile; handles count from 0.
    MemberCreate {
        /// Profile.
        profile: String,
        /// Action.
        action: String,
        /// Arguments.
        arguments: Arguments,
    },
    /// Changes a member.
    MemberModify {
        /// Profile.
        profile: String,
        /// Member.
        member: u64,
        /// Action.
        action: String,
        /// Arguments.
        arguments: Arguments,
    },
    /// Removes a member.
    MemberDelete {
        /// Profile.
        profile: String,
        /// Member.
        member: u64,
    },
    /// Removes a group.
    GroupDelete {
        /// Profile.
        profile: String,
        /// Group.
        group: u64,
    },
    /// Adds a group to an action selector; handles count from 0.
    GroupCreate {
        /// Profile.
        profile: String,
    },
    /// Puts a member into a group.
    GroupAddMember {
        /// Profile.
        profile: String,
        /// Member.
        member: u64,
        /// Group.
        group: u64,
    },
    /// Removes a member from a group.
    GroupRemoveMember {
        /// Profile.
        profile: String,
        /// Member.
        member: u64,
        /// Group.
        group: u64,
    },
    /// Adds an empty multicast group.
    MulticastGroupCreate {
        /// Group number.
        group: u64,
    },
    /// Removes a multicast group.
    MulticastGroupDestroy {
        /// Group number.
        group: u64,
    },
    /// Adds a multicast node; handles count from 0.
    MulticastNodeCreate {
        /// Replication id.
        rid: u64,
        /// Egress ports.
        ports: Vec<u64>,
    },
    /// Changes the ports of a node.
    MulticastNodeUpdate {
        /// Node handle.
        node: u64,
        /// Egress ports.
        ports: Vec<u64>,
    },
    /// Removes a node.
    MulticastNodeDestroy {
        /// Node handle.
        node: u64,
    },
    /// Associates a node with a group.
    MulticastNodeAssociate {
        /// Group number.
        group: u64,
        /// Node handle.
        node: u64,
    },
    /// Dissociates a node from a group.
    MulticastNodeDissociate {
        /// Group number.
        group: u64,
        /// Node handle.
        node: u64,
    },
    /// A whole multicast group at once: replicas of egress port and instance.
    MulticastGroup {
        /// Group number.
        group: u64,
        /// Port and replication id of each replica.
        replicas: Vec<(u64, u64)>,
    },
    /// Excludes copies with a replication id for packets with this exclusion id of level 1. BMv2 has no such
    /// command.
    NodeExclusion {
        /// Replication id.
        rid: u64,
        /// Exclusion id; `None` excludes no copy.
        exclusion: Option<u64>,
    },
    /// Excludes copies to ports for packets with this exclusion id of level 2, among the copies with the packet's
    /// replication id. BMv2 has no such command.
    PortExclusion {
        /// Exclusion id.
        exclusion: u64,
        /// Ports.
        ports: Vec<u64>,
    },
    /// Adds or replaces a clone session.
    CloneSession {
        /// Session number.
        session: u64,
        /// Port and instance of each copy.
        replicas: Vec<(u64, u64)>,
        /// Multicast group that the session copies to, as BMv2's `mirroring_add_mc`.
        group: Option<u64>,
        /// Bytes kept; 0 is all.
        truncate_bytes: u32,
        /// Class of service of the copies: the queue that they take.
        class: u32,
    },
    /// Removes a clone session.
    CloneSessionDelete {
        /// Session number.
        session: u64,
    },
    /// Writes a cell, or all cells.
    RegisterWrite {
        /// Register array.
        register: String,
        /// Cell; `None` is all.
        index: Option<u64>,
        /// Value.
        value: String,
    },
    /// Sets all cells to the first value.
    RegisterReset {
        /// Register array.
        register: String,
    },
    /// Reads a cell, or all.
    RegisterRead {
        /// Register array.
        register: String,
        /// Cell; `None` is all.
        index: Option<u64>,
    },
    /// Sets a counter's cell.
    CounterWrite {
        /// Counter.
        counter: String,
        /// Cell.
        index: u64,
        /// Packets.
        packets: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Sets all cells to zero.
    CounterReset {
        /// Counter.
        counter: String,
    },
    /// Reads a cell (of a direct counter: by entry handle).
    CounterRead {
        /// Counter.
        counter: String,
        /// Cell.
        index: u64,
    },
    /// Sets a meter's rates: committed, then peak. Without an index, of all cells.
    MeterSetRates {
        /// Meter.
        meter: String,
        /// Cell; `None` is all.
        index: Option<u64>,
        /// Committed and peak rate.
        rates: Vec<MeterRate>,
    },
    /// Adds a member to a parser value set.
    ValueSetAdd {
        /// Value set.
        set: String,
        /// Components.
        value: Vec<MatchText>,
    },
    /// Removes a member of a parser value set.
    ValueSetRemove {
        /// Value set.
        set: String,
        /// Components.
        value: Vec<MatchText>,
    },
    /// Removes all members of a parser value set.
    ValueSetClear {
        /// Value set.
        set: String,
    },
    /// Sets the parameters of a calculation that is a custom CRC: a call of `hash`, `update_checksum` or
    /// `verify_checksum` with `crc16_custom` or `crc32_custom`. All calculations of a v1model program
    /// count, of whatever algorithm, in the order of its text, first the calls of `hash`, then of
    /// `update_checksum`, then of `verify_checksum`: the first is `calc`, the next are `calc_0`,
    /// `calc_1`, as p4c names them in programs that inlining does not change. Custom CRCs of objects
    /// (selectors, PSA's `Hash`) have the names of these.
    CrcParameters {
        /// 16 or 32.
        width_bits: u32,
        /// The calculation's name.
        name: String,
        /// Polynomial.
        polynomial: u64,
        /// First remainder.
        initial: u64,
        /// Exclusive or at the end.
        final_xor: u64,
        /// Whether input bytes are reflected.
        reflect_input: bool,
        /// Whether the remainder is reflected.
        reflect_output: bool,
    },
    /// Limits how fast queues drain, in packets per second. Without a port, of all ports.
    QueueRate {
        /// Packets per second.
        packets_per_second: u64,
        /// Port.
        port: Option<u64>,
        /// Priority.
        priority: Option<u64>,
    },
    /// Limits how many packets queues hold. Without a port, of all ports.
    QueueDepth {
        /// Packets.
        packets: u64,
        /// Port.
        port: Option<u64>,
        /// Priority.
        priority: Option<u64>,
    },
    /// Sets an application of the packet generator, and starts its timer.
    GeneratorTimer(GeneratorTimer),
    /// Stops an application of the packet generator.
    GeneratorStop {
        /// The application.
        application: u64,
    },
}

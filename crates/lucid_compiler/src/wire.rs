// SPDX-License-Identifier: Apache-2.0
//! Events as frames: what compiled switches send to one another and to themselves (Lucid §3.2, §2.6
//! "Place"). The compilers of all targets, deployments and tests agree by this file. How a frame is
//! parsed in P4, and where it is sent, is in the scheduler.
//!
//! An event that is no packet event travels in an Ethernet frame of its own, 16 bytes and then its
//! parameters at their widths in order, zero bits to the next whole byte, then its payload if it has
//! one:
//!
//! | bits | field | meaning |
//! | --- | --- | --- |
//! | 16 | `place_kind` | [`PLACE_PREFIX`] + one of [`PlaceKind`]; with `place` the destination address |
//! | 32 | `place` | switch, port or group |
//! | 16 | `source_kind` | [`SOURCE_PREFIX`]; with `delay_ns` the source address |
//! | 32 | `delay_ns` | how much longer it has to wait; zero on links |
//! | 16 | `ether_type` | [`lucid::core::LUCID_ETHER_TYPE`] |
//! | 16 | `number` | the event's wire number |
//!
//! What comes back by the recirculation port has 16 bits of the time when it left egress in place of
//! [`SOURCE_PREFIX`]: then the time of the round counts too. On v1model these are the lowest bits, ingress subtracts the
//! time since then, and what is left of the delay is [`remaining_delay_ns`]. On TNA their unit depends on the period of
//! the delay queue, the next egress subtracts the time, and the frame says what is left.
//!
//! So a frame is what `do_lucid_parsing` reads after the Ethernet header, and hosts can send events: any
//! other destination address means [`PlaceKind::Here`], any other source address no delay.
//!
//! A **packet event** leaves a switch as its parameters and its payload, without a frame. Inside a switch
//! (to wait, or because it is one of several that a handler generated) it has a frame like the others;
//! when it is due for the switch itself, the frame is taken off, the bytes go through the recirculation
//! port once more, and the parser `main` makes of them what it makes of packets. One that is addressed to a switch by
//! its number comes there in its frame, and the parser reads what is behind the frame in the same pass, with ingress
//! port 0. Programs without a parser `main` send packet events in frames everywhere.
//!
//! **What the dispatcher does** with a frame, in this order:
//! 1. delay left of what was generated here: to the delay queue (or round once more);
//! 2. not for this switch (kind `Switch`, other number): looks the switch up in the forwarding table,
//!    sends the frame as it is by that port;
//! 3. kind `Port`, `Group`, `Flood`: out by those ports, as kind `Here`; packet events without frame;
//! 4. else the handler runs: ingress port is the port it came in by, or 0 for kind `Switch`.
//!
//! **After a handler** its n generated events are in the packet, slot 0 first. One event is sent at once:
//! local or delayed to the recirculation port, else as 1 to 3 say. Several: the first that leaves by a port
//! without delay goes at once (packets of one flow must not overtake each other because one of them also
//! generated control events); the others, m of them, go round: the multicast group m copies the packet m
//! times to the recirculation port with replica numbers from 1, egress keeps of each copy its own slot, and the
//! dispatcher does the rest when they come round. An egress handler runs on what is due as it leaves, by the
//! recirculation port too, unless it goes to a switch by its number. Where a target cannot send a packet by a port and by a
//! multicast group at once, group [`FIRST_MIXED`]` + m * `[`MIXED_STRIDE`]` + p` has m copies to the
//! recirculation port and one, with replica number 0, to port p.

/// Upper byte of `place_kind`: a locally administered address.
pub const PLACE_PREFIX: u16 = 0x0200;

/// `source_kind`: a locally administered address of its own.
pub const SOURCE_PREFIX: u16 = 0x0210;

/// In place of [`SOURCE_PREFIX`] between a handler and the next egress on Tofino: bytes that do not belong to the
/// event may follow its parameters. Egress sends a mirror copy instead that is cut to the event's length.
pub const SOURCE_CUT: u16 = 0x0211;

/// The first mirror session of [`SOURCE_CUT`]; there is one for each length of an event.
pub const FIRST_CUT_SESSION: u32 = 1;

/// What is left of a frame's delay when it arrives, in nanoseconds; `came_back_ns` is the time if it came by
/// the recirculation port.
pub fn remaining_delay_ns(source_kind: u16, delay_ns: u32, came_back_ns: Option<u64>) -> u32 {
    match came_back_ns {
        _ if source_kind == SOURCE_PREFIX => delay_ns,
        Some(now_ns) => delay_ns.saturating_sub((now_ns as u16).wrapping_sub(source_kind).into()),
        None => 0,
    }
}

/// Bytes of a frame before the event's parameters.
pub const FRAME_BYTES: usize = 16;

/// Multicast groups 2 to this one make as many copies to the recirculation port, with replica numbers
/// from 1. A handler generates at most so many events.
pub const MAX_GENERATED: u32 = 63;

/// The program's n-th port group is multicast group `FIRST_GROUP + n`.
pub const FIRST_GROUP: u32 = 0x0100;

/// The program's n-th group of switches is multicast group `FIRST_SWITCHES + n`: a copy to the
/// recirculation port for each member, which egress makes one of kind [`PlaceKind::Switch`].
pub const FIRST_SWITCHES: u32 = 0x0800;

/// Replica numbers from here on stand for one member of one group of switches each.
pub const FIRST_MEMBER: u32 = 0x0100;

/// All ports but port p are multicast group `FIRST_FLOOD + p`.
pub const FIRST_FLOOD: u32 = 0x1000;

/// See above: m copies to the recirculation port and one to a port.
pub const FIRST_MIXED: u32 = 0x2000;

/// Ports of a switch that mixed groups tell apart.
pub const MIXED_STRIDE: u32 = 0x0200;

/// The port of events that leave by no port in particular ([`lucid::core::NO_PORT`]): exit events
/// generated without one, the copy of a flood for ports without a link, events without a handler.
pub const OUTSIDE_PORT: u32 = 510;

/// The port to switches that a run's links do not join with this one: events get there directly.
pub const DIRECT_PORT: u32 = 509;

/// Ports of a switch that are its own have numbers up to this one; the last number of 9 bits is v1model's
/// for packets to drop.
pub const LARGEST_PORT: u32 = 508;

/// Where an event is to be handled or to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum PlaceKind {
    /// At the switch that has it.
    Here = 0,
    /// At the switch of this number.
    Switch = 1,
    /// Out of this port.
    Port = 2,
    /// Out of the ports of this multicast group.
    Group = 3,
    /// Out of all ports but this one.
    Flood = 4,
    /// At every switch of the program's n-th group of switches.
    Switches = 5,
    /// At the switch that has it. It waited for its delay and its egress handler has not run (TNA: what is
    /// due goes through egress once more).
    Later = 6,
}

impl PlaceKind {
    /// The field `place_kind` of a frame.
    pub fn field(self) -> u16 {
        PLACE_PREFIX + self as u16
    }
}

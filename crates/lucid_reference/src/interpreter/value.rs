// SPDX-License-Identifier: Apache-2.0
//! Values at run time: integers, booleans, events, groups, payloads.

use lucid::core::EventId;
use std::sync::Arc;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An integer; the bits above its width are zero.
    Int(u128),
    /// True or false.
    Bool(bool),
    /// An event.
    Event(Arc<EventValue>),
    /// Ports or switches, sorted. `AllBut(p)` is a flood.
    Group(Group),
    /// Bytes of a packet; the last byte's unused low bits are zero.
    Payload(Arc<[u8]>),
}

/// A set of ports or switches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// These.
    Members(Arc<[u32]>),
    /// All ports of the switch but this one.
    AllBut(u32),
}

impl Group {
    /// A group of these, sorted and without repetitions.
    pub fn of(mut members: Vec<u32>) -> Group {
        members.sort_unstable();
        members.dedup();
        Group::Members(members.into())
    }
}

/// An event with its data, time and place (Lucid §3.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventValue {
    /// Which event.
    pub event: EventId,
    /// One a parameter.
    pub arguments: Vec<Value>,
    /// Least time before it is handled, in nanoseconds.
    pub delay_ns: u64,
    /// Where, if it says.
    pub place: Place,
}

/// Where an event is to be handled.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub enum Place {
    /// At the switch that generates it.
    #[default]
    Here,
    /// At this switch.
    Switch(u32),
    /// At each of these.
    Switches(Group),
}

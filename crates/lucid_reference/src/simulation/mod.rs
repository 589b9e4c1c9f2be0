// SPDX-License-Identifier: Apache-2.0
//! Networks of switches that run one Lucid program: queues, links, time, commands, failures. And
//! what a program means: this documentation defines it, [`schedule::check_legal`] checks it, the
//! simulation is one machine that keeps to it, and compiled programs are judged by it.
//!
//! # What a program means
//!
//! A run is a program, a number of switches with links, and inputs: events, packets, commands and
//! changes of links at given times ([`Setup`]). A **dispatch** is one handler of one event at one
//! switch at one time. A **schedule** is a sequence of dispatches, each with the random numbers it
//! drew ([`schedule::Schedule`]). A program and a schedule determine everything: the state of each
//! switch after each dispatch, what every dispatch generates and prints ([`schedule::replay`]). A
//! run may have many legal schedules, and a machine may follow any of them; the program means the
//! set.
//!
//! ## What a dispatch does
//!
//! - It is **atomic**: a handler runs as a whole on the state that the dispatches and commands
//!   before it left. Its statements run in order, each access to a cell is one read and one write
//!   ([`lucid::core`]). Commands run between dispatches, at their time, before the dispatches of
//!   that time.
//! - **Cells** wrap at their width. An access beyond the end of an array reads zero cells and
//!   changes nothing; the run counts it, or stops there if so configured. A full table takes no
//!   entry.
//! - **`Sys.time()`** is the time of the dispatch in whole nanoseconds since the beginning, rounded
//!   down, cut to the width of its use; it is the same in a whole handler. `Sys.random()` gives
//!   numbers of the width of its use that are even and independent of everything else; a schedule
//!   may hold any. `Sys.dequeue_depth()` is how many events wait at the switch, not counting this
//!   one; a schedule says it and may say anything, as the queues of switches differ.
//! - **Hashes** are CRCs of 32 bits whose polynomial comes from the seed, over these bits, most
//!   significant first: each argument at its width (booleans one bit, groups 32 bits a member), zeros up
//!   to a whole byte. The module that computes them ([`lucid::core::hash`]) says which polynomial. The
//!   result is the low bits; beyond 32 bits the hashes with seed, seed + 1, ... are put side by side, the
//!   first one lowest. The hash with the seed `checksum` is the internet checksum (RFC 1071).
//! - A **generated** event is sent when the dispatch is over, in the order of the
//!   statements.
//!
//! ## Where events go and when they are due
//!
//! An event generated at time t with a delay d (0 if none) is due at t + max(d, generate delay),
//! plus at most the run's random delay. A delay is a promise in one direction: never early. If the
//! run has a delay granularity g, delayed events wait in a queue that is released at multiples of
//! g (Lucid §3.2), so that a delay is up to g too long.
//!
//! | generated | goes |
//! | --- | --- |
//! | `generate e` | to this switch, by its recirculation port |
//! | to its recirculation port | the same |
//! | to a port with a link | over the link, when it is due; it arrives at the port at the other end after the link's latency |
//! | to a port without a link | out of the network, when it is due |
//! | to a group of ports | to each of them, in order |
//! | flooded | to each port with a link to another switch but the one named, and once out of the network for the ports without a link ([`lucid::core::NO_PORT`]) |
//! | to its own switch by number | to this switch, where it arrives at port 0 when it is due |
//! | to another switch | along a shortest path of links that are up when it is due (fewest links; the lowest port at each switch), it arrives at port 0; if the run's links do not join the two, directly at the time when it is due; if they do and none is up, it is lost |
//! | to a switch that is not there | nowhere: it is lost |
//! | an exit event, but to another switch by number | out of the network at the switch that sends it, when it is due, by its port whatever that leads to; by no port in particular if that is the recirculation port |
//!
//! Several copies of an event are several events. An event that arrives where it has no handler
//! leaves the network there. Links may lose events: with a probability, or because they are down
//! when the event leaves. Latency, jitter, rate and loss are those of the run; whatever a path does
//! is the sum of its links, egress handlers run only at the switch that sends.
//!
//! If an event has an **egress handler**, that runs when the event is due, before it leaves the
//! switch by a port or out of the network, by recirculation too; what it generates leaves at once by
//! the same port instead of the event, and `ingress_port` is that port there, 510 for no port in particular. An event for a switch by
//! its number goes by no port of the program's and meets no egress handler. A **control handler** runs
//! right after the ingress handler of the same event, or alone.
//!
//! A **packet event** that stays in the network travels as bytes: its parameters one after the
//! other at their widths, then its payload. Where it arrives, and where a packet comes in from
//! outside, the parser `main` makes an event of it at once or drops it. Without a parser packet
//! events arrive as they are.
//!
//! ## Legal schedules
//!
//! By these names [`schedule::check_legal`] reports what breaks them:
//!
//! 1. **time**: dispatches are in order of time; none is after the end of the run.
//! 2. **pace**: a switch takes one event at a time; the next not before [`EVENT_TIME_PS`] later.
//!    Egress handlers, and control handlers that follow an ingress handler, take no time.
//! 3. **cause**: each dispatch handles an input of the run at its place, or an event that an
//!    earlier dispatch generated and that arrives there. Nothing is handled twice.
//! 4. **early**: nothing is handled before it is due and its links' latency is over.
//! 5. **idle**: a switch that is free and has an event waiting takes one. So a delay is late by no
//!    more than granularity, random delay, links, and the events that wait before it.
//! 6. **order**: an event that is surely there (its latest time) before another can be there (its
//!    earliest time) is handled before it. What takes the same path (from one switch, to one place,
//!    with equal delays; or in at one port from outside) without jitter or random delay keeps its
//!    order. Of other events that arrive at one time any may be first.
//! 7. **loss**: whatever is due is handled, unless a link may lose it or the run ends before.
//! 8. **draws**: as many random numbers as statements draw, each within its width.
//!
//! A machine that is not this simulation has times of its own; a [`schedule::Tolerance`] says by how
//! much it may be off. Delays that a program asks for are never shorter, whatever the tolerance.
//!
//! ## The schedule that the simulation follows
//!
//! Times are integer picoseconds. Everything at one time happens in this order: commands and changes
//! of links; events leave switches; events arrive. Among these by switch, then port, then the order
//! in which they were sent, inputs of the run first. An event that finds its switch free is handled at
//! once; the others wait and are taken in the order in which they came, one a nanosecond. The n-th
//! random number for a purpose at a place is a function of seed, purpose, place and n alone, so the same
//! run with the same seed gives the same observations, byte for byte.
//!
//! Known differences from the reference implementation, besides its private hash: jitter and
//! propagation delay belong to links (there to recirculation); events that a flood
//! sends out of the network leave when they are due (there at once); nothing leaves after the end of
//! the run; values in specifications must fit (there they are cut).
//!
//! # The loop
//!
//! Loop, links and captures are `network`'s ([`network::event_loop`]). A Lucid switch stands beside devices and hosts in a
//! network of frames as a [`LucidNode`], which is a simulation of one switch whose packets come and go by ports.

pub mod codes;
pub mod commands;
pub mod faults;
pub mod inputs;
mod node;
mod observation;
pub mod random;
mod resolve;
pub mod route;
pub mod schedule;
mod setup;
mod simulator;

pub use commands::hexadecimal;
pub use node::{LucidNode, frame_of};
pub use observation::*;
pub use setup::{MAX_STATE_BYTES, ReadCapture, Setup};
pub use simulator::{EVENT_TIME_PS, Outcome, Simulation};

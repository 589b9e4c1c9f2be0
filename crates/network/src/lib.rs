// SPDX-License-Identifier: Apache-2.0
//! The world around a device: capture files, and the nodes and links of a simulated network.
//!
//! Lives here: reading and writing packets as files ([`capture`]), captures through one device
//! ([`replay`]), and [`node`]s joined by [`link`]s in a discrete-event [`simulation`]. Does not live here:
//! what a switch does with a packet (crate `device`), and any source language.

pub mod capture;
pub mod event_queue;
pub mod link;
pub mod node;
pub mod replay;
pub mod simulation;

// SPDX-License-Identifier: Apache-2.0
//! The environment of devices: capture files ([`capture`]), replay of captures through one device ([`replay`]), and
//! discrete-event [`simulation`] of [`node`]s joined by [`links`]. Every simulated network runs in one [`event_loop`]. Switches are in
//! crate `device`.

pub mod capture;
pub mod event_loop;
pub mod event_queue;
pub mod frame;
pub mod links;
pub mod node;
pub mod packet_fields;
pub mod replay;
pub mod simulation;

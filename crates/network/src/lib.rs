// SPDX-License-Identifier: Apache-2.0
//! The world around a device: capture files, and the nodes and links of a simulated network.
//!
//! Lives here: reading and writing packets as files ([`capture`]). Does not live here: what a
//! switch does with a packet (crate `device`), and any source language.

pub mod capture;

// SPDX-License-Identifier: Apache-2.0
//! Machine code for one unit. `unit` puts steps together, `burst_loop` the loop around them, `region` basic
//! blocks, and the other files have an instruction each or a few: `values`, `hashes`, `inputs`, `sums` and
//! `crcs` arithmetic, `slots` storage, `packet`, `fields` and `deparse` the packet, `tables` and `state` what belongs
//! to a pipeline instance, `ahead` and `prefetch` what is looked up or fetched of it before packets run.
//! `facts` says what is known before, `path` what is known on the way; `function` is what all of them share.

pub(crate) mod ahead;
pub(crate) mod burst_loop;
pub(crate) mod call;
pub(crate) mod crcs;
mod deparse;
pub(crate) mod facts;
pub(crate) mod fields;
pub(crate) mod function;
mod hashes;
pub(crate) mod inputs;
mod packet;
pub(crate) mod path;
pub(crate) mod prefetch;
mod pure;
mod region;
mod slots;
mod state;
pub(crate) mod sums;
mod tables;
pub(crate) mod unit;
pub(crate) mod values;

// SPDX-License-Identifier: Apache-2.0
//! Machine code for one unit, in layers: a file uses only files of its own layer that are named before it, and of
//! the layers below.
//!
//! - Data and arithmetic without a function under construction: `call`, `values`, `hashes`, `temporaries`,
//!   `hash_inputs`, `facts` (of a unit), `path` (of one control-flow path), `code_budget`, `burst_loop`,
//!   `batched_lookups`.
//! - `function`: [`function::FunctionCompiler`] with its primitives. On it `fields`, `operands`, `slots`, then
//!   `merging` of paths and `exits` of packets.
//! - Instructions: `pure`, `packet`, `hash_operation`, `state`, `device_calls`, `prefetch`, `tables`.
//! - What decides the order of code: `region` (of a block or an action), `deparse`, `batch_function`, and `unit` on top.

mod batch_function;
mod batched_lookups;
mod burst_loop;
pub(crate) mod call;
mod code_budget;
mod deparse;
mod device_calls;
mod exits;
mod facts;
mod fields;
mod function;
mod hash_inputs;
mod hash_operation;
mod hashes;
mod merging;
mod operands;
mod packet;
mod path;
pub(crate) mod prefetch;
mod pure;
mod region;
mod short_crc_hash;
mod short_crcs;
mod slots;
mod state;
mod tables;
mod temporaries;
pub(crate) mod unit;
pub(crate) mod values;

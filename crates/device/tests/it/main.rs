// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `device`, one program.

mod bursts;
mod calculations;
mod fast_path;
mod hand_built;
mod passes;
mod ports;
mod programs;
mod setup;
mod swapping;
mod timed;
mod tna;
mod traces;
mod v1model;
mod v1model_source;

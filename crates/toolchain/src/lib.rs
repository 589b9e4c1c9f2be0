// SPDX-License-Identifier: Apache-2.0
//! What `plane` does with programs of any source language: the registry of languages, runs on captures with
//! the controllers that programs bring, tests, and the files that all of it reads and writes. What a language
//! offers is said in crate `frontend`; arguments and printing are `cli`'s.

pub mod atoms;
pub mod control_files;
pub mod controllers;
pub mod device_run;
mod domino;
pub mod explanations;
pub mod file_kind;
pub mod files;
pub mod layouts;
pub mod lucid;
pub mod net;
mod p4;
pub mod p4r;
pub mod packet_trace;
pub mod port_captures;
pub mod reactions;
mod recorded_commands;
pub mod registry;
pub mod scaling;
pub mod selection;
pub mod stf_test;
pub mod test_files;
mod threads;

// SPDX-License-Identifier: Apache-2.0
//! The compiler: from the core program to P4_16 for a target, with what the control plane has to set
//! up. The reference interpreter judges it: every pass that gives a core program again can be run
//! and compared, and what a device does with the compiled program is a schedule that has to be legal
//! and to replay.
//!
//! ```text
//! core program
//!   normal/    generated events have a known constructor each, groups a known set or a flood;
//!              event values, `this`, groups in variables are gone: still a core program
//!   support    what a target cannot do, with reasons
//!   v1model/   structured code straight from the normal form
//!   atomic/    statements of one ALU each, branches as guards, dependencies: a `pisa::Problem`
//!   tna/       merged tables by a `pisa::Layout`, register actions, hashes, pragmas
//!   wire       events as frames; scheduler/ serialisation, dispatch, forwarding, delay
//! ```
//!
//! Everything ends in a [`p4::build::BuiltProgram`]: what is printed is what runs.

mod addressed;
pub mod atomic;
pub mod codes;
mod compiled;
pub mod expressions;
mod interface;
pub mod names;
pub mod normal;
mod options;
pub mod probes;
pub mod scheduler;
pub mod support;
mod template;
pub mod tna;
mod user;
pub mod v1model;
pub mod wire;

pub use compiled::{Compiled, GlobalPlace, PortGroup, TableCopy};
pub use options::{
    Backend, Clock, DELAY_PERIOD_PS, Delay, LONGEST_TNA_PERIOD_PS, Options, Recirculation, UserP4,
};
pub use tna::{bridge, generator};

/// What `plane explain` says about this crate's codes.
pub fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    [
        codes::EXPLANATIONS,
        atomic::codes::EXPLANATIONS,
        v1model::codes::EXPLANATIONS,
        tna::codes::EXPLANATIONS,
    ]
    .into_iter()
    .flatten()
}

/// Compiles a program. The map has its sources.
///
/// # Errors
///
/// What the target cannot do, with reasons; spans point into the map.
pub fn compile(
    program: &lucid::core::Program,
    map: &source::SourceMap,
    options: &Options,
) -> Result<Compiled, source::Diagnostics> {
    match options.target {
        Backend::V1Model => {
            let supported = support::normal_form(program, options.target)?;
            let mut compiled = v1model::compile(&supported.program, map.clone(), options)?;
            compiled.warnings.append(supported.warnings);
            Ok(compiled)
        }
        Backend::Tna => {
            let target = tna::tofino()?;
            tna::compile(program, map.clone(), options, &target)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Rearrangement by data flow (Lucid §6.2, "Rearranging tables"; Figure 6(3)): a handler is run on
//! values instead of numbers, and written down again with as few steps between what comes in and what
//! goes out as the values allow. What order is left is in the dependencies ([`super::dependencies`]).
//!
//! - A variable is written once, or by statements that exclude each other; so nothing has to wait
//!   because a name is used twice.
//! - A value that several conditions give is written where it is computed, under each condition.
//! - Conditions ask for the values they are about: a boolean in a variable is not computed first.
//! - Arguments of generated events are computed in their fields; the fields may be written whether or
//!   not the event is generated.
//! - An array's index that is a hash is computed by the array's hash unit, in the same stage.
//! - Checksums that the pipeline itself needs are added up ([`super::checksums`]).
//! - Sums go into fields by way of variables where a field fills no container ([`super::aligned`]).
//! - Summands have the width of their sums, or come by a hash unit ([`super::containers`]).

mod balance;
mod emit;
mod values;
mod walk;

use super::program::{AtomicProgram, HandlerId};
use super::tree::AtomicGraph;
use lucid::core::Program;

/// The program with only the order that its data ask for.
pub fn dataflow(core: &Program, graph: &AtomicGraph) -> AtomicProgram {
    let mut program = graph.program.clone();
    program.statements.clear();
    for array in &mut program.arrays {
        array.register_actions.clear();
    }
    for (at, body) in graph.bodies.iter().enumerate() {
        let walked = walk::walk(graph, body);
        program = emit::emit(core, graph, program, HandlerId(at as u32), walked);
    }
    let program = super::checksums::expand(super::share::share(program));
    let program = super::aligned::apart(core, program);
    super::containers::sized(program).without_unused_variables()
}

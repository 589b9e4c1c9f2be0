// SPDX-License-Identifier: Apache-2.0
//! MP5's machine in hardware: the SystemVerilog text of a multi-pipelined switch for a program, with a test bench. It is the paper's
//! design (MP5 §3.2 to §3.4), cycle by cycle the machine that `scale::machine` simulates with the remap engine `scan`.
//!
//! [`modules`] has the modules with parameters that every machine is built of. [`plan::Plan`] is what depends on the program, and
//! [`machine`] writes the machine around it, [`mod@bench`] a test bench. This crate writes text; it reads and writes no files and starts
//! no tools.
//!
//! # Cycles
//!
//! A packet whose addresses are resolved in cycle `c` is in front of stage 0 in cycle `c + 2`: one register behind address resolution,
//! and one more so that the phantom, which leaves from the first, is in its queue one cycle before its packet can come. The simulator
//! counts neither, so what a stage does in the simulator's cycle `c` happens in the hardware's cycle `c + 2`.

pub mod bench;
pub mod codes;
pub mod control;
pub mod events;
pub mod logic;
pub mod machine;
pub mod modules;
pub mod plan;
pub mod program;
pub mod shape;
pub mod sram;
mod text;

pub use codes::EXPLANATIONS;
pub use plan::{Array, Group, Plan, Stage};

/// A file of the emitted design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, for example `mp5_ring.sv`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Writes the design of a plan: the fixed modules, the program's logic, the machine, the test bench.
pub fn files(plan: &Plan) -> Vec<File> {
    let mut files: Vec<File> = modules::MODULES
        .iter()
        .map(|module| File { name: format!("{}.sv", module.name), text: module.text.to_owned() })
        .collect();
    files.push(File { name: "mp5_logic.sv".to_owned(), text: plan.logic() });
    files.push(File { name: "mp5_machine.sv".to_owned(), text: machine::machine(plan) });
    files.push(File { name: "mp5_bench.sv".to_owned(), text: bench::bench(plan) });
    files
}

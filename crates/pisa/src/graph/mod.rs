// SPDX-License-Identifier: Apache-2.0
//! The dependency graph of any program of the pipeline IR, as a [`Problem`]: tables with their keys and entries, the
//! statements between them, register arrays, and match, action, successor and anti-dependencies (RMT; Lucid §6.2).
//! The architecture's description says which blocks take stages ([`stages_of`]).
//!
//! What is taken to be possible in a stage: one operation of an ALU a statement, on values that are
//! there when the stage begins; one table with its actions; one access of a register array, whose
//! stateful ALU may put out a value computed from the cell; a gateway that compares fields for
//! equality or a field with a constant. Code that never both runs, by branches or by the constant entries
//! of tables, does not depend on each other.
//! Control flow and effects come from `ir::analysis`, so what is called the same there is the same here.

mod atom;
mod choice;
mod codes;
mod condition;
mod describe;
mod edges;
mod flag;
mod gate;
mod link;
mod order;
mod stage;
mod statements;
mod table;
mod value;
mod variables;
mod walk;

pub use codes::EXPLANATIONS;

use crate::problem::Problem;
use ir::analysis::{Analysis, Point};
use ir::architecture::stages_of;
use ir::effects::Location;
use ir::{Program, RegisterId};
use source::{Diagnostic, Diagnostics};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The problem of laying out a program, and the code of its units.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The problem.
    pub problem: Problem,
    /// For each unit the instructions that it stands for. Instructions that a target does for nothing or as part of
    /// their users, such as loads, belong to no unit; one that takes several operations belongs to several.
    pub code: Vec<BTreeSet<Point>>,
}

/// The problem of laying out a program. The program is a verified one, simplified and with register
/// accesses fused ([`ir::transactions::fuse_register_accesses`]) unless it should look worse than it is.
pub fn problem_of(program: &Program) -> Problem {
    graph_of(program).problem
}

/// The same with the code of the units.
pub fn graph_of(program: &Program) -> Graph {
    let mut variables = variables::Variables::default();
    let mut controls = Vec::new();
    let analysis = Analysis::of(program);
    let sites = Rc::new(sites(&analysis));
    for block in &program.blocks {
        let Some(gress) = stages_of(program, block) else { continue };
        let control = controls.len();
        let mut walk = walk::Walk::new(
            &analysis,
            block.region,
            control,
            BTreeSet::new(),
            false,
            &mut variables,
        );
        walk.sites = sites.clone();
        walk.run();
        controls.push(order::Control { gress, flow: walk.flow, atoms: walk.atoms });
    }
    let (problem, code) = link::problem(program, controls, variables);
    Graph { problem, code }
}

/// What keeps a program off every pipeline: loops at run time, operations that no stage has.
pub fn obstacles(program: &Program) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let analysis = Analysis::of(program);
    for (at, block) in program.blocks.iter().enumerate() {
        if stages_of(program, block).is_none() {
            continue;
        }
        if analysis.region(block.region).has_loop {
            let message = format!("`{}` has a loop that is not unrolled", block.name);
            diagnostics.push(
                Diagnostic::error(codes::LOOP, order::span(program, block.origin), message)
                    .note("a packet passes each stage once")
                    .help("give the loop a constant bound, or recirculate the packet"),
            );
        }
        for region in program.regions_of_block(at) {
            let code = program.regions[region.index()].blocks.iter();
            for instruction in code.flat_map(|block| &block.instructions) {
                if let Some((what, help)) = stage::unsupported(&instruction.operation) {
                    let span = order::span(program, instruction.origin);
                    diagnostics.push(
                        Diagnostic::error(codes::OPERATION, span, format!("no stage can {what}"))
                            .help(help),
                    );
                }
            }
        }
    }
    diagnostics
}

/// How many statements and tables of controls access each register array.
fn sites(analysis: &Analysis<'_>) -> BTreeMap<RegisterId, usize> {
    let program = analysis.program();
    let mut sites = BTreeMap::new();
    for block in program.blocks.iter().filter(|block| stages_of(program, block).is_some()) {
        let facts = analysis.region(block.region);
        for &at in &facts.order {
            for instruction in 0..facts.region.blocks[at].instructions.len() {
                let effects = facts.effects(at, instruction);
                for location in effects.reads.union(&effects.writes) {
                    if let Location::Register(register) = location {
                        *sites.entry(*register).or_default() += 1;
                    }
                }
            }
        }
    }
    sites
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0
//! From an atomic program and a layout to P4_16 for Tofino's native architecture (Lucid §6): merged
//! tables with their stages, register actions, hashes, and the event scheduler of Lucid §3.2 with its
//! multicast groups, its forwarding table and its pausable queue. The program is put together piece by
//! piece, each with the place in the Lucid source that it stands for, and checked by [`p4::build`].
//! What the control plane has to set up is decided where compiled programs run.
//!
//! What a pass of a packet does:
//!
//! 1. The ingress parser tells an event that is to be handled here and now from the others, so that
//!    handlers can begin in the first stage; `dispatch` and `forward` send the others on their way.
//! 2. Tables of the handlers, in the stages that the layout gave them. The parser has made the headers valid
//!    that they may fill; `keep_slotN` leaves those of the events that they generated.
//! 3. `serialise` sends the generated events: one that leaves by a port goes at once, all others go
//!    through the recirculation port, one by one by unicast, several as copies of a multicast group.
//! 4. The egress parser reads the bridge that ingress put in front; of each copy it keeps the slot that has
//!    the copy's replica number. `wait`, `mask` and `count_down` subtract the time that a delayed event waited. Egress
//!    handlers run on what is due, and `leave` takes the frame off what goes without one.
//!
//! An event for another switch goes round once, and the dispatcher looks its port up: one table knows
//! the ports, and it is in front of the handlers, where it takes no stage of its own.

pub mod bridge;
pub mod codes;
mod conditions;
mod context;
mod egress_parser;
mod egress_tables;
mod event_headers;
mod events;
pub mod generator;
mod hashes;
mod indexes;
mod keysets;
pub mod lines;
mod lookups;
mod memops;
mod memory;
mod narrow_cells;
mod operations;
mod parsed_events;
mod parsers;
mod parts;
mod probes;
mod program;
mod program_parsers;
mod scheduler;
mod scheduler_tables;
mod slots;
mod switch_values;
mod tables;
mod validity;
mod wide_ranges;

pub use lookups::{data_field, key_field};
pub use parts::{EVENT_QUEUE, FORWARD_ENTRIES, Part, SchedulerPart};
pub use scheduler::add_scheduler;

use super::{atomic, support};
use crate::compiled::Compiled;
use crate::options::Options;
use atomic::program::{AtomicProgram, Operation, Payload};
use lucid::core::Program;
use pisa::{Gress, Layout, Problem};
use source::{Diagnostics, SourceMap};

/// A program for Tofino, with the layout it was made by.
#[derive(Debug)]
pub struct TnaProgram {
    /// What all targets have.
    pub compiled: Compiled,
    /// The statements that were laid out.
    pub atomic: AtomicProgram,
    /// Units of the statements and of the scheduler.
    pub problem: Problem,
    /// What each unit is.
    pub parts: Vec<Part>,
    /// Where each unit is.
    pub layout: Layout,
}

/// The model of a Tofino.
///
/// # Errors
///
/// Mistakes of the shipped target: ours.
pub fn tofino() -> Result<pisa::HardwareModel, Diagnostics> {
    pisa::HardwareModel::named("tofino", source::Span::NONE).map_err(|wrong| {
        let mut found = Diagnostics::new();
        found.push(*wrong);
        found
    })
}

/// Which layout to make.
pub type Layouter<'l> = dyn Fn(&Problem) -> Result<Layout, Diagnostics> + 'l;

/// Compiles a core program with the greedy layout.
///
/// # Errors
///
/// What the target cannot do or has no room for; spans point into the map.
pub fn compile(
    program: &Program,
    map: SourceMap,
    options: &Options,
    target: &pisa::HardwareModel,
) -> Result<Compiled, Diagnostics> {
    let layouter = |problem: &Problem| pisa::greedy::greedy(problem, target);
    compile_with(program, map, options, &layouter).map(|made| made.compiled)
}

/// Compiles a core program for Tofino, or, where it does not fit, for one with more stages and hash
/// units: to be run on a device of ours, not to be counted.
///
/// # Errors
///
/// What the target cannot do, and statements that no stage has room for.
pub fn compile_unlimited(
    program: &Program,
    map: SourceMap,
    options: &Options,
) -> Result<Compiled, Diagnostics> {
    let target = tofino()?;
    let layouter = |problem: &Problem| {
        pisa::greedy::greedy(problem, &target).or_else(|_| {
            let mut larger = target.clone();
            for limits in [&mut larger.stage, &mut larger.table] {
                limits.remove(&pisa::Resource::HashUnits);
                limits.remove(&pisa::Resource::HashBits);
            }
            pisa::greedy::greedy_unlimited(problem, &larger)
        })
    };
    compile_with(program, map, options, &layouter).map(|made| made.compiled)
}

/// Compiles a core program with a layout of one's own choice.
///
/// # Errors
///
/// As for [`compile`].
pub fn compile_with(
    program: &Program,
    map: SourceMap,
    options: &Options,
    layouter: &Layouter<'_>,
) -> Result<TnaProgram, Diagnostics> {
    let supported = support::normal_form(program, crate::options::Backend::Tna)?;
    let prepared = prepare(&supported.program, options)?;
    let layout = layouter(&prepared.problem)?;
    let mut made = write(&supported.program, prepared, layout, map, options)?;
    made.compiled.warnings.append(supported.warnings);
    Ok(made)
}

/// Writes a program in normal form that was laid out.
///
/// # Errors
///
/// What the P4_16 checker says of what was written: a mistake of ours, or of the user's P4.
pub fn write(
    program: &Program,
    prepared: Prepared,
    layout: Layout,
    map: SourceMap,
    options: &Options,
) -> Result<TnaProgram, Diagnostics> {
    let made = context::Made {
        program,
        atomic: &prepared.atomic,
        problem: &prepared.problem,
        parts: &prepared.parts,
        layout: &layout,
        options,
    };
    let compiled = program::emit(&made, map)?;
    let Prepared { atomic, problem, parts } = prepared;
    Ok(TnaProgram { compiled, atomic, problem, parts, layout })
}

/// A program ready to be laid out.
#[derive(Debug)]
pub struct Prepared {
    /// Its statements.
    pub atomic: AtomicProgram,
    /// Their units, and those of the scheduler.
    pub problem: Problem,
    /// What each unit is.
    pub parts: Vec<Part>,
}

/// The layout problem of a program in normal form, scheduler included.
///
/// # Errors
///
/// What no pipeline can do.
pub fn prepare(program: &Program, options: &Options) -> Result<Prepared, Diagnostics> {
    let graph = atomic::translate(program)?;
    let mut atomic = atomic::dataflow(program, &graph);
    if options.before.is_some() {
        // It may replace an event with a payload by one without.
        for statement in atomic.statements.iter_mut().filter(|one| one.gress == Gress::Ingress) {
            if let Operation::Generate { payload: payload @ Payload::Absent, .. } =
                &mut statement.operation
            {
                *payload = Payload::Cut;
            }
        }
    }
    let mut problem = atomic::problem(program, &atomic, "program");
    let parts = add_scheduler(&atomic, options, &mut problem);
    Ok(Prepared { atomic, problem, parts })
}

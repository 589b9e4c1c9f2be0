// SPDX-License-Identifier: Apache-2.0
//! Sharding: which arrays of a control lie in several pipelines, and why not the others (MP5 §3.3). Arrays come from the
//! IR, their stages from a [`StageGraph`]; each array gets a [`Rule`], and arrays that move together make a [`ShardGroup`].
//!
//! An array that packets write is accessed in one stage. Accesses that depend on each other in a cycle are one *codelet*
//! (Domino §4.2). A packet is in one pipeline in each stage, so what it may access in a stage has to lie in one pipeline.

mod codelets;
mod conflicts;
mod rule;
mod rules;
mod stage_graph;

pub use codelets::Depths;
pub(crate) use codelets::operands;
pub use rule::Rule;
pub use stage_graph::{StageEdge, StageGraph, StageNode, last_part};

use ir::analysis::{ControlValues, Predicate};
use ir::architecture::stages_of;
use ir::effects::Location;
use ir::stages::{Constraints, MovedActions, behind_tables};
use ir::{Program, RegisterId};
use pisa::Gress;
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An array of state, as one control uses it.
#[derive(Clone, Debug)]
pub struct ArraySharding {
    /// A register, a meter or an extern.
    pub object: Location,
    /// Its control-plane name.
    pub name: Arc<str>,
    /// The number of cells; 1 for an extern.
    pub cells: u64,
    /// The width of a cell in bits; 0 where the program does not say.
    pub width_bits: u32,
    /// The accesses of it among those of the control's values.
    pub accesses: Vec<usize>,
    /// What decided.
    pub rule: Rule,
    /// Accesses of other arrays that are part of the reason.
    pub because: Vec<usize>,
    /// The group; `None` of arrays that have a copy in each pipeline.
    pub group: Option<usize>,
}

/// Arrays whose cells move together.
#[derive(Clone, Debug)]
pub struct ShardGroup {
    /// The arrays, by their places in the control's list.
    pub arrays: Vec<usize>,
    /// The stage, from 0.
    pub stage: usize,
    /// The stage before it was moved.
    pub moved_from: Option<usize>,
    /// Whether cells lie in several pipelines. If not, all arrays lie in one, and accesses are those of cell 0.
    pub is_sharded: bool,
    /// The number of cells that are mapped to pipelines.
    pub cells: u64,
    /// All accesses.
    pub accesses: Vec<usize>,
    /// When a packet accesses it.
    pub predicate: Predicate,
    /// When a packet may access it, as far as the packet alone tells: then there is a phantom.
    pub may: Predicate,
    /// The stage after which it is known whether a packet with a phantom accesses it. `None` if that is known when the
    /// packet arrives, or only in the group's own stage.
    pub known_after: Option<usize>,
}

impl ShardGroup {
    /// Whether each phantom is followed by an access.
    pub fn is_certain(&self) -> bool {
        self.predicate == self.may
    }
}

/// A control with the verdicts on its arrays.
#[derive(Debug)]
pub struct ControlSharding<'p> {
    /// The block of the program.
    pub block: usize,
    /// Which half of the pipeline.
    pub gress: Gress,
    /// What gave the stages: the name of a hardware model, or `dependences`.
    pub stage_source: String,
    /// The number of stages that the control takes, address resolution not counted.
    pub stages: usize,
    /// The stages that the layout takes for what address resolution computes; `None` where the layout does not know.
    pub stages_in_front: Option<usize>,
    /// The values that the verdicts are about; `None` if they are not known.
    pub values: Option<ControlValues<'p>>,
    /// Arrays, in the order of their first accesses.
    pub arrays: Vec<ArraySharding>,
    /// Groups, in the order of their stages.
    pub groups: Vec<ShardGroup>,
    /// Counters, which each pipeline keeps for itself.
    pub counters: Vec<Arc<str>>,
}

impl ControlSharding<'_> {
    /// Whether the control accesses neither arrays nor counters.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty() && self.counters.is_empty()
    }

    /// Leaves out stages that only hardware needs: behind the first one, which has what depends on no array, each has a group.
    pub fn keep_stages_of_groups(&mut self) {
        let taken: BTreeSet<usize> = self.groups.iter().map(|group| group.stage).collect();
        let number = |stage: usize| taken.range(..=stage).count();
        for group in &mut self.groups {
            group.stage = number(group.stage);
            group.known_after = group.known_after.map(number);
        }
        self.stages = taken.len() + 1;
    }
}

/// What counts as state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardOptions {
    /// Whether registers that no packet writes are state, as in MP5's paper. If not, each pipeline has a copy.
    pub read_only_is_state: bool,
    /// Whether counters are arrays whose cells lie in one pipeline each, so that the control plane accesses them in the order of
    /// packets. If not, each pipeline counts for itself.
    pub counters_are_state: bool,
}

/// Returns the verdicts on all controls that take stages, in the order of the program's blocks. `graph` gives the stages of a half of the
/// pipeline on one pipeline, if there is a layout; `most_stages` is how many stages of it there are.
pub fn shard<'p>(
    program: &'p Program,
    options: ShardOptions,
    graph: &dyn Fn(Gress) -> Option<StageGraph>,
    most_stages: &dyn Fn(Gress) -> usize,
) -> Vec<ControlSharding<'p>> {
    let blocks: Vec<(usize, Gress)> = (0..program.blocks.len())
        .filter_map(|at| Some((at, stages_of(program, &program.blocks[at])?)))
        .collect();
    let mut halves: BTreeMap<Location, BTreeSet<usize>> = BTreeMap::new();
    for (block, _) in &blocks {
        for region in program.regions_of_block(*block) {
            let effects = ir::effects::of_region(program, region);
            for location in effects.reads.iter().chain(&effects.writes) {
                halves.entry(*location).or_default().insert(*block);
            }
        }
    }
    let written = state_registers(program, options);
    let is_copied = |object: Location| match object {
        Location::Register(register) => !written.contains(&register),
        Location::Counter(_) => !options.counters_are_state,
        _ => false,
    };
    let in_several = |object: Location| match object {
        Location::Register(_) if is_copied(object) => false,
        object => halves.get(&object).is_some_and(|blocks| blocks.len() > 1),
    };
    let mut found = Vec::new();
    for (block, gress) in blocks {
        let control = match ControlValues::with_state(program, block, written.clone()) {
            Ok(values) => {
                let order = order_of_stages(program, block);
                let mut state =
                    conflicts::Assignment::new(values, gress, &is_copied, &in_several, &order);
                state.assign(graph(gress), most_stages(gress));
                state.finish(block)
            }
            Err(_) => not_analysed(program, block, gress, &written),
        };
        found.push(control);
    }
    found
}

/// Pairs of objects of a control of which the second is in no earlier stage than the first, however the control is cut. Nothing
/// if it cannot be cut.
fn order_of_stages(program: &Program, block: usize) -> BTreeSet<(Location, Location)> {
    let moved = behind_tables(program, block, MovedActions::Stateful);
    match Constraints::of(&moved.program, block) {
        Ok(constraints) => constraints.order_of_objects(),
        Err(_) => BTreeSet::new(),
    }
}

/// The registers that are state.
fn state_registers(program: &Program, options: ShardOptions) -> BTreeSet<RegisterId> {
    let mut written = BTreeSet::new();
    let blocks = program.regions.iter().flat_map(|region| &region.blocks);
    for instruction in blocks.flat_map(|block| &block.instructions) {
        if let ir::Operation::RegisterAccess { register, update, .. } = &instruction.operation
            && (update.is_some() || options.read_only_is_state)
        {
            written.insert(*register);
        }
    }
    written
}

/// The verdicts on a control of which no values are known.
fn not_analysed<'p>(
    program: &'p Program,
    block: usize,
    gress: Gress,
    written: &BTreeSet<RegisterId>,
) -> ControlSharding<'p> {
    let mut objects = BTreeSet::new();
    for region in program.regions_of_block(block) {
        let effects = ir::effects::of_region(program, region);
        objects.extend(effects.reads.into_iter().chain(effects.writes));
    }
    let mut control = ControlSharding {
        block,
        gress,
        stage_source: "dependences".to_string(),
        stages: 0,
        stages_in_front: None,
        values: None,
        arrays: Vec::new(),
        groups: Vec::new(),
        counters: Vec::new(),
    };
    for object in objects {
        if let Location::Counter(counter) = object {
            control.counters.push(program.counters[counter.index()].name.clone());
        } else if let Some((name, cells, width_bits)) = declared(program, object) {
            let rule = match object {
                Location::Register(register) if !written.contains(&register) => Rule::NeverWritten,
                _ => Rule::NotAnalysed,
            };
            control.arrays.push(ArraySharding {
                object,
                name,
                cells,
                width_bits,
                accesses: Vec::new(),
                rule,
                because: Vec::new(),
                group: None,
            });
        }
    }
    control
}

/// Returns the place of the declaration of a register, a meter or an extern.
pub fn declaration(program: &Program, object: Location) -> Span {
    let origin = match object {
        Location::Register(register) => program.registers[register.index()].origin,
        Location::Counter(counter) => program.counters[counter.index()].origin,
        Location::Meter(meter) => program.meters[meter.index()].origin,
        Location::Extern(one) => program.externs[one.index()].origin,
        _ => return Span::NONE,
    };
    program.origins.get(origin.index()).map_or(Span::NONE, |origin| origin.span)
}

/// Name, number of cells and width in bits of a register, a counter, a meter or an extern; `None` of other things.
fn declared(program: &Program, object: Location) -> Option<(Arc<str>, u64, u32)> {
    match object {
        Location::Register(register) => {
            let declared = &program.registers[register.index()];
            Some((declared.name.clone(), declared.size, declared.width_bits))
        }
        Location::Meter(meter) => {
            let declared = &program.meters[meter.index()];
            let of_table = || {
                let table = program.tables.iter().find(|one| one.direct_meters.contains(&meter));
                table.and_then(|table| table.size).unwrap_or(1)
            };
            Some((declared.name.clone(), declared.size.unwrap_or_else(of_table), 0))
        }
        Location::Counter(counter) => {
            let declared = &program.counters[counter.index()];
            Some((declared.name.clone(), declared.size.unwrap_or(1), 0))
        }
        Location::Extern(target) => {
            let declared = &program.externs[target.index()];
            let name = if declared.instance.is_empty() {
                declared.type_name.clone()
            } else {
                declared.instance.clone()
            };
            Some((name, 1, 0))
        }
        _ => None,
    }
}

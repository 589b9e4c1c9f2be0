// SPDX-License-Identifier: Apache-2.0
//! From layouts to code: the stages of a layout as an [`Assignment`] of a control's instructions, by which
//! [`ir::stages::cut()`] cuts the control. The layout is one of the program as written; the code of its actions has
//! moved behind their tables since.

use crate::graph::Graph;
use crate::layout::Layout;
use ir::Operation;
use ir::analysis::Point;
use ir::stages::{Assignment, Constraints, Moved};
use std::collections::BTreeMap;

/// The stages of a control's instructions in a layout of the graph.
///
/// An instruction of several units has the stage of the last one. Where units are finer or coarser than
/// instructions, instructions move to later stages until the assignment is legal. Instructions without a unit are in
/// the stage of their first user. The assignment has at least as many stages as the layout.
pub fn assignment_of(
    graph: &Graph,
    layout: &Layout,
    moved: &Moved,
    constraints: &Constraints,
) -> Assignment {
    let mut stages: BTreeMap<Point, u32> = BTreeMap::new();
    for (stage, placed) in (0..).zip(&layout.stages) {
        let units = placed.tables.iter().flat_map(|table| &table.units);
        for point in units.filter_map(|unit| graph.code.get(unit.0 as usize)).flatten() {
            let last = stages.entry(*point).or_default();
            *last = stage.max(*last);
        }
    }
    let region = &moved.program.regions[constraints.region().index()];
    let is_load = |at: &Point| {
        let code = &region.blocks[at.block.index()].instructions[at.instruction as usize];
        matches!(code.operation, Operation::Load { .. })
    };
    let wanted = moved.sources.iter().filter(|(at, _)| !is_load(at));
    let wanted = wanted.filter_map(|(at, source)| Some((*at, *stages.get(source)?))).collect();
    constraints.at_least(&wanted, layout.stages.len() as u32)
}

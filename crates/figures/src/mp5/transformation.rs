// SPDX-License-Identifier: Apache-2.0
//! Figure 5: the transformation of a program with one stateful stage of the paper's template: a table whose action accesses a register
//! under a condition, at an index that the packet computes.

use super::Options;
use crate::{Measuring, Table};
use ir::text::print_regions;
use ir::{Operation, Program, RegionId, Terminator};

/// The paper's template: match, predicate, index, access.
const TEMPLATE: &str = include_str!("template.p4");

/// What code has of the parts of a stateful stage.
#[derive(Default)]
struct Parts {
    matches: usize,
    conditions: usize,
    accesses: usize,
    indexes: usize,
}

/// Counts the parts in the code of regions.
fn parts(program: &Program, regions: &[RegionId]) -> Parts {
    let mut parts = Parts::default();
    for block in regions.iter().flat_map(|region| &program.regions[region.index()].blocks) {
        parts.conditions += usize::from(matches!(block.terminator, Terminator::Branch { .. }));
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::Apply { .. } => parts.matches += 1,
                Operation::RegisterAccess { index, .. } => {
                    parts.accesses += 1;
                    parts.indexes += usize::from(matches!(index, ir::Operand::Temp(_)));
                }
                _ => {}
            }
        }
    }
    parts
}

/// Figure 5.
pub(super) fn figure_5(_: &mut Measuring<'_>, options: &Options<'_>) -> Result<Table, String> {
    let compiled = (options.compile)("template.p4", TEMPLATE)?;
    let (written, control) = (&compiled.written, &compiled.control);
    let ingress = written.blocks.iter().position(|block| &*block.name == "I");
    let regions = written.regions_of_block(ingress.ok_or("the template has no ingress")?);
    let before = parts(written, &regions);
    let (program, front) = (&control.program, &control.front);
    let stages: Vec<RegionId> =
        control.stages.iter().map(|block| program.blocks[*block].region).collect();
    let after = parts(program, &stages);
    let resolution = [front.blocks[control.resolution].region];
    let in_front = parts(front, &resolution);
    let happens = control.groups.len();
    let indexes = control.groups.iter().filter(|group| group.slots.index.is_some()).count();
    let columns = ["part", "published", "before", "in front", "in stages"];
    let mut table =
        Table::new("Figure 5: the transformation of a stateful stage, by its parts", &columns);
    for (part, published, before, in_front, after) in [
        (
            "matches of tables",
            "moved to the front",
            before.matches,
            in_front.matches,
            after.matches,
        ),
        ("predicates", "moved to the front", before.conditions, happens, after.conditions),
        ("indices", "moved to the front", before.indexes, indexes, after.indexes),
        ("phantoms", "added in front", 0, happens, 0),
        ("accesses of state", "in their stage", before.accesses, in_front.accesses, after.accesses),
    ] {
        let counts = [before, in_front, after].map(|count| count.to_string());
        table.row([part.to_string(), published.to_string()].into_iter().chain(counts));
    }
    table.remark(format!(
        "The stages of the program compute match, predicate and index again, because they are the program's code; the paper's pipelines \
         take them from the front. The front takes {} stages, the paper's one. In front a predicate is a value, not a branch.",
        control.resolution_stages
    ));
    table.remark(format!("Before:\n{}", print_regions(written, regions).trim_end()));
    table.remark(format!("After, in front:\n{}", print_regions(front, resolution).trim_end()));
    for (number, stage) in stages.iter().enumerate() {
        if program.regions[stage.index()].blocks[0].instructions.is_empty() {
            continue;
        }
        let text = print_regions(program, [*stage]);
        table.remark(format!("After, stage {number}:\n{}", text.trim_end()));
    }
    Ok(table)
}

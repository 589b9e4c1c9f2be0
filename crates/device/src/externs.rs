// SPDX-License-Identifier: Apache-2.0
//! Instantiates the externs that a program calls and its architecture does not declare, with the providers of
//! [`crate::DeviceOptions::externs`]. `extern_actions` executes their packet actions.

use crate::architecture::Architecture;
use crate::output::{ExternProblem, LoadError};
use crate::pass::Gress;
use ir::{ExternAccess, Operation, Program};
use state::Cells;
use state::externs::ExternRegistry;

/// Makes cells with instances of all externs that a program calls.
pub(crate) fn provide(
    program: &Program,
    architecture: &dyn Architecture,
    registry: &ExternRegistry,
) -> Result<Cells, LoadError> {
    let span = |origin: ir::OriginId| {
        program.origins.get(origin.index()).map_or(source::Span::NONE, |origin| origin.span)
    };
    let cells = Cells::with_externs(program, registry).map_err(|errors| {
        let problems = errors.into_iter().map(|error| ExternProblem {
            name: error.name,
            span: span(error.origin),
            problem: error.problem,
        });
        LoadError::UnsupportedExterns(problems.collect())
    })?;
    // Packet actions take effect at the end of ingress and of egress, after these blocks.
    let halves = [Gress::Ingress, Gress::Egress].map(|gress| architecture.blocks(gress));
    let mut problems: Vec<ExternProblem> = Vec::new();
    for block in (0..program.blocks.len()).filter(|at| !halves.iter().any(|half| half.contains(at)))
    {
        for region in program.regions_of_block(block) {
            let blocks = &program.regions[region.index()].blocks;
            for instruction in blocks.iter().flat_map(|block| &block.instructions) {
                let Operation::CallExtern { target, method, effects, .. } = &instruction.operation
                else {
                    continue;
                };
                let called = &program.externs[target.index()];
                let acts = registry
                    .provider(&called.type_name)
                    .is_some_and(|provider| provider.effects(method).acts_on_packets);
                if acts && effects.access == ExternAccess::Any {
                    problems.push(ExternProblem {
                        name: called.type_name.to_string(),
                        span: span(instruction.origin),
                        problem: Some(format!(
                            "it may drop, hold or emit packets, which it cannot in `{}`: call it in a \
                             parser or control before",
                            program.blocks[block].name
                        )),
                    });
                }
            }
        }
    }
    match problems.is_empty() {
        true => Ok(cells),
        false => Err(LoadError::UnsupportedExterns(problems)),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The effects of a block that decide whether the fast path can contain it.

use ir::{ExternAccess, Operation, Program};

/// The effects of a block, the actions of its tables included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockEffects {
    pub issues_requests: bool,
    pub uses_random: bool,
    pub may_assert: bool,
    /// Whether it calls externs.
    pub calls_externs: bool,
    /// Whether it calls externs that do more than compute.
    pub calls_stateful_externs: bool,
}

/// Finds the effects of a block and of the actions of its tables.
pub(super) fn block_effects(program: &Program, block: usize) -> BlockEffects {
    let mut effects = BlockEffects::default();
    for region in program.regions_of_block(block) {
        let region = &program.regions[region.index()];
        for instruction in region.blocks.iter().flat_map(|block| &block.instructions) {
            match &instruction.operation {
                Operation::Request { .. } => effects.issues_requests = true,
                Operation::Random { .. } => effects.uses_random = true,
                Operation::Assert { .. } => effects.may_assert = true,
                Operation::CallExtern { effects: declared, .. } => {
                    effects.calls_externs = true;
                    effects.calls_stateful_externs |=
                        declared.access != ExternAccess::Pure || declared.random.is_some();
                }
                _ => {}
            }
        }
    }
    effects
}

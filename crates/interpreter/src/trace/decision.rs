// SPDX-License-Identifier: Apache-2.0
//! The source construct of a branch or switch of the IR: a `select`, an `if`, a `switch`, or none.

use super::TraceNode;
use super::naming::is_internal;
use super::node::{NodeMaker, loaded_slot};
use ir::{
    BasicBlock, Bits, BlockId, Display, Operand, Operation, Program, Region, RegionId, RegionKind,
    Terminator,
};

/// The node of a decision; `None` for decisions that lowering made.
pub(super) fn decision_node(
    program: &Program,
    id: RegionId,
    block: BlockId,
    taken: BlockId,
    value: &Bits,
) -> Option<TraceNode> {
    let region = program.regions.get(id.index())?;
    let decided = region.blocks.get(block.index())?;
    let target = through_empty_blocks(region, taken)?;
    match &decided.terminator {
        // A select on one value.
        Terminator::Switch { .. } if region.kind == RegionKind::Parser => {
            Some(TraceNode::new("select", state_name(target)))
        }
        Terminator::Switch { value: subject, cases, .. } => {
            let node = TraceNode::new("switch", "");
            if let Some(action) = action_named(program, region, subject, value) {
                return Some(node.with("value", action));
            }
            // The default case alone decides nothing.
            if cases.is_empty() {
                return None;
            }
            let slot = loaded_slot(program, id, subject);
            let (display, name) =
                slot.map_or((&Display::Unsigned, ""), |slot| (&slot.display, &*slot.name));
            Some(node.with("value", NodeMaker(program).shown(display, name, value)))
        }
        Terminator::Branch { then, otherwise, condition } => {
            if region.kind == RegionKind::Parser {
                let leads_to = |block: &BlockId| through_empty_blocks(region, *block);
                // A case of a select on several values, on masks or on ranges.
                if leads_to(then).is_some_and(is_state) {
                    return Some(TraceNode::new("select", state_name(target)));
                }
                // `verify` and checks of stacks; their errors have events.
                let rejects = |block: &BlockId| {
                    leads_to(block)
                        .is_some_and(|block| matches!(block.terminator, Terminator::Reject(_)))
                };
                if rejects(then) || rejects(otherwise) {
                    return None;
                }
            }
            // Tests whether an earlier action ended by `exit`.
            let slot = loaded_slot(program, id, condition);
            if slot.is_some_and(|slot| is_internal(&slot.name) && slot.name.ends_with("$exit")) {
                return None;
            }
            Some(TraceNode::new("if", "").with("value", value.is_true()))
        }
        _ => None,
    }
}

/// The successor of a block, after skipping blocks without effect.
fn through_empty_blocks(region: &Region, block: BlockId) -> Option<&BasicBlock> {
    let mut at = region.blocks.get(block.index())?;
    // No path without a cycle is longer.
    for _ in 0..region.blocks.len() {
        match at.terminator {
            Terminator::Goto(next) if at.name.is_empty() && at.instructions.is_empty() => {
                at = region.blocks.get(next.index())?;
            }
            _ => break,
        }
    }
    Some(at)
}

/// Whether a block is a state: a named one, or one of the two that end the parser.
fn is_state(block: &BasicBlock) -> bool {
    let rejects_plainly = |error: &Operand| match error {
        Operand::Constant(error) => error.is_zero(),
        Operand::Temp(_) => false,
    };
    !block.name.is_empty()
        || (block.instructions.is_empty()
            && match &block.terminator {
                Terminator::Return => true,
                Terminator::Reject(error) => rejects_plainly(error),
                _ => false,
            })
}

/// A parser's state; those that end the parser have no name in the code.
fn state_name(block: &BasicBlock) -> &str {
    match &block.terminator {
        _ if !block.name.is_empty() => &block.name,
        Terminator::Reject(_) => "reject",
        _ => "accept",
    }
}

/// The action that ran, for a switch on `action_run`.
fn action_named(
    program: &Program,
    region: &Region,
    subject: &Operand,
    value: &Bits,
) -> Option<String> {
    let Operand::Temp(subject) = subject else { return None };
    let mut instructions = region.blocks.iter().flat_map(|block| &block.instructions);
    let table = instructions.find_map(|instruction| match &instruction.operation {
        Operation::Apply { table, action, .. } if action == subject => Some(*table),
        _ => None,
    })?;
    let listed =
        program.tables.get(table.index())?.actions.get(usize::try_from(value.to_u64()?).ok()?)?;
    Some(program.actions.get(listed.action.index())?.name.to_string())
}

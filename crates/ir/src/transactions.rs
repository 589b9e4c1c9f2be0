// SPDX-License-Identifier: Apache-2.0
//! Register transactions: programs read a cell, compute, and write it back in separate statements; here
//! such sequences become one [`RegisterAccess`](crate::Operation::RegisterAccess) with an update, where
//! that keeps the meaning. Facts about accesses, such as whether an index depends on state, are in
//! `facts`.
//!
//! Inside a basic block two accesses of the same cell become one at the place of the first. So the
//! second one's write happens earlier than written, which nothing between may notice: nothing between
//! touches the register (other constant cells excepted) or may end the block; and what the written value
//! is made of is either pure computation on the old value, which moves into the update, or can itself
//! be moved before the access. Otherwise the accesses stay as they are. An access leaves its `@atomic` block
//! only if it is all that the block does to state.
//!
//! Accesses in different arms of an `if` are reached by turning the arms into guarded and selected
//! straight code. The pass converts only branches whose conversion lets it fuse accesses.
//!
//! A fused access has the origins of all accesses that it was made of ([`crate::Origin::merged`]).

mod facts;
mod fusion;
mod if_conversion;
mod origins;

pub use facts::{AccessFact, register_access_facts};
use fusion::AtomicBlocks;
use origins::MergedOrigins;

use crate::control_flow::reverse_postorder;
use crate::passes::{
    fold_block, for_each_region, join_chains, number_block, remove_dead_code,
    remove_unreachable_blocks, remove_unused_in_block,
};
use crate::{BasicBlock, Operation, Program, Region, RegisterId, Terminator};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Regions with more blocks than this are converted block by block only.
const CONVERSION_BLOCK_LIMIT: usize = 512;

/// Turns sequences of reads and writes of the same register cell into single transactions. Numbers
/// values and removes dead code, too.
pub fn fuse_register_accesses(program: &mut Program) {
    let mut origins = MergedOrigins::of(program);
    for_each_region(program, |program, region| {
        if access_count(region) < 2 {
            return;
        }
        join_chains(region);
        fuse(program, &mut origins, region);
        while let Some(better) = converted(program, &mut origins, region) {
            *region = better;
        }
        remove_unreachable_blocks(region);
    });
    origins.add_to(program);
    remove_dead_code(program);
}

/// Counts the register accesses in reachable blocks.
fn access_count(region: &Region) -> usize {
    accesses(region).values().sum()
}

fn accesses(region: &Region) -> HashMap<RegisterId, usize> {
    let mut counts = HashMap::new();
    for at in reverse_postorder(region) {
        for instruction in &region.blocks[at].instructions {
            if let Operation::RegisterAccess { register, .. } = &instruction.operation {
                *counts.entry(*register).or_default() += 1;
            }
        }
    }
    counts
}

/// Whether some register is accessed twice in the block.
fn has_pair(block: &BasicBlock) -> bool {
    let mut seen = HashSet::new();
    block.instructions.iter().any(|instruction| match &instruction.operation {
        Operation::RegisterAccess { register, .. } => !seen.insert(*register),
        _ => false,
    })
}

/// Fuses inside all blocks. A fusion changes one block, so only that one is simplified again; where `@atomic` blocks
/// have fewer accesses afterwards, another scan finds what may be fused now.
fn fuse(program: &Program, origins: &mut MergedOrigins, region: &mut Region) {
    for at in 0..region.blocks.len() {
        simplify(program, region, at);
    }
    while fuse_in_blocks(program, origins, region, 0..region.blocks.len()) {}
}

/// Fuses inside some blocks; whether there was anything to fuse.
fn fuse_in_blocks(
    program: &Program,
    origins: &mut MergedOrigins,
    region: &mut Region,
    blocks: Range<usize>,
) -> bool {
    let atomic_blocks = AtomicBlocks::of(program, origins, region);
    let mut fused = false;
    for at in blocks {
        while fusion::fuse_in_block(program, origins, &atomic_blocks, region, at) {
            simplify(program, region, at);
            fused = true;
        }
    }
    fused
}

fn simplify(program: &Program, region: &mut Region, at: usize) {
    let block = &mut region.blocks[at];
    number_block(program, &region.temps, block);
    fold_block(&region.temps, block);
    remove_unused_in_block(block);
}

/// The region with one `if` turned into straight code, when that leaves fewer accesses. Inner ones are
/// tried first, so that no more is turned than needed.
fn converted(program: &Program, origins: &mut MergedOrigins, region: &Region) -> Option<Region> {
    let several = accesses(region).values().any(|count| *count > 1);
    if !several || region.blocks.len() > CONVERSION_BLOCK_LIMIT {
        return None;
    }
    let before = access_count(region);
    for head in reverse_postorder(region).into_iter().rev() {
        if !matches!(region.blocks[head].terminator, Terminator::Branch { .. }) {
            continue;
        }
        let mut attempt = region.clone();
        while if_conversion::convert(program, &mut attempt, head) {
            // Only this block has changed, so only there can be something new to fuse.
            if !has_pair(&attempt.blocks[head]) {
                continue;
            }
            simplify(program, &mut attempt, head);
            fuse_in_blocks(program, origins, &mut attempt, head..head + 1);
            if access_count(&attempt) < before {
                fuse(program, origins, &mut attempt);
                return Some(attempt);
            }
        }
    }
    None
}

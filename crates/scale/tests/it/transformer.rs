// SPDX-License-Identifier: Apache-2.0
//! Mistakes of the transformer that many pipelines against one must find: arrays that move apart though one codelet updates them,
//! accesses of one stage that do not exclude each other, accesses cancelled too early, cells of another index.

use crate::programs::{Found, Mistake, case};
use device::EngineChoice;
use scale::sharding::{ControlSharding, Rule, ShardGroup};
use scale::staged::StagedControl;
use testing::{Choices, tape};

/// Runs cases with a mistake until one finds it.
#[track_caller]
fn is_found(mistake: &Mistake) {
    const CASES: u64 = 300;
    let found = (0..CASES).find_map(|seed| {
        let mut choices = Choices::from_tape(tape::from_seed(seed, 500));
        match case(&mut choices, EngineChoice::Interpreter, mistake) {
            Found::Different(found) => Some((seed, found)),
            Found::Nothing | Found::Equal | Found::Refused(_) => None,
        }
    });
    let (seed, found) = found.unwrap_or_else(|| panic!("{CASES} cases do not find it"));
    println!("seed {seed}: {found}");
}

/// Each array of a group that shares an index gets a group of its own, as in the paper's artifact.
fn split_groups(control: &mut ControlSharding<'_>) {
    let groups = std::mem::take(&mut control.groups);
    for group in groups {
        let is_one = !group.is_sharded || group.arrays.len() < 2;
        let parts = if is_one {
            vec![group.arrays.clone()]
        } else {
            group.arrays.iter().map(|array| vec![*array]).collect()
        };
        for arrays in parts {
            let of_part = |access: &usize| {
                arrays.iter().any(|array| control.arrays[*array].accesses.contains(access))
            };
            let accesses = group.accesses.iter().copied().filter(of_part).collect();
            control.groups.push(ShardGroup { arrays, accesses, ..group.clone() });
        }
    }
}

/// Arrays that moved to a later stage go back to that of arrays that packets access too.
fn unserialise(control: &mut ControlSharding<'_>) {
    let is_serialised = |group: &ShardGroup| {
        group.arrays.iter().any(|array| control.arrays[*array].rule == Rule::Serialised)
    };
    let moved: Vec<bool> = control.groups.iter().map(is_serialised).collect();
    for (group, moved) in control.groups.iter_mut().zip(moved) {
        if let (true, Some(stage)) = (moved, group.moved_from) {
            group.stage = stage;
        }
    }
    control.groups.sort_by_key(|group| group.stage);
}

/// Decisions are made before the state is read that they depend on.
fn decide_early(control: &mut StagedControl) {
    for group in &mut control.groups {
        if let Some(decision) = &mut group.decision {
            decision.after = 0;
        }
    }
}

/// The code in front finds cell 1, whatever the packet.
fn resolve_to_one_cell(control: &mut StagedControl) {
    for group in &mut control.groups {
        group.slots.index = group.slots.index.map(|_| group.slots.happens);
    }
}

#[test]
fn arrays_of_a_codelet_that_move_apart() {
    is_found(&Mistake { verdicts: split_groups, ..Mistake::NONE });
}

#[test]
fn accesses_of_a_stage_that_do_not_exclude_each_other() {
    is_found(&Mistake { verdicts: unserialise, ..Mistake::NONE });
}

#[test]
fn accesses_that_are_cancelled_too_early() {
    is_found(&Mistake { stages: decide_early, ..Mistake::NONE });
}

#[test]
fn cells_of_another_index() {
    is_found(&Mistake { stages: resolve_to_one_cell, ..Mistake::NONE });
}

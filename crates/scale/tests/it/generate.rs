// SPDX-License-Identifier: Apache-2.0
//! Generated programs, packets and designs.

use scale::design::{Design, Figure6, FirstMap, Queues, Remap, Steering, Touch, View};
use scale::machine::outcome::Arrival;
use scale::synthetic::{Packet, Program, Step};
use scale::work::{Access, Group};
use std::sync::Arc;
use testing::choices::Choices;

/// A program with packets for a number of pipelines.
pub struct Case {
    pub program: Arc<Program>,
    pub arrivals: Vec<Arrival<Packet>>,
    pub pipelines: usize,
}

/// A program: up to five arrays, also two in a stage, accesses with predicates on state and with drops, hot cells.
fn program(choices: &mut Choices) -> Program {
    let stages = 1 + choices.below(6);
    let mut groups = Vec::new();
    for stage in 0..stages {
        for _ in 0..choices.weighted(&[2, 3, 1]) {
            let (name, cells) = (format!("array{}", groups.len()), 1 + choices.below(12) as u32);
            groups.push(Group { name, stage, cells });
        }
    }
    let flows = (0..1 + choices.below(12)).map(|_| flow(choices, stages, &groups)).collect();
    Program { stages, groups, flows }
}

/// The accesses of a flow. Of two arrays in a stage a packet accesses one; which one can depend on state.
fn flow(choices: &mut Choices, stages: usize, groups: &[Group]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for stage in 0..stages {
        let here: Vec<u32> = (0..groups.len() as u32)
            .filter(|group| groups[*group as usize].stage == stage)
            .collect();
        if here.is_empty() || choices.one_in(4) {
            continue;
        }
        let deciders: Vec<u8> = (0_u8..)
            .zip(&steps)
            .filter(|(_, step)| {
                step.predicate.is_none() && groups[step.access.group as usize].stage < stage
            })
            .map(|(index, _)| index)
            .collect();
        let mut step = |choices: &mut Choices, group: u32, predicate| {
            let cell = choices.below(groups[group as usize].cells as usize) as u32;
            let drops = if choices.one_in(8) { 2 + choices.below(5) as u64 } else { 0 };
            steps.push(Step { access: Access { group, cell }, predicate, drops });
        };
        if !deciders.is_empty() && choices.flag() {
            let decider = *choices.pick(&deciders);
            step(choices, here[0], Some((decider, false)));
            if let Some(other) = here.get(1) {
                step(choices, *other, Some((decider, true)));
            }
        } else {
            let group = *choices.pick(&here);
            step(choices, group, None);
        }
    }
    steps
}

/// A program with packets.
pub fn case(choices: &mut Choices) -> Case {
    let program = program(choices);
    let pipelines = 1 + choices.below(6);
    let gap = choices.below(4);
    let count = 1 + choices.below(120);
    let mut cycle = 0;
    let mut used = 0;
    let arrivals = (0..count as u64).map(|id| {
        let step = choices.below(gap + 1) as u64;
        used = if step > 0 { 0 } else { used + 1 };
        cycle += step;
        let flow = choices.below(program.flows.len()) as u32;
        Arrival { cycle, port: used, packet: Packet::new(id, flow) }
    });
    let arrivals = arrivals.collect();
    Case { program: Arc::new(program), arrivals, pipelines }
}

/// A design that keeps the order of accesses.
pub fn design(choices: &mut Choices) -> Design {
    let every = 1 + choices.below(20) as u64;
    let significance = *choices.pick(&[0, 10, 20]);
    let cells = 1 + choices.below(4);
    let figure =
        Figure6 { every, takes_half: choices.flag(), retries: choices.flag(), significance };
    Design {
        steering: *choices.pick(&[
            Steering::Lane,
            Steering::Free(View::Immediate),
            Steering::Free(View::Late),
            Steering::Free(View::LateWithArrivals),
        ]),
        queues: *choices.pick(&[Queues::Fifo, Queues::ByCell]),
        first_map: choices.pick(&[FirstMap::Modulo, FirstMap::FirstPipeline]).clone(),
        remap: *choices.pick(&[
            Remap::Never,
            Remap::Figure6(Figure6::paper(every)),
            Remap::Figure6(figure),
            Remap::Scan { every },
            Remap::Fly { every, cells, significance },
        ]),
        touch: choices
            .flag()
            .then(|| Touch { gain: 1 + choices.below(3) as u32, is_single: choices.flag() }),
        ..Design::mp5(every)
    }
}

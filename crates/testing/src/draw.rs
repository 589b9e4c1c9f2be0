// SPDX-License-Identifier: Apache-2.0
//! Draws legal assignments of a control's instructions to stages.
//!
//! **Distribution.** Every legal assignment of classes ([`ir::stages::Constraints`]) to `count` stages is equally likely.
//! An assignment is an order-preserving map of the classes into a chain; the heat-bath chain that gives one class after
//! the other a uniform stage between its neighbours keeps the uniform distribution and is monotone, so coupling from
//! the past (Propp and Wilson 1996) from the lowest and the highest map gives exact draws. Where both do not meet
//! within [`UPDATE_LIMIT`], the highest one of that long run is taken and the draw is not exact.

use crate::Choices;
use arithmetic::random::keyed;
use ir::stages::{Assignment, Constraints};

/// The maximum number of updates of single classes in a draw.
pub const UPDATE_LIMIT: usize = 4_000_000;

/// A drawn assignment.
#[derive(Clone, Debug)]
pub struct Draw {
    /// It.
    pub assignment: Assignment,
    /// Whether it comes from the uniform distribution exactly.
    pub is_exact: bool,
}

/// Draws an assignment to `count` stages.
pub fn draw(constraints: &Constraints, count: u32, choices: &mut Choices) -> Draw {
    let classes = constraints.classes().len();
    let seed = choices.word();
    let mut sweeps = 1u64;
    loop {
        let (mut low, mut high) = (vec![0; classes], vec![count - 1; classes]);
        // The random numbers of a sweep belong to its time before the end, whichever run makes it.
        for time in (0..sweeps).rev() {
            for class in 0..classes {
                let random = keyed(seed, &[time, class as u64]) as u32;
                update(constraints, count, &mut low, class, random);
                update(constraints, count, &mut high, class, random);
            }
        }
        let is_exact = low == high;
        if is_exact || classes as u64 * sweeps * 2 > UPDATE_LIMIT as u64 {
            let assignment = Assignment::of_classes(constraints, count, &high);
            return Draw { assignment, is_exact };
        }
        sweeps *= 2;
    }
}

/// Gives a class a uniform stage between its neighbours.
fn update(constraints: &Constraints, count: u32, stages: &mut [u32], class: usize, random: u32) {
    let stage = |other: &usize| stages[*other];
    let low = constraints.predecessors(class).iter().map(stage).max().unwrap_or(0);
    let high = constraints.successors(class).iter().map(stage).min().unwrap_or(count - 1);
    let width = u64::from(high - low + 1);
    stages[class] = low + ((u64::from(random) * width) >> 32) as u32;
}

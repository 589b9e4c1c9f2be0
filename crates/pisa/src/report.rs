// SPDX-License-Identifier: Apache-2.0
//! A layout as text for people: which table sits where, what each stage takes of what it has, and why
//! each unit sits where it sits. JSON and pictures are made elsewhere.

mod text;
mod why;

pub use text::{reason_words, text};
pub use why::{Reasons, Why};

use crate::layout::Layout;
use crate::problem::Problem;

/// The stage of each unit; none for units that the layout does not hold.
pub fn stages_of(problem: &Problem, layout: &Layout) -> Vec<Option<u32>> {
    let mut stages = vec![None; problem.units.len()];
    for (index, stage) in layout.stages.iter().enumerate() {
        for unit in stage.tables.iter().flat_map(|table| &table.units) {
            if let Some(place) = stages.get_mut(unit.0 as usize) {
                *place = Some(index as u32);
            }
        }
    }
    stages
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0
//! Which cell of a group Figure 6 of the MP5 paper moves, and between which pipelines. When it moves is not said here.

use super::cells::GroupCells;

/// A cell that should move.
pub(super) struct Candidate {
    pub(super) cell: u32,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The sums of a group's access counters by pipeline.
pub(super) fn sums(group: &GroupCells, pipelines: usize) -> Vec<u64> {
    let mut sums = vec![0; pipelines];
    for (pipeline, count) in group.pipelines.iter().zip(&group.accesses) {
        sums[usize::from(*pipeline)] += u64::from(*count);
    }
    sums
}

/// Figure 6: the cell of the pipeline with most accesses (H) with the largest count under half the difference to the pipeline
/// with fewest (L). Of pipelines with equal sums the last is taken, of cells with equal counts the first.
pub(super) fn candidate(
    group: &GroupCells,
    sums: &[u64],
    takes_half: bool,
    significance: u32,
) -> Option<Candidate> {
    let (from, most) = sums.iter().enumerate().max_by_key(|(_, sum)| **sum)?;
    let least = *sums.iter().min()?;
    let to = sums.iter().rposition(|sum| *sum == least)?;
    let difference = most - least;
    // Counts of independent accesses have the variance of their mean.
    let chance = u64::from(significance).pow(2) * (most + least);
    if difference == 0 || 100 * difference.pow(2) < chance {
        return None;
    }
    let counts = group.accesses.iter().zip(&group.pipelines).enumerate();
    let mut best: Option<(u16, usize)> = None;
    for (cell, (count, pipeline)) in counts {
        let value = u64::from(*count);
        let fits = if takes_half { value <= difference / 2 } else { 2 * value < difference };
        if usize::from(*pipeline) == from && fits && best.is_none_or(|(most, _)| *count > most) {
            best = Some((*count, cell));
        }
    }
    best.map(|(_, cell)| Candidate { cell: cell as u32, from, to })
}

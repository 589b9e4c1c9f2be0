// SPDX-License-Identifier: Apache-2.0
//! Greedy layout (Lucid §6.2, "Merging tables and actions"): units are taken one by one in an order
//! that dependencies allow, and each goes to the earliest stage that dependencies and resources
//! allow, into a table that is there if it may be merged with it. Several orders are tried, and the
//! plain one is among them. What is proved about the least number of stages is in [`bound`].

pub mod bound;
pub(crate) mod cluster;
mod codes;
mod message;
mod order;
pub(crate) mod place;

pub use cluster::{Cluster, Clusters, Fault, Group};
pub use codes::EXPLANATIONS;

use crate::cost::Model;
use crate::layout::{Layout, Optimality, PlacedTable, Stage};
use crate::problem::{Gress, Problem};
use crate::target::HardwareModel;
use place::Placement;
use source::Diagnostics;

/// Orders and policies tried, at most, while the bound allows fewer stages.
const MAX_TRIES: u64 = 24;

/// Clusters placed in all tries together, a bound for large problems; each policy is tried once at least.
const MAX_PLACED_CLUSTERS: u64 = 24 * 300;

/// No further try begins after this many tables' costs were computed, a bound for programs with many merge candidates.
const MAX_TABLE_COSTS: usize = 15_000;

/// Tries in any case: one with each policy.
const MIN_TRIES: u64 = 3;

/// Returns the number of tries for so many clusters.
fn tries(clusters: usize) -> u64 {
    (MAX_PLACED_CLUSTERS / (clusters as u64).max(1)).clamp(MIN_TRIES, MAX_TRIES)
}

/// A layout within the target's stages. If there is none, diagnostics for all that did not fit.
pub fn greedy(problem: &Problem, target: &HardwareModel) -> Result<Layout, Diagnostics> {
    let model = Model::new(problem, target);
    let (clusters, placement) = best(&model)?;
    let layout = layout(&model, &clusters, &placement);
    if overrun(target, &placement) > 0 {
        return Err(message::too_many_stages(&model, &clusters, &layout));
    }
    Ok(layout)
}

/// A layout with as many stages as it takes. Diagnostics are about what no stage can take.
pub fn greedy_unlimited(problem: &Problem, target: &HardwareModel) -> Result<Layout, Diagnostics> {
    let model = Model::new(problem, target);
    let (clusters, placement) = best(&model)?;
    Ok(layout(&model, &clusters, &placement))
}

/// As the paper's compiler lays out: units as written, one walk, as many stages as it takes.
pub fn plain(problem: &Problem, target: &HardwareModel) -> Result<Layout, Diagnostics> {
    let model = Model::new(problem, target);
    let clusters = Clusters::of(problem).map_err(|faults| message::impossible(&model, &faults))?;
    let order = order::as_written(&clusters);
    let placement = place::place(&model, &clusters, &order, place::Policy::Merge)
        .map_err(|stuck| message::too_large(&model, &clusters, &stuck))?;
    Ok(layout(&model, &clusters, &placement))
}

fn best(model: &Model<'_>) -> Result<(Clusters, Placement), Diagnostics> {
    let clusters =
        Clusters::of(model.problem).map_err(|faults| message::impossible(model, &faults))?;
    let least = bound::least_stages_of(model, &clusters);
    let mut best: Option<((u32, usize, usize), Placement)> = None;
    for attempt in 0..tries(clusters.clusters.len()) {
        if attempt >= MIN_TRIES && model.computed() > MAX_TABLE_COSTS {
            break;
        }
        let (order, policy) = order::attempt(&clusters, attempt);
        let placement = place::place(model, &clusters, &order, policy)
            .map_err(|stuck| message::too_large(model, &clusters, &stuck))?;
        let tables = placement.stages.iter().map(|stage| stage.tables.len()).sum();
        let stages = placement.stages.len();
        let key = (overrun(model.target, &placement), stages, tables);
        if best.as_ref().is_none_or(|(other, _)| key < *other) {
            best = Some((key, placement));
        }
        // Fewer tables are not worth a search. Where halves have stages of their own, the shorter one
        // may still be too long.
        let done = best.as_ref().is_some_and(|((over, stages, _), _)| {
            *stages <= least as usize && (*over == 0 || model.target.shared)
        });
        if done {
            break;
        }
    }
    let placement = best.map(|(_, placement)| placement).unwrap_or_default();
    Ok((clusters, placement))
}

/// How many stages too many, over both halves.
fn overrun(target: &HardwareModel, placement: &Placement) -> u32 {
    let last = |gress| {
        placement
            .stages
            .iter()
            .rposition(|stage| stage.tables.iter().any(|table| table.gress == gress))
    };
    let over =
        |gress, stages: u32| last(gress).map_or(0, |last| (last as u32 + 1).saturating_sub(stages));
    over(Gress::Ingress, target.ingress_stages) + over(Gress::Egress, target.egress_stages)
}

fn layout(model: &Model<'_>, clusters: &Clusters, placement: &Placement) -> Layout {
    let stages: Vec<Stage> = placement
        .stages
        .iter()
        .map(|stage| {
            let mut tables: Vec<PlacedTable> = stage
                .tables
                .iter()
                .map(|table| PlacedTable { gress: table.gress, units: table.units.clone() })
                .collect();
            tables.sort_by_key(|table| table.units.first().copied());
            Stage { tables }
        })
        .collect();
    let least = bound::least_stages_of(model, clusters);
    let optimality = match least {
        least if least as usize >= stages.len() => Optimality::Optimal,
        least => Optimality::AtLeast(least),
    };
    Layout { target: model.target.name.clone(), stages, optimality }
}

#[cfg(test)]
pub(crate) mod random_problems;
#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0
//! Bounds on the least number of stages that hold for every layout: the longest chain of
//! dependencies, and for what must sit between two points of all chains, what it takes at least
//! against what the stages between have.

use super::cluster::Clusters;
use crate::cost::Model;
use crate::problem::{Gress, Problem, Resource};
use crate::target::HardwareModel;
use std::collections::{BTreeMap, BTreeSet};

/// No layout of this problem has fewer stages. Zero for problems without a layout.
pub fn least_stages(problem: &Problem, target: &HardwareModel) -> u32 {
    let model = Model::new(problem, target);
    Clusters::of(problem).map_or(0, |clusters| least_stages_of(&model, &clusters))
}

pub(super) fn least_stages_of(model: &Model<'_>, clusters: &Clusters) -> u32 {
    let (depths, heights) = (clusters.depths(), clusters.heights());
    let halves: Vec<Vec<usize>> = if model.target.shared {
        vec![(0..clusters.clusters.len()).collect()]
    } else {
        [Gress::Ingress, Gress::Egress]
            .into_iter()
            .map(|gress| {
                let of = |at: &usize| clusters.clusters[*at].gress == gress;
                (0..clusters.clusters.len()).filter(of).collect()
            })
            .collect()
    };
    let least: Vec<BTreeMap<Resource, u64>> =
        (0..clusters.clusters.len()).map(|at| least_demand(model, clusters, at)).collect();
    let mut bound = 0;
    for half in halves {
        let chain = half.iter().map(|at| depths[*at] + heights[*at] + 1).max().unwrap_or(0);
        bound = bound.max(chain);
        bound = bound.max(by_resources(model.target, &half, &depths, &heights, &least));
    }
    bound
}

/// For each depth and height: what sits at least so many stages from the first and so many from the
/// last, against what a stage has.
fn by_resources(
    target: &HardwareModel,
    half: &[usize],
    depths: &[u32],
    heights: &[u32],
    least: &[BTreeMap<Resource, u64>],
) -> u32 {
    let rows: Vec<u32> =
        half.iter().map(|at| depths[*at]).collect::<BTreeSet<_>>().into_iter().collect();
    let columns: Vec<u32> =
        half.iter().map(|at| heights[*at]).collect::<BTreeSet<_>>().into_iter().collect();
    let mut bound = 0;
    for (resource, limit) in target.stage.iter().filter(|(_, limit)| **limit > 0) {
        let mut sums = vec![vec![0u64; columns.len()]; rows.len()];
        for at in half {
            let amount = least[*at].get(resource).copied().unwrap_or(0);
            let row = rows.partition_point(|row| *row < depths[*at]);
            let column = columns.partition_point(|column| *column < heights[*at]);
            sums[row][column] = sums[row][column].saturating_add(amount);
        }
        for row in (0..rows.len()).rev() {
            // What is further right, then what is further down, which has been summed already.
            let mut right = 0u64;
            for column in (0..columns.len()).rev() {
                right = right.saturating_add(sums[row][column]);
                let down = sums.get(row + 1).map_or(0, |below| below[column]);
                sums[row][column] = right.saturating_add(down);
                let stages = sums[row][column].div_ceil(*limit);
                if stages > 0 {
                    let stages = u32::try_from(stages).unwrap_or(u32::MAX);
                    let all = stages.saturating_add(rows[row]).saturating_add(columns[column]);
                    bound = bound.max(all);
                }
            }
        }
    }
    bound
}

/// What a cluster adds to its stage whatever else sits there. Match memories and crossbars are shared
/// when tables merge, so they do not count for units that may merge.
pub(crate) fn least_demand(
    model: &Model<'_>,
    clusters: &Clusters,
    at: usize,
) -> BTreeMap<Resource, u64> {
    let mut sum: BTreeMap<Resource, u64> = BTreeMap::new();
    for group in clusters.clusters[at].groups.iter().map(|group| &clusters.groups[*group]) {
        let cost = model.table(&group.units);
        let own = |resource: Resource| {
            let alone = cost.demand.get(&resource).copied().unwrap_or(0);
            match resource {
                Resource::ExactMatchBits | Resource::TernaryMatchBits | Resource::MatchBits => 0,
                _ if !group.may_merge => alone,
                Resource::ArrayBlocks | Resource::StatefulAlus => alone,
                // An array's blocks are its own; the rest may be another table's.
                Resource::SramBlocks => {
                    cost.demand.get(&Resource::ArrayBlocks).copied().unwrap_or(0)
                }
                Resource::Tables
                | Resource::TernaryTables
                | Resource::TcamBlocks
                | Resource::Gateways
                | Resource::Actions
                | Resource::Entries => 0,
                _ => alone,
            }
        };
        for resource in Resource::ALL {
            let amount = own(resource);
            if amount > 0 {
                let all = sum.entry(resource).or_default();
                *all = all.saturating_add(amount);
            }
        }
    }
    sum
}

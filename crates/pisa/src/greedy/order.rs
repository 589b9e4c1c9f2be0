// SPDX-License-Identifier: Apache-2.0
//! Orders in which clusters are placed: as written, by the longest path to the end, and the same with noise from a
//! counter, so that a layout is reproducible.

use super::cluster::Clusters;
use super::place::Policy;
use arithmetic::random::SplitMix64;
use std::cmp::Reverse;

pub(super) fn as_written(clusters: &Clusters) -> Vec<usize> {
    clusters.topological()
}

/// The order and policy of one attempt; attempt 0 is the plain one.
pub(super) fn attempt(clusters: &Clusters, attempt: u64) -> (Vec<usize>, Policy) {
    let policies = [Policy::Merge, Policy::LeastGrowth, Policy::Spread];
    let policy = policies[(attempt % 3) as usize];
    let heights = clusters.heights();
    let has_array = |at: usize| {
        clusters.clusters[at].groups.iter().any(|g| clusters.groups[*g].array.is_some())
    };
    let order = match attempt / 3 {
        0 => as_written(clusters),
        1 => clusters.sorted_by(|at| Reverse((heights[at], has_array(at)))),
        2 => {
            let depths = clusters.depths();
            clusters.sorted_by(|at| (depths[at], Reverse((has_array(at), heights[at]))))
        }
        round => clusters.sorted_by(|at| {
            // Up to two stages' worth of disorder.
            let noise = SplitMix64::number(at as u64 + 1, round) % 256;
            Reverse(u64::from(heights[at]) * 100 + u64::from(has_array(at)) * 50 + noise)
        }),
    };
    (order, policy)
}

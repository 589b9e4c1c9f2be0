// SPDX-License-Identifier: Apache-2.0
//! Orders in which clusters are placed: as written, by the longest path to the end, and the same with noise from a
//! counter, so that a layout is reproducible.

use super::cluster::Clusters;
use super::place::Policy;
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
            let noise = draw(round, at as u64) % 256;
            Reverse(u64::from(heights[at]) * 100 + u64::from(has_array(at)) * 50 + noise)
        }),
    };
    (order, policy)
}

/// A number from two numbers (the finaliser of SplitMix64).
fn draw(round: u64, at: u64) -> u64 {
    let mut mixed = round.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(at + 1);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

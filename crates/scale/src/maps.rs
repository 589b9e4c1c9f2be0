// SPDX-License-Identifier: Apache-2.0
//! First maps of cells to pipelines, made from the number of accesses that a whole run makes, or at random.

use arithmetic::random::stream::Stream;

/// What random numbers are for.
const RANDOM_MAP: u64 = 9;

/// Each cell in a random pipeline.
pub fn random(cells: &[usize], pipelines: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Stream::new(seed, RANDOM_MAP, 0);
    let mut map = |count: &usize| {
        (0..*count).map(|_| random.up_to(pipelines as u64 - 1) as u8).collect::<Vec<u8>>()
    };
    cells.iter().map(&mut map).collect()
}

/// Cells sorted by accesses and cut into equal parts, one for each pipeline. The paper's artifact calls this static sharding.
pub fn sorted(counts: &[Vec<u64>], pipelines: usize) -> Vec<Vec<u8>> {
    let map = |counts: &Vec<u64>| {
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|cell| counts[*cell]);
        let part = counts.len().div_ceil(pipelines).max(1);
        let mut map = vec![0; counts.len()];
        for (place, cell) in order.into_iter().enumerate() {
            map[cell] = (place / part) as u8;
        }
        map
    };
    counts.iter().map(map).collect()
}

/// The cell with most accesses first, each in the pipeline with fewest so far (longest processing time first).
pub fn packed(counts: &[Vec<u64>], pipelines: usize) -> Vec<Vec<u8>> {
    let map = |counts: &Vec<u64>| {
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|cell| std::cmp::Reverse(counts[*cell]));
        let mut sums = vec![(0_u64, 0_u64); pipelines];
        let mut map = vec![0; counts.len()];
        for cell in order {
            // Of equal sums the pipeline with fewest cells, so that cells without accesses are spread too.
            let least = (0..pipelines).min_by_key(|pipeline| sums[*pipeline]).unwrap_or_default();
            sums[least].0 += counts[cell];
            sums[least].1 += 1;
            map[cell] = least as u8;
        }
        map
    };
    counts.iter().map(map).collect()
}

// SPDX-License-Identifier: Apache-2.0
//! The width of phantoms (MP5 §3.1, D4): a packet's identity, stage, pipeline and index. The paper takes 48 bits for all.

/// The width that the paper assumes (MP5 §4.2).
pub const PAPER_PHANTOM_BITS: u32 = 48;

/// Entries of each ring in front of a stage (MP5 §4.2).
pub const RING_DEPTH: u64 = 8;

/// The fields of a phantom, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhantomWidth {
    /// The packet: which of those in flight.
    pub packet: u32,
    /// The stage.
    pub stage: u32,
    /// The pipeline.
    pub pipeline: u32,
    /// The cell.
    pub index: u32,
    /// Whether it holds a place or gives one up.
    pub kind: u32,
}

impl PhantomWidth {
    /// Returns the sum.
    pub fn bits(self) -> u32 {
        self.packet + self.stage + self.pipeline + self.index + self.kind
    }
}

/// Returns the least width. Packets in flight are those of each stage and pipeline, and those in its rings: `pipelines`
/// rings of `depth` entries in front of each of the `stateful` stages.
pub fn phantom_width(
    pipelines: u64,
    stages: u64,
    stateful: u64,
    depth: u64,
    largest_array: u64,
) -> PhantomWidth {
    let in_stages = pipelines * stages;
    let in_rings =
        pipelines.saturating_mul(pipelines).saturating_mul(stateful.saturating_mul(depth));
    PhantomWidth {
        packet: bits_for(in_stages.saturating_add(in_rings)),
        stage: bits_for(stages),
        pipeline: bits_for(pipelines),
        index: bits_for(largest_array),
        kind: 1,
    }
}

/// The bits of a number that tells so many things apart.
fn bits_for(things: u64) -> u32 {
    u64::BITS - things.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_grow_with_what_is_told_apart() {
        let width = |pipelines, stages, stateful, cells| {
            let PhantomWidth { packet, stage, pipeline, index, kind } =
                phantom_width(pipelines, stages, stateful, RING_DEPTH, cells);
            [packet, stage, pipeline, index, kind]
        };
        // 4 x 16 packets in stages and 4 x 4 x 4 x 8 in rings are 576.
        assert_eq!(width(4, 16, 4, 512), [10, 4, 2, 9, 1]);
        assert_eq!(width(1, 1, 0, 1), [0, 0, 0, 0, 1]);
        assert_eq!(width(64, 32, 32, 1 << 20), [21, 5, 6, 20, 1]);
        assert_eq!(width(3, 5, 1, 1000), [7, 3, 2, 10, 1]);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What memory the machine takes besides the program's arrays (MP5 §4.2): maps, access counters and in-flight counters, for each cell and
//! pipeline.

use crate::machine::{ACCESS_COUNT_BITS, in_flight_bits};
use crate::plan::{Plan, index_bits};

/// The bits for a cell in MP5 §4.2: 6 of the map, 16 of the access counter, 8 of the in-flight counter.
pub const PAPER_BITS_PER_CELL: u64 = 30;

/// The memory of a machine in one pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Cells that are mapped to pipelines.
    pub cells: u64,
    /// Bits of the maps.
    pub map_bits: u64,
    /// Bits of the access counters, of both epochs.
    pub access_bits: u64,
    /// Bits of the in-flight counters: packets resolved, done and lost.
    pub in_flight_bits: u64,
}

impl Overhead {
    /// All bits.
    pub fn bits(&self) -> u64 {
        self.map_bits + self.access_bits + self.in_flight_bits
    }

    /// All bytes, rounded up.
    pub fn bytes_per_pipeline(&self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// The bytes that the paper's widths give for the same cells, rounded up.
    pub fn paper_bytes(&self) -> u64 {
        (self.cells * PAPER_BITS_PER_CELL).div_ceil(8)
    }
}

/// The memory of a plan's machine in one pipeline. Groups of one cell have a map of one cell and no counters.
pub fn overhead(plan: &Plan) -> Overhead {
    let lane = index_bits(plan.pipelines as u64) as u64;
    let mut overhead = Overhead::default();
    for (index, group) in plan.groups.iter().enumerate() {
        let cells = u64::from(group.cells);
        overhead.cells += cells;
        overhead.map_bits += cells * lane;
        if plan.is_remapped(index) {
            overhead.access_bits += 2 * cells * ACCESS_COUNT_BITS as u64;
            overhead.in_flight_bits += 3 * cells * in_flight_bits(plan) as u64;
        }
    }
    overhead
}

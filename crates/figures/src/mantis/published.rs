// SPDX-License-Identifier: Apache-2.0
//! What the paper states (Mantis, section 8). Its figures are drawings; the text gives these claims.

/// Claims as text.
pub(super) struct Claim;

impl Claim {
    pub const LEGACY_MEDIAN: &str = "within +4.64 %";
    pub const LEGACY_P99: &str = "within +6.45 %";
    pub const BLOCKED: &str = "about 100 us";
    pub const STEADY: &str = "about 500 us";
    pub const REROUTED: &str = "100 to 200 us";
}

/// A row of Table 1.
pub(super) struct Margin {
    pub p4r_lines: u32,
    pub p4_lines: u32,
    pub stages: u32,
    pub tables: u32,
    pub registers: u32,
    pub sram: &'static str,
    pub tcam: &'static str,
    pub metadata_bits: u32,
}

/// Table 1: the use cases over a basic router.
pub(super) const TABLE_1: [Margin; 4] = [
    Margin {
        p4r_lines: 81,
        p4_lines: 95,
        stages: 2,
        tables: 2,
        registers: 1,
        sram: "48 KB",
        tcam: "1.28 KB",
        metadata_bits: 263,
    },
    Margin {
        p4r_lines: 30,
        p4_lines: 158,
        stages: 1,
        tables: 6,
        registers: 6,
        sram: "192 KB",
        tcam: "0 KB",
        metadata_bits: 160,
    },
    Margin {
        p4r_lines: 157,
        p4_lines: 245,
        stages: 3,
        tables: 8,
        registers: 1,
        sram: "160 KB",
        tcam: "0 KB",
        metadata_bits: 498,
    },
    Margin {
        p4r_lines: 132,
        p4_lines: 239,
        stages: 2,
        tables: 13,
        registers: 6,
        sram: "192 KB",
        tcam: "0 KB",
        metadata_bits: 380,
    },
];

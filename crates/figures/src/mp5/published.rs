// SPDX-License-Identifier: Apache-2.0
//! What the MP5 paper states (its figures are drawings; the text gives these claims), and the means over ten seeds of the results that
//! its artifact ships.

/// Claims as text.
pub(super) struct Claim;

impl Claim {
    pub const STATIC_UNIFORM: &str = "1-1.5x";
    pub const STATIC_SKEWED: &str = "1.1-3.3x";
    pub const WITHOUT_ORDER: &str = "14-26 %";
    pub const RECIRCULATION_ORDER: &str = "18-31 %";
    pub const RECIRCULATION_LOSS: &str = "31-77 % less";
    pub const SRAM: &str = "about 35 KB";
    pub const APPLICATIONS: &str = "1.0";
}

/// Results of the artifact at a point: throughput of MP5 and of its ideal, uniform and skewed.
pub(super) struct Shipped {
    /// The value of the parameter.
    pub parameter: u32,
    pub mp5: [f64; 2],
    pub ideal: Option<[f64; 2]>,
}

const fn shipped(parameter: u32, mp5: [f64; 2], ideal: [f64; 2]) -> Shipped {
    Shipped { parameter, mp5, ideal: Some(ideal) }
}

const fn shipped_mp5(parameter: u32, mp5: [f64; 2]) -> Shipped {
    Shipped { parameter, mp5, ideal: None }
}

/// Figure 7a, by pipelines.
pub(super) const PIPELINES: [Shipped; 6] = [
    shipped(1, [0.997, 0.997], [0.997, 0.997]),
    shipped(2, [0.944, 0.936], [0.965, 0.955]),
    shipped(4, [0.893, 0.877], [0.927, 0.903]),
    shipped(8, [0.831, 0.798], [0.877, 0.850]),
    shipped(12, [0.793, 0.735], [0.850, 0.793]),
    shipped(16, [0.753, 0.720], [0.815, 0.771]),
];

/// Figure 7b, by stateful stages.
pub(super) const STATEFUL_STAGES: [Shipped; 6] = [
    shipped(0, [0.987, 0.988], [0.987, 0.988]),
    shipped(1, [0.961, 0.956], [0.969, 0.965]),
    shipped(2, [0.934, 0.921], [0.945, 0.942]),
    shipped(4, [0.888, 0.875], [0.934, 0.908]),
    shipped(8, [0.860, 0.833], [0.920, 0.893]),
    shipped(10, [0.852, 0.818], [0.924, 0.889]),
];

/// Figure 7c, by cells of an array.
pub(super) const CELLS: [Shipped; 7] = [
    shipped(1, [0.249, 0.249], [0.249, 0.249]),
    shipped(4, [0.501, 0.348], [0.536, 0.405]),
    shipped(16, [0.746, 0.554], [0.788, 0.633]),
    shipped(64, [0.842, 0.761], [0.870, 0.770]),
    shipped(256, [0.881, 0.842], [0.919, 0.883]),
    shipped(1024, [0.897, 0.886], [0.935, 0.919]),
    shipped(4096, [0.900, 0.897], [0.945, 0.944]),
];

/// Figure 7d, by bytes of a packet.
pub(super) const BYTES: [Shipped; 7] = [
    shipped_mp5(64, [0.897, 0.879]),
    shipped_mp5(128, [0.992, 0.992]),
    shipped_mp5(256, [0.996, 0.996]),
    shipped_mp5(512, [0.998, 0.998]),
    shipped_mp5(832, [0.999, 0.999]),
    shipped_mp5(1024, [0.999, 0.999]),
    shipped_mp5(1472, [0.999, 0.999]),
];

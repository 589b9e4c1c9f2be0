// SPDX-License-Identifier: Apache-2.0
//! The figures of the Mantis paper's evaluation (section 8): each table has the published claims beside what is measured
//! here. Times of the driver are inputs of a cost model, and figures that depend on them are simulated.

mod costs;
mod denial;
mod examples;
mod flow_sizes;
mod formula;
mod gray_failures;
mod legacy;
mod network;
mod pacing;
mod polarization;
mod probe;
mod published;
mod switch;
mod table_1;
mod tcam;
#[cfg(test)]
mod tests;

use crate::{Measuring, Table};
use control::latency::LatencyModel;

/// The mark of values that are inputs of the cost model.
const INPUT: &str = "(input)";

/// What figures of Mantis are measured with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The costs of the driver.
    pub model: LatencyModel,
    /// Whether traces have the paper's size.
    pub is_full: bool,
}

/// Measures a figure.
pub type Measure = fn(&mut Measuring<'_>, &Options) -> Result<Table, String>;

/// The figures by their names, in the order of the paper.
pub const FIGURES: &[(&str, Measure)] = &[
    ("10a", |measuring, options| costs::figure_10a(measuring, &options.model)),
    ("10b", |measuring, options| costs::figure_10b(measuring, &options.model)),
    ("formula", |measuring, options| formula::formula(measuring, &options.model)),
    ("11", |measuring, options| pacing::figure_11(measuring, &options.model)),
    ("12", |measuring, options| legacy::figure_12(measuring, &options.model)),
    ("13", |measuring, _| tcam::figure_13(measuring)),
    ("14", flow_sizes::figure_14),
    ("15", |measuring, options| denial::figure_15(measuring, &options.model)),
    ("16", |measuring, options| gray_failures::figure_16(measuring, &options.model)),
    ("hash", |measuring, options| polarization::figure_hash(measuring, &options.model)),
    ("table1", |measuring, _| table_1::table_1(measuring)),
];

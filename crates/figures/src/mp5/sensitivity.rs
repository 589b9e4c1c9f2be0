// SPDX-License-Identifier: Apache-2.0
//! Figures 7a to 7d: throughput by pipelines, stateful stages, cells and bytes of a packet.

use super::published::{self, Shipped};
use super::{Options, PATTERNS, mean, measure, over_seeds, range, source_remark, sweep};
use crate::{Measuring, Table};
use scale::sweep::{BOUND, DEFAULT, Point};

/// The designs of the figure, in the order of columns: the paper's, its ideal, free steering with queues by cell, the form of it that
/// hardware could have, the bound.
const DESIGNS: [&str; 5] =
    ["mp5", "ideal", "free-by-cell", "free-by-cell-late-arrivals-touch", BOUND];

/// A figure over one parameter.
fn over(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
    title: &str,
    folder: &str,
    shipped: &[Shipped],
    parameter: &str,
    point: impl Fn(u32) -> Point,
) -> Result<Table, String> {
    let points: Vec<Point> = shipped.iter().map(|shipped| point(shipped.parameter)).collect();
    let sweep = sweep(measuring, options, folder);
    let samples = measure(measuring, &sweep, title, &points, &DESIGNS)?;
    let mut table = Table::new(
        title,
        &[
            parameter,
            "accesses",
            "artifact",
            "artifact's ideal",
            "MP5",
            "least-most",
            "ideal",
            "free, by cell",
            "for hardware",
            "bound",
        ],
    );
    for (shipped, point) in shipped.iter().zip(&points) {
        for (index, (pattern, name)) in PATTERNS.into_iter().enumerate() {
            let found = |design| {
                over_seeds(&samples, (*point, pattern, design), |sample| sample.throughput)
            };
            let ideal =
                shipped.ideal.map_or("-".to_string(), |ideal| format!("{:.3}", ideal[index]));
            table.row([
                shipped.parameter.to_string(),
                name.to_string(),
                format!("{:.3}", shipped.mp5[index]),
                ideal,
                mean(&found(0)),
                range(&found(0)),
                mean(&found(1)),
                mean(&found(2)),
                mean(&found(3)),
                mean(&found(4)),
            ]);
        }
    }
    table.remark(
        "Throughput as the artifact measures it: last arrival over last departure, the drain included. The artifact's machine lets a \
         stateless packet and an access share a stage in a cycle; ours processes one packet a stage, pipeline and cycle. \
         Its ideal is no bound.",
    );
    source_remark(&mut table, options);
    Ok(table)
}

pub(super) fn figure_7a(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    let title = "Figure 7a: throughput by the number of pipelines";
    let point = |pipelines| Point { pipelines: pipelines as usize, ..DEFAULT };
    over(measuring, options, title, "pipelines", &published::PIPELINES, "pipelines", point)
}

pub(super) fn figure_7b(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    let title = "Figure 7b: throughput by the number of stateful stages";
    let point = |stateful| Point { stateful: stateful as usize, ..DEFAULT };
    let shipped = &published::STATEFUL_STAGES;
    over(measuring, options, title, "stateful-stages", shipped, "stateful stages", point)
}

pub(super) fn figure_7c(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    let title = "Figure 7c: throughput by the cells of an array";
    let point = |cells| Point { cells, ..DEFAULT };
    over(measuring, options, title, "state-size", &published::CELLS, "cells", point)
}

pub(super) fn figure_7d(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    let title = "Figure 7d: throughput by the bytes of a packet";
    let point = |bytes| Point { bytes, ..DEFAULT };
    over(measuring, options, title, "packet-size", &published::BYTES, "bytes", point)
}

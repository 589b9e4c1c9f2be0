// SPDX-License-Identifier: Apache-2.0
//! The figures of the MP5 paper's evaluation (section 4.3) with synthetic programs and its applications, on designs of `scale`: each table has what the
//! paper or its artifact states beside what is measured here. Every run is judged against one pipeline.

mod applications;
mod better;
mod principles;
mod published;
mod sensitivity;
#[cfg(test)]
mod tests;
mod transformation;

pub use applications::{Compile, CompiledProgram};

use crate::distribution::Distribution;
use crate::{Measuring, Table};
use scale::experiment::Sample;
use scale::sweep::{DEFAULT, Point, ReadTrace, Samples, Sweep};
use scale::traffic::{Pattern, Sharing};

/// What figures of MP5 are measured with.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Traces in the form of the paper's artifact; without them traffic is generated.
    pub traces: Option<ReadTrace<'a>>,
    /// The number of seeds.
    pub seeds: u64,
    /// Packets of each port of long runs.
    pub long_per_port: u32,
    /// Compiles the applications.
    pub compile: Compile<'a>,
}

impl<'a> Options<'a> {
    /// Generated traffic, ten seeds.
    pub fn new(compile: Compile<'a>) -> Options<'a> {
        Options { traces: None, seeds: 10, long_per_port: 2000, compile }
    }
}

/// Measures a figure.
pub type Measure = fn(&mut Measuring<'_>, &Options<'_>) -> Result<Table, String>;

/// The figures by their names: those of the paper in its order, its text's claims by design principle, and better designs.
pub const FIGURES: &[(&str, Measure)] = &[
    ("2", principles::figure_2),
    ("applications", applications::figure_2),
    ("d2", principles::dynamic_sharding),
    ("d3", principles::steering),
    ("d4", principles::order),
    ("sram", principles::sram),
    ("5", transformation::figure_5),
    ("7a", sensitivity::figure_7a),
    ("7b", sensitivity::figure_7b),
    ("7c", sensitivity::figure_7c),
    ("7d", sensitivity::figure_7d),
    ("8", applications::figure_8),
    ("better", better::better),
    ("long", better::long),
    ("everywhere", better::everywhere),
    ("arrays", better::arrays),
    ("depth", better::depth),
];

/// Threads that measure.
const THREADS: usize = 2;

/// Both access patterns with their names.
const PATTERNS: [(Pattern, &str); 2] = [(Pattern::Uniform, "uniform"), (Pattern::Skewed, "skewed")];

/// A sweep with the options of figures, over traces of a folder of the artifact or generated traffic.
fn sweep<'a>(measuring: &Measuring<'_>, options: &Options<'a>, folder: &'a str) -> Sweep<'a> {
    Sweep {
        seeds: options.seeds,
        // Folders of traces are numbered from 0.
        first_seed: if options.traces.is_some() { 0 } else { measuring.seed },
        per_port: 100,
        sharing: Sharing::Own,
        traces: options.traces,
        folder,
        depth: None,
        threads: THREADS,
    }
}

/// Measures points one after the other and shows the progress.
fn measure(
    measuring: &mut Measuring<'_>,
    sweep: &Sweep<'_>,
    what: &str,
    points: &[Point],
    designs: &[&str],
) -> Result<Samples, String> {
    let mut samples = Samples::new();
    for (index, point) in points.iter().enumerate() {
        (measuring.progress)(what, index as f64 / points.len() as f64);
        samples.append(&mut sweep.measure(&[*point], designs, &|_| ())?);
    }
    Ok(samples)
}

/// The distribution of a measure over seeds.
fn over_seeds(
    samples: &Samples,
    key: (Point, Pattern, usize),
    measure: impl Fn(&Sample) -> f64,
) -> Distribution {
    Distribution::new(samples.get(&key).into_iter().flatten().map(measure))
}

/// Writes a mean with three digits behind the point.
fn mean(found: &Distribution) -> String {
    format!("{:.3}", found.mean())
}

/// Writes the least and the largest value.
fn range(found: &Distribution) -> String {
    format!("{:.3}-{:.3}", found.at(0.0), found.at(1.0))
}

/// Says where the traffic is from.
fn source_remark(table: &mut Table, options: &Options<'_>) {
    let seeds = options.seeds;
    table.remark(match options.traces {
        Some(_) => format!("Traffic: the artifact's traces, folders 0 to {}.", seeds - 1),
        None => format!(
            "Traffic: generated with the artifact's distributions, {seeds} seeds; --traces takes its files."
        ),
    });
}

/// Points over numbers of pipelines.
fn over_pipelines(counts: &[usize]) -> Vec<Point> {
    counts.iter().map(|pipelines| Point { pipelines: *pipelines, ..DEFAULT }).collect()
}

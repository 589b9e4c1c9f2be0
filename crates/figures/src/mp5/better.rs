// SPDX-License-Identifier: Apache-2.0
//! Designs that are better than the paper's: which switch gives how much, long runs, programs whose packets all meet every array, and
//! programs with many arrays.

use super::{Options, PATTERNS, mean, measure, over_pipelines, over_seeds, source_remark, sweep};
use crate::{Measuring, Table};
use scale::presets::Preset;
use scale::sweep::{BOUND, DEFAULT, Point, Samples};
use scale::traffic::Sharing;

/// The designs in order of what they change.
const DESIGNS: [&str; 20] = [
    "mp5-bound-ports",
    "mp5-artifact-remap",
    "mp5",
    "mp5-scan",
    "by-cell",
    "free",
    "free-late",
    "free-late-arrivals",
    "free-by-cell",
    "free-by-cell-late",
    "free-by-cell-late-arrivals",
    "free-by-cell-remap",
    "free-by-cell-rare-remap",
    "free-by-cell-fly",
    "free-by-cell-touch",
    "free-by-cell-single-touch",
    "free-by-cell-late-arrivals-touch",
    "free-by-cell-touch-fly",
    "touch",
    BOUND,
];

/// A table with a line a design and a column a point and pattern.
fn by_design(
    title: &str,
    samples: &Samples,
    points: &[Point],
    designs: &[&str],
    is_long: bool,
) -> Table {
    let mut columns = vec!["design".to_string()];
    for point in points {
        for (_, pattern) in PATTERNS {
            columns.push(format!("k={} {pattern}", point.pipelines));
        }
        if is_long {
            columns.push("steady".to_string());
        }
        columns.push("queue".to_string());
    }
    columns.push("what it is".to_string());
    let mut table = Table { title: title.to_string(), columns, ..Table::default() };
    for (design, name) in designs.iter().enumerate() {
        let mut row = vec![(*name).to_string()];
        for point in points {
            let both = |measure: &dyn Fn(&scale::experiment::Sample) -> f64| {
                PATTERNS.map(|(pattern, _)| over_seeds(samples, (*point, pattern, design), measure))
            };
            row.extend(both(&|sample| sample.throughput).iter().map(mean));
            if is_long {
                let steady = both(&|sample| sample.steady);
                row.push(format!("{}/{}", mean(&steady[0]), mean(&steady[1])));
            }
            let queues = both(&|sample| f64::from(sample.measures.queue_entries));
            let most = queues.iter().map(|queue| queue.at(1.0)).fold(0.0, f64::max);
            row.push(if *name == BOUND { "-".to_string() } else { format!("{most:.0}") });
        }
        row.push(
            Preset::find(name).map_or("no machine is faster", |preset| preset.about).to_string(),
        );
        table.row(row);
    }
    table.remark("queue: the most entries of a stage and pipeline in any run, phantoms included.");
    table
}

pub(super) fn better(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    let sweep = sweep(measuring, options, "pipelines");
    let points = over_pipelines(&[2, 4, 8, 16]);
    let title = "Designs by switch: throughput at 64 B";
    let samples = measure(measuring, &sweep, title, &points, &DESIGNS)?;
    let mut table = by_design(title, &samples, &points, &DESIGNS, false);
    table.remark(
        "Hardware could have the views `late` (registers of the next stage) and `late-arrivals` (and where packets go in this cycle); \
         the others insert, select and steer within one cycle.",
    );
    source_remark(&mut table, options);
    Ok(table)
}

pub(super) fn long(measuring: &mut Measuring<'_>, options: &Options<'_>) -> Result<Table, String> {
    let mut sweep = sweep(measuring, options, "");
    (sweep.traces, sweep.per_port) = (None, options.long_per_port);
    sweep.seeds = sweep.seeds.min(3);
    let points = over_pipelines(&[2, 4, 8, 16]);
    let title = "Designs by switch: long runs";
    let samples = measure(measuring, &sweep, title, &points, &DESIGNS)?;
    let mut table = by_design(title, &samples, &points, &DESIGNS, true);
    let packets = options.long_per_port;
    table.remark(format!("{packets} packets a port, {} seeds, generated traffic.", sweep.seeds));
    Ok(table)
}

pub(super) fn everywhere(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    const COMPARED: [&str; 11] = [
        "mp5-artifact-remap",
        "mp5",
        "free-by-cell",
        "free-by-cell-remap",
        "free-by-cell-rare-remap",
        "free-by-cell-fly",
        "free-by-cell-touch",
        "free-by-cell-single-touch",
        "free-by-cell-touch-fly",
        "touch",
        BOUND,
    ];
    let points = over_pipelines(&[2, 16]);
    let title = "Every packet meets every array: long runs";
    let mut all = Table::default();
    for (sharing, name) in [
        (Sharing::OwnEverywhere, "own cells"),
        (Sharing::Everywhere { flows: 2048 }, "shared cells"),
    ] {
        let mut sweep = sweep(measuring, options, "");
        (sweep.traces, sweep.per_port, sweep.sharing) = (None, options.long_per_port, sharing);
        sweep.seeds = sweep.seeds.min(3);
        let samples = measure(measuring, &sweep, title, &points, &COMPARED)?;
        let mut table = by_design(title, &samples, &points, &COMPARED, true);
        table.columns.insert(0, "flows".to_string());
        for row in &mut table.rows {
            row.insert(0, name.to_string());
        }
        if all.rows.is_empty() {
            all = table;
        } else {
            all.rows.extend(table.rows);
        }
    }
    all.remark(
        "No packet is stateless, so free steering has nothing to do. Own cells are spread evenly by j mod k, and Figure 6 moves cells for \
         imbalances that are chance: it does harm. Shared cells are not spread evenly, and moves help. A remap that moves only for an \
         imbalance of more than three standard deviations (`rare`) harms in neither. A touch that compares packets in flight, \
         channel included, comes to within .003 of the bound in both, with queues by cell; limited to one cell a pipeline and cycle it cannot follow \
         skewed accesses to own cells at k = 16.",
    );
    Ok(all)
}

pub(super) fn arrays(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    const COMPARED: [&str; 5] =
        ["mp5-artifact-remap", "free", "free-by-cell", "free-by-cell-touch", BOUND];
    let sweep = sweep(measuring, options, "stateful-stages");
    let title = "More arrays, k = 4";
    let points = [4, 8, 10, 12, 16].map(|stateful| Point { stateful, ..DEFAULT });
    let samples = measure(measuring, &sweep, title, &points, &COMPARED)?;
    let mut table = Table::new(
        title,
        &["arrays", "accesses", "MP5", "free", "free, by cell", "and touch", "bound"],
    );
    for point in &points {
        for (pattern, name) in PATTERNS {
            let found = (0..COMPARED.len()).map(|design| {
                mean(&over_seeds(&samples, (*point, pattern, design), |sample| sample.throughput))
            });
            let mut row = vec![point.stateful.to_string(), name.to_string()];
            row.extend(found);
            table.row(row);
        }
    }
    source_remark(&mut table, options);
    Ok(table)
}

pub(super) fn depth(measuring: &mut Measuring<'_>, options: &Options<'_>) -> Result<Table, String> {
    const COMPARED: [&str; 4] =
        ["mp5", "free-late", "free-by-cell", "free-by-cell-late-arrivals-touch"];
    const DEPTHS: [usize; 4] = [2, 4, 8, 16];
    let title = "Packets lost by the entries of a ring";
    let mut columns = vec!["design".to_string(), "k".to_string(), "accesses".to_string()];
    columns.extend(DEPTHS.iter().map(|depth| format!("{depth} entries")));
    let mut table = Table { title: title.to_string(), columns, ..Table::default() };
    let points = over_pipelines(&[2, 4, 16]);
    let mut by_depth = Vec::new();
    for depth in DEPTHS {
        let sweep =
            scale::sweep::Sweep { depth: Some(depth), ..sweep(measuring, options, "pipelines") };
        by_depth.push(measure(measuring, &sweep, title, &points, &COMPARED)?);
    }
    for (design, name) in COMPARED.iter().enumerate() {
        for point in &points {
            for (pattern, accesses) in PATTERNS {
                let mut row =
                    vec![(*name).to_string(), point.pipelines.to_string(), accesses.to_string()];
                row.extend(by_depth.iter().map(|samples| {
                    let share = over_seeds(samples, (*point, pattern, design), |sample| {
                        100.0 * sample.lost as f64 / sample.measures.arrivals.max(1) as f64
                    });
                    format!("{:.2} %", share.mean())
                }));
                table.row(row);
            }
        }
    }
    table.remark(
        "A stage has k rings in each pipeline. The paper's rings have 8 entries, which it says suffice. A lost packet leaves all its \
         later accesses undone, and its phantoms are cancelled.",
    );
    source_remark(&mut table, options);
    Ok(table)
}

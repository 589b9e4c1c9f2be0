// SPDX-License-Identifier: Apache-2.0
//! Measures MP5's figures with synthetic programs. `cargo run --release -p scale --example figures -- WHAT [--traces DIR]
//! [--seeds N] [--per-port N]`; WHAT is 7a, 7b, 7c, 7d, d2, d3, d4, better, everywhere, arrays or small. DIR is the folder
//! `simulator` of the artifact; without it traffic is generated.

use scale::experiment::{Experiment, Sample};
use scale::presets::Preset;
use scale::traffic::{
    Flows, PacketOptions, Pattern, Sharing, Sizes, arrivals, csv, packets, program,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A point of a figure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Point {
    pipelines: usize,
    stateful: usize,
    cells: u32,
    bytes: u32,
}

const DEFAULT: Point = Point { pipelines: 4, stateful: 4, cells: 512, bytes: 64 };
const STAGES: usize = 16;
const REMAP_EVERY: u64 = 100;

/// What is measured.
struct Options {
    traces: Option<PathBuf>,
    seeds: u64,
    per_port: u32,
    folder: &'static str,
    sharing: Sharing,
}

fn ports(point: Point) -> u32 {
    if point.pipelines == 12 { 60 } else { 64 }
}

/// The traffic of a point.
fn experiment(options: &Options, point: Point, pattern: Pattern, seed: u64) -> Experiment {
    let Point { pipelines, stateful, cells, bytes } = point;
    let ports = ports(point);
    let stages = if stateful == STAGES { STAGES + 1 } else { STAGES };
    let (flows, packets) = if let Some(folder) = &options.traces {
        let folder = folder.join(format!("{}{seed}", options.folder));
        let name = |kind: &str| {
            folder
                .join(format!("{kind}_{ports}_{pipelines}_{STAGES}_{stateful}_{cells}_{bytes}.csv"))
        };
        let read = |kind: &str| {
            let path = name(kind);
            std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let flows = csv::flows(&read("flows")).unwrap_or_else(|error| panic!("flows: {error}"));
        let kind = if pattern == Pattern::Uniform { "uniform" } else { "heavytail" };
        let packets = csv::packets(&read(kind), flows.len());
        (flows, packets.unwrap_or_else(|error| panic!("packets: {error}")))
    } else {
        let flows =
            Flows { stages: STAGES, stateful, cells, sharing: options.sharing }.generate(seed);
        let packets = packets(
            &PacketOptions {
                ports,
                pipelines: pipelines as u32,
                per_port: options.per_port,
                sizes: Sizes::Fixed(bytes),
                pattern,
                flows: flows.len() as u32,
            },
            seed,
        );
        (flows, packets)
    };
    let none = flows.len() as u32;
    Experiment::new(program(stages, cells, &flows), arrivals(&packets, none), pipelines)
}

/// Samples by point, pattern and design.
type Samples = BTreeMap<(Point, bool, usize), Vec<Sample>>;

/// Runs designs on all points, seeds and patterns, on two threads. The design `bound` is the upper bound, `bound-entry` the one without
/// cells.
fn measure(options: &Options, points: &[Point], designs: &[&str]) -> Samples {
    let mut jobs = Vec::new();
    for point in points {
        for seed in 0..options.seeds {
            for pattern in [Pattern::Uniform, Pattern::Skewed] {
                jobs.push((*point, pattern, seed));
            }
        }
    }
    let next = AtomicUsize::new(0);
    let samples = Mutex::new(Samples::new());
    let work = || {
        while let Some((point, pattern, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut experiment = experiment(options, *point, *pattern, *seed);
            let place = experiment.place(ports(*point), REMAP_EVERY, *seed);
            for (index, name) in designs.iter().enumerate() {
                let bound = match *name {
                    "bound" => Some(experiment.bound()),
                    "bound-entry" => Some(experiment.bound_without_cells()),
                    _ => None,
                };
                let sample = match bound {
                    Some(bound) => Sample {
                        throughput: bound.throughput(),
                        steady: 1.0,
                        latency: 0.0,
                        is_equivalent: true,
                        measures: Default::default(),
                    },
                    None => {
                        let preset =
                            Preset::find(name).unwrap_or_else(|| panic!("no design {name}"));
                        let sample = experiment.run(&preset.design(&place), None);
                        let is_wrong = preset.is_equivalent && !sample.is_equivalent;
                        assert!(!is_wrong, "{name} differs from one pipeline at {point:?} {seed}");
                        sample
                    }
                };
                let key = (*point, *pattern == Pattern::Skewed, index);
                samples.lock().unwrap().entry(key).or_default().push(sample);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    samples.into_inner().unwrap()
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count();
    values.sum::<f64>() / count as f64
}

/// Prints mean (least to most) of a measure: a line a design, uniform / skewed by point.
fn table(
    samples: &Samples,
    points: &[Point],
    designs: &[&str],
    measure: impl Fn(&Sample) -> f64,
    digits: usize,
) {
    for (index, name) in designs.iter().enumerate() {
        print!("{name:<34}");
        for point in points {
            let cell = [false, true].map(|pattern| {
                let values = samples[&(*point, pattern, index)].iter().map(&measure);
                let least = values.clone().fold(f64::INFINITY, f64::min);
                let most = values.clone().fold(0.0, f64::max);
                format!("{:.digits$} ({least:.digits$}-{most:.digits$})", mean(values))
            });
            print!(" | {} / {}", cell[0], cell[1]);
        }
        println!();
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "7a".to_string());
    let mut options = Options {
        traces: None,
        seeds: 10,
        per_port: 100,
        folder: "pipelines",
        sharing: Sharing::Own,
    };
    let mut chosen: Option<Vec<String>> = None;
    let mut pipelines: Option<Vec<usize>> = None;
    while let Some(option) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match option.as_str() {
            "--traces" => options.traces = Some(value.into()),
            "--seeds" => options.seeds = value.parse().unwrap(),
            "--per-port" => options.per_port = value.parse().unwrap(),
            "--designs" => chosen = Some(value.split(',').map(str::to_string).collect()),
            "--pipelines" => {
                pipelines = Some(value.split(',').map(|k| k.parse().unwrap()).collect())
            }
            _ => panic!("unknown option {option}"),
        }
    }
    let over = |counts: &[usize]| {
        let counts = pipelines.clone().unwrap_or(counts.to_vec());
        counts.into_iter().map(|pipelines| Point { pipelines, ..DEFAULT }).collect::<Vec<_>>()
    };
    let basic = [
        "bound-entry",
        "bound",
        "mp5",
        "mp5-artifact-remap",
        "mp5-bound-ports",
        "ideal",
        "free-by-cell",
    ];
    let (points, designs): (Vec<Point>, Vec<&str>) = match what.as_str() {
        "7a" => (over(&[1, 2, 4, 8, 12, 16]), basic.to_vec()),
        "7b" => {
            options.folder = "stateful-stages";
            let points = [0, 1, 2, 4, 8, 10].map(|stateful| Point { stateful, ..DEFAULT });
            (points.to_vec(), basic.to_vec())
        }
        "7c" => {
            options.folder = "state-size";
            let points = [1, 4, 16, 64, 256, 1024, 4096].map(|cells| Point { cells, ..DEFAULT });
            (points.to_vec(), basic.to_vec())
        }
        "7d" => {
            options.folder = "packet-size";
            let points =
                [64, 128, 256, 512, 832, 1024, 1472].map(|bytes| Point { bytes, ..DEFAULT });
            (points.to_vec(), basic.to_vec())
        }
        "d2" => {
            let designs =
                ["mp5-artifact-remap", "static-sorted", "static-random", "random", "static-modulo"];
            (over(&[4]), designs.to_vec())
        }
        "d3" => {
            let designs = [
                "mp5-artifact-remap",
                "recirculation",
                "recirculation-new-first",
                "naive",
                "naive-sprayed",
            ];
            (over(&[4]), designs.to_vec())
        }
        "d4" => {
            if options.traces.is_none() {
                options.sharing = Sharing::Random { flows: 810 };
            }
            let designs =
                ["mp5", "mp5-bound-ports", "no-order", "recirculation", "recirculation-new-first"];
            (over(&[4, 16]), designs.to_vec())
        }
        "better" | "everywhere" => {
            if what == "everywhere" {
                options.sharing = Sharing::Everywhere { flows: 2048 };
            }
            let designs = [
                "bound-entry",
                "bound",
                "mp5-bound-ports",
                "mp5-artifact-remap",
                "mp5",
                "by-cell",
                "free",
                "free-late",
                "free-late-arrivals",
                "free-by-cell",
                "free-by-cell-remap",
                "free-by-cell-rare-remap",
                "free-by-cell-late",
                "free-by-cell-late-arrivals",
                "free-by-cell-fly",
                "free-by-cell-touch",
                "free-by-cell-single-touch",
                "free-by-cell-late-arrivals-touch",
                "free-by-cell-touch-fly",
                "touch",
            ];
            (over(&[2, 16]), designs.to_vec())
        }
        "arrays" => {
            options.folder = "stateful-stages";
            let points = [4, 10, 16].map(|stateful| Point { stateful, ..DEFAULT });
            (points.to_vec(), vec!["bound", "mp5-artifact-remap", "free", "free-by-cell"])
        }
        "small" => {
            options.folder = "state-size";
            let points = [1, 4, 16].map(|cells| Point { cells, ..DEFAULT });
            let designs = [
                "bound",
                "mp5-artifact-remap",
                "free-by-cell",
                "free-by-cell-touch",
                "free-by-cell-touch-fly",
            ];
            (points.to_vec(), designs.to_vec())
        }
        other => panic!("{other}: 7a, 7b, 7c, 7d, d2, d3, d4, better, everywhere, arrays or small"),
    };
    let chosen = chosen.unwrap_or_default();
    let designs: Vec<&str> =
        if chosen.is_empty() { designs } else { chosen.iter().map(String::as_str).collect() };
    let samples = measure(&options, &points, &designs);
    println!(
        "{what}: uniform / skewed at {points:?}\nthroughput by the artifact's measure, mean (least-most)"
    );
    table(&samples, &points, &designs, |sample| sample.throughput, 3);
    println!("steady throughput");
    table(&samples, &points, &designs, |sample| sample.steady, 3);
    println!("most entries in a queue, phantoms included");
    table(&samples, &points, &designs, |sample| f64::from(sample.measures.queue_entries), 0);
    println!("packets that met a cell after a later packet (C1), %");
    let share = |sample: &Sample| {
        100.0 * sample.measures.reordered as f64 / sample.measures.arrivals.max(1) as f64
    };
    table(&samples, &points, &designs, share, 1);
    println!("moves of cells");
    table(
        &samples,
        &points,
        &designs,
        |sample| (sample.measures.remaps + sample.measures.touches) as f64,
        0,
    );
    println!("passes a packet");
    let passes =
        |sample: &Sample| sample.measures.passes as f64 / sample.measures.arrivals.max(1) as f64;
    table(&samples, &points, &designs, passes, 2);
}

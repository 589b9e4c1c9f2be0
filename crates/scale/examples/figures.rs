// SPDX-License-Identifier: Apache-2.0
//! Measures designs on synthetic programs and prints tables of all measures, for work on the machine; `plane bench mp5` prints the
//! paper's figures. `cargo run --release -p scale --example figures -- WHAT [--traces DIR] [--seeds N] [--per-port N] [--designs NAME,...]
//! [--pipelines K,...]`; WHAT is 7a, 7b, 7c, 7d, shared, everywhere or own. DIR is the folder `simulator` of the artifact.

use scale::experiment::Sample;
use scale::presets::PRESETS;
use scale::sweep::{BOUND, DEFAULT, Point, Samples, Sweep};
use scale::traffic::{Pattern, Sharing};
use std::path::PathBuf;

/// Prints mean (least to most) of a measure: a line a design, uniform / skewed by point.
fn table(
    samples: &Samples,
    points: &[Point],
    designs: &[&str],
    title: &str,
    digits: usize,
    measure: impl Fn(&Sample) -> f64,
) {
    println!("{title}");
    for (index, name) in designs.iter().enumerate() {
        print!("{name:<34}");
        for point in points {
            let cell = [Pattern::Uniform, Pattern::Skewed].map(|pattern| {
                let values = samples[&(*point, pattern, index)].iter().map(&measure);
                let least = values.clone().fold(f64::INFINITY, f64::min);
                let most = values.clone().fold(0.0, f64::max);
                let mean = values.clone().sum::<f64>() / values.count() as f64;
                format!("{mean:.digits$} ({least:.digits$}-{most:.digits$})")
            });
            print!(" | {} / {}", cell[0], cell[1]);
        }
        println!();
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "7a".to_string());
    let mut folder: Option<PathBuf> = None;
    let mut sweep = Sweep {
        seeds: 10,
        first_seed: 0,
        per_port: 100,
        sharing: Sharing::Own,
        traces: None,
        folder: "pipelines",
        depth: None,
        threads: 2,
    };
    let mut chosen: Option<String> = None;
    let mut pipelines = vec![1, 2, 4, 8, 12, 16];
    while let Some(option) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let number = || value.parse().unwrap_or_else(|_| panic!("{option} needs a number"));
        match option.as_str() {
            "--traces" => folder = Some(value.into()),
            "--seeds" => sweep.seeds = number(),
            "--per-port" => sweep.per_port = number() as u32,
            "--designs" => chosen = Some(value),
            "--pipelines" => {
                pipelines = value.split(',').filter_map(|count| count.parse().ok()).collect();
            }
            _ => panic!("unknown option {option}"),
        }
    }
    let read = |name: &str| {
        let path = folder.clone().unwrap_or_default().join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    if folder.is_some() {
        sweep.traces = Some(&read);
    }
    let over = || pipelines.iter().map(|count| Point { pipelines: *count, ..DEFAULT }).collect();
    let points: Vec<Point> = match what.as_str() {
        "7a" => over(),
        "7b" => {
            sweep.folder = "stateful-stages";
            [0, 1, 2, 4, 8, 10].map(|stateful| Point { stateful, ..DEFAULT }).to_vec()
        }
        "7c" => {
            sweep.folder = "state-size";
            [1, 4, 16, 64, 256, 1024, 4096].map(|cells| Point { cells, ..DEFAULT }).to_vec()
        }
        "7d" => {
            sweep.folder = "packet-size";
            [64, 128, 256, 512, 832, 1024, 1472].map(|bytes| Point { bytes, ..DEFAULT }).to_vec()
        }
        "shared" => {
            sweep.sharing = Sharing::Random { flows: 810 };
            over()
        }
        "everywhere" => {
            sweep.sharing = Sharing::Everywhere { flows: 2048 };
            over()
        }
        "own" => {
            sweep.sharing = Sharing::OwnEverywhere;
            over()
        }
        other => panic!("{other}: 7a, 7b, 7c, 7d, shared, everywhere or own"),
    };
    let designs: Vec<&str> = match &chosen {
        Some(names) => names.split(',').collect(),
        None => std::iter::once(BOUND).chain(PRESETS.iter().map(|preset| preset.name)).collect(),
    };
    let samples = match sweep.measure(&points, &designs, &|_| ()) {
        Ok(samples) => samples,
        Err(message) => panic!("{message}"),
    };
    let print = |title, digits, measure: &dyn Fn(&Sample) -> f64| {
        table(&samples, &points, &designs, title, digits, measure);
    };
    println!("{what}: uniform / skewed at {points:?}");
    print("throughput by the artifact's measure, mean (least-most)", 3, &|sample| {
        sample.throughput
    });
    print("steady throughput", 3, &|sample| sample.steady);
    print("most entries in a queue", 0, &|sample| f64::from(sample.measures.queue_entries));
    print("packets that break C1, %", 1, &|sample| 100.0 * sample.reordered());
    print("moves", 0, &|sample| (sample.measures.remaps + sample.measures.touches) as f64);
}

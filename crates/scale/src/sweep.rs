// SPDX-License-Identifier: Apache-2.0
//! Sweeps: designs over points of parameters, seeds and access patterns (MP5 §4.3), on several threads. Every run is judged.

use crate::experiment::{Experiment, Sample};
use crate::presets::Preset;
use crate::synthetic::Synthetic;
use crate::traffic::{
    Flows, PacketOptions, Pattern, Sharing, Sizes, arrivals, csv, packets, program,
};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The stages of a pipeline (MP5 §4.3.1).
pub const STAGES: usize = 16;
/// The cycles between two remaps (MP5 §4.3.1).
pub const REMAP_EVERY: u64 = 100;
/// The name of the upper bound among designs.
pub const BOUND: &str = "bound";

/// The configurable parameters of MP5 §4.3.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Point {
    /// The number of pipelines.
    pub pipelines: usize,
    /// The number of stateful stages.
    pub stateful: usize,
    /// The cells of an array.
    pub cells: u32,
    /// The length of packets in bytes.
    pub bytes: u32,
}

/// The defaults of MP5 §4.3.1.
pub const DEFAULT: Point = Point { pipelines: 4, stateful: 4, cells: 512, bytes: 64 };

impl Point {
    /// The number of ports: 64, or 60 with 12 pipelines, as in the paper's artifact.
    pub fn ports(self) -> u32 {
        64 / self.pipelines as u32 * self.pipelines as u32
    }
}

/// Reads a file of a folder of traces, by its path below the folder.
pub type ReadTrace<'a> = &'a (dyn Fn(&str) -> Result<String, String> + Sync);

/// What is swept over.
#[derive(Clone, Copy)]
pub struct Sweep<'a> {
    /// The number of seeds.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// Packets of each port, of generated traffic.
    pub per_port: u32,
    /// How flows share cells, of generated traffic.
    pub sharing: Sharing,
    /// Traces in the form of the paper's artifact, in the place of generated traffic.
    pub traces: Option<ReadTrace<'a>>,
    /// The folders of traces without their number, such as `pipelines`.
    pub folder: &'a str,
    /// The entries of a ring; without it queues are unbounded.
    pub depth: Option<usize>,
    /// The number of threads.
    pub threads: usize,
}

/// Samples of all seeds, by point, pattern and index of the design.
pub type Samples = BTreeMap<(Point, Pattern, usize), Vec<Sample>>;

impl Sweep<'_> {
    /// The experiment of a point.
    pub fn experiment(
        &self,
        point: Point,
        pattern: Pattern,
        seed: u64,
    ) -> Result<Experiment<Synthetic>, String> {
        let Point { pipelines, stateful, cells, bytes } = point;
        let ports = point.ports();
        let stages = if stateful == STAGES { STAGES + 1 } else { STAGES };
        let (flows, packets) = match self.traces {
            Some(read) => {
                let name = |kind: &str| {
                    let folder = format!("{}{}", self.folder, seed % 10);
                    let size = format!("{ports}_{pipelines}_{STAGES}_{stateful}_{cells}_{bytes}");
                    format!("{folder}/{kind}_{size}.csv")
                };
                let wrong = |name: &str, error: csv::CsvError| format!("{name}: {error}");
                let (path, kind) = (
                    name("flows"),
                    if pattern == Pattern::Uniform { "uniform" } else { "heavytail" },
                );
                let flows = csv::flows(&read(&path)?).map_err(|error| wrong(&path, error))?;
                let path = name(kind);
                let packets = csv::packets(&read(&path)?, flows.len());
                (flows, packets.map_err(|error| wrong(&path, error))?)
            }
            None => {
                let flows = Flows { stages: STAGES, stateful, cells, sharing: self.sharing };
                let flows = flows.generate(seed);
                let options = PacketOptions {
                    ports,
                    pipelines: pipelines as u32,
                    per_port: self.per_port,
                    sizes: Sizes::Fixed(bytes),
                    pattern,
                    flows: flows.len() as u32,
                };
                let packets = packets(&options, seed);
                (flows, packets)
            }
        };
        let none = flows.len() as u32;
        let arrivals = arrivals(&packets, none);
        Ok(Experiment::synthetic(program(stages, cells, &flows), arrivals, pipelines))
    }

    /// Runs designs on all points, seeds and patterns. The design [`BOUND`] is the upper bound. `progress` gets the share that is done.
    /// A design that keeps the order of accesses and differs from one pipeline is an error.
    pub fn measure(
        &self,
        points: &[Point],
        designs: &[&str],
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Samples, String> {
        let mut jobs = Vec::new();
        for point in points {
            for seed in self.first_seed..self.first_seed + self.seeds {
                for pattern in [Pattern::Uniform, Pattern::Skewed] {
                    jobs.push((*point, pattern, seed));
                }
            }
        }
        let next = AtomicUsize::new(0);
        let found: Mutex<BTreeMap<usize, Vec<Sample>>> = Mutex::new(BTreeMap::new());
        let failure: Mutex<Option<String>> = Mutex::new(None);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((point, pattern, seed)) = jobs.get(index) else { return };
                progress(index as f64 / jobs.len() as f64);
                match self.samples(*point, *pattern, *seed, designs) {
                    Ok(samples) => {
                        found
                            .lock()
                            .unwrap_or_else(|lock| lock.into_inner())
                            .insert(index, samples);
                    }
                    Err(message) => {
                        *failure.lock().unwrap_or_else(|lock| lock.into_inner()) = Some(message);
                        next.store(jobs.len(), Ordering::Relaxed);
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
        });
        if let Some(message) = failure.into_inner().unwrap_or_else(|lock| lock.into_inner()) {
            return Err(message);
        }
        let mut samples = Samples::new();
        let found = found.into_inner().unwrap_or_else(|lock| lock.into_inner());
        for (job, of_designs) in found {
            let (point, pattern, _) = jobs[job];
            for (design, sample) in of_designs.into_iter().enumerate() {
                samples.entry((point, pattern, design)).or_default().push(sample);
            }
        }
        Ok(samples)
    }

    /// A sample of each design.
    fn samples(
        &self,
        point: Point,
        pattern: Pattern,
        seed: u64,
        designs: &[&str],
    ) -> Result<Vec<Sample>, String> {
        let mut experiment = self.experiment(point, pattern, seed)?;
        let place = experiment.place(point.ports(), REMAP_EVERY, seed);
        designs
            .iter()
            .map(|name| {
                if *name == BOUND {
                    return Ok(Sample::of_bound(&experiment.bound()));
                }
                let preset =
                    Preset::find(name).ok_or_else(|| format!("there is no design {name}"))?;
                let sample = experiment.run(&preset.design(&place), self.depth);
                if preset.is_equivalent && sample.lost == 0 && !sample.is_equivalent {
                    return Err(format!(
                        "{name} differs from one pipeline at {point:?}, seed {seed}"
                    ));
                }
                Ok(sample)
            })
            .collect()
    }
}

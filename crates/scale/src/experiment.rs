// SPDX-License-Identifier: Apache-2.0
//! Experiments: traffic through designs, each run judged against one pipeline and measured.

use crate::bound::{Bound, bound};
use crate::design::Design;
use crate::judge::{Reference, judge, reference};
use crate::machine::outcome::{Arrival, Measures};
use crate::machine::{Settings, run};
use crate::presets::Place;
use crate::synthetic::{Packet, Program, Synthetic};
use crate::work::Comparable;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Packets for a program on so many pipelines.
pub struct Experiment<W: Comparable> {
    /// Makes the program with its first state, on a number of pipelines.
    make: Box<dyn Fn(usize) -> W>,
    arrivals: Vec<Arrival<W::Packet>>,
    pipelines: usize,
    single: W,
    reference: Reference<W::Packet>,
    /// The cycle of the first last packet of a port: until then all ports send.
    all_send_until: u64,
}

/// What a run measured.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The throughput as the artifact measures it.
    pub throughput: f64,
    /// Packets out over those that could leave, at most 1, in the last three quarters of the time in which all ports send.
    pub steady: f64,
    /// The mean number of cycles from arrival to departure.
    pub latency: f64,
    /// The run equals one pipeline.
    pub is_equivalent: bool,
    /// The number of packets that were lost.
    pub lost: usize,
    /// The machine's measures.
    pub measures: Measures,
}

impl Sample {
    /// The sample of an upper bound: its throughput, and nothing that waits.
    pub fn of_bound(bound: &Bound) -> Sample {
        Sample {
            throughput: bound.throughput(),
            steady: 1.0,
            latency: 0.0,
            is_equivalent: true,
            lost: 0,
            measures: Measures::default(),
        }
    }

    /// The share of packets that met some cell after a packet that arrived later (C1).
    pub fn reordered(&self) -> f64 {
        self.measures.reordered as f64 / self.measures.arrivals.max(1) as f64
    }
}

impl Experiment<Synthetic> {
    /// Runs packets of a synthetic program on one pipeline.
    pub fn synthetic(
        program: Program,
        arrivals: Vec<Arrival<Packet>>,
        pipelines: usize,
    ) -> Experiment<Synthetic> {
        let program = Arc::new(program);
        Experiment::new(move |count| Synthetic::new(program.clone(), count), arrivals, pipelines)
    }
}

impl<W: Comparable> Experiment<W>
where
    W::Packet: Clone,
{
    /// Runs the packets, in order of arrival at each port, on one pipeline. `make` makes the program with its first state, on a
    /// number of pipelines.
    pub fn new(
        make: impl Fn(usize) -> W + 'static,
        arrivals: Vec<Arrival<W::Packet>>,
        pipelines: usize,
    ) -> Experiment<W> {
        let mut single = make(1);
        let reference = reference(&mut single, &arrivals);
        let mut last = BTreeMap::new();
        for arrival in &arrivals {
            last.insert(arrival.port, arrival.cycle);
        }
        let all_send_until = last.values().min().copied().unwrap_or(0);
        Experiment { make: Box::new(make), arrivals, pipelines, single, reference, all_send_until }
    }

    /// What designs by name are made for.
    pub fn place(&self, ports: u32, remap_every: u64, seed: u64) -> Place {
        let counts = self.reference.counts(self.single.groups());
        Place { pipelines: self.pipelines, ports, remap_every, counts, seed }
    }

    /// Runs a design.
    pub fn run(&mut self, design: &Design, depth: Option<usize>) -> Sample {
        let mut work = (self.make)(self.pipelines);
        let settings = Settings { depth, ..Settings::new(self.pipelines) };
        let outcome = run(&mut work, self.arrivals.clone(), settings, design, &mut ());
        let verdict = judge(&work, &outcome, &mut self.single, &self.reference);
        Sample {
            throughput: outcome.measures.throughput(),
            steady: outcome.steady(&self.reference.arrivals, self.pipelines, self.all_send_until),
            latency: outcome.mean_latency(),
            is_equivalent: verdict.is_equivalent(),
            lost: verdict.lost.len(),
            measures: outcome.measures,
        }
    }

    /// The upper bound: no machine that keeps C1 is faster.
    pub fn bound(&self) -> Bound {
        bound(self.single.groups(), self.single.stages(), self.pipelines, &self.reference)
    }
}

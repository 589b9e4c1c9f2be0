// SPDX-License-Identifier: Apache-2.0
//! Designs by name on small traffic: those that keep the order equal one pipeline, and none is faster than the upper bound.

use crate::generate::{case, design};
use scale::bound::bound;
use scale::experiment::Experiment;
use scale::judge::{judge, reference};
use scale::machine::single::run_single;
use scale::machine::{Settings, run};
use scale::presets::{PRESETS, Preset};
use scale::sweep::{BOUND, DEFAULT, Point, Sweep};
use scale::synthetic::Synthetic;
use scale::traffic::{Pattern, Sharing};
use testing::choices::Choices;

/// Little traffic whose flows share cells.
fn sweep() -> Sweep<'static> {
    Sweep {
        seeds: 1,
        first_seed: 4,
        per_port: 12,
        sharing: Sharing::Random { flows: 60 },
        traces: None,
        folder: "",
        depth: None,
        threads: 2,
    }
}

fn experiment(point: Point) -> Experiment<Synthetic> {
    sweep().experiment(point, Pattern::Skewed, 4).expect("generated traffic")
}

#[test]
fn designs_that_keep_the_order_equal_one_pipeline() {
    let point = Point { cells: 32, ..DEFAULT };
    let mut experiment = experiment(point);
    let place = experiment.place(point.ports(), 25, 4);
    let bound = experiment.bound().throughput();
    for preset in PRESETS {
        let sample = experiment.run(&preset.design(&place), None);
        let name = preset.name;
        assert_eq!(sample.is_equivalent, preset.is_equivalent, "{name}");
        assert_eq!(preset.is_equivalent, sample.reordered() == 0.0, "{name}");
        assert!(sample.throughput <= bound, "{name}: {} above {bound}", sample.throughput);
        assert_eq!(sample.measures.in_flight, 0, "{name}");
        assert_eq!(sample.measures.stalled, 0, "{name}");
    }
}

#[test]
fn names_of_designs_are_distinct() {
    for preset in PRESETS {
        let found = Preset::find(preset.name).map(|found| found.about);
        assert_eq!(found, Some(preset.about), "{}", preset.name);
    }
}

/// No packet leaves before the bound says, in any design.
#[test]
fn no_packet_is_faster_than_the_bound() {
    let mut waits = 0;
    for seed in testing::seeds(150) {
        let mut choices = Choices::from_seed(seed);
        let design = design(&mut choices);
        let case = case(&mut choices);
        let mut single = Synthetic::new(case.program.clone(), 1);
        let expected = reference(&mut single, &case.arrivals);
        let bound = bound(&case.program.groups, case.program.stages, case.pipelines, &expected);
        let mut work = Synthetic::new(case.program.clone(), case.pipelines);
        let settings = Settings::new(case.pipelines);
        let outcome = run(&mut work, case.arrivals.clone(), settings, &design, &mut ());
        for left in &outcome.departures {
            let earliest = bound.departures[left.sequence as usize];
            assert!(left.cycle >= earliest, "seed {seed}: {} at {}", left.sequence, left.cycle);
            waits += left.cycle - earliest;
        }
    }
    assert!(waits > 0, "the bound is met by every packet: it bounds nothing here");
}

/// Several threads give what one gives.
#[test]
fn sweeps_do_not_depend_on_threads() {
    let points = [Point { cells: 16, ..DEFAULT }, Point { pipelines: 2, cells: 16, ..DEFAULT }];
    let found = [1, 2].map(|threads| {
        let sweep = Sweep { threads, seeds: 2, ..sweep() };
        let samples = sweep.measure(&points, &["mp5", BOUND], &|_| ()).expect("it is measured");
        samples
            .into_iter()
            .map(|(key, samples)| (key, samples.iter().map(|one| one.throughput).collect()))
            .collect::<Vec<(_, Vec<f64>)>>()
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0].len(), 8);
}

/// A single pipeline with a faster clock equals the run of one packet after the other, and takes as many packets a cycle as the others.
#[test]
fn a_single_pipeline_takes_as_many_packets() {
    for seed in testing::seeds(40) {
        let case = case(&mut Choices::from_seed(seed));
        let mut single = Synthetic::new(case.program.clone(), 1);
        let expected = reference(&mut single, &case.arrivals);
        let mut work = Synthetic::new(case.program.clone(), 1);
        let rate = case.pipelines as u64;
        let outcome = run_single(&mut work, case.arrivals.clone(), rate);
        assert!(judge(&work, &outcome, &mut single, &expected).is_equivalent(), "seed {seed}");
        // Behind the entry nothing waits: as many stages as the program has, in the faster clock.
        let stages = (case.program.stages as u64).div_ceil(rate);
        let (mut entry, mut entered) = (0, 0);
        let mut latest = 0;
        for cycle in &expected.arrivals {
            if *cycle > entry {
                (entry, entered) = (*cycle, 0);
            } else if entered == rate {
                (entry, entered) = (entry + 1, 0);
            }
            entered += 1;
            latest = entry + stages + 1;
        }
        assert!(outcome.measures.last_departure <= latest, "seed {seed}");
    }
}

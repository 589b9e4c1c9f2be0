// SPDX-License-Identifier: Apache-2.0
//! Control maps on random programs: packets, reads and notifications are equal through a map and direct, and the
//! composition of two maps is the map of the composition. The number of cases a kind of map is that of the
//! environment variable `PLANEWRIGHT_CASES`.

mod batches;
mod checkpoints;
mod comparison;
mod generator;
mod instances;
mod maps;
mod specification;

use self::comparison::{Compared, Course, Subject, compare, device, first_device};
use self::maps::{Erased, Form, KINDS, Kind, Transformed};
use self::specification::Specification;
use control::map::{Composed, ControlMap, Mapped};
use control::target::Target;
use device::EngineChoice;
use ir::Program;
use std::sync::Arc;
use testing::{Choices, cases, seeds};

const COURSE: Course =
    Course { steps: 12, device_of: first_device, compares_places: true, asks_for_moments: true };

fn engine(seed: u64) -> EngineChoice {
    match seed % 2 {
        0 => EngineChoice::Interpreter,
        _ => EngineChoice::Jit,
    }
}

/// A map before a device of its own.
fn mapped(name: &'static str, map: Erased, run: &Arc<Program>, engine: EngineChoice) -> Subject {
    let device = device(run, engine);
    let target: Box<dyn Target> = Box::new(Mapped::new(map, vec![Box::new(device.target())]));
    Subject::new(name, target, vec![device])
}

fn direct(written: &Arc<Program>, engine: EngineChoice) -> Subject {
    let device = device(written, engine);
    Subject::new("direct", Box::new(device.target()), vec![device])
}

/// A program as written that a kind of map is good for, and what it makes of it.
fn case(kind: &Kind, choices: &mut Choices, form: Form) -> (Specification, Transformed) {
    loop {
        let written = generator::specification(choices);
        if let Some(transformed) = (kind.transform)(choices, &written, form) {
            return (written, transformed);
        }
    }
}

fn run_case(kind: &Kind, seed: u64, form: Form) -> Result<Compared, String> {
    let mut choices = Choices::from_seed(seed);
    let (written, Transformed { run, map }) = case(kind, &mut choices, form);
    let (above, below) = (written.compile(), run.compile());
    let engine = engine(seed);
    let mut subjects =
        [direct(&above, engine), mapped("mapped", map(&above, &below), &below, engine)];
    compare(&mut choices, &mut subjects, &COURSE)
        .map_err(|why| format!("{} of seed {seed}: {why}\n{}", kind.name, run.text()))
}

#[test]
fn a_program_through_a_map_is_the_program_itself() {
    let mut differences = Vec::new();
    for kind in KINDS {
        let mut all = Compared::default();
        for seed in seeds(6) {
            match run_case(kind, seed, Form::Right) {
                Ok(compared) => all.add(compared),
                Err(why) => {
                    differences.push(why);
                    break;
                }
            }
        }
        println!("{}: {all:?}", kind.name);
    }
    none(&differences);
}

/// There is no difference; else the first is shown.
fn none(differences: &[String]) {
    for difference in differences {
        let head: Vec<&str> = difference.lines().take(60).collect();
        println!("{}", head.join("\n"));
    }
    let first = differences.first();
    assert!(first.is_none(), "{} differences, the first: {}", differences.len(), differences[0]);
}

fn run_composition(outer: &Kind, inner: &Kind, seed: u64) -> Option<Result<Compared, String>> {
    let mut choices = Choices::from_seed(seed);
    let (written, first) = case(outer, &mut choices, Form::Right);
    let second = (inner.transform)(&mut choices, &first.run, Form::Right)?;
    let programs = [written.compile(), first.run.compile(), second.run.compile()];
    let [above, middle, below] = &programs;
    let engine = engine(seed);
    let composed = Composed::new((first.map)(above, middle), (second.map)(middle, below));
    let composed = mapped("composed", Erased::new(composed), below, engine);
    let device = device(below, engine);
    let inner_target = Mapped::new((second.map)(middle, below), vec![Box::new(device.target())]);
    let nested = Mapped::new((first.map)(above, middle), vec![Box::new(inner_target)]);
    let nested = Subject::new("nested", Box::new(nested), vec![device]);
    let mut subjects = [direct(above, engine), nested, composed];
    let compared = compare(&mut choices, &mut subjects, &COURSE);
    Some(compared.map_err(|why| {
        format!("{} over {} of seed {seed}: {why}\n{}", outer.name, inner.name, second.run.text())
    }))
}

#[test]
fn the_composition_of_two_maps_is_the_map_of_the_composition() {
    let (mut all, mut pairs, mut differences) = (Compared::default(), 0, Vec::new());
    for (at, outer) in KINDS.iter().enumerate() {
        for (place, inner) in KINDS.iter().enumerate() {
            // Few cases take other pairs than all of them.
            for seed in 0..cases(1u64).div_ceil(4) {
                let seed = seed * 1000 + (at * KINDS.len() + place) as u64;
                match run_composition(outer, inner, seed) {
                    Some(Ok(compared)) => {
                        pairs += 1;
                        all.add(compared);
                    }
                    Some(Err(why)) => differences.push(why),
                    None => {}
                }
            }
        }
    }
    println!("compositions: {pairs}, {all:?}");
    none(&differences);
}

#[test]
fn broken_maps_are_noticed() {
    for kind in KINDS {
        let caught = (0..40).find(|seed| run_case(kind, *seed, Form::Broken).is_err());
        println!("{}: {}: caught in case {caught:?}", kind.name, kind.mistake);
        assert!(caught.is_some(), "{}: no case shows that {}", kind.name, kind.mistake);
    }
}

/// What is compared needs a program that is the same object on both sides.
#[test]
fn maps_speak_of_the_program_as_written() {
    for kind in KINDS {
        let (written, Transformed { run, map }) =
            case(kind, &mut Choices::from_seed(1), Form::Right);
        let (above, below) = (written.compile(), run.compile());
        assert!(Arc::ptr_eq(&map(&above, &below).program(), &above), "{}", kind.name);
    }
}

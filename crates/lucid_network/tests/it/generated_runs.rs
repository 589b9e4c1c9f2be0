// SPDX-License-Identifier: Apache-2.0
//! Generated programs and runs with all that runs have: tables whose entries come and go, packets with payloads, delay
//! queues, periodic events, links. Compiled as runs compile them, on the devices of their device files: cells after each
//! handler, bytes that leave, the schedule.

use crate::generated::{Ran, run_with, smallest};
use device::EngineChoice;
use lucid_compiler::Backend;
use lucid_network::options::delay_options;
use lucid_testing::generator::{Features, Generated, generate};

/// Numbers of a seed's tape: small programs and large ones.
fn tape(seed: u64) -> Vec<u32> {
    testing::tape::from_seed(seed, [150, 400, 800, 250, 1500][seed as usize % 5])
}

fn differs(generated: &Generated, target: Backend, seed: u64) -> Result<Ran, String> {
    let engine = if seed.is_multiple_of(2) { EngineChoice::Jit } else { EngineChoice::Interpreter };
    run_with(generated, &delay_options, target, engine)
}

fn generated_runs(target: Backend, cases: u64) {
    let (mut dispatches, mut cells, mut packets) = (0, 0, 0);
    let (mut wrong, mut too_large) = (Vec::new(), Vec::new());
    let count = testing::seeds(cases).count();
    for seed in testing::seeds(cases) {
        let tape = tape(seed);
        match differs(&generate(&tape, Features::ALL), target, seed) {
            Ok(Ran::Same { dispatches: handlers, cells: compared, packets: left }) => {
                dispatches += handlers;
                cells += compared;
                packets += left;
            }
            Ok(Ran::TooLarge(said)) => too_large.push(format!("seed {seed}: {said}")),
            Err(said) => {
                let mut fails = |small: &Generated| differs(small, target, seed).err();
                let small = smallest(&tape, Features::ALL, &said, &mut fails);
                println!("DIFFERS, seed {seed}: {small}");
                wrong.push(format!("seed {seed}: {}", small.lines().next().unwrap_or_default()));
            }
        }
    }
    println!(
        "{count} programs for {target:?}: {dispatches} handlers, {cells} cells, {packets} packets; {} too large, {} \
         differ",
        too_large.len(),
        wrong.len()
    );
    for said in &too_large {
        println!("NOT COMPARED, too large for the target: {said}");
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    let most = 1 + count / 100;
    assert!(too_large.len() <= most, "{} of {count} are too large", too_large.len());
    // A few chosen seeds may be of programs that do little.
    let is_enough = count < 15 || dispatches > 100 && cells > 50 && packets > 20;
    assert!(is_enough, "only {dispatches} handlers, {cells} cells, {packets} packets");
}

#[test]
fn generated_runs_do_on_devices_what_they_mean() {
    generated_runs(Backend::V1Model, 20);
}

#[test]
fn generated_runs_do_for_tna_what_they_mean() {
    generated_runs(Backend::Tna, 20);
}

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

/// Whether a program or its run has something.
type Has = fn(&Generated) -> bool;

/// What programs and runs are to have besides handlers.
const SUBJECTS: [(&str, Has); 10] = [
    ("tables of several lookups", |one| (0..9).any(|at| lookups(one, at) > 1)),
    ("entries that come later", |one| {
        let is_later = |line: &&str| line.contains("Table.") && !line.contains("stamp\": 0}");
        one.run.lines().any(|line| is_later(&line))
    }),
    ("parsers", |one| one.source.contains("parser main")),
    ("payloads", |one| one.source.contains("Payload.t")),
    ("payloads that are dropped", |one| one.source.contains("Payload.empty()")),
    ("periodic events", |one| one.source.contains("// Again and again.")),
    ("delay queues", |one| one.run.contains("delay granularity")),
    ("long delays", |one| !one.run.contains("\"max time\": 20000,")),
    ("floods and groups", |one| one.source.contains("generate_ports(")),
    ("switches by number", |one| one.source.contains("generate_switch(")),
];

/// How often a program looks up its table of this number.
fn lookups(one: &Generated, table: usize) -> usize {
    one.source.matches(&format!("Table.lookup(state{table},")).count()
}

/// On Tofino an exit event that another's egress handler generates and that comes round meets its own, which it must not.
fn features(target: Backend) -> Features {
    Features { exits_at_egress: target == Backend::V1Model, ..Features::ALL }
}

fn generated_runs(target: Backend, cases: u64) {
    let features = features(target);
    let (mut dispatches, mut cells, mut packets) = (0, 0, 0);
    let (mut wrong, mut too_large) = (Vec::new(), Vec::new());
    let mut subjects = [0; SUBJECTS.len()];
    let count = testing::seeds(cases).count();
    for seed in testing::seeds(cases) {
        let tape = tape(seed);
        let generated = generate(&tape, features);
        for (found, (_, has)) in subjects.iter_mut().zip(SUBJECTS) {
            *found += usize::from(has(&generated));
        }
        match differs(&generated, target, seed) {
            Ok(Ran::Same { dispatches: handlers, cells: compared, packets: left }) => {
                dispatches += handlers;
                cells += compared;
                packets += left;
            }
            Ok(Ran::TooLarge(said)) => too_large.push(format!("seed {seed}: {said}")),
            Err(said) => {
                let mut fails = |small: &Generated| differs(small, target, seed).err();
                let small = smallest(&tape, features, &said, &mut fails);
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
    for (found, (subject, _)) in subjects.iter().zip(SUBJECTS) {
        println!("    {found} with {subject}");
        assert!(count < 10 || *found > 0, "none with {subject}");
    }
    for said in &too_large {
        println!("NOT COMPARED, too large for the target: {said}");
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    let most = 1 + count / 100;
    assert!(too_large.len() <= most, "{} of {count} are too large", too_large.len());
    // A few chosen seeds may be of programs that do little.
    let is_enough = count < 10 || dispatches > 100 && cells > 50 && packets > 5;
    assert!(is_enough, "only {dispatches} handlers, {cells} cells, {packets} packets");
}

#[test]
fn generated_runs_do_on_devices_what_they_mean() {
    generated_runs(Backend::V1Model, 12);
}

#[test]
fn generated_runs_do_for_tna_what_they_mean() {
    generated_runs(Backend::Tna, 12);
}

// SPDX-License-Identifier: Apache-2.0
//! The program as run, behind its control map, does what the program as written does with the same decisions between
//! packets: on both engines, with entries, defaults, values and fields that change.

use crate::compiled::{compiled_with, limits};
use crate::generated::{Target as Architecture, Writes, packet, program};
use crate::script::{Call, Script};
use control::map::{Mapped, Virtual};
use control::target::{Batch, Notification, Reply, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::Bits;
use react::agent::{Agent, AgentOptions};
use react::compiler::CompiledProgram;
use react::map::{LegacyWrites, MalleableMap};
use state::{EntryTarget, Read, Reply as StateReply};
use testing::{Choices, seeds};

/// From packet to packet.
const STEP_PS: u64 = 1_000_000;

/// What happened.
#[derive(Debug, Default, PartialEq)]
struct Happened {
    /// The bytes of each packet that left, with its port.
    left: Vec<(u64, Vec<u8>)>,
    /// The calls of reactions.
    calls: Vec<Call>,
    /// The values of each digest.
    digests: Vec<Vec<Bits>>,
    /// The direct counters of all entries and default actions after each packet, as text.
    counters: Vec<String>,
}

/// The direct counters of a program as written.
fn counters(target: &mut dyn Target) -> String {
    let program = target.program();
    let tables = program.tables.iter().flat_map(|table| &table.direct_counters);
    let reads = tables.map(|counter| Read::DirectCounter { counter: *counter, entry: None });
    let outcome = target.execute(Batch::of(reads));
    let mut lines = Vec::new();
    for (at, result) in outcome.results.into_iter().enumerate() {
        let Ok(Reply::State(StateReply::DirectCounters(list))) = result else {
            panic!("{result:?}");
        };
        lines.extend(list.into_iter().map(|(target, value)| match target {
            EntryTarget::Default => format!("{at} default {value:?}"),
            EntryTarget::Entry(entry) => {
                format!("{at} {:?} {} {value:?}", entry.keys, entry.priority)
            }
        }));
    }
    lines.sort();
    lines.join("\n")
}

/// The target behind the control map.
pub fn mapped(compiled: &CompiledProgram, device: &Device) -> (Box<dyn Target>, LegacyWrites) {
    let mut below = device.target();
    let (written, run) = (compiled.written.program().clone(), below.program());
    let map = MalleableMap::new(&compiled.plan, written, run).expect("all objects are there");
    let legacy = map.legacy_writes();
    let begun = below.execute(map.prologue());
    assert_eq!(begun.first_fault(), None);
    let state = Virtual::new(map).expect("the program is whole");
    (Box::new(Mapped::new(state, vec![Box::new(below)])), legacy)
}

fn run(compiled: &CompiledProgram, is_written: bool, engine: EngineChoice, seed: u64) -> Happened {
    let ready = if is_written { &compiled.written } else { &compiled.run };
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    let mut device = Device::new(ready.program().clone(), options).expect("it loads");
    let (mut target, legacy): (Box<dyn Target>, _) = match is_written {
        true => (Box::new(device.target()), LegacyWrites::default()),
        false => mapped(compiled, &device),
    };
    let (script, calls) = Script::new(&compiled.interface, seed);
    let mut agent = Agent::new(compiled, Box::new(script), legacy, AgentOptions::default())
        .expect("all objects are there");
    agent.prologue(target.as_mut()).expect("it begins");
    let mut choices = Choices::from_seed(seed ^ 0x5eed);
    let mut happened = Happened::default();
    for id in 0..40u16 {
        let time_ps = u64::from(id + 1) * STEP_PS;
        device.advance(time_ps).expect("it runs");
        if choices.one_in(2) {
            agent.round(target.as_mut()).expect("it reacts");
        }
        device.inject(0, time_ps, packet(&mut choices, id)).expect("it is taken");
        device.advance(time_ps).expect("it runs");
        let sent = device.drain_transmitted().into_iter();
        happened.left.extend(sent.map(|sent| (u64::from(sent.port), sent.bytes)));
        for told in target.notifications() {
            if let Notification::Digest { fields, .. } = told {
                happened.digests.push(fields.into_iter().map(|(_, value)| value).collect());
            }
        }
        happened.counters.push(counters(target.as_mut()));
    }
    assert_eq!(agent.statistics().failed_commits, 0, "{:?}", agent.take_log());
    happened.calls.clone_from(&calls.lock().expect("one thread"));
    happened
}

#[test]
fn programs_as_run_do_what_programs_as_written_do() {
    check(Architecture::V1model);
}

#[test]
fn programs_for_tofino_as_run_do_what_programs_as_written_do() {
    check(Architecture::Tna);
}

fn check(architecture: Architecture) {
    let (mut packets, mut calls, mut digests, mut loading) = (0, 0, 0, 0);
    for seed in seeds(40) {
        let generated = program(&mut Choices::from_seed(seed), Writes::Anywhere, architecture);
        let compiled = compiled_with(&generated.text, limits(seed));
        let expected = run(&compiled, true, EngineChoice::Interpreter, seed);
        for (is_written, engine) in [
            (true, EngineChoice::Jit),
            (false, EngineChoice::Interpreter),
            (false, EngineChoice::Jit),
        ] {
            let found = run(&compiled, is_written, engine, seed);
            let counters = found.counters.iter().zip(&expected.counters).enumerate();
            for (packet, (found, expected)) in counters {
                assert_eq!(
                    found, expected,
                    "counters, seed {seed}, {engine:?}, packet {packet}\n{}\n{}",
                    generated.text, compiled.text
                );
            }
            assert_eq!(found.calls, expected.calls, "seed {seed}, {engine:?}\n{}", generated.text);
            assert_eq!(
                found, expected,
                "seed {seed}, {engine:?}\n{}\n{}",
                generated.text, compiled.text
            );
        }
        loading += usize::from(compiled.text.contains("_early"));
        packets += expected.left.len();
        digests += expected.digests.len();
        calls += expected.calls.len();
    }
    assert!(loading > 0, "no program loads fields in front of tables and actions");
    assert!(digests > 0, "no packet sends a digest");
    println!(
        "{packets} packets, {digests} digests, {calls} calls of reactions, {loading} programs with loads"
    );
}

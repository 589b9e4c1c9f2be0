// SPDX-License-Identifier: Apache-2.0
//! What `ir::analysis` says, held against runs: garbage in slots that are not live changes nothing, garbage in
//! live ones does; what an observer of the interpreter sees is among the effects of the statement that it comes
//! from; names of state accesses are kept by the passes.

use crate::programs::{EXAMPLES, example};
use control::session::Session;
use control::target::Batch;
use device::{Device, DeviceOptions, EngineChoice};
use differential::case::Case;
use differential::forms::{Form, Forms};
use differential::garbage::{self, Garbage};
use differential::runner::compare;
use differential::subject::{DeviceSubject, Stimulus};
use interpreter::random::RandomKey;
use interpreter::{Environment, Event, ExternCall, Interpreter, Observer};
use ir::analysis::{Analysis, StatementTree};
use ir::effects::{Effects, Location};
use ir::ready::ReadyProgram;
use ir::{Bits, OriginId, Program};
use p4::ast::NodeId;
use state::{Cells, CloneSession, MulticastGroup, Replica, Update};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use testing::Choices;
use testing::p4::Knobs;

const KNOBS: Knobs = Knobs { size: 2, random: true, calls: false };

fn subject(name: &str) -> DeviceSubject {
    DeviceSubject::named(name).expect("the subject has a name")
}

fn case(seed: u64) -> (Case, Forms) {
    Case::make(&mut Choices::from_seed(seed), KNOBS, 8)
        .unwrap_or_else(|failure| panic!("seed {seed}: {failure}"))
}

/// Runs a case on a program and on the same one with garbage in dead slots.
fn garbage_changes_nothing(
    name: &str,
    what: &str,
    forms: &Forms,
    stimuli: &[Stimulus],
    (percent, seed): (usize, u64),
) -> Garbage {
    let written = Rc::new(Cell::new(Garbage::default()));
    let note = written.clone();
    let mut spoiled = subject(name).altered(move |program| {
        let mut choices = Choices::from_seed(seed);
        note.set(garbage::spoil_dead_slots(program, percent, &mut choices));
        assert_eq!(ir::verify(program).map_err(|errors| errors[0].to_string()), Ok(()));
    });
    if let Err(difference) = compare(forms, stimuli, &mut subject(name), &mut spoiled) {
        panic!("{what}, seed {seed}: {difference}");
    }
    written.get()
}

#[test]
fn garbage_in_dead_slots_changes_nothing() {
    let mut all = Garbage::default();
    for seed in 0..40 {
        let (case, forms) = case(seed);
        let name = if seed % 2 == 0 { "lowered" } else { "interpreter" };
        let percent = [5, 20, 100][seed as usize % 3];
        let percent = (percent, seed);
        let stimuli = &case.stimuli;
        all.include(garbage_changes_nothing(name, &case.tree.print(), &forms, stimuli, percent));
    }
    println!("{} points, {:.2} of the slots written", all.points, all.share());
    assert!(all.points > 3_000, "{all:?}");
    assert!(all.share() > 0.3, "{all:?}");
}

#[test]
fn garbage_in_dead_slots_changes_nothing_in_machine_code() {
    let mut all = Garbage::default();
    for seed in 100..106 {
        let (case, forms) = case(seed);
        let text = case.tree.print();
        all.include(garbage_changes_nothing("jit", &text, &forms, &case.stimuli, (10, seed)));
    }
    assert!(all.points > 30, "{all:?}");
}

#[test]
fn garbage_in_live_slots_is_found() {
    let (mut found, mut tried) = (0, 0);
    for seed in 200..250 {
        let (case, forms) = case(seed);
        let is_there = Rc::new(Cell::new(false));
        let note = is_there.clone();
        let mut spoiled = subject("interpreter").altered(move |program| {
            let mut choices = Choices::from_seed(seed);
            note.set(garbage::spoil_a_live_slot(program, &mut choices).is_some());
        });
        let outcome = compare(&forms, &case.stimuli, &mut subject("interpreter"), &mut spoiled);
        tried += u32::from(is_there.get());
        found += u32::from(outcome.is_err());
    }
    println!("{found} of {tried} found");
    // Many are on paths that no packet takes.
    assert!(tried == 50 && found > 8, "{found} of {tried}");
}

#[test]
fn garbage_in_dead_slots_changes_nothing_in_the_examples() {
    let mut all = Garbage::default();
    for (seed, name) in (0..).zip(EXAMPLES) {
        let (forms, stimuli) = example(name);
        assert!(stimuli.iter().any(|it| matches!(it, Stimulus::Packet { .. })), "{name}");
        for percent in [30, 100] {
            all.include(garbage_changes_nothing(
                "lowered",
                name,
                &forms,
                &stimuli,
                (percent, seed),
            ));
        }
    }
    assert!(all.points > 500 && all.share() > 0.3, "{all:?}");
}

/// A device for Tofino's programs, with groups and sessions that they use.
fn tna_device(program: Arc<Program>) -> Device {
    let options = DeviceOptions {
        engine: EngineChoice::Interpreter,
        cpu_port: Some(64),
        ..DeviceOptions::default()
    };
    let device = Device::new(program, options).expect("the program loads");
    let replicas = |egress_port| vec![Replica { egress_port, instance: egress_port + 10 }];
    let mut updates = Vec::new();
    for number in 1..=8 {
        let content = MulticastGroup { replicas: replicas(number), ..MulticastGroup::default() };
        updates.push(Update::InsertMulticastGroup { group: number, content });
        let content = CloneSession { replicas: replicas(number), ..CloneSession::default() };
        updates.push(Update::InsertCloneSession { session: number, content });
    }
    assert!(device.execute(Batch::of(updates)).is_ok());
    device
}

/// A packet of TCP over IPv4, with some bytes changed.
fn tcp_packet(choices: &mut Choices) -> Vec<u8> {
    let mut packet = vec![0, 0, 0, 0, 1, 16, 0, 0, 0, 0, 2, 32, 8, 0];
    packet.extend([0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0x66, 0xcc, 10, 0, 0, 1, 10, 0, 0, 1]);
    packet.extend([0, 80, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    for _ in 0..choices.below(4) {
        let at = choices.below(packet.len());
        packet[at] = choices.below(256) as u8;
    }
    packet.truncate(if choices.chance(20) { choices.below(54) } else { 54 });
    packet
}

#[test]
fn garbage_in_dead_slots_changes_nothing_on_tofino() {
    let order = |choices: &mut Choices| (0..9).map(|_| choices.below(256) as u8).collect();
    type Packets = fn(&mut Choices) -> Vec<u8>;
    let programs: [(&str, &str, Packets); 2] = [
        ("switch.p4", include_str!("../../../device/tests/it/tna/switch.p4"), tcp_packet),
        ("packet_paths.p4", include_str!("../../../device/tests/it/tna/packet_paths.p4"), order),
    ];
    let (mut all, mut sent) = (Garbage::default(), 0);
    for (name, text, packet) in programs {
        let ready = ReadyProgram::of_text(name, text).expect("it compiles");
        let plain = ready.lowered();
        assert_eq!(&*plain.architecture, "tna");
        for seed in 0..3 {
            let mut choices = Choices::from_seed(seed);
            let mut spoiled = Program::clone(plain);
            let percent = [10, 40, 100][seed as usize];
            all.include(garbage::spoil_dead_slots(&mut spoiled, percent, &mut choices));
            let mut devices = [tna_device(plain.clone()), tna_device(Arc::new(spoiled))];
            for _ in 0..60 {
                let (port, bytes) = (choices.between(0, 9), packet(&mut choices));
                let seen = devices.each_mut().map(|device| {
                    device.inject(port, device.now_ps(), bytes.clone()).expect("not in the past");
                    device.run_to_completion().expect("nothing fails");
                    (device.drain_transmitted(), device.drain_digests())
                });
                assert_eq!(seen[0], seen[1], "{name}, seed {seed}: {bytes:02x?}");
                sent += seen[0].0.len();
            }
            let [plain, spoiled] = devices;
            assert_eq!(plain.statistics(), spoiled.statistics());
        }
    }
    println!("{} points, {:.2} of the slots written", all.points, all.share());
    assert!(all.points > 300 && all.share() > 0.3 && sent > 150, "{all:?}, {sent} sent");
}

/// Compares what happens with the effects of the statement that it comes from.
struct Onlooker<'a> {
    program: &'a Program,
    tree: &'a StatementTree,
    /// By statement.
    effects: &'a BTreeMap<NodeId, Effects>,
    seen: &'a mut u64,
}

impl Observer for Onlooker<'_> {
    fn observe(&mut self, origin: Option<OriginId>, event: Event<'_>) {
        let (reads, writes) = match event {
            Event::SlotStored { slot, .. } => (None, Some(Location::Slot(slot))),
            Event::TableApplied { table, .. } => (Some(Location::Table(table)), None),
            Event::RegisterAccessed { register, after, .. } => {
                let register = Location::Register(register);
                // An unused value is not read.
                (None, after.map(|_| register))
            }
            Event::Counted { counter, .. } => (None, Some(Location::Counter(counter))),
            Event::Metered { meter, .. } => (None, Some(Location::Meter(meter))),
            Event::ValueSetAsked { set, .. } => (Some(Location::ValueSet(set)), None),
            Event::Extracted { header, .. } => {
                let valid = self.program.headers[header.index()].valid_slot();
                (Some(Location::PacketCursor), Some(Location::Slot(valid)))
            }
            Event::Emitted { header, .. } => {
                let valid = self.program.headers[header.index()].valid_slot();
                (Some(Location::Slot(valid)), Some(Location::PacketOutput))
            }
            Event::StackShifted { stack, .. } => {
                (None, Some(Location::Slot(self.program.stacks[stack.index()].next)))
            }
            Event::Requested { .. } => (None, Some(Location::Requests)),
            Event::Logged { .. } => (None, Some(Location::Log)),
            _ => return,
        };
        let Some(origin) = origin else { return };
        for node in ir::effects::origin_nodes(self.program, origin) {
            let Some(statement) = self.tree.enclosing(node) else { continue };
            let effects = &self.effects[&statement];
            let is_within = reads.is_none_or(|it| effects.reads.contains(&it))
                && writes.is_none_or(|it| effects.writes.contains(&it));
            assert!(is_within, "{event:?} of statement {}, which has {effects:?}", statement.0);
            *self.seen += 1;
        }
    }
}

struct Surroundings;

impl Environment for Surroundings {
    fn now_ps(&self) -> u64 {
        0
    }

    fn packet_length_bytes(&self) -> u64 {
        64
    }

    fn random_key(&self) -> RandomKey {
        RandomKey { seed: 1, device: 0, packet: 0, pass: 0 }
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err("there is none".to_string())
    }
}

#[test]
fn what_happens_is_among_the_effects_of_its_statement() {
    let mut seen = 0;
    for seed in 300..325 {
        let (case, forms) = case(seed);
        let program = forms.lowered();
        let options =
            DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
        let device = Device::new(program.clone(), options).expect("the program loads");
        let mut session = Session::new(program.clone());
        let tree = StatementTree::of(&forms.typed().program);
        let analysis = Analysis::of(program);
        let effects: BTreeMap<NodeId, Effects> = tree
            .statements()
            .map(|node| (node, analysis.statement_of(&tree.nodes_of(node)).effects()))
            .collect();
        let interpreter = Interpreter::new(program.clone());
        let mut cells = Cells::new(program);
        for stimulus in &case.stimuli {
            match stimulus {
                Stimulus::Command(line) => {
                    let (commands, _) = control::command_text::read("commands", line);
                    for located in commands {
                        // Some are refused, which is the other tests' matter.
                        let _ = session.apply(&located, &mut device.target());
                    }
                }
                Stimulus::Packet { bytes, .. } => {
                    let configuration = device.configuration();
                    let mut context = interpreter.context();
                    context.set_packet(bytes);
                    for block in 0..program.blocks.len() {
                        let mut onlooker =
                            Onlooker { program, tree: &tree, effects: &effects, seen: &mut seen };
                        interpreter.run_block(
                            block,
                            &mut context,
                            &configuration,
                            &mut cells,
                            &mut Surroundings,
                            Some(&mut onlooker),
                        );
                    }
                }
            }
        }
    }
    println!("{seen} events");
    assert!(seen > 5_000, "{seen}");
}

#[test]
fn passes_keep_the_names_of_accesses() {
    let (mut names, mut fused) = (0, 0);
    let check = |ready: &Program, run: &Program| {
        let (before, after) = (Analysis::of(ready), Analysis::of(run));
        let all = |analysis: &Analysis<'_>| -> BTreeSet<String> {
            analysis.accesses().iter().flat_map(|access| access.names.clone()).collect()
        };
        let (known, kept) = (all(&before), all(&after));
        assert_eq!(kept.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new());
        for access in after.accesses() {
            for name in &access.names {
                let found: Vec<_> = before.accesses_named(name).collect();
                assert!(found.iter().all(|it| it.object == access.object), "{name}");
                assert_eq!(found.len(), 1, "{name} is not one access");
            }
        }
        let most = after.accesses().iter().map(|access| access.names.len()).max();
        (kept.len(), most.unwrap_or(0))
    };
    for seed in 400..430 {
        let (_, forms) = case(seed);
        let run = forms.form(Form::Simplified).expect("it verifies");
        let (count, most) = check(forms.lowered(), &run);
        names += count;
        fused += usize::from(most > 1);
    }
    assert!(names > 50 && fused > 2, "{names} names, {fused} programs with fused accesses");

    let unrolled = ReadyProgram::of_text("loop.p4", UNROLLED).expect("it compiles");
    let (count, most) = check(unrolled.lowered(), unrolled.program());
    assert_eq!((count, most), (5, 2));
}

/// An unrolled loop of writes, one of them behind a read of the same cell.
const UNROLLED: &str = "#include <core.p4>\n#include <v1model.p4>\n\
    struct headers {} struct metadata { bit<32> v; }\n\
    parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) \
    { state start { transition accept; } }\n\
    control V(inout headers h, inout metadata m) { apply {} }\n\
    control I(inout headers h, inout metadata m, inout standard_metadata_t s) {\n\
        register<bit<32>>(8) r;\n\
        apply {\n\
            r.read(m.v, 3);\n\
            for (bit<32> i = 0; i < 4; i = i + 1) { r.write(i + 0, m.v + 1); }\n\
        }\n\
    }\n\
    control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply {} }\n\
    control D(packet_out p, in headers h) { apply {} }\n\
    V1Switch(P(), V(), I(), E(), V(), D()) main;\n";

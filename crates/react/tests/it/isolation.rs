// SPDX-License-Identifier: Apache-2.0
//! Isolation, judged from what packets did and from the log of batches, never from version bits: passes that take time, a
//! driver that applies one operation after the other, random programs, reactions and traffic. A history is right if its
//! packets, commits and measurements have one order: each packet leaves as the program as written makes it with one
//! committed configuration, configurations never go back, fields come from one packet, and registers are what all packets
//! up to that one made of them. Agents with a mistake must be caught.

use crate::compiled::compiled_with;
use crate::generated::{Target as Architecture, Writes, packet, program};
use crate::script::Script;
use control::latency::{BarrierKind, LatencyModel};
use control::map::{Mapped, Virtual};
use control::target::{Batch, Notification, Outcome, Target, Ticket, Visibility};
use device::{Device, DeviceOptions, EngineChoice, PassTiming};
use ir::{Bits, Program, RegisterId, TableId};
use react::agent::{self, Agent};
use react::compiler::{BinLimits, CompiledProgram, Limits};
use react::map::{self, MalleableMap};
use state::{CellRange, CellValues, Read, Reply, Subscription, Update};
use std::sync::{Arc, Mutex};
use testing::{Choices, seeds};

/// From one stage to the next.
const STAGE_PS: u64 = 100_000;

/// Packets of a history.
const PACKETS: u16 = 60;

/// A batch with writes, and when its outcome was known.
#[derive(Clone, Debug)]
struct Commit {
    batch: Batch,
    submitted_ps: u64,
    known_ps: Option<u64>,
    is_ok: bool,
    ticket: Ticket,
}

type Log = Arc<Mutex<Vec<Commit>>>;

/// Logs the batches that the agent submits.
struct Logged {
    target: Box<dyn Target>,
    log: Log,
}

impl Target for Logged {
    fn program(&self) -> Arc<Program> {
        self.target.program()
    }

    fn now_ps(&self) -> u64 {
        self.target.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.target.visibility()
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let (copy, submitted_ps) = (batch.clone(), self.target.now_ps());
        let ticket = self.target.submit(batch, at_ps);
        if !copy.only_reads() {
            let commit = Commit { batch: copy, submitted_ps, known_ps: None, is_ok: false, ticket };
            self.log.lock().expect("one thread").push(commit);
        }
        ticket
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.target.reserve(batch, at_ps)
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.target.commit(reservation, at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        self.target.release(reservation);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.target.barrier(at_ps)
    }

    fn next_event_ps(&self) -> Option<u64> {
        self.target.next_event_ps()
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let outcome = self.target.poll(ticket)?;
        let mut log = self.log.lock().expect("one thread");
        if let Some(commit) = log.iter_mut().find(|commit| commit.ticket == ticket) {
            commit.known_ps = Some(self.target.now_ps());
            commit.is_ok = outcome.first_fault().is_none();
        }
        Some(outcome)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        self.target.notifications()
    }

    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.target.subscribe(tables)
    }
}

/// A packet on its way.
#[derive(Clone, Debug)]
struct Passed {
    bytes: Vec<u8>,
    arrived_ps: u64,
    left: Option<(u64, Vec<u8>)>,
}

/// What happened.
struct History {
    packets: Vec<Passed>,
    commits: Vec<Commit>,
    inputs: Vec<Vec<u64>>,
}

/// The mistakes of map and agent.
#[derive(Clone, Copy, Debug, Default)]
struct Mistakes {
    map: map::Mistake,
    agent: agent::Mistake,
}

fn model(choices: &mut Choices) -> LatencyModel {
    let item_ps = [20_000, 60_000, 150_000][choices.below(3)];
    LatencyModel { barrier: BarrierKind::Counted, ..LatencyModel::per_item(item_ps) }
}

fn history(compiled: &CompiledProgram, seed: u64, mistakes: Mistakes) -> History {
    let options = DeviceOptions {
        engine: EngineChoice::Interpreter,
        pass_timing: Some(PassTiming { stage_ps: STAGE_PS, ..PassTiming::default() }),
        ..DeviceOptions::default()
    };
    let mut device = Device::new(compiled.run.program().clone(), options).expect("it loads");
    let mut below = device.target();
    let (written, run) = (compiled.written.program().clone(), below.program());
    let made = MalleableMap::new(&compiled.plan, written, run).expect("all objects are there");
    let made = made.with_mistake(mistakes.map);
    let legacy = made.legacy_writes();
    assert_eq!(below.execute(made.prologue()).first_fault(), None);
    let state = Virtual::new(made).expect("the program is whole");
    let log = Log::default();
    let target = Box::new(Mapped::new(state, vec![Box::new(below)]));
    let mut target = Logged { target, log: log.clone() };
    let (script, inputs) = Script::new(&compiled.interface, seed);
    let agent = Agent::new(compiled, Box::new(script), legacy).expect("all objects are there");
    let mut agent = agent.with_mistake(mistakes.agent);
    let mut next_ps = agent.prologue(&mut target).expect("it begins").expect("it reacts");
    let mut choices = Choices::from_seed(seed ^ 0x150_1a7e);
    device.set_control_latency(Some(model(&mut choices)));
    let mut packets: Vec<Passed> = Vec::new();
    let mut arrival_ps = STAGE_PS;
    let take = |device: &mut Device, packets: &mut Vec<Passed>| {
        for sent in device.drain_transmitted() {
            let id = usize::from(u16::from_be_bytes([sent.bytes[0], sent.bytes[1]]));
            packets[id].left = Some((sent.time_ps, sent.bytes.clone()));
        }
    };
    // Now and then nothing arrives for a while, so that copies get old.
    let mut after_last = 0;
    while packets.len() < usize::from(PACKETS) || after_last < 200 {
        let has_more = packets.len() < usize::from(PACKETS);
        if has_more && arrival_ps <= next_ps {
            device.advance(arrival_ps).expect("it runs");
            let bytes = packet(&mut choices, packets.len() as u16);
            packets.push(Passed { bytes: bytes.clone(), arrived_ps: arrival_ps, left: None });
            device.inject(0, arrival_ps, bytes).expect("it is taken");
            let spacing = match choices.one_in(8) {
                true => 40 * STAGE_PS,
                false => (choices.below(8) as u64) * STAGE_PS / 4,
            };
            arrival_ps += spacing + 1;
        } else {
            after_last += u64::from(!has_more);
            device.advance(next_ps).expect("it runs");
            next_ps = agent.round(&mut target).expect("it reacts").expect("it goes on");
        }
        take(&mut device, &mut packets);
    }
    device.advance(next_ps + 100 * STAGE_PS).expect("it runs");
    take(&mut device, &mut packets);
    let commits = log.lock().expect("one thread").clone();
    let inputs = inputs.lock().expect("one thread").clone();
    History { packets, commits, inputs }
}

/// The program as written with each committed configuration.
struct Configurations {
    devices: Vec<Device>,
    register: RegisterId,
    cells: u64,
}

impl Configurations {
    fn new(compiled: &CompiledProgram, commits: &[Commit]) -> Configurations {
        let program = compiled.written.program().clone();
        let at = program.registers.iter().position(|register| register.name.ends_with("I.r"));
        let at = at.expect("the register of all programs");
        let cells = program.registers[at].size;
        let options =
            DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
        let first = Device::new(program, options.clone()).expect("it loads");
        let mut devices = Vec::new();
        for count in 0..=commits.len() {
            let device = first.sharing_code_with(options.clone()).expect("it loads");
            for commit in commits[..count].iter().filter(|commit| commit.is_ok) {
                let batch = Batch { program: None, ..commit.batch.clone() };
                assert_eq!(device.execute(batch).first_fault(), None);
            }
            devices.push(device);
        }
        Configurations { devices, register: RegisterId(at as u32), cells }
    }

    /// What a packet becomes with a configuration and this register.
    fn outcome(&mut self, configuration: usize, bytes: &[u8], before: &[Bits]) -> Vec<Vec<u8>> {
        let (register, cells) = (self.register, CellRange::range(0, self.cells));
        let values = CellValues::Each(before.to_vec());
        let device = &mut self.devices[configuration];
        device.execute(Batch::one(Update::WriteRegister { register, cells, values }));
        let now_ps = device.now_ps();
        device.inject(0, now_ps, bytes.to_vec()).expect("it is taken");
        device.run_to_completion().expect("it runs");
        device.drain_transmitted().into_iter().map(|sent| sent.bytes.clone()).collect()
    }

    /// The register after the last packet with a configuration.
    fn register_after(&self, configuration: usize) -> Vec<Bits> {
        let (register, cells) = (self.register, CellRange::range(0, self.cells));
        let read = Batch::one(Read::Register { register, cells });
        match self.devices[configuration].execute(read).into_reply() {
            Ok(Reply::Registers(values)) => values,
            other => panic!("{other:?}"),
        }
    }
}

/// Why a history has no serial order.
fn fault(compiled: &CompiledProgram, history: &History) -> Option<String> {
    let mut configurations = Configurations::new(compiled, &history.commits);
    let mut last = 0;
    let mut registers = vec![vec![Bits::zero(32); configurations.cells as usize]];
    for (id, packet) in history.packets.iter().enumerate() {
        let Some((left_ps, bytes)) = &packet.left else {
            return Some(format!("packet {id} is lost"));
        };
        let is_known = |commit: &&Commit| {
            commit.is_ok && commit.known_ps.is_some_and(|known_ps| known_ps < packet.arrived_ps)
        };
        let first =
            history.commits.iter().rposition(|commit| is_known(&commit)).map_or(0, |at| at + 1);
        let end = history.commits.iter().filter(|commit| commit.submitted_ps < *left_ps).count();
        let mut candidates = last.max(first)..=end;
        let before = registers.last().expect("the first one");
        let found = candidates
            .find(|at| configurations.outcome(*at, &packet.bytes, before) == [bytes.clone()]);
        let Some(found) = found else {
            return Some(format!(
                "packet {id} saw no committed configuration from {} to {end}",
                last.max(first)
            ));
        };
        last = found;
        registers.push(configurations.register_after(found));
    }
    let mut last = 0;
    for (call, input) in history.inputs.iter().enumerate() {
        let is_valid = input.last() == Some(&1);
        let count = if is_valid { input[0] as usize + 1 } else { 0 };
        if count < last {
            return Some(format!(
                "call {call} got packet {} after packet {}",
                count as i64 - 1,
                last as i64 - 1
            ));
        }
        last = count;
        if count > 0 {
            let bytes = &history.packets[count - 1].left.as_ref().expect("it left").1;
            let number = |range: std::ops::Range<usize>| {
                bytes[range].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
            };
            let fields = [number(2..6), number(14..16), number(20..21)];
            if input[1..4] != fields {
                return Some(format!("call {call} got fields of several packets"));
            }
        }
        let expected: Vec<u64> = registers[count][2..=9].iter().map(Bits::low_u64).collect();
        if input[4..12] != expected[..] {
            return Some(format!(
                "call {call} got registers of another moment than packet {}",
                count as i64 - 1
            ));
        }
    }
    None
}

fn judged(
    seed: u64,
    mistakes: Mistakes,
    architecture: Architecture,
) -> (Option<String>, usize, usize) {
    let generated = program(&mut Choices::from_seed(seed), Writes::Once, architecture);
    let limits = (seed % 2 == 1).then_some(Limits { init: BinLimits { bits: 18, items: 3 } });
    let compiled = compiled_with(&generated.text, limits);
    let history = history(&compiled, seed, mistakes);
    let fault = fault(&compiled, &history);
    let fault = fault.map(|fault| format!("seed {seed}: {fault}\n{}", generated.text));
    (fault, history.commits.len(), history.inputs.len())
}

#[test]
fn histories_have_a_serial_order() {
    check(Architecture::V1model);
}

#[test]
fn histories_on_tofino_have_a_serial_order() {
    check(Architecture::Tna);
}

fn check(architecture: Architecture) {
    let (mut histories, mut commits, mut calls) = (0, 0, 0);
    for seed in seeds(24) {
        let (fault, own_commits, own_calls) = judged(seed, Mistakes::default(), architecture);
        assert_eq!(fault, None);
        histories += 1;
        commits += own_commits;
        calls += own_calls;
    }
    println!(
        "{histories} histories, {} packets, {commits} commits, {calls} measurements",
        histories * u64::from(PACKETS)
    );
}

#[test]
fn agents_with_a_mistake_are_caught() {
    catch(Architecture::V1model);
}

#[test]
fn agents_with_a_mistake_on_tofino_are_caught() {
    catch(Architecture::Tna);
}

fn catch(architecture: Architecture) {
    let map = |map| Mistakes { map, ..Mistakes::default() };
    let agent = |agent| Mistakes { agent, ..Mistakes::default() };
    let all = [
        map(map::Mistake::NoMirror),
        map(map::Mistake::NoWait),
        map(map::Mistake::CommitFirst),
        map(map::Mistake::TableOutside),
        map(map::Mistake::DefaultInPlace),
        agent(agent::Mistake::NoFlip),
        agent(agent::Mistake::NoWait),
        agent(agent::Mistake::NoTimestamps),
        agent(agent::Mistake::NoSequence),
        agent(agent::Mistake::SkippedArrays),
    ];
    for mistakes in all {
        let caught = (0..24).find_map(|seed| Some((seed, judged(seed, mistakes, architecture).0?)));
        let (seed, fault) = caught.unwrap_or_else(|| panic!("{mistakes:?} is not caught"));
        let packets = (seed + 1) * u64::from(PACKETS);
        println!(
            "{mistakes:?}: caught within {packets} packets: {}",
            fault.lines().next().unwrap_or("")
        );
    }
}

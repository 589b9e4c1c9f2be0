// SPDX-License-Identifier: Apache-2.0
//! What a reaction needs: a map that turns a batch into prepare, commit, a wait and mirror, so that no packet sees
//! half of it. Packets carry away what they saw, histories are drawn from seeds, and maps with a mistake are
//! caught by the same checker.

mod versioned;

use crate::seams::{bound, entry, exact, table};
use control::latency::{BarrierKind, DriverModel, Duration, LatencyModel};
use control::map::{Identity, Mapped, Virtual};
use control::target::{Batch, Fault, Target, Ticket, Visibility, prepare_entry};
use device::{
    Device, DeviceOptions, EngineChoice, OutputPath, PassTiming, PortOptions, TrafficManagerOptions,
};
use ir::{Bits, Program};
use state::{Atomicity, Update, UpdateError};
use std::sync::Arc;
use testing::{Choices, cases};
use versioned::{JOINED, Mistake, Programs, SPLIT, Versioned};

/// From one stage to the next where passes take time.
const STAGE_PS: u64 = 100_000;

/// Keys that packets have. Each batch writes the entries of all of them.
const KEYS: u64 = 2;

/// What a packet carried away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    arrived_ps: u64,
    left_ps: u64,
    value: u16,
    one: u16,
    two: u16,
    legacy: u16,
}

impl Seen {
    fn is_torn(&self) -> bool {
        self.one != self.value || self.two != self.value
    }
}

/// A batch that gave all tables and the value a new number, or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    number: u16,
    submitted_ps: u64,
    known_ps: u64,
    is_ok: bool,
}

/// What happened, by which everything can be judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct History {
    packets: Vec<Seen>,
    batches: Vec<Done>,
    legacy: Vec<Done>,
}

impl History {
    /// Packets that saw half of a batch.
    fn torn(&self) -> usize {
        self.packets.iter().filter(|packet| packet.is_torn()).count()
    }

    /// A sentence about something that no order of batches and packets one after the other explains.
    fn fault(&self) -> Option<String> {
        if let Some(torn) = self.packets.iter().find(|packet| packet.is_torn()) {
            return Some(format!("torn: {torn:?}"));
        }
        let order = self.packets.windows(2).find(|pair| pair[0].value > pair[1].value);
        if let Some(pair) = order {
            return Some(format!("an older state after a newer one: {pair:?}"));
        }
        let is_late = |packet: &&Seen, done: &&Done| match done.is_ok {
            true => {
                packet.arrived_ps > done.known_ps && packet.value < done.number
                    || packet.left_ps < done.submitted_ps && packet.value >= done.number
            }
            false => packet.value == done.number,
        };
        for done in &self.batches {
            if let Some(packet) = self.packets.iter().find(|packet| is_late(packet, &done)) {
                return Some(format!("{packet:?} and {done:?}"));
            }
        }
        for done in &self.legacy {
            let is_late = |packet: &&Seen| {
                packet.arrived_ps > done.known_ps && packet.legacy < done.number
                    || packet.left_ps < done.submitted_ps && packet.legacy >= done.number
            };
            if let Some(packet) = self.packets.iter().find(is_late) {
                return Some(format!("legacy: {packet:?} and {done:?}"));
            }
        }
        None
    }
}

/// How histories are drawn.
#[derive(Clone)]
struct Scene {
    programs: &'static Programs,
    options: DeviceOptions,
    mistake: Mistake,
    packets: u64,
    batches: u16,
    /// Most time between two packets.
    spacing_ps: u64,
    /// Most time that the controller thinks.
    pause_ps: u64,
    has_legacy: bool,
    /// Whether port 9 is paused now and then.
    pauses: bool,
}

impl Scene {
    /// Passes that take time, before a driver with this model.
    fn timed(mistake: Mistake, model: LatencyModel) -> Scene {
        let timing = PassTiming { stage_ps: STAGE_PS, ..PassTiming::default() };
        let options = DeviceOptions {
            engine: EngineChoice::Interpreter,
            pass_timing: Some(timing),
            control_latency: Some(model),
            ..DeviceOptions::default()
        };
        Scene {
            programs: &JOINED,
            options,
            mistake,
            packets: 40,
            batches: 4,
            spacing_ps: 2 * STAGE_PS,
            pause_ps: 5 * STAGE_PS,
            has_legacy: false,
            pauses: false,
        }
    }

    /// A switch in software: passes and batches take no time, but packets wait between ingress and egress.
    fn software(mistake: Mistake, engine: EngineChoice) -> Scene {
        // A packet takes 1 us on the wire.
        let port = PortOptions { rate_bps: Some(96_000_000), ..PortOptions::default() };
        let ports = [(9, port)].into_iter().collect();
        let traffic_manager = TrafficManagerOptions { ports, ..TrafficManagerOptions::default() };
        let options = DeviceOptions { engine, traffic_manager, ..DeviceOptions::default() };
        Scene {
            programs: &SPLIT,
            options,
            mistake,
            packets: 40,
            batches: 6,
            spacing_ps: 1_500_000,
            pause_ps: 6_000_000,
            has_legacy: false,
            pauses: true,
        }
    }

    fn device(&self) -> Device {
        let program = match self.mistake {
            Mistake::Identity => &self.programs.written,
            _ => &self.programs.run,
        };
        Device::new(program.clone(), self.options.clone()).expect("it loads")
    }

    /// The program as written as a target of the device.
    fn target(&self, device: &Device) -> Box<dyn Target> {
        let below: Vec<Box<dyn Target>> = vec![Box::new(device.target())];
        match self.mistake {
            Mistake::Identity => {
                Box::new(Mapped::new(Identity::new(self.programs.written.clone()), below))
            }
            mistake => {
                let map = Virtual::new(Versioned::new(self.programs, mistake));
                Box::new(Mapped::new(map.expect("the program is whole"), below))
            }
        }
    }

    /// A batch that gives everything a number.
    fn batch(&self, choices: &mut Choices, number: u16) -> Batch {
        let program = &self.programs.written;
        let mut updates = Vec::new();
        for (name, action) in [("one", "set_one"), ("two", "set_two")] {
            let of = table(program, name);
            for key in 0..KEYS {
                let action = bound(program, of, action, &[u64::from(number)]);
                let new = entry(program, of, &[key], action);
                if number > 1 && choices.chance(70) {
                    updates.push(Update::ModifyEntry { table: of, entry: new });
                    continue;
                }
                if number > 1 {
                    let keys = exact(program, of, &[key]);
                    updates.push(Update::DeleteEntry { table: of, keys, priority: 0 });
                }
                updates.push(Update::InsertEntry { table: of, entry: new });
            }
        }
        let value = table(program, "value");
        let action = Some(bound(program, value, "set_value", &[u64::from(number)]));
        updates.push(Update::SetDefaultAction { table: value, action });
        Batch::of(updates)
    }

    /// The same batch with an entry that there is no room for below.
    fn overfull(&self, batch: Batch) -> Batch {
        let program = &self.programs.written;
        let one = table(program, "one");
        let action = bound(program, one, "set_one", &[0]);
        let update = Update::InsertEntry { table: one, entry: entry(program, one, &[7], action) };
        let items = batch.items.into_iter().chain([update.into()]).collect();
        Batch { items, ..batch }
    }

    fn run(&self, like: &Device, seed: u64) -> History {
        let mut choices = Choices::from_seed(seed);
        let mut device = like.sharing_code_with(self.options.clone()).expect("it loads");
        let mut target = self.target(&device);
        let mut history = History::default();
        let first = target.submit(self.batch(&mut choices, 1), 0);
        // Everything has a number before the first packet comes.
        while target.poll(first).is_none() {
            let next_ps = device.next_event_ps().expect("the driver has something to do");
            device.advance(next_ps).expect("no assertion fails");
        }
        device.run_to_completion().expect("no assertion fails");
        target.poll(first);
        let mut time_ps = device.now_ps() + 1;
        let mut arrivals = Vec::new();
        for _ in 0..self.packets {
            time_ps += u64::from(choices.between(0, self.spacing_ps as u32));
            let mut bytes = vec![0; 12];
            bytes[1] = choices.below(KEYS as usize) as u8;
            device.inject(1, time_ps, bytes).expect("a time to come");
            arrivals.push(time_ps);
            if self.pauses && choices.chance(10) {
                let length_ps = u64::from(choices.between(0, 8 * self.spacing_ps as u32));
                device.schedule_pause(time_ps, OutputPath::Port(9), None, true);
                device.schedule_pause(time_ps + length_ps, OutputPath::Port(9), None, false);
            }
        }
        let mut legacy = Legacy::new(self, &device);
        let mut number = 1;
        let mut under_way: Option<(Ticket, Done)> = None;
        let mut ticket = first;
        let mut is_overfull = false;
        let mut due_ps = device.now_ps() + u64::from(choices.between(0, self.pause_ps as u32));
        loop {
            let is_wanted = under_way.is_none() && number <= self.batches;
            let due = is_wanted.then_some(due_ps).into_iter();
            let due = due.chain(legacy.as_ref().and_then(Legacy::due_ps));
            let Some(next_ps) = due.chain(device.next_event_ps()).min() else { break };
            device.advance(next_ps.max(device.now_ps())).expect("no assertion fails");
            let now_ps = device.now_ps();
            if is_wanted && now_ps >= due_ps {
                number += 1;
                let mut batch = self.batch(&mut choices, number);
                let mut is_ok = true;
                is_overfull = false;
                if !matches!(self.mistake, Mistake::Identity | Mistake::CommitFirst) {
                    let atomicity = *choices.pick(&[
                        Atomicity::ContinueOnError,
                        Atomicity::RollbackOnError,
                        Atomicity::DataplaneAtomic,
                    ]);
                    if choices.chance(25) {
                        batch = self.overfull(batch);
                        is_overfull = true;
                        is_ok = atomicity == Atomicity::ContinueOnError;
                    }
                    batch = batch.with(atomicity);
                }
                ticket = target.submit(batch, now_ps);
                let done = Done { number, submitted_ps: now_ps, known_ps: 0, is_ok };
                under_way = Some((ticket, done));
            }
            if let Some(outcome) = target.poll(ticket)
                && let Some((_, done)) = under_way.take()
            {
                assert_eq!(done.is_ok, !outcome.rolled_back, "{outcome:?}");
                // What has no room is the only cause, if there is one.
                let (fault, others) = outcome.results.split_last().expect("it has items");
                assert_eq!(fault.is_err(), is_overfull, "{outcome:?}");
                assert!(others.iter().all(|result| result.is_ok() == done.is_ok), "{outcome:?}");
                history.batches.push(Done { known_ps: outcome.known_ps, ..done });
                let pause_ps = u64::from(choices.between(0, self.pause_ps as u32));
                due_ps = outcome.known_ps + pause_ps;
            }
            if let Some(legacy) = &mut legacy {
                legacy.go_on(&mut choices, now_ps);
            }
        }
        history.legacy = legacy.map_or(Vec::new(), |legacy| legacy.done);
        let mut sent = device.drain_transmitted();
        sent.sort_by_key(|packet| packet.packet);
        history.packets = { sent.iter() }
            .map(|packet| {
                let field = |at: usize| {
                    u16::from_be_bytes([packet.bytes[2 * at], packet.bytes[2 * at + 1]])
                };
                Seen {
                    arrived_ps: arrivals[packet.packet as usize],
                    left_ps: packet.time_ps,
                    value: field(1),
                    one: field(2),
                    two: field(3),
                    legacy: field(4),
                }
            })
            .collect();
        assert_eq!(history.packets.len() as u64, self.packets);
        assert_eq!(history.batches.len(), usize::from(self.batches));
        history
    }

    /// Asserts that no history shows anything wrong; returns the number of packets.
    #[track_caller]
    fn is_right(&self, histories: u64) {
        let like = self.device();
        let mut packets = 0;
        for seed in 0..histories {
            let history = self.run(&like, seed);
            packets += history.packets.len();
            if let Some(fault) = history.fault() {
                panic!("seed {seed}: {fault}");
            }
        }
        println!("{}: {histories} histories, {packets} packets, none torn", self.name());
    }

    fn name(&self) -> String {
        let timed = match (&self.options.pass_timing, self.options.engine) {
            (Some(_), _) => "timed",
            (None, engine) => engine.name(),
        };
        format!("{timed}, {:?}", self.mistake)
    }

    /// Asserts that packets see halves of batches.
    #[track_caller]
    fn is_caught(&self, histories: u64) {
        let like = self.device();
        let (mut packets, mut torn, mut caught_after) = (0, 0, None);
        for seed in 0..histories {
            let history = self.run(&like, seed);
            let first = history.packets.iter().position(Seen::is_torn);
            caught_after = caught_after.or(first.map(|at| packets + at + 1));
            packets += history.packets.len();
            torn += history.torn();
        }
        let name = self.name();
        let caught_after = caught_after.unwrap_or_else(|| panic!("{name} is not caught"));
        println!(
            "{name}: {histories} histories, {packets} packets, {torn} torn, the first after {caught_after}"
        );
    }
}

/// A controller of its own on the same device, which writes a table without versions.
struct Legacy {
    program: Arc<Program>,
    target: device::DeviceTarget,
    under_way: Option<(Ticket, Done)>,
    due_ps: u64,
    done: Vec<Done>,
}

impl Legacy {
    fn new(scene: &Scene, device: &Device) -> Option<Legacy> {
        scene.has_legacy.then(|| Legacy {
            program: scene.programs.run.clone(),
            target: device.target(),
            under_way: None,
            due_ps: device.now_ps(),
            done: Vec::new(),
        })
    }

    fn due_ps(&self) -> Option<u64> {
        (self.under_way.is_none() && self.done.len() < 10).then_some(self.due_ps)
    }

    fn go_on(&mut self, choices: &mut Choices, now_ps: u64) {
        if self.due_ps().is_some_and(|due_ps| due_ps <= now_ps) {
            let number = self.done.len() as u16 + 1;
            let of = table(&self.program, "legacy");
            let entry = |key| {
                let action = bound(&self.program, of, "set_legacy", &[u64::from(number)]);
                let entry = entry(&self.program, of, &[key], action);
                match number {
                    1 => Update::InsertEntry { table: of, entry },
                    _ => Update::ModifyEntry { table: of, entry },
                }
            };
            let ticket = self.target.submit(Batch::of((0..KEYS).map(entry)), now_ps);
            let done = Done { number, submitted_ps: now_ps, known_ps: 0, is_ok: true };
            self.under_way = Some((ticket, done));
        }
        if let Some((ticket, done)) = self.under_way
            && let Some(outcome) = self.target.poll(ticket)
        {
            assert!(outcome.is_ok(), "{outcome:?}");
            self.under_way = None;
            self.done.push(Done { known_ps: outcome.known_ps, ..done });
            self.due_ps = outcome.known_ps + u64::from(choices.between(0, 5 * STAGE_PS as u32));
        }
    }
}

fn item_wise() -> LatencyModel {
    LatencyModel::per_item(STAGE_PS / 2)
}

/// The chip of the Mantis paper with passes of 2 us, or with passes of 24 us that its driver knows of.
fn chip(mistake: Mistake, has_long_passes: bool) -> Scene {
    let mut model = DriverModel::pcie_chip().model;
    let stage_ps = if has_long_passes { 6_000_000 } else { 500_000 };
    if has_long_passes {
        model.barrier = BarrierKind::Bound(4 * stage_ps);
    }
    let mut scene = Scene::timed(mistake, model);
    scene.options.pass_timing = Some(PassTiming { stage_ps, ..PassTiming::default() });
    Scene { packets: 120, spacing_ps: 3_000_000, pause_ps: 5_000_000, ..scene }
}

#[test]
fn packets_see_whole_batches_through_the_versioned_map() {
    Scene::timed(Mistake::None, item_wise()).is_right(cases(300));
    chip(Mistake::None, false).is_right(cases(20));
    chip(Mistake::None, true).is_right(cases(20));
}

#[test]
fn packets_see_whole_batches_when_the_driver_takes_random_times() {
    let mut model = item_wise();
    model.batch = Duration::Exponential { min_ps: 10, mean_ps: STAGE_PS };
    model.other_items.base = Duration::Uniform { min_ps: 0, max_ps: 2 * STAGE_PS };
    model.reply = Duration::Measured(vec![(0, 3), (STAGE_PS, 1)]);
    Scene::timed(Mistake::None, model.clone()).is_right(cases(100));
    model.is_atomic = true;
    Scene::timed(Mistake::None, model).is_right(cases(100));
}

#[test]
fn packets_see_halves_without_the_map() {
    Scene::timed(Mistake::Identity, item_wise()).is_caught(40);
    chip(Mistake::Identity, false).is_caught(5);
}

#[test]
fn packets_in_flight_see_halves_of_an_atomic_batch_without_the_map() {
    Scene::timed(Mistake::Identity, LatencyModel { is_atomic: true, ..item_wise() }).is_caught(40);
}

#[test]
fn packets_see_halves_when_the_commit_comes_first() {
    Scene::timed(Mistake::CommitFirst, item_wise()).is_caught(40);
    chip(Mistake::CommitFirst, false).is_caught(5);
}

#[test]
fn packets_in_flight_see_halves_without_the_barrier() {
    Scene::timed(Mistake::NoBarrier, item_wise()).is_caught(40);
    chip(Mistake::NoBarrier, true).is_caught(40);
}

#[test]
fn a_driver_slower_than_a_pass_needs_no_barrier() {
    // What the Mantis paper relies on: the first write of the mirror takes longer than any pass.
    chip(Mistake::NoBarrier, false).is_right(20);
}

#[test]
fn packets_see_halves_when_a_table_is_outside_the_commit() {
    Scene::timed(Mistake::TableOutside, item_wise()).is_caught(40);
    chip(Mistake::TableOutside, false).is_caught(5);
}

#[test]
fn packets_in_queues_see_whole_batches_in_software() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        Scene::software(Mistake::None, engine).is_right(cases(100));
    }
}

#[test]
fn packets_in_queues_see_halves_in_software_when_the_map_is_wrong() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        // Without time, what is done in one batch, or in the wrong order, is done at one moment; packets in
        // queues have seen the moment before.
        Scene::software(Mistake::Identity, engine).is_caught(40);
        Scene::software(Mistake::NoBarrier, engine).is_caught(40);
        Scene::software(Mistake::TableOutside, engine).is_caught(40);
    }
}

#[test]
fn a_legacy_controller_beside_the_map_is_served_in_its_turn() {
    let scene = Scene { has_legacy: true, ..Scene::timed(Mistake::None, item_wise()) };
    scene.is_right(cases(100));
    let scene = Scene { has_legacy: true, ..chip(Mistake::None, false) };
    scene.is_right(cases(10));
    let scene = Scene { has_legacy: true, ..Scene::software(Mistake::None, EngineChoice::Jit) };
    scene.is_right(cases(50));
}

#[test]
fn the_driver_serves_the_map_and_a_legacy_controller_first_come_first_served() {
    let item_ps = 1_000;
    let scene = Scene::timed(Mistake::None, LatencyModel::per_item(item_ps));
    let mut device = scene.device();
    let mut react = scene.target(&device);
    let mut legacy =
        Legacy::new(&Scene { has_legacy: true, ..scene.clone() }, &device).expect("it is wanted");
    let first = react.submit(scene.batch(&mut Choices::from_seed(0), 1), 0);
    // Four entries are prepared; two are written by the other controller, which came at the time 1; then the
    // commit, which came at the end of the preparation.
    let init = table(&scene.programs.run, "init");
    let is_committed = |device: &Device| {
        let configuration = device.configuration();
        configuration.table(init).is_some_and(|init| !init.default_action().is_initial)
    };
    device.advance(1).expect("no assertion fails");
    legacy.due_ps = 1;
    legacy.go_on(&mut Choices::from_seed(0), 1);
    let mut committed_ps = None;
    while let Some(next_ps) = device.next_event_ps() {
        device.advance(next_ps).expect("no assertion fails");
        legacy.due_ps = u64::MAX;
        legacy.go_on(&mut Choices::from_seed(0), next_ps);
        if let Some(outcome) = react.poll(first) {
            // The mirror writes four more.
            assert_eq!((outcome.applied_ps, outcome.known_ps), (11 * item_ps, 11 * item_ps));
        }
        committed_ps = committed_ps.or(is_committed(&device).then_some(next_ps));
    }
    assert_eq!(legacy.done[0].known_ps, 6 * item_ps);
    assert_eq!(committed_ps, Some(7 * item_ps));
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let mut model = item_wise();
    model.other_items.base = Duration::Exponential { min_ps: 100, mean_ps: STAGE_PS };
    let mut scene = Scene { has_legacy: true, ..Scene::timed(Mistake::None, model) };
    let text = |scene: &Scene, seed| format!("{:?}", scene.run(&scene.device(), seed));
    for seed in 0..5 {
        assert_eq!(text(&scene, seed), text(&scene, seed));
    }
    let before = text(&scene, 0);
    scene.options.seed = 1;
    assert_ne!(text(&scene, 0), before);
}

/// A device without latency and the versioned map before it.
fn at_once() -> (Device, Box<dyn Target>, Scene) {
    let scene = Scene::software(Mistake::None, EngineChoice::Interpreter);
    let device = scene.device();
    let target = scene.target(&device);
    (device, target, scene)
}

fn set_value(program: &Program, value: u64) -> Update {
    let of = table(program, "value");
    Update::SetDefaultAction { table: of, action: Some(bound(program, of, "set_value", &[value])) }
}

fn insert(program: &Program, of: &str, keys: &[u64], value: u64) -> Update {
    let action = format!("set_{of}");
    let of = table(program, of);
    let action = bound(program, of, &action, &[value]);
    Update::InsertEntry { table: of, entry: entry(program, of, keys, action) }
}

#[test]
fn a_batch_that_changes_the_value_alone_is_committed() {
    let (device, mut target, scene) = at_once();
    let outcome = target.execute(Batch::one(set_value(&scene.programs.written, 77)));
    assert!(outcome.is_ok(), "{outcome:?}");
    let init = table(&scene.programs.run, "init");
    let configuration = device.configuration();
    let action = &configuration.table(init).expect("it is there").default_action().action;
    let arguments: Vec<u64> = action.arguments.iter().map(Bits::low_u64).collect();
    assert_eq!(arguments, [1, 77]);
}

#[test]
fn an_update_that_fails_below_leaves_the_others_committed() {
    let (device, mut target, scene) = at_once();
    let program = &scene.programs.written;
    // There is room for two entries below; the value needs no room.
    let fill = [insert(program, "one", &[1], 1), insert(program, "one", &[2], 1)];
    assert!(target.execute(Batch::of(fill)).is_ok());
    let batch = Batch::of([insert(program, "one", &[3], 1), set_value(program, 78)]);
    let outcome = target.execute(batch);
    let is_full = |fault: &Fault| matches!(fault, Fault::Refused(UpdateError::TableFull { .. }));
    assert!(outcome.results[0].as_ref().is_err_and(is_full), "{outcome:?}");
    assert!(outcome.results[1].is_ok(), "{outcome:?}");
    let init = table(&scene.programs.run, "init");
    let configuration = device.configuration();
    let action = &configuration.table(init).expect("it is there").default_action().action;
    assert_eq!(action.arguments[1].low_u64(), 78);
}

#[test]
fn what_others_put_there_stays_when_an_insertion_is_refused() {
    for atomicity in [Atomicity::ContinueOnError, Atomicity::RollbackOnError] {
        let (mut device, mut target, scene) = at_once();
        let Programs { written, run } = scene.programs;
        let theirs = [insert(run, "one", &[0, 5], 99), insert(run, "one", &[1, 5], 99)];
        assert!(device.execute(Batch::of(theirs)).is_ok());
        let batch = Batch::one(insert(written, "one", &[5], 1)).with(atomicity);
        let outcome = target.execute(batch);
        assert!(!outcome.is_ok(), "{outcome:?}");
        device.run_to_completion().expect("no assertion fails");
        let configuration = device.configuration();
        let one = configuration.table(table(run, "one")).expect("it is there");
        assert_eq!(one.entries().count(), 2, "{atomicity:?}");
    }
}

#[test]
fn an_atomic_batch_is_refused_by_an_item_wise_driver_and_taken_by_the_map() {
    let write = |scene: &Scene| {
        let program = &scene.programs.written;
        let batch = [insert(program, "one", &[0], 1), insert(program, "two", &[0], 1)];
        let mut device = scene.device();
        let mut target = scene.target(&device);
        let batch = Batch::of(batch).with(Atomicity::DataplaneAtomic);
        let ticket = target.submit(batch, 0);
        loop {
            if let Some(outcome) = target.poll(ticket) {
                return (outcome, target.visibility());
            }
            let next_ps = device.next_event_ps().expect("the driver has something to do");
            device.advance(next_ps).expect("no assertion fails");
        }
    };
    let (outcome, visibility) = write(&Scene::timed(Mistake::Identity, item_wise()));
    assert!(matches!(outcome.first_fault(), Some((0, Fault::Unsupported(_)))), "{outcome:?}");
    assert!(outcome.rolled_back);
    assert_eq!(visibility, Visibility::Items);
    let (outcome, visibility) = write(&Scene::timed(Mistake::None, item_wise()));
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(visibility, Visibility::Pass);
}

#[test]
fn a_prepared_operation_of_the_program_as_written_goes_with_its_entry() {
    let (_device, mut target, scene) = at_once();
    let program = &scene.programs.written;
    let one = table(program, "one");
    let again = insert(program, "one", &[5], 2);
    assert!(target.execute(Batch::one(insert(program, "one", &[5], 1))).is_ok());
    let keys = exact(program, one, &[5]);
    let action = bound(program, one, "set_one", &[0]).action;
    let prepared = prepare_entry(&mut *target, one, keys.clone(), 0, action).expect("it is there");
    let batch = |value| prepared.batch(vec![Bits::from_u64(16, value)]).expect("it fits");
    assert!(target.execute(batch(3)).is_ok());
    let delete = Update::DeleteEntry { table: one, keys, priority: 0 };
    assert!(target.execute(Batch::of([delete, again])).is_ok());
    let outcome = target.execute(batch(4));
    let fault = outcome.first_fault().map(|(_, fault)| fault);
    let is_refused = matches!(fault, Some(Fault::Refused(UpdateError::EntryChanged { .. })));
    assert!(is_refused, "{outcome:?}");
}

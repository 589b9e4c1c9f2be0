// SPDX-License-Identifier: Apache-2.0
//! What scaling needs: one program as two pipeline instances that share tables and own the cells of register arrays by
//! index. Ingress runs on the owner of a packet's cell in one array and egress on the owner of its cell in the other,
//! each instance on a thread, while 100 passes are in flight; a batch comes between. Packets and state have to be
//! those of one device that runs packets one after the other.

use crate::seams::{answer, bound, entry, program, register, table};
use control::map::{Mapped, Physical, TargetIndex, Translation, Virtual};
use control::target::{
    Batch, Fault, Item, Notification, Outcome, Reply, Target, Ticket, Visibility,
};
use device::{CallerPasses, Device, DeviceOptions, EngineChoice, Executor, Gress, Pass};
use ir::{Program, RegisterId};
use state::{Atomicity, CellRange, CellValues, Configuration, CounterValue, Read, Store, Update};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use testing::{Choices, cases};

/// Packets of a round: their passes through ingress have all begun before the first of them runs.
const IN_FLIGHT: usize = 100;

static PROGRAM: LazyLock<Arc<Program>> = LazyLock::new(|| program(include_str!("scale.p4")));

/// What is wrong with the many instances, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// A pass through ingress runs on the instance of its port.
    WrongInstance,
    /// An instance runs its passes in another order than that of their arrival.
    WrongOrder,
    /// Passes are finished as instances come to their ends.
    FinishedUnordered,
    /// The map reads the cells of all arrays by one rule.
    WrongOwner,
    /// The batch comes after the round.
    LateBatch,
}

const MISTAKES: [Mistake; 5] = [
    Mistake::WrongInstance,
    Mistake::WrongOrder,
    Mistake::FinishedUnordered,
    Mistake::WrongOwner,
    Mistake::LateBatch,
];

/// The instance that owns a cell: by the parity of its index, inverted in the second array.
fn owner(array: Gress, index: u64) -> usize {
    match array {
        Gress::Ingress => (index % 2) as usize,
        Gress::Egress => (index / 2 % 2) as usize,
    }
}

/// An instance and its cells as a target. Tables are not its own: all instances share the device's.
struct Instance {
    executor: Mutex<Executor>,
    /// A configuration that stays as the program gives it.
    store: Store,
}

struct InstanceTarget {
    instance: Arc<Instance>,
    answers: Vec<Outcome>,
}

impl Target for InstanceTarget {
    fn program(&self) -> Arc<Program> {
        PROGRAM.clone()
    }

    fn now_ps(&self) -> u64 {
        0
    }

    fn visibility(&self) -> Visibility {
        Visibility::Pass
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let items = batch.items.into_iter().map(|item| match item {
            Item::State(item) => item,
            Item::Device(_) => unreachable!("instances have no queues"),
        });
        let batch =
            state::Batch { items: items.collect(), atomicity: batch.atomicity, now_ps: at_ps };
        let mut executor = self.instance.executor.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.instance.store.write_batch_in_place(executor.cells_mut(), batch);
        let result = |result: Result<_, _>| result.map(Reply::State).map_err(Fault::Refused);
        let results = done.results.into_iter().map(result).collect();
        let rolled_back = done.rolled_back;
        self.answers.push(Outcome { results, rolled_back, ..Outcome::empty(at_ps) });
        Ticket(self.answers.len() as u64 - 1)
    }

    fn reserve(&mut self, _: Batch, at_ps: u64) -> Ticket {
        self.answers.push(Outcome::empty(at_ps));
        Ticket(self.answers.len() as u64 - 1)
    }

    fn commit(&mut self, reservation: Ticket, _: u64) -> Ticket {
        reservation
    }

    fn release(&mut self, _: Ticket) {}

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.reserve(Batch::default(), at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        self.answers.get(ticket.0 as usize).cloned()
    }

    fn notifications(&mut self) -> Vec<Notification> {
        Vec::new()
    }
}

/// The map: configuration is the device's (target 0), cells are those of instances (from target 1).
#[derive(Debug)]
struct Sharded {
    mistake: Mistake,
}

impl Sharded {
    /// The instance of each cell of a range.
    fn owners(&self, of: RegisterId, cells: CellRange) -> Vec<(TargetIndex, u64)> {
        let array = match of == register(&PROGRAM, "departures") {
            true if self.mistake != Mistake::WrongOwner => Gress::Egress,
            _ => Gress::Ingress,
        };
        let end = cells.count.map_or(16, |count| cells.first + count);
        let owner = |index| (TargetIndex(1 + owner(array, index)), index);
        (cells.first..end).map(owner).collect()
    }
}

impl Translation for Sharded {
    fn program(&self) -> Arc<Program> {
        PROGRAM.clone()
    }

    fn targets(&self) -> Vec<TargetIndex> {
        (0..3).map(TargetIndex).collect()
    }

    fn update(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        Ok(match update {
            Update::WriteRegister { register, cells, values } => {
                let value = |place: usize| match values {
                    CellValues::Same(value) => value.clone(),
                    CellValues::Each(values) => values[place].clone(),
                };
                let owners = self.owners(*register, *cells).into_iter().enumerate();
                let write = |(place, (target, index))| {
                    let (cells, values) = (CellRange::one(index), CellValues::Same(value(place)));
                    Physical::at(
                        target,
                        Update::WriteRegister { register: *register, cells, values },
                    )
                };
                owners.map(write).collect()
            }
            Update::WriteCounter { counter, cells, values } => {
                let write = |target| {
                    let values = match target {
                        1 => values.clone(),
                        _ => CellValues::Same(CounterValue::default()),
                    };
                    let (counter, cells) = (*counter, *cells);
                    Physical::at(
                        TargetIndex(target),
                        Update::WriteCounter { counter, cells, values },
                    )
                };
                (1..3).map(write).collect()
            }
            configuration => vec![Physical::at(TargetIndex(0), configuration.clone())],
        })
    }

    fn read(&mut self, read: &Read, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        Ok(match read {
            Read::Register { register, cells } => {
                let read = |(target, index)| {
                    let cells = CellRange::one(index);
                    Physical::at(target, Read::Register { register: *register, cells })
                };
                self.owners(*register, *cells).into_iter().map(read).collect()
            }
            read => (1..3).map(|target| Physical::at(TargetIndex(target), read.clone())).collect(),
        })
    }

    fn combine(&mut self, _: &Read, replies: Vec<state::Reply>) -> Result<state::Reply, Fault> {
        let add = |whole, part| match (whole, part) {
            (state::Reply::Registers(mut all), state::Reply::Registers(more)) => {
                all.extend(more);
                state::Reply::Registers(all)
            }
            (state::Reply::Counters(mut sums), state::Reply::Counters(more)) => {
                for (sum, more) in sums.iter_mut().zip(more) {
                    sum.packets += more.packets;
                    sum.bytes += more.bytes;
                }
                state::Reply::Counters(sums)
            }
            (whole, _) => whole,
        };
        replies.into_iter().reduce(add).ok_or(Fault::Gone)
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        _: &Configuration,
    ) -> Vec<Notification> {
        vec![notification]
    }
}

/// A packet: port, key, index.
type Arrival = (u32, u8, u8);

fn bytes((_, key, index): Arrival) -> Vec<u8> {
    let mut bytes = vec![key, index];
    bytes.resize(16, 0);
    bytes
}

/// What a run shows: packets by port and bytes in the order in which they left, and answers to reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown {
    packets: Vec<(u32, u64, Vec<u8>)>,
    answers: Vec<String>,
}

/// A round: packets, and the batch that comes after so many of them.
struct Round {
    arrivals: Vec<Arrival>,
    batch: Batch,
    batch_after: usize,
}

/// A batch of entries, cells and reads.
fn batch(choices: &mut Choices) -> Batch {
    let program = &PROGRAM;
    let amounts = table(program, "amounts");
    let mut items = Vec::new();
    for _ in 0..choices.between(1, 6) {
        let key = choices.below(8) as u64;
        let (name, arguments): (&str, &[u64]) = match choices.below(5) {
            0 => ("discard", &[]),
            _ => ("add", &[choices.below(100) as u64, 1 + choices.below(4) as u64]),
        };
        let entry = entry(program, amounts, &[key], bound(program, amounts, name, arguments));
        items.push(Item::from(match choices.chance(50) {
            true => Update::InsertEntry { table: amounts, entry },
            false => Update::ModifyEntry { table: amounts, entry },
        }));
    }
    Batch { items, atomicity: Atomicity::ContinueOnError, ..Batch::default() }
}

/// Reads of all cells, and a write of some, between two rounds.
fn cells_batch(choices: &mut Choices) -> Batch {
    let mut items = Vec::new();
    for name in ["arrivals", "departures"] {
        let register = register(&PROGRAM, name);
        if choices.chance(50) {
            let first = choices.below(12) as u64;
            let cells = CellRange { first, count: Some(4) };
            let value = ir::Bits::from_u64(32, choices.below(1000) as u64);
            let values = CellValues::Each(vec![value; 4]);
            items.push(Item::from(Update::WriteRegister { register, cells, values }));
        }
        let cells = CellRange { first: 0, count: None };
        items.push(Item::from(Read::Register { register, cells }));
    }
    let cells = CellRange { first: 0, count: None };
    items.push(Item::from(Read::Counter { counter: ir::CounterId(0), cells }));
    Batch { items, atomicity: Atomicity::ContinueOnError, ..Batch::default() }
}

fn rounds(choices: &mut Choices) -> Vec<(Round, Batch)> {
    let mut round = || {
        let arrival = |choices: &mut Choices| {
            (choices.below(4) as u32, choices.below(8) as u8, choices.below(16) as u8)
        };
        let arrivals = (0..IN_FLIGHT).map(|_| arrival(choices)).collect();
        let batch_after = choices.between(1, IN_FLIGHT as u32 - 1) as usize;
        (Round { arrivals, batch: batch(choices), batch_after }, cells_batch(choices))
    };
    (0..2).map(|_| round()).collect()
}

fn device(engine: EngineChoice) -> Device {
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    Device::new(PROGRAM.clone(), options).expect("it loads")
}

fn take_packets(device: &mut Device, shown: &mut Shown) {
    let mut sent = device.drain_transmitted();
    sent.sort_by_key(|packet| packet.sequence);
    shown.packets.extend(sent.into_iter().map(|sent| (sent.port, sent.packet, sent.bytes)));
}

/// One device, packets one after the other.
fn one_after_another(engine: EngineChoice, rounds: &[(Round, Batch)]) -> Shown {
    let mut device = device(engine);
    let mut target = device.target();
    let mut shown = Shown::default();
    for (round, cells) in rounds {
        for (at, arrival) in round.arrivals.iter().enumerate() {
            if at == round.batch_after {
                shown.answers.push(format!("{:?}", target.execute(round.batch.clone()).results));
            }
            device.inject(arrival.0, 0, bytes(*arrival)).expect("the port exists");
            device.advance(0).expect("no assertion fails");
        }
        take_packets(&mut device, &mut shown);
        shown.answers.push(format!("{:?}", target.execute(cells.clone()).results));
    }
    shown
}

/// Runs all blocks of passes on their instances, each instance on a thread. Gives them back in the order in which
/// they are to be finished.
fn run_passes(
    instances: &[Arc<Instance>; 2],
    passes: Vec<Pass>,
    indices: &[u8],
    mistake: Mistake,
) -> Vec<Pass> {
    let mut by_instance: [Vec<(usize, Pass)>; 2] = Default::default();
    for (at, pass) in passes.into_iter().enumerate() {
        let index = u64::from(indices[pass.packet() as usize % IN_FLIGHT]);
        let instance = match mistake {
            Mistake::WrongInstance => pass.ingress_port() as usize % 2,
            _ => owner(pass.gress(), index),
        };
        by_instance[instance].push((at, pass));
    }
    let run = |instance: &Instance, mut passes: Vec<(usize, Pass)>| {
        let mut executor = instance.executor.lock().unwrap_or_else(PoisonError::into_inner);
        if mistake == Mistake::WrongOrder {
            passes.reverse();
        }
        for (_, pass) in &mut passes {
            while pass.next_block().is_some() {
                executor.run(pass, 0).expect("no assertion fails");
            }
        }
        passes
    };
    let mut done: Vec<(usize, Pass)> = thread::scope(|scope| {
        let pairs = instances.iter().zip(by_instance);
        let threads = pairs.map(|(instance, passes)| scope.spawn(move || run(instance, passes)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("it runs"));
        joined.flatten().collect()
    });
    if mistake != Mistake::FinishedUnordered {
        done.sort_by_key(|(at, _)| *at);
    }
    done.into_iter().map(|(_, pass)| pass).collect()
}

/// Two instances of the program of one device.
fn two_instances(engine: EngineChoice, rounds: &[(Round, Batch)], mistake: Mistake) -> Shown {
    let mut device = device(engine);
    device.give_passes(CallerPasses { ingress: true, egress: true });
    let instance = || {
        let executor = device.executor(device.program_id()).expect("the program is loaded");
        let store = Store::new(PROGRAM.clone()).expect("no entry of the program is wrong");
        Arc::new(Instance { executor: Mutex::new(executor), store })
    };
    let instances = [instance(), instance()];
    let mut below: Vec<Box<dyn Target>> = vec![Box::new(device.target())];
    for instance in &instances {
        below.push(Box::new(InstanceTarget { instance: instance.clone(), answers: Vec::new() }));
    }
    let map = Virtual::new(Sharded { mistake }).expect("the program is whole");
    let mut target = Mapped::new(map, below);
    let mut execute = |device: &mut Device, batch: &Batch| {
        let ticket = target.submit(batch.clone(), 0);
        format!("{:?}", answer(device, &mut target, ticket).results)
    };
    let mut shown = Shown::default();
    for (round, cells) in rounds {
        let indices: Vec<u8> = round.arrivals.iter().map(|arrival| arrival.2).collect();
        let mut begun = Vec::new();
        for (at, arrival) in round.arrivals.iter().enumerate() {
            if at == round.batch_after && mistake != Mistake::LateBatch {
                shown.answers.push(execute(&mut device, &round.batch));
            }
            let pass = device.begin(arrival.0, 0, bytes(*arrival)).expect("the port exists");
            begun.push(pass.expect("nothing stops it"));
        }
        if mistake == Mistake::LateBatch {
            shown.answers.push(execute(&mut device, &round.batch));
        }
        for pass in run_passes(&instances, begun, &indices, mistake) {
            device.finish(pass).expect("it is a pass of this device");
            device.advance(0).expect("no assertion fails");
        }
        let leaving = device.take_passes();
        for pass in run_passes(&instances, leaving, &indices, mistake) {
            device.finish(pass).expect("it is a pass of this device");
        }
        device.advance(0).expect("no assertion fails");
        take_packets(&mut device, &mut shown);
        shown.answers.push(execute(&mut device, cells));
    }
    shown
}

/// Compares over seeds; gives how many of them differ.
fn differences(engine: EngineChoice, seeds: u64, mistake: Mistake) -> u64 {
    let mut differing = 0;
    for seed in 0..seeds {
        let rounds = rounds(&mut Choices::from_seed(seed));
        let expected = one_after_another(engine, &rounds);
        assert!(expected.packets.len() > IN_FLIGHT, "most packets leave");
        let found = two_instances(engine, &rounds, mistake);
        if mistake == Mistake::None {
            let mut pairs = found.packets.iter().zip(&expected.packets).enumerate();
            let first = pairs.find(|(_, (found, expected))| found != expected);
            assert_eq!(first, None, "seed {seed} on {engine:?}");
            assert_eq!(found.packets.len(), expected.packets.len(), "seed {seed} on {engine:?}");
            assert_eq!(found.answers, expected.answers, "seed {seed} on {engine:?}");
        }
        differing += u64::from(found != expected);
    }
    differing
}

#[test]
fn two_instances_mean_what_one_means() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        assert_eq!(differences(engine, cases(20), Mistake::None), 0);
    }
}

#[test]
fn mistakes_of_instances_are_caught() {
    for mistake in MISTAKES {
        for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
            let differing = differences(engine, 4, mistake);
            assert!(differing > 0, "{mistake:?} on {engine:?} is not caught");
        }
    }
}

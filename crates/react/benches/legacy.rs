// SPDX-License-Identifier: Apache-2.0
//! What packets, dialogues and updates of other controllers cost each other, on two threads:
//!
//!     cargo bench -p react --bench legacy
//!
//! One thread forwards bursts of 32 packets. The other one runs dialogues, without a pause or at a `@rate`, and, or, sends
//! 100,000 updates/s for the program as written, to an ordinary table or to a malleable one. Each row alternates slices of
//! time with and without the other thread's work. It gives the median of the ratios of packets by the processor time of the
//! forwarding thread, then what the other thread did in a second, the median time of a dialogue, and the pairs of slices.
//! Slices in which a busy machine took one of the threads away are repeated. The first line is the time of a cache line
//! between the threads, which the ratios depend on. Needs a C compiler.

mod reacting_switch;

use control::target::{Batch, OfController, Target, Ticket};
use device::{Burst, Device};
use ir::{ActionId, Bits, KeyPattern, TableId};
use react::agent::Agent;
use reacting_switch::ReactingSwitch;
use rustix::time::{ClockId, clock_gettime};
use state::{BoundAction, NewEntry, Update};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const BURST: usize = 32;
const PACKET_BYTES: usize = 64;
/// Short, so that a busy machine leaves some slices whole.
const SLICE: Duration = Duration::from_millis(3);
const PAIRS: usize = 201;
/// Pairs that are tried to get so many in which both threads had a processor of their own.
const MAX_TRIES: usize = 8 * PAIRS;
/// The least share of a slice for which a thread ran that had a processor of its own.
const WHOLE: f64 = 0.98;
/// Updates of the legacy controller in a second.
const UPDATE_RATE: f64 = 100_000.0;
/// Updates that it sends before the first of them is answered.
const MAX_OUTSTANDING: usize = 1024;
/// Entries that it changes in turn.
const ENTRIES: u64 = 256;

const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header ip_t { bit<32> src; bit<32> dst; }
struct headers_t { ip_t ip; }
struct meta_t { bit<32> level; }
malleable value bit<32> level { init = 1; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {
    state start { p.extract(hdr.ip); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {
    register<bit<32>>(256) depths;
    action send(bit<9> port) { s.egress_spec = port; }
    table ordinary {
        key = { hdr.ip.src: exact; }
        actions = { send; NoAction; }
        default_action = send(1);
        size = 1024;
    }
    malleable table malleable_one {
        key = { hdr.ip.dst: exact; }
        actions = { send; NoAction; }
        default_action = send(1);
        size = 1024;
    }
    apply {
        meta.level = ${level};
        depths.write(hdr.ip.src & 255, hdr.ip.dst + meta.level);
        ordinary.apply();
        malleable_one.apply();
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.ip); } }
RATE reaction r(reg depths[0:0]) { static uint32_t calls; ${level} = ++calls + depths[0]; }
V1Switch(P(), C(), I(), E(), C(), D()) main;
";

/// The processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What the forwarding thread did in a slice.
#[derive(Clone, Copy, Debug, Default)]
struct Forwarded {
    packets: u64,
    processor: Duration,
    clock: Duration,
}

impl Forwarded {
    fn rate(&self) -> f64 {
        self.packets as f64 / self.processor.as_secs_f64()
    }

    fn is_whole(&self) -> bool {
        self.processor.as_secs_f64() > WHOLE * self.clock.as_secs_f64()
    }
}

fn burst() -> Burst {
    let mut burst = Burst::new(BURST, PACKET_BYTES);
    for number in 0..BURST as u32 {
        let mut bytes = [0; PACKET_BYTES];
        bytes[..4].copy_from_slice(&(number * 7).to_be_bytes());
        bytes[4..8].copy_from_slice(&(number * 5).to_be_bytes());
        burst.push(0, &bytes).expect("there is room");
    }
    burst
}

/// Forwards packets for a slice of time.
fn forward(device: &mut Device, burst: &mut Burst, begun: Instant) -> Forwarded {
    let (begin, begin_processor) = (Instant::now(), processor_time());
    let mut packets = 0;
    while begin.elapsed() < SLICE {
        device.advance(begun.elapsed().as_nanos() as u64 * 1000).expect("it runs");
        device.forward(burst).expect("it forwards");
        assert_eq!(burst.outputs().len(), BURST);
        burst.rewind();
        packets += BURST as u64;
    }
    Forwarded { packets, processor: processor_time() - begin_processor, clock: begin.elapsed() }
}

/// A controller of the program as written that modifies entries at a rate.
struct Legacy {
    table: TableId,
    action: ActionId,
    sent: u64,
    done: u64,
    outstanding: VecDeque<Ticket>,
}

impl Legacy {
    fn new(target: &mut dyn Target, table: &str) -> Legacy {
        let program = target.program();
        let table = program.tables.iter().position(|one| one.name.ends_with(table));
        let action = program.actions.iter().position(|one| one.name.ends_with("send"));
        let mut legacy = Legacy {
            table: TableId(table.expect("the table") as u32),
            action: ActionId(action.expect("the action") as u32),
            sent: 0,
            done: 0,
            outstanding: VecDeque::new(),
        };
        let (table, entries) = (legacy.table, (0..ENTRIES).map(|_| legacy.entry()));
        let inserts = entries.map(|entry| Update::InsertEntry { table, entry }).collect::<Vec<_>>();
        assert_eq!(target.execute(Batch::of(inserts)).first_fault(), None);
        legacy.sent = 0;
        legacy
    }

    /// The entry whose turn it is, with another port than the last time.
    fn entry(&mut self) -> NewEntry {
        let (key, port) = (self.sent % ENTRIES, self.sent / ENTRIES % 8);
        self.sent += 1;
        let keys = vec![KeyPattern::Exact(Bits::from_u64(32, key))];
        let arguments = vec![Bits::from_u64(9, port)];
        NewEntry::direct(keys, 0, BoundAction { action: self.action, arguments })
    }

    /// Sends what is due after this time, and takes answers.
    fn work(&mut self, target: &mut dyn Target, since: Duration) {
        let due = (since.as_secs_f64() * UPDATE_RATE) as u64;
        if self.sent < due && self.outstanding.len() < MAX_OUTSTANDING {
            let (table, entry) = (self.table, self.entry());
            let now_ps = target.now_ps();
            let batch = Batch::one(Update::ModifyEntry { table, entry });
            self.outstanding.push_back(target.submit(batch, now_ps));
        }
        while let Some(first) = self.outstanding.front().copied()
            && let Some(outcome) = target.poll(first)
        {
            assert_eq!(outcome.first_fault(), None);
            self.outstanding.pop_front();
            self.done += 1;
        }
    }
}

/// What the other thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Work {
    has_dialogues: bool,
    /// Least time from dialogue to dialogue, in microseconds; 0 for dialogues without a pause.
    interval_us: u64,
    /// The table of legacy updates.
    legacy: Option<&'static str>,
}

/// What the other thread did in its slices with a processor of its own.
#[derive(Clone, Debug, Default)]
struct Done {
    clock: Duration,
    dialogues: Vec<Duration>,
    updates: u64,
}

/// What the threads tell each other.
#[derive(Debug, Default)]
struct Signals {
    command: AtomicU8,
    is_working: AtomicBool,
    /// Whether the other thread had a processor of its own in its last slice.
    is_whole: AtomicBool,
}

/// Commands of the main thread to the other thread.
const PAUSE: u8 = 0;
const WORK: u8 = 1;
const END: u8 = 2;

fn control(
    work: Work,
    agent: &mut Agent,
    target: Box<dyn Target>,
    (begun, signals): (Instant, &Signals),
) -> Done {
    let Signals { command, is_working, is_whole } = signals;
    let target = Arc::new(Mutex::new(target));
    let [mut of_agent, mut of_legacy] = [0, 1].map(|number| OfController::new(&target, number));
    let mut done = Done::default();
    let mut legacy = work.legacy.map(|table| Legacy::new(&mut of_legacy, table));
    let (mut next_ps, mut times) = (0, Vec::new());
    loop {
        match command.load(Ordering::Acquire) {
            PAUSE => {
                is_working.store(false, Ordering::Release);
                std::thread::sleep(Duration::from_micros(200));
                continue;
            }
            WORK => is_working.store(true, Ordering::Release),
            _ => break,
        }
        let (begin, begin_processor) = (Instant::now(), processor_time());
        if let Some(legacy) = &mut legacy {
            (legacy.sent, legacy.done) = (0, 0);
        }
        let (mut dialogues, mut dialogue_began) = (agent.statistics().dialogues, Instant::now());
        while command.load(Ordering::Relaxed) == WORK {
            // Read in every row, as all of them have to cost the machine the same.
            let now_ps = begun.elapsed().as_nanos() as u64 * 1000;
            if work.has_dialogues && next_ps <= now_ps {
                let next = agent.round(&mut of_agent).expect("it reacts");
                next_ps = next.unwrap_or(0);
                let now = agent.statistics().dialogues;
                if now != dialogues {
                    times.push(dialogue_began.elapsed());
                    (dialogues, dialogue_began) = (now, Instant::now());
                }
            }
            if let Some(legacy) = &mut legacy {
                legacy.work(&mut of_legacy, begin.elapsed());
            }
        }
        let (clock, processor) = (begin.elapsed(), processor_time() - begin_processor);
        is_whole.store(processor.as_secs_f64() > WHOLE * clock.as_secs_f64(), Ordering::Relaxed);
        if is_whole.load(Ordering::Relaxed) {
            done.clock += clock;
            done.dialogues.append(&mut times);
            done.updates += legacy.as_ref().map_or(0, |legacy| legacy.done);
        }
        times.clear();
    }
    done
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs slices without the work and with it, in turn, and prints the row.
fn row(name: &str, work: Work) {
    let rate = match work.interval_us {
        0 => String::new(),
        interval_us => format!("@rate(\"{interval_us}us\")"),
    };
    let text = PROGRAM.replace("RATE", &rate);
    let ReactingSwitch { mut device, target, mut agent } = ReactingSwitch::new(&text);
    let signals = Signals::default();
    let Signals { command, is_working, is_whole } = &signals;
    let begun = Instant::now();
    let (pairs, done) = std::thread::scope(|scope| {
        let other = scope.spawn(|| control(work, &mut agent, target, (begun, &signals)));
        let mut burst = burst();
        let mut pairs: Vec<(Forwarded, Forwarded)> = Vec::new();
        forward(&mut device, &mut burst, begun);
        for _ in 0..MAX_TRIES {
            let alone = forward(&mut device, &mut burst, begun);
            command.store(WORK, Ordering::Release);
            while !is_working.load(Ordering::Acquire) {
                device.advance(begun.elapsed().as_nanos() as u64 * 1000).expect("it runs");
            }
            let beside = forward(&mut device, &mut burst, begun);
            command.store(PAUSE, Ordering::Release);
            while is_working.load(Ordering::Acquire) {
                device.advance(begun.elapsed().as_nanos() as u64 * 1000).expect("it runs");
            }
            if beside.is_whole() && is_whole.load(Ordering::Relaxed) {
                pairs.push((alone, beside));
            }
            if pairs.len() == PAIRS {
                break;
            }
        }
        command.store(END, Ordering::Release);
        (pairs, other.join().expect("the other thread ends"))
    });
    let of = |value: fn(&(Forwarded, Forwarded)) -> f64| median(pairs.iter().map(value).collect());
    let alone = of(|(alone, _)| alone.rate());
    let ratio = of(|(alone, beside)| beside.rate() / alone.rate());
    let seconds = done.clock.as_secs_f64();
    let count = done.dialogues.len();
    let times = done.dialogues.iter().map(|time| time.as_nanos() as f64).collect();
    let dialogue = if count > 0 { format!("{:.0}", median(times)) } else { String::new() };
    println!(
        "{name:>30} {:>8.2} M {ratio:>6.3} {:>11.0} {dialogue:>10} {:>9.0} {:>6}",
        alone / 1e6,
        count as f64 / seconds,
        done.updates as f64 / seconds,
        pairs.len(),
    );
}

/// The time in which a cache line goes to the other thread and back, in nanoseconds: the median of several tries.
fn round_trip_ns() -> f64 {
    const TRIES: usize = 41;
    const TURNS: u64 = 50;
    let turn = AtomicU64::new(0);
    let wait_for = |wanted: u64| {
        while turn.load(Ordering::Acquire) != wanted {
            std::hint::spin_loop();
        }
    };
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..TRIES as u64 * TURNS {
                wait_for(2 * number + 1);
                turn.store(2 * number + 2, Ordering::Release);
            }
        });
        for number in 0..TRIES as u64 {
            let begin = Instant::now();
            for number in number * TURNS..(number + 1) * TURNS {
                turn.store(2 * number + 1, Ordering::Release);
                wait_for(2 * number + 2);
            }
            times.push(begin.elapsed().as_nanos() as f64 / TURNS as f64);
        }
    });
    median(times)
}

fn main() {
    println!("a cache line goes to the other thread and back in {:.0} ns", round_trip_ns());
    println!(
        "{:>30} {:>10} {:>6} {:>11} {:>10} {:>9} {:>6}",
        "other thread", "alone", "ratio", "dialogues/s", "median, ns", "updates/s", "pairs"
    );
    let chosen = std::env::args().find_map(|argument| argument.parse::<usize>().ok());
    let (ordinary, malleable) = (Some("ordinary"), Some("malleable_one"));
    let rows = [
        ("nothing", None, None),
        ("dialogues without a pause", Some(0), None),
        ("a dialogue each 10 us", Some(10), None),
        ("a dialogue each 20 us", Some(20), None),
        ("a dialogue each 100 us", Some(100), None),
        ("updates of an ordinary table", None, ordinary),
        ("updates of a malleable table", None, malleable),
        ("dialogues, ordinary table", Some(0), ordinary),
        ("dialogues, malleable table", Some(0), malleable),
    ];
    for (number, (name, interval, legacy)) in rows.into_iter().enumerate() {
        if chosen.is_none_or(|chosen| chosen == number) {
            let interval_us = interval.unwrap_or(0);
            row(name, Work { has_dialogues: interval.is_some(), interval_us, legacy });
        }
    }
}

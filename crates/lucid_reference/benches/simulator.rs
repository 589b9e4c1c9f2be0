// SPDX-License-Identifier: Apache-2.0
//! How many events a second the simulator handles, in a loop of one event, and how that compares
//! with an event loop written by hand in Rust for this one program. `cargo bench -p lucid_reference --bench simulator`.

#[path = "../tests/it/simulation/build.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod build;

use build::*;
use lucid::core::*;
use lucid::syntax::ast::BinaryOperator;
use lucid_reference::interpreter::{State, Value};
use lucid_reference::simulation::{NullObserver, Setup, Simulation};
use lucid_reference::specification::{Draw, Gap, Generator, Input, InputKind};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

const GENERATE_DELAY_PS: u64 = 600_000;
const EVENT_TIME_PS: u64 = 1_000;
const CELLS: u64 = 1024;
const EVENTS: u64 = 3_000_000;

/// `event turn(int n) { cells[n & 1023] += 1; generate turn(n + 1); }`
fn program() -> Arc<Program> {
    let int32 = Type::Int(32);
    let index = of(ExpressionKind::Slice(Box::new(local(0, int32)), 0), Type::Int(10));
    let next = binary(BinaryOperator::Add, local(0, int32), int(1, 32));
    Builder::new()
        .array("cells", 32, CELLS)
        .event(
            "turn",
            &[("n", int32)],
            &[],
            vec![add_to_cell(0, index, int(1, 32), None), generate(event_value(0, vec![next]))],
        )
        .done()
}

/// The time until which about so many events are handled.
fn end_ps(in_flight: u64, switches: u64, events: u64) -> u64 {
    // A switch handles one event a nanosecond, and each event comes back after 600.
    let per_round = in_flight.min(600 * switches);
    (events / per_round).max(1) * GENERATE_DELAY_PS
}

/// Time that this process spent on a processor, so that other processes do not count; wall-clock time
/// where the system does not report it.
struct Clock {
    start: Instant,
    on_processor: Option<Duration>,
}

fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

impl Clock {
    fn start() -> Clock {
        Clock { start: Instant::now(), on_processor: on_processor() }
    }

    fn elapsed(&self) -> Duration {
        match (self.on_processor, on_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.start.elapsed(),
        }
    }
}

fn simulate(in_flight: u64, switches: u64) -> (u64, Duration, u64) {
    let program = program();
    let mut specification = run(switches as u32);
    specification.max_time_ps = u64::MAX;
    let locations = (0..switches as u32).map(|switch| (switch, 0)).collect();
    specification.inputs = vec![Input {
        time_ps: Some(0),
        locations,
        kind: InputKind::Generator(Generator {
            name: "turn".to_string(),
            arguments: vec![Draw::Sequence { start: 0, step: 1 }],
            count: in_flight.div_ceil(switches),
            gap: Gap::Constant(0),
        }),
        field_spans: Default::default(),
    }];
    let setup = match Setup::new(program, &specification) {
        Ok(setup) => setup,
        Err(found) => panic!("{found:?}"),
    };
    let mut simulation = Simulation::new(Arc::new(setup));
    // All events are in flight before the clock starts.
    simulation.run_until(GENERATE_DELAY_PS, &mut NullObserver);
    let before = simulation.handled();
    let start = Clock::start();
    simulation
        .run_until(GENERATE_DELAY_PS + end_ps(in_flight, switches, EVENTS), &mut NullObserver);
    let time = start.elapsed();
    let sum = |state: &State| -> u128 {
        let cells = state.cells(GlobalId(0));
        (0..CELLS).filter_map(|at| Some(cells?.get(at.into())?[0])).sum()
    };
    let total: u128 = (0..switches as u32).filter_map(|at| simulation.state(at)).map(sum).sum();
    assert_eq!(total, u128::from(simulation.handled()));
    (simulation.handled() - before, time, simulation.handled())
}

/// Time, switch, sequence, event; no event is a switch's time for those that wait.
type Entry = Reverse<(u64, u32, u64, Option<u32>)>;

/// The same loop, as one would write it for this program alone.
struct ByHand {
    cells: Vec<[u32; CELLS as usize]>,
    waiting: Vec<VecDeque<u32>>,
    free_at_ps: Vec<u64>,
    queue: BinaryHeap<Entry>,
    sequence: u64,
    handled: u64,
}

impl ByHand {
    fn new(in_flight: u64, switches: u64) -> ByHand {
        let mut by_hand = ByHand {
            cells: vec![[0; CELLS as usize]; switches as usize],
            waiting: vec![VecDeque::new(); switches as usize],
            free_at_ps: vec![0; switches as usize],
            queue: BinaryHeap::new(),
            sequence: 0,
            handled: 0,
        };
        for number in 0..in_flight.div_ceil(switches) {
            for switch in 0..switches as u32 {
                by_hand.push(0, switch, Some(number as u32));
            }
        }
        by_hand
    }

    fn push(&mut self, time_ps: u64, switch: u32, event: Option<u32>) {
        self.sequence += 1;
        self.queue.push(Reverse((time_ps, switch, self.sequence, event)));
    }

    fn run_until(&mut self, until_ps: u64) {
        while let Some(Reverse((now_ps, switch, _, event))) = self.queue.peek().copied() {
            if now_ps > until_ps {
                return;
            }
            self.queue.pop();
            let at = switch as usize;
            match event {
                Some(event) if self.waiting[at].is_empty() && self.free_at_ps[at] <= now_ps => {
                    self.turn(now_ps, switch, event);
                }
                Some(event) => {
                    if self.waiting[at].is_empty() {
                        self.push(self.free_at_ps[at], switch, None);
                    }
                    self.waiting[at].push_back(event);
                }
                None => {
                    if let Some(event) = self.waiting[at].pop_front() {
                        self.turn(now_ps, switch, event);
                    }
                    if !self.waiting[at].is_empty() {
                        self.push(self.free_at_ps[at], switch, None);
                    }
                }
            }
        }
    }

    fn turn(&mut self, now_ps: u64, switch: u32, n: u32) {
        let at = switch as usize;
        self.free_at_ps[at] = now_ps + EVENT_TIME_PS;
        let cell = &mut self.cells[at][n as usize % CELLS as usize];
        *cell = cell.wrapping_add(1);
        self.handled += 1;
        self.push(now_ps + GENERATE_DELAY_PS, switch, Some(n.wrapping_add(1)));
    }
}

fn by_hand(in_flight: u64, switches: u64) -> (u64, Duration, u64) {
    let mut by_hand = ByHand::new(in_flight, switches);
    by_hand.run_until(GENERATE_DELAY_PS);
    let before = by_hand.handled;
    let start = Clock::start();
    by_hand.run_until(GENERATE_DELAY_PS + end_ps(in_flight, switches, EVENTS));
    (by_hand.handled - before, start.elapsed(), by_hand.handled)
}

fn main() {
    // Only to be sure that values are as small as they are thought to be.
    assert!(std::mem::size_of::<Value>() <= 32);
    println!(
        "{:>10} {:>9} {:>14} {:>14} {:>7}",
        "in flight", "switches", "events/s", "by hand", "ratio"
    );
    for switches in [1, 100] {
        for in_flight in [1u64, 1_000, 1_000_000] {
            // The best of three rounds of both, in turns.
            let mut best = [0.0f64; 2];
            let mut handled = [0; 2];
            for _ in 0..3 {
                for (which, (events, time, total)) in
                    [simulate(in_flight, switches), by_hand(in_flight, switches)]
                        .into_iter()
                        .enumerate()
                {
                    best[which] = best[which].max(events as f64 / time.as_secs_f64());
                    handled[which] = total;
                }
            }
            assert_eq!(handled[0], handled[1], "both handle the same events");
            println!(
                "{:>10} {:>9} {:>14.0} {:>14.0} {:>7.2}",
                in_flight.max(switches),
                switches,
                best[0],
                best[1],
                best[0] / best[1]
            );
        }
    }
}

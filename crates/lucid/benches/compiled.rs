// SPDX-License-Identifier: Apache-2.0
//! How many events a second a compiled program handles on our switch, beside the reference interpreter in
//! the same process: `cargo bench -p lucid --bench compiled`. Each event goes out of the recirculation port
//! and comes in again, so that a number of them is always under way; the cable is a burst of packets.

use device::{Burst, Device, DeviceOptions, EngineChoice};
use lucid::compile::deploy::{self, Site};
use lucid::compile::{Delay, Options, compile, wire};
use lucid::compiled::lowered;
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::simulation::{Observation, Observer, Setup, Simulation};
use lucid::specification::{Draw, Gap, Generator, Input, InputKind, Places, Run};
use lucid::syntax::NoFiles;
use source::SourceMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROGRAM: &str = "\
global Array.t<32> cells = Array.create(1024);
memop plus(int stored, int x) { return stored + x; }
event turn(int n);
handle turn(int n) {
    Array.setm(cells, n[9:0], plus, 1);
    generate turn(n + 1);
}
";

/// A round through the recirculation port, in picoseconds.
const ROUND_PS: u64 = 600_000;
/// Events of one measurement on compiled code, and on the interpreters.
const EVENTS: u64 = 20_000_000;
const FEWER_EVENTS: u64 = 2_000_000;

/// Time that this process spent on a processor, so that other processes do not count.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Events a second of some work.
fn rate(work: impl FnOnce() -> u64) -> f64 {
    let (start, before) = (Instant::now(), on_processor());
    let events = work();
    let took = match (before, on_processor()) {
        (Some(before), Some(now)) => now.saturating_sub(before),
        _ => start.elapsed(),
    };
    events as f64 / took.as_secs_f64()
}

fn program(map: &mut SourceMap) -> Arc<Program> {
    let symbolics = Symbolics::default();
    let text = PROGRAM.to_string();
    match front::compile(map, "turn.dpt", text, &NoFiles, &symbolics, &[]) {
        Ok(compiled) => Arc::new(compiled.program),
        Err(found) => panic!("{found:?}"),
    }
}

struct Nobody;

impl Observer for Nobody {
    fn wants(&self) -> bool {
        false
    }

    fn observe(&mut self, _: Observation) {}
}

fn setup(program: &Arc<Program>, in_flight: u64) -> Arc<Setup> {
    let generator = Generator {
        name: "turn".to_string(),
        arguments: vec![Draw::Sequence { start: 0, step: 1 }],
        count: in_flight,
        gap: Gap::Constant(0),
    };
    let input = Input {
        time_ps: Some(0),
        locations: vec![(0, 0)],
        kind: InputKind::Generator(generator),
        places: Places::default(),
    };
    let run = Run { inputs: vec![input], max_time_ps: u64::MAX, ..Run::default() };
    match Setup::new(program.clone(), &run) {
        Ok(setup) => Arc::new(setup),
        Err(found) => panic!("{found:?}"),
    }
}

fn by_reference(program: &Arc<Program>, in_flight: u64) -> f64 {
    let mut simulation = Simulation::new(setup(program, in_flight));
    simulation.run_until(ROUND_PS, &mut Nobody);
    let before = simulation.handled();
    let rounds = FEWER_EVENTS / in_flight.min(600);
    rate(|| {
        simulation.run_until(ROUND_PS * (1 + rounds), &mut Nobody);
        simulation.handled() - before
    })
}

/// An event as it comes out of the recirculation port.
fn frame(number: u32) -> Vec<u8> {
    let mut bytes = wire::PlaceKind::Here.field().to_be_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(wire::SOURCE_PREFIX.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(lucid::core::LUCID_ETHER_TYPE.to_be_bytes());
    bytes.extend(1u16.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes
}

fn compiled(
    program: &Arc<Program>,
    map: &SourceMap,
    in_flight: u64,
    engine: EngineChoice,
    events: u64,
) -> f64 {
    let options = Options { delay: Delay::Recirculation, ..Options::default() };
    let compiled = match compile(program, map, &options) {
        Ok(compiled) => compiled,
        Err(found) => panic!("{found:?}"),
    };
    let pipeline = Arc::new(lowered(&compiled).expect("it lowers"));
    let site = Site::of(&setup(program, in_flight), 0);
    let device = deploy::device_options(&compiled, &site, false);
    let mut device =
        Device::new(pipeline.clone(), DeviceOptions { engine, ..device }).expect("it loads");
    for note in device.notes() {
        println!("slow on this engine: {note}");
    }
    let mut session = control::session::Session::new(pipeline);
    let text = deploy::commands(&compiled, program, &site);
    for located in control::entries::read("commands", &text).0 {
        let (store, cells) = device.store_and_cells_mut();
        session.apply(&located, store, cells, 0).expect("the command is right");
    }
    let port = options.recirculation_port;
    let capacity = in_flight.min(256) as usize;
    let bursts = in_flight as usize / capacity;
    let mut now: Vec<Burst> = (0..bursts).map(|_| Burst::new(capacity, 128)).collect();
    let mut next = Burst::new(capacity, 128);
    for (at, burst) in now.iter_mut().enumerate() {
        for place in 0..capacity {
            burst.push(port, &frame((at * capacity + place) as u32)).expect("it fits");
        }
    }
    let mut time_ps = 0;
    let turned = rate(|| {
        let mut handled = 0;
        while handled < events {
            time_ps += ROUND_PS;
            device.advance(time_ps).expect("it goes on");
            for burst in &mut now {
                device.forward(burst).expect("it forwards");
                next.clear();
                for sent in burst.outputs() {
                    next.push(sent.port, sent.bytes).expect("it fits");
                }
                std::mem::swap(burst, &mut next);
                handled += burst.len() as u64;
                assert_eq!(burst.len(), capacity, "an event was lost");
            }
        }
        handled
    });
    // Every event counted in a cell.
    let cells = device.cells().register(ir::RegisterId(0)).expect("the array");
    let sum: u64 = (0..1024).filter_map(|at| cells.read(at)).map(|cell| cell.low_u64()).sum();
    assert!(sum >= events, "{sum} events were counted");
    turned
}

fn main() {
    let mut map = SourceMap::new();
    let program = program(&mut map);
    println!(
        "{:>10}  {:>14}  {:>14}  {:>14}  {:>9}",
        "in flight", "compiled, jit", "interp", "reference", "ratio"
    );
    for in_flight in [1, 1024, 1 << 17] {
        let jit = compiled(
            &program,
            &map,
            in_flight,
            EngineChoice::Jit,
            EVENTS.min(in_flight * 2_000_000),
        );
        let slow = in_flight.min(1024) * 4_000;
        let slow = slow.min(FEWER_EVENTS / 10);
        let interp = compiled(&program, &map, in_flight, EngineChoice::Interpreter, slow);
        let reference = by_reference(&program, in_flight);
        println!(
            "{in_flight:>10}  {:>11.2}M/s  {:>11.2}M/s  {:>11.2}M/s  {:>9.2}",
            jit / 1e6,
            interp / 1e6,
            reference / 1e6,
            jit / reference
        );
    }
}

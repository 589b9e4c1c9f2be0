// SPDX-License-Identifier: Apache-2.0
//! How many events a second a compiled program handles on our switch, beside the reference interpreter in
//! the same process: `cargo bench -p lucid_network --bench compiled`. Each event goes out of the recirculation port
//! and comes in again, so that a number of them is always under way; the cable is a burst of packets.

use device::{Burst, Device, DeviceOptions, EngineChoice};
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::NoFiles;
use lucid_compiler::{Delay, Options, compile, wire};
use lucid_network::deploy::{self, SwitchSetup};
use lucid_network::{CompiledSimulation, ready};
use lucid_reference::simulation::{NullObserver, Setup, Simulation};
use lucid_reference::specification::{Draw, FieldSpans, Gap, Generator, Input, InputKind, Run};
use network::capture::CaptureReader;
use source::SourceMap;
use std::path::Path;
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

/// The same beside events that wait in the pausable queue (Lucid §3.2) nearly all of the time.
const WAITING_PROGRAM: &str = "\
global Array.t<32> cells = Array.create(1024);
global Array.t<32> waits = Array.create(1024);
memop plus(int stored, int x) { return stored + x; }
event turn(int n);
event wait(int n);
handle turn(int n) {
    Array.setm(cells, n[9:0], plus, 1);
    generate turn(n + 1);
}
handle wait(int n) {
    Array.setm(waits, n[9:0], plus, 1);
    generate Event.delay(wait(n + 1), 1000000);
}
";

/// How many events go round beside those that wait.
const TURNING: u64 = 512;

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

fn program(map: &mut SourceMap, text: &str) -> Arc<Program> {
    let symbolics = Symbolics::default();
    let text = text.to_string();
    match front::compile(map, "turn.dpt", text, &NoFiles, &symbolics, &[]) {
        Ok(compiled) => Arc::new(compiled.program),
        Err(found) => panic!("{found:?}"),
    }
}

/// A simulation that begins with so many of each of these events.
fn setup(program: &Arc<Program>, events: &[(&str, u64)]) -> Arc<Setup> {
    let input = |(name, count): &(&str, u64)| Input {
        time_ps: Some(0),
        locations: vec![(0, 0)],
        kind: InputKind::Generator(Generator {
            name: name.to_string(),
            arguments: vec![Draw::Sequence { start: 0, step: 1 }],
            count: *count,
            gap: Gap::Constant(0),
        }),
        field_spans: FieldSpans::default(),
    };
    let inputs = events.iter().map(input).collect();
    let run = Run { inputs, max_time_ps: u64::MAX, ..Run::default() };
    match Setup::new(program.clone(), &run) {
        Ok(setup) => Arc::new(setup),
        Err(found) => panic!("{found:?}"),
    }
}

fn by_reference(program: &Arc<Program>, events: &[(&str, u64)]) -> f64 {
    let in_flight = events[0].1;
    let mut simulation = Simulation::new(setup(program, events));
    simulation.run_until(ROUND_PS, &mut NullObserver);
    let before = simulation.handled();
    let rounds = FEWER_EVENTS / in_flight.min(600);
    rate(|| {
        simulation.run_until(ROUND_PS * (1 + rounds), &mut NullObserver);
        simulation.handled() - before
    })
}

/// An event as it comes out of the recirculation port: which of the program's, from 1, and its argument.
fn frame(event: u16, number: u32) -> Vec<u8> {
    let mut bytes = wire::PlaceKind::Here.field().to_be_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(wire::SOURCE_PREFIX.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(lucid::core::LUCID_ETHER_TYPE.to_be_bytes());
    bytes.extend(event.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes
}

/// A device with a compiled program, set up, whose recirculation port is a port like others.
fn device_of(
    program: &Arc<Program>,
    map: &SourceMap,
    options: &Options,
    engine: EngineChoice,
    change: impl FnOnce(&mut DeviceOptions),
) -> (Device, Arc<ir::Program>) {
    let compiled = match compile(program, map, options) {
        Ok(compiled) => compiled,
        Err(found) => panic!("{found:?}"),
    };
    let pipeline = ready(&compiled).expect("it lowers").program().clone();
    let recirculation_port = options.recirculation_port;
    let site = SwitchSetup { recirculation_port, ..SwitchSetup::default() };
    let built = deploy::device_options(&compiled, &site);
    let mut built = DeviceOptions { engine, ingress_interval_ps: 0, ..built };
    if let Some(port) = built.traffic_manager.ports.get_mut(&recirculation_port) {
        (port.loopback, port.rate_bps) = (false, None);
    }
    change(&mut built);
    let device = Device::new(pipeline.clone(), built).expect("it loads");
    for note in device.notes() {
        println!("slow on this engine: {note}");
    }
    let mut session = control::session::Session::new(pipeline.clone());
    let text = deploy::commands(&compiled, program, &site);
    session.run("commands", &text, &mut device.target()).expect("the commands are right");
    (device, pipeline)
}

fn compiled(
    program: &Arc<Program>,
    map: &SourceMap,
    in_flight: u64,
    engine: EngineChoice,
    events: u64,
) -> f64 {
    let options = Options { delay: Delay::Recirculation, ..Options::default() };
    let (mut device, _) = device_of(program, map, &options, engine, |_| {});
    let port = options.recirculation_port;
    let capacity = in_flight.min(256) as usize;
    let bursts = in_flight as usize / capacity;
    let mut now: Vec<Burst> = (0..bursts).map(|_| Burst::new(capacity, 128)).collect();
    let mut next = Burst::new(capacity, 128);
    for (at, burst) in now.iter_mut().enumerate() {
        for place in 0..capacity {
            burst.push(port, &frame(1, (at * capacity + place) as u32)).expect("it fits");
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
    let state = device.cells();
    let cells = state.register(ir::RegisterId(0)).expect("the array");
    let sum: u64 = (0..1024).filter_map(|at| cells.read(at)).map(|cell| cell.low_u64()).sum();
    assert!(sum >= events, "{sum} events were counted");
    turned
}

/// What the cells of the arrays add up to: how many events were handled.
fn handled(device: &Device) -> u64 {
    let registers = (0..device.program().registers.len() as u32).map(ir::RegisterId);
    let cells = device.cells();
    let arrays = registers.filter_map(|id| cells.register(id));
    let sum = |array: &state::RegisterCells| -> u64 {
        (0..1024).filter_map(|at| array.read(at)).map(|cell| cell.low_u64()).sum()
    };
    arrays.map(sum).sum()
}

/// Events a second of a device whose recirculation port is in loopback and has the pausable queue.
fn waiting(program: &Arc<Program>, map: &SourceMap, waiting: u64, engine: EngineChoice) -> f64 {
    let options = Options { delay: Delay::Queue, ..Options::default() };
    let port = options.recirculation_port;
    let change = |options: &mut DeviceOptions| {
        options.ingress_interval_ps = 1_000;
        if let Some(port) = options.traffic_manager.ports.get_mut(&port) {
            (port.loopback, port.latency_ps) = (true, ROUND_PS);
        }
    };
    let (mut device, _) = device_of(program, map, &options, engine, change);
    for (event, count) in [(1, TURNING), (2, waiting)] {
        for number in 0..count {
            device.inject(port, 0, frame(event, number as u32)).expect("a port");
        }
    }
    // By then all of those are in the queue.
    device.advance(20 * ROUND_PS).expect("it goes on");
    let before = handled(&device);
    let wanted = match engine {
        EngineChoice::Jit => FEWER_EVENTS,
        EngineChoice::Interpreter => FEWER_EVENTS / 10,
    };
    rate(|| {
        device.advance(device.now_ps() + wanted / TURNING * ROUND_PS).expect("it goes on");
        handled(&device) - before
    })
}

/// Events that go round while others wait in the pausable queue.
fn pausable_queue() {
    let mut map = SourceMap::new();
    let program = program(&mut map, WAITING_PROGRAM);
    println!("\n{TURNING} events going round in the device beside events in the pausable queue");
    println!(
        "{:>10}  {:>14}  {:>14}  {:>14}  {:>9}",
        "waiting", "compiled, jit", "interp", "reference", "ratio"
    );
    for count in [0, 100, 10_000] {
        let jit = waiting(&program, &map, count, EngineChoice::Jit);
        let interp = waiting(&program, &map, count, EngineChoice::Interpreter);
        let reference = by_reference(&program, &[("turn", TURNING), ("wait", count)]);
        println!(
            "{count:>10}  {:>11.2}M/s  {:>11.2}M/s  {:>11.2}M/s  {:>9.2}",
            jit / 1e6,
            interp / 1e6,
            reference / 1e6,
            jit / reference
        );
    }
}

/// How long networks of the firewall take to load: code is compiled for the first switch only.
fn loading() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (program, map) = stateful_firewall(&folder);
    let compiled = match compile(&program, &map, &Options::default()) {
        Ok(compiled) => Arc::new(compiled),
        Err(found) => panic!("{found:?}"),
    };
    println!("\nthe stateful firewall on compiled code");
    println!("{:>10}  {:>14}  {:>14}", "switches", "load", "compilations");
    for switches in [1, 10, 100] {
        let run = Run { switches, ..Run::default() };
        let setup = match Setup::new(program.clone(), &run) {
            Ok(setup) => Arc::new(setup),
            Err(found) => panic!("{found:?}"),
        };
        let began = Instant::now();
        let loaded = CompiledSimulation::new(setup, compiled.clone(), EngineChoice::Jit);
        let loaded = loaded.expect("it loads");
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        let last = loaded.device(switches - 1).expect("a switch");
        println!("{switches:>10}  {took_ms:>11.1} ms  {:>14}", last.compilations());
    }
}

/// A program of so many handlers, each of which accesses three of so many arrays and generates one of two events.
fn large_program(handlers: usize, arrays: usize) -> String {
    let mut text = String::from("memop plus(int stored, int x) { return stored + x; }\n");
    for at in 0..handlers {
        text.push_str(&format!("event e{at}(int n);\n"));
    }
    for at in 0..arrays {
        text.push_str(&format!("global Array.t<32> a{at} = Array.create(1024);\n"));
    }
    for at in 0..handlers {
        let mut accessed =
            [at * 7, at * 7 + 13, at * 3 + 29].map(|number| number % arrays).to_vec();
        accessed.sort_unstable();
        accessed.dedup();
        text.push_str(&format!("handle e{at}(int n) {{\n"));
        for array in &accessed {
            let access = format!("Array.update(a{array}, n[9:0], plus, n, plus, {})", at + 1);
            text.push_str(&format!("    int v{array} = {access};\n"));
        }
        let (next, other) = ((at + 1) % handlers, (at + 17) % handlers);
        let first = accessed[0];
        text.push_str(&format!(
            "    if (v{first} > n) {{ generate e{next}(v{first}); }} else {{ generate e{other}(n + 1); }}\n}}\n"
        ));
    }
    text
}

/// How long large programs take from their source to their first events.
fn first_events() {
    println!("\nfrom the source of a large program to 16 events");
    println!("{:>10}  {:>8}  {:>14}  {:>14}", "handlers", "arrays", "compiled code", "interpreter");
    for (handlers, arrays) in [(100, 50), (300, 50)] {
        let took_ms = [EngineChoice::Jit, EngineChoice::Interpreter].map(|engine| {
            let began = Instant::now();
            let mut map = SourceMap::new();
            let program = program(&mut map, &large_program(handlers, arrays));
            let compiled = match compile(&program, &map, &Options::default()) {
                Ok(compiled) => Arc::new(compiled),
                Err(found) => panic!("{found:?}"),
            };
            let setup = setup(&program, &[("e0", 1)]);
            let loaded = CompiledSimulation::new(setup, compiled, engine);
            let mut simulation = loaded.expect("it loads");
            simulation.run_until(ROUND_PS * 15, &mut NullObserver);
            assert_eq!(simulation.handled(), 16);
            began.elapsed().as_secs_f64() * 1e3
        });
        let [jit_ms, interp_ms] = took_ms;
        println!("{handlers:>10}  {arrays:>8}  {jit_ms:>11.1} ms  {interp_ms:>11.1} ms");
    }
}

/// The captures of the firewall's example, by the ports that the packets come in by.
fn firewall_packets() -> Vec<(u32, Vec<u8>)> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stateful_firewall/captures");
    let mut packets = Vec::new();
    for (port, name) in [(1, "host1.pcap"), (2, "host2.pcap")] {
        let reader = CaptureReader::open(&folder.join(name)).expect("the capture");
        for packet in reader {
            packets.push((port, packet.expect("a packet").data));
        }
    }
    packets
}

/// Packets a second through a device that has seen them before: flows are known by then. What goes out
/// by the recirculation port comes in again until nothing does.
fn forwarded(device: &mut Device, recirculation_port: u32, packets: &[(u32, Vec<u8>)]) -> f64 {
    let capacity = packets.len().max(64);
    let mut burst = Burst::new(capacity, 2048);
    for (port, bytes) in packets {
        burst.push(*port, bytes).expect("it fits");
    }
    for _ in 0..4 {
        burst.rewind();
        device.forward(&mut burst).expect("it forwards");
        let mut round = Burst::new(capacity, 2048);
        let back = |burst: &Burst, round: &mut Burst| {
            for sent in burst.outputs().filter(|sent| sent.port == recirculation_port) {
                round.push(sent.port, sent.bytes).expect("it fits");
            }
        };
        back(&burst, &mut round);
        while !round.is_empty() {
            device.forward(&mut round).expect("it forwards");
            let mut next = Burst::new(capacity, 2048);
            back(&round, &mut next);
            round = next;
        }
    }
    let rounds = 2_000_000 / packets.len();
    rate(|| {
        for _ in 0..rounds {
            burst.rewind();
            device.forward(&mut burst).expect("it forwards");
        }
        (rounds * packets.len()) as u64
    })
}

/// The stateful firewall of the Lucid examples.
fn stateful_firewall(examples: &Path) -> (Arc<Program>, SourceMap) {
    let path = examples.join("lucid/stateful_firewall/stateful_firewall.dpt");
    let text = std::fs::read_to_string(&path).expect("the program");
    let mut map = SourceMap::new();
    let symbolics = Symbolics::default();
    let name = path.display().to_string();
    match front::compile(&mut map, &name, text, &Disk, &symbolics, &[]) {
        Ok(compiled) => (Arc::new(compiled.program), map),
        Err(found) => panic!("{found:?}"),
    }
}

/// The same, compiled, beside the one written by hand in P4.
fn firewalls() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let packets = firewall_packets();
    let (program, map) = stateful_firewall(&folder);
    let options = Options { delay: Delay::Recirculation, ..Options::default() };
    let (mut device, _) = device_of(&program, &map, &options, EngineChoice::Jit, |_| {});
    let lucid = forwarded(&mut device, options.recirculation_port, &packets);
    let path = folder.join("stateful_firewall/stateful_firewall.p4");
    let text = std::fs::read_to_string(&path).expect("the program");
    let name = path.display().to_string();
    let ready = ir::ready::ReadyProgram::of_text(&name, text).expect("it compiles");
    let pipeline = ready.program().clone();
    let mut device = Device::new(pipeline.clone(), DeviceOptions::default()).expect("it loads");
    let commands = folder.join("stateful_firewall/commands.txt");
    let text = std::fs::read_to_string(&commands).expect("its commands");
    let mut session = control::session::Session::new(pipeline);
    session.run("commands.txt", &text, &mut device.target()).expect("the commands are right");
    let by_hand = forwarded(&mut device, u32::MAX, &packets);
    println!(
        "\nfirewall, packets of its captures, flows known: compiled {:.2}M packets/s, P4 by hand \
         {:.2}M packets/s, ratio {:.2}",
        lucid / 1e6,
        by_hand / 1e6,
        lucid / by_hand
    );
}

struct Disk;

impl lucid::syntax::Loader for Disk {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(path).ok())
    }
}

fn main() {
    let mut map = SourceMap::new();
    let program = program(&mut map, PROGRAM);
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
        let reference = by_reference(&program, &[("turn", in_flight)]);
        println!(
            "{in_flight:>10}  {:>11.2}M/s  {:>11.2}M/s  {:>11.2}M/s  {:>9.2}",
            jit / 1e6,
            interp / 1e6,
            reference / 1e6,
            jit / reference
        );
    }
    pausable_queue();
    loading();
    first_events();
    firewalls();
}

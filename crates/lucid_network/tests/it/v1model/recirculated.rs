// SPDX-License-Identifier: Apache-2.0
//! Programs on a device that brings back by itself what is recirculated, as `plane run` and BMv2 have it: by
//! the primitive or by a port. When packets leave and what handlers see is the reference's, but for the time
//! of a round.

use super::compiled;
use device::{Device, EngineChoice};
use lucid::core::GlobalId;
use lucid_compiler::{Clock, Delay, GlobalPlace, Options, Recirculation};
use lucid_network::deploy::{self, SwitchSetup};
use lucid_network::ready;
use lucid_reference::simulation::{
    Observation, ObservationKind, Observer, Setup, Simulation, Stage,
};
use lucid_reference::specification::Run;
use lucid_testing::programs::{Disk, core};
use source::SourceMap;
use std::sync::Arc;

/// How late something may be on a device, in nanoseconds: after two delays, of which each may be late by a step
/// of the clock, and a few rounds.
const LATE_NS: u128 = 2_300;

/// A round of the reference, in nanoseconds; that of a device takes the time of a packet on the wire.
const ROUND_NS: u128 = 600;

/// A millisecond, in picoseconds.
const END_PS: u64 = 1_000_000_000;

/// When handlers in ingress of the reference ran, in picoseconds, with the name of the event.
struct Times<'a>(&'a lucid::core::Program, Vec<(String, u64)>);

impl Observer for Times<'_> {
    fn observe(&mut self, observation: Observation) {
        if let ObservationKind::Handled { event, stage: Stage::Ingress, .. } = observation.kind {
            let name = self.0.events[event.event.0 as usize].name.to_string();
            self.1.push((name, observation.time_ps));
        }
    }
}

/// What came of packets: cells of the first array, and when packets left by port 2, in nanoseconds.
#[derive(Debug)]
struct Found {
    cells: Vec<u128>,
    left_ns: Vec<u128>,
}

/// A packet that comes to port 1: its time in nanoseconds and its bytes.
type Packet<'a> = (u64, &'a [u8]);

/// By the reference; packets leave when `last` is handled.
fn reference(text: &str, packets: &[Packet<'_>], last: &str, cells: u128) -> Found {
    let mut map = SourceMap::new();
    let program = Arc::new(core(&mut map, "run.dpt", text, &Disk));
    let run = Run { max_time_ps: END_PS, ..Run::default() };
    let setup = Setup::new(program.clone(), &run).unwrap_or_else(|said| panic!("{said:?}"));
    let mut simulation = Simulation::new(Arc::new(setup));
    for (time_ns, bytes) in packets {
        simulation.inject_packet(time_ns * 1000, 0, 1, bytes);
    }
    let mut times = Times(&program, Vec::new());
    simulation.run(&mut times);
    let array = simulation.state(0).and_then(|state| state.cells(GlobalId(0))).expect("an array");
    Found {
        cells: (0..cells).map(|at| array.get(at).expect("a cell")[0]).collect(),
        left_ns: times
            .1
            .iter()
            .filter(|(name, _)| name == last)
            .map(|(_, time_ps)| u128::from(time_ps / 1000))
            .collect(),
    }
}

/// On a device that is built and set up as the files of `plane emit` say.
fn device(text: &str, packets: &[Packet<'_>], options: &Options, cells: u128) -> Found {
    let mut map = SourceMap::new();
    let program = core(&mut map, "run.dpt", text, &Disk);
    let compiled = compiled(&map, &program, options).unwrap_or_else(|said| panic!("{said}"));
    let pipeline = ready(&compiled).unwrap_or_else(|error| panic!("{error}")).program().clone();
    let recirculation_port = options.recirculation_port;
    let site = SwitchSetup { recirculation_port, ..SwitchSetup::default() };
    let mut built = deploy::device_options(&compiled, &site);
    built.engine = EngineChoice::Jit;
    let mut device = Device::new(pipeline.clone(), built).expect("a device");
    let mut session = control::session::Session::new(pipeline.clone());
    let text = deploy::commands(&compiled, &program, &site);
    session.run("commands", &text, &mut device.target()).expect("the commands are right");
    for (time_ns, bytes) in packets {
        device.inject(1, time_ns * 1000, bytes.to_vec()).expect("a packet");
    }
    device.advance(END_PS).expect("it runs");
    let left = device.drain_transmitted();
    let GlobalPlace::Register { name, .. } = &compiled.globals[0] else { panic!("no register") };
    let register =
        pipeline.registers.iter().position(|one| one.name == *name).expect("it is there");
    let state = device.cells();
    let register = state.register(ir::RegisterId(register as u32)).expect("cells");
    let cell = |at: u128| register.read(at as u64).and_then(|value| value.to_u128());
    Found {
        cells: (0..cells).map(|at| cell(at).expect("a cell")).collect(),
        left_ns: left
            .iter()
            .filter(|sent| sent.port == 2)
            .map(|sent| u128::from(sent.time_ps / 1000))
            .collect(),
    }
}

/// Compares a device with the reference with each kind of recirculation. Cells are times, or the same numbers.
fn check(text: &str, packets: &[Packet<'_>], last: &str, cells: u128) {
    let expected = reference(text, packets, last, cells);
    assert!(!expected.left_ns.is_empty(), "nothing leaves");
    for recirculation in [Recirculation::Primitive, Recirculation::Port] {
        for clock in [Clock::Microseconds, Clock::Nanoseconds] {
            let options =
                Options { delay: Delay::Recirculation, recirculation, clock, ..Options::default() };
            let found = device(text, packets, &options, cells);
            let found_text = format!("{options:?}\nreference {expected:?}\ndevice {found:?}");
            let all = |one: &[u128], other: &[u128], early_ns: u128| {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| match one.min(other) {
                        0..1000 => one == other,
                        _ => (one - early_ns..=one + LATE_NS).contains(other),
                    })
            };
            assert!(all(&expected.cells, &found.cells, 0), "{found_text}");
            assert!(all(&expected.left_ns, &found.left_ns, ROUND_NS), "{found_text}");
        }
    }
}

/// Destination 1, source 2, type 0x0900, the number.
fn probe(number: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 9, 0, 0, 0, 0];
    bytes.push(number);
    bytes
}

const PROBE: &str =
    "packet event probe(int<48> destination, int<48> source, int<16> kind, int<32> number);
     parser main(bitstring packet) {
         int<48> destination = read(packet);
         int<48> source = read(packet);
         int<16> kind = read(packet);
         int<32> number = read(packet);
         generate(probe(destination, source, kind, number));
     }";

/// Cell by packet: how long its event waited by the clock, and by which port it came.
#[test]
fn a_delayed_event_waits_and_sees_the_time() {
    let text = format!(
        "{PROBE}
         event later(int<32> number, int<32> sent);
         global Array.t<32> seen = Array.create(16);
         handle probe(int<48> destination, int<48> source, int<16> kind, int<32> number) {{
             generate Event.delay(later(number, Sys.time()), 20000);
         }}
         event noted(int<32> number);
         handle later(int<32> number, int<32> sent) {{
             Array.set(seen, number, Sys.time() - sent);
             generate noted(number);
             generate_port(2, probe(1, 2, 0x0900, number));
         }}
         handle noted(int<32> number) {{
             Array.set(seen, number + 8, (int<32>)ingress_port);
         }}"
    );
    let (one, two) = (probe(1), probe(2));
    check(&text, &[(200_000, &one), (203_000, &two)], "later", 11);
}

/// Both events of a handler wait, one twice as long; the first one's handler waits again.
#[test]
fn several_delayed_events_wait() {
    let text = format!(
        "{PROBE}
         event later(int<32> number, int<32> sent);
         global Array.t<32> seen = Array.create(16);
         handle probe(int<48> destination, int<48> source, int<16> kind, int<32> number) {{
             generate Event.delay(later(number, Sys.time()), 14000);
             generate Event.delay(later(number + 4, Sys.time()), 7000);
         }}
         event again(int<32> number, int<32> sent);
         handle later(int<32> number, int<32> sent) {{
             Array.set(seen, number, Sys.time() - sent);
             generate Event.delay(again(number, Sys.time()), 5000);
         }}
         handle again(int<32> number, int<32> sent) {{
             Array.set(seen, number + 1, Sys.time() - sent);
             generate_port(2, probe(1, 2, 0x0900, number));
         }}"
    );
    check(&text, &[(200_000, &probe(1))], "again", 8);
}

/// A packet event that comes round is parsed again, and the parser sees by which port.
#[test]
fn the_parser_sees_the_port_of_what_comes_round() {
    let text =
        "packet event probe(int<48> destination, int<48> source, int<16> kind, int<32> number);
         packet event back(int<48> destination, int<48> source, int<16> kind, int<32> number);
         global Array.t<32> seen = Array.create(16);
         handle probe(int<48> destination, int<48> source, int<16> kind, int<32> number) {
             Array.set(seen, 1, (int<32>)ingress_port);
             generate probe(destination, source, kind, number + 1);
         }
         handle back(int<48> destination, int<48> source, int<16> kind, int<32> number) {
             Array.set(seen, number, (int<32>)ingress_port);
             generate_port(2, back(destination, source, kind, number));
         }
         parser main(bitstring packet) {
             int<48> destination = read(packet);
             int<48> source = read(packet);
             int<16> kind = read(packet);
             int<32> number = read(packet);
             match ingress_port with
             | 1 -> { generate(probe(destination, source, kind, number)); }
             | 196 -> { generate(back(destination, source, kind, number)); }
             | _ -> { generate(probe(destination, source, kind, 9)); }
         }";
    check(text, &[(200_000, &probe(4))], "back", 6);
}

/// An event meets its egress handler once, when it is due; the handler sees the time in egress.
#[test]
fn egress_handlers_run_once_on_what_comes_round() {
    let text = format!(
        "{PROBE}
         event out(int<32> number, int<32> sent);
         event note(int<32> number);
         global Array.t<32> seen = Array.create(16);
         memop plus(int stored, int x) {{ return stored + x; }}
         handle probe(int<48> destination, int<48> source, int<16> kind, int<32> number) {{
             generate note(number);
             generate Event.delay(out(number, Sys.time()), 4000);
         }}
         handle note(int<32> number) {{ Array.setm(seen, number, plus, 1); }}
         @egress handle out(int<32> number, int<32> sent) {{
             generate out(number + 1, Sys.time() - sent);
         }}
         handle out(int<32> number, int<32> sent) {{
             Array.setm(seen, number, plus, sent);
             generate_port(2, probe(1, 2, 0x0900, number));
         }}"
    );
    check(&text, &[(200_000, &probe(3))], "out", 8);
}

// SPDX-License-Identifier: Apache-2.0
//! Bytes that leave compiled switches behind the parameters of an event: its payload, and nothing else. Expected bytes are
//! written down here.

use crate::departures::{compiled, departures};
use device::EngineChoice;
use lucid_compiler::Backend;
use lucid_network::CompiledSimulation;
use lucid_reference::simulation::{Observation, Observer};

/// A program with a parser; `data` answers by what `kind` says.
const PACKETS: &str = "
    packet event data(int<112> fill, int<8> kind, int x, Payload.t rest);
    packet event alarm(int<112> fill, int<8> kind, int x);
    packet event empty(int<112> fill, int<8> kind, int x, Payload.t rest);
    event mid(int<112> fill, int x);
    event note(int x);
    global Array.t<32> seen = Array.create(4);
    memop plus(int stored, int x) { return stored + x; }
    handle note(int x) { Array.setm(seen, 0, plus, x); }
    handle mid(int<112> fill, int x) { generate_port(7, alarm(fill, 9, x)); }
    handle data(int<112> fill, int<8> kind, int x, Payload.t rest) {
        match kind with
        | 0 -> { generate_port(7, alarm(fill, 9, x)); }
        | 1 -> { generate_port(7, data(fill, 9, x, rest)); }
        | 2 -> { generate_port(7, data(fill, 9, x, rest)); generate_port(8, alarm(fill, 9, x)); generate note(x); }
        | 3 -> { generate mid(fill, x); }
        | 4 -> { generate_port(7, empty(fill, 9, x, Payload.empty())); }
        | 5 -> { generate_ports({7, 8}, alarm(fill, 9, x)); generate_port(7, empty(fill, 9, x, rest)); }
        | 6 -> { generate_port(7, Event.delay(alarm(fill, 9, x), 20000)); }
        | _ -> { generate_port(7, mid(fill, x)); generate Event.delay(note(x), 5000); }
    }
    parser main(bitstring pkt) {
        int<112> fill = read(pkt);
        int<8> kind = read(pkt);
        int x = read(pkt);
        match kind with
        | 200 -> { generate(alarm(fill, kind, x)); }
        | _ -> { generate(data(fill, kind, x, Payload.parse(pkt))); }
    }
    handle alarm(int<112> fill, int<8> kind, int x) { generate_port(6, alarm(fill, 8, x)); }";

fn packet(kind: u8, x: u32, payload: &str) -> String {
    format!("{:028x}{kind:02x}{x:08x}{payload}", 0x0a0b)
}

/// The frame of `mid`.
fn mid(number: u16, x: u32) -> String {
    format!("020000000000021000000000029a{number:04x}{:028x}{x:08x}", 0x0a0b)
}

/// What leaves for a packet, by the source.
fn expected(kind: u8, x: u32, payload: &str, number: u16) -> Vec<(u32, String)> {
    let alarm = packet(9, x, "");
    match kind {
        0 | 3 | 6 => vec![(7, alarm)],
        1 => vec![(7, packet(9, x, payload))],
        2 => vec![(7, packet(9, x, payload)), (8, alarm)],
        4 => vec![(7, packet(9, x, ""))],
        5 => vec![(7, alarm.clone()), (7, packet(9, x, payload)), (8, alarm)],
        200 => vec![(6, packet(8, x, ""))],
        _ => vec![(7, mid(number, x))],
    }
}

const KINDS: [u8; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 200];

/// A packet of each kind, with numbers of their own.
fn run(payload: &str) -> String {
    let packets = KINDS.iter().zip(0u32..).map(|(kind, at)| {
        format!(
            "{{\"type\": \"packet\", \"bytes\": \"{}\", \"locations\": [\"0:3\"], \
             \"timestamp\": {}}}",
            packet(*kind, 70 + at, payload),
            30_000 * at
        )
    });
    let packets: Vec<String> = packets.collect();
    format!("{{\"max time\": \"500us\", \"events\": [{}]}}", packets.join(", "))
}

#[test]
fn events_without_a_payload_leave_without_that_of_their_packet() {
    for payload in ["", "01020304", &"5a".repeat(46), &"c3".repeat(1400)] {
        let run = run(payload);
        let (setup, _) = compiled(PACKETS, &run, Backend::V1Model);
        let events = &setup.program().events;
        let number = events.iter().find(|event| &*event.name == "mid").expect("an event");
        let number = number.wire_number as u16;
        let all = KINDS.iter().zip(70..);
        let mut expected: Vec<_> =
            all.flat_map(|(kind, x)| expected(*kind, x, payload, number)).collect();
        expected.sort();
        for target in Backend::ALL {
            let left = departures(PACKETS, &run, target);
            let mut left: Vec<_> = left.into_iter().map(|one| (one.1, one.2)).collect();
            left.sort();
            assert_eq!(left, expected, "{target:?}");
        }
    }
}

/// Programs without a parser send packet events in frames.
#[test]
fn frames_leave_without_the_payload_of_their_packet() {
    let source = "event data(int x, Payload.t rest);
        event alarm(int<8> a, int<16> b);
        handle data(int x, Payload.t rest) {
            generate_port(7, alarm(1, 2));
            if (x == 3) { generate_port(9, data(x, rest)); }
            if (x == 4) { generate data(3, Payload.empty()); }
            if (x == 5) { generate data(3, rest); }
        }";
    let frame = |number: u16, rest: &str| format!("020000000000021000000000029a{number:04x}{rest}");
    let run = |x: u32| {
        format!(
            "{{\"max time\": \"100us\", \"events\": [{{\"name\": \"data\", \"args\": [{x}, \
             \"0011223344\"]}}]}}"
        )
    };
    let (setup, _) = compiled(source, &run(1), Backend::V1Model);
    let number = |at: usize| setup.program().events[at].wire_number as u16;
    let alarm = || (7, frame(number(1), "010002"));
    let data = |payload: &str| (9, frame(number(0), &format!("00000003{payload}")));
    for target in Backend::ALL {
        for (x, expected) in [
            (1, vec![alarm()]),
            (3, vec![alarm(), data("0011223344")]),
            (4, vec![alarm(), alarm(), data("")]),
            (5, vec![alarm(), alarm(), data("0011223344")]),
        ] {
            let left = departures(source, &run(x), target);
            let mut left: Vec<_> = left.into_iter().map(|one| (one.1, one.2)).collect();
            left.sort();
            assert_eq!(left, expected, "{target:?}, {x}");
        }
    }
}

struct Nobody;

impl Observer for Nobody {
    fn wants(&self) -> bool {
        false
    }

    fn observe(&mut self, _: Observation) {}
}

/// Control events go round without the bytes of the packet that made them.
#[test]
fn control_events_do_not_carry_payloads_round() {
    let source = "event data(int x, Payload.t rest);
        event turn(int<8> n);
        handle data(int x, Payload.t rest) { generate turn(50); }
        handle turn(int<8> n) {
            if (n != 0) { generate turn(n - 1); } else { generate_port(1, turn(n)); }
        }";
    let payload = "ab".repeat(1000);
    let run = format!(
        "{{\"max time\": \"200us\", \"events\": [{{\"name\": \"data\", \"args\": [1, \"{payload}\"]}}]}}"
    );
    for target in Backend::ALL {
        let left = departures(source, &run, target);
        let [(_, 1, bytes)] = left.as_slice() else { panic!("{left:?}") };
        assert_eq!(bytes.len() / 2, 17, "{target:?}");
    }
    let (setup, compiled) = compiled(source, &run, Backend::Tna);
    let engine = EngineChoice::Interpreter;
    let mut simulation = CompiledSimulation::new(setup, compiled, engine).expect("a device");
    // After a few rounds nothing long is in the device.
    simulation.run_until(10_000_000, &mut Nobody);
    let device = simulation.device(0).expect("a switch");
    assert!(device.buffered_bytes() < 100, "{}", device.buffered_bytes());
}

// SPDX-License-Identifier: Apache-2.0
//! Reactions of different rates: a large measurement of a slow one costs the dialogues of a fast one nothing, and a register
//! that both take is of one moment in both.

use crate::compiled::compiled_with;
use crate::equal::mapped;
use crate::script::Script;
use control::latency::DriverModel;
use device::{Device, DeviceOptions};
use react::agent::{Agent, AgentOptions};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header d_t { bit<32> a; }
struct headers_t { d_t d; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(256) large;
    register<bit<32>>(1) common;
    apply {
        large.write(hdr.d.a & 255, hdr.d.a);
        common.write(0, hdr.d.a);
        sm.egress_spec = 1;
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.d); } }
reaction fast(ing hdr.d.a, reg common[0:0]) { }
@rate(\"1ms\")
reaction slow(ing hdr.d.a, reg large[0:255], reg common[0:0]) { }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn a_slow_measurement_costs_fast_dialogues_nothing() {
    let compiled = compiled_with(PROGRAM, None);
    // The fields of each reaction, what both take; `large` goes with the fields of `slow`.
    assert_eq!(compiled.plan.groups, [vec![0], vec![0, 1], vec![1]]);
    let group = |name: &str| {
        let mut all = compiled.plan.registers.iter();
        all.find(|register| &*register.name == name).expect("a register").group
    };
    assert_eq!((group("common"), group("large")), (1, 2));
    let program = compiled.run.program().clone();
    let mut device = Device::new(program, DeviceOptions::default()).expect("it loads");
    let (mut target, legacy) = mapped(&compiled, &device);
    let (script, calls) = Script::new(&compiled.interface, 1);
    let options = AgentOptions { is_traced: true, ..AgentOptions::default() };
    let agent = Agent::new(&compiled, Box::new(script), legacy, options);
    let mut agent = agent.expect("all objects are there");
    let mut next_ps = agent.prologue(&mut target).expect("it begins").expect("it reacts");
    device.set_control_latency(Some(DriverModel::pcie_chip().model));
    let mut sent = 0u32;
    while next_ps < 4_000_000_000 {
        while u64::from(sent) * 1_000_000 < next_ps {
            let now_ps = (u64::from(sent) * 1_000_000).max(device.now_ps());
            device.advance(now_ps).expect("it runs");
            device.inject(0, now_ps, sent.to_be_bytes().to_vec()).expect("it is taken");
            sent += 1;
        }
        device.advance(next_ps).expect("it runs");
        next_ps = agent.round(&mut target).expect("it reacts").expect("it goes on");
    }
    let dialogues = agent.take_trace();
    let took_us = |slow: bool| -> Vec<u64> {
        let own = dialogues.iter().filter(|dialogue| (dialogue.calls.len() == 2) == slow);
        own.map(|dialogue| (dialogue.ended_ps - dialogue.began_ps) / 1_000_000).collect()
    };
    let (fast, slow) = (took_us(false), took_us(true));
    // A flip, a wait, three words and a cell with its count; 256 cells with their counts and three words take 185 us more.
    assert!(fast.len() > 100 && fast.iter().all(|time_us| *time_us < 30), "{fast:?}");
    assert_eq!(slow.len(), 4, "{slow:?}");
    assert!(slow.iter().all(|time_us| (170..220).contains(time_us)), "{slow:?}");
    // Field and register are of one packet, in both.
    let calls = calls.lock().expect("no thread panics");
    for call in calls.iter() {
        let common = if call.reaction == 0 { call.input[1] } else { call.input[257] };
        assert_eq!(call.input[0], common, "{call:?}");
    }
    let of_slow = calls.iter().filter(|call| call.reaction == 1);
    assert!(of_slow.clone().skip(1).all(|call| call.input[0] > 200));
    for call in of_slow {
        // The cell of the measured packet is the newest one.
        let newest = call.input[1..257].iter().max();
        assert_eq!(newest, Some(&call.input[0]), "{call:?}");
    }
}

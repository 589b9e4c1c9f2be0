// SPDX-License-Identifier: Apache-2.0
//! The v1model device with a program from P4 source, from preprocessor to port.

mod externs;

use crate::setup::{ENGINES, compile, group, on, session, write};
use device::{Device, DeviceError, DeviceOptions, DropReason, EngineChoice, PassTiming};

/// Runs a scenario on each engine, and with passes with durations.
fn on_both(scenario: impl Fn(Device)) {
    for engine in ENGINES {
        scenario(device(engine, None));
    }
    let timing = PassTiming { first_stage_ps: 3, stage_ps: 2, ..PassTiming::default() };
    scenario(device(EngineChoice::Interpreter, Some(timing)));
}

fn device(engine: EngineChoice, pass_timing: Option<PassTiming>) -> Device {
    let program = compile("program.p4", include_str!("program.p4"), &[]);
    let device = Device::new(program, DeviceOptions { pass_timing, ..on(engine) }).expect("loads");
    write(&device, [group(9, &[(1, 11), (2, 12)]), session(5, &[(7, 0)])]);
    device
}

fn check(device: &mut Device, bytes: &[u8], expected: &[(u32, &[u8])]) {
    device.inject(0, device.now_ps(), bytes.to_vec()).expect("not in the past");
    device.run_to_completion().expect("no assertion fails");
    let sent = device.drain_transmitted();
    let sent: Vec<(u32, &[u8])> =
        sent.iter().map(|packet| (packet.port, &packet.bytes[..])).collect();
    assert_eq!(sent, expected, "for {bytes:?}");
}

#[test]
fn all_paths_through_the_switch() {
    on_both(|mut device| {
        let device = &mut device;
        check(device, &[1, 0, 0, 0, 0, 0, 42], &[(3, &[1, 0, 0, 0, 0, 0, 42])]);
        check(device, &[2, 0, 0, 0, 0, 0], &[(1, &[2, 0, 0, 11, 0, 0]), (2, &[2, 0, 0, 12, 0, 0])]);
        check(device, &[0, 0, 0, 0, 0, 0], &[]);
        // The clone keeps the metadata in the field list only.
        check(device, &[3, 0, 0, 0, 0, 0], &[(1, &[3, 0, 0, 0, 0, 0]), (7, &[3, 0, 0, 7, 0, 0])]);
        // Resubmitted until the kept value is 3. The value outside the field list is 0 at the start of each pass.
        check(device, &[4, 1, 0, 0, 0, 0], &[(4, &[4, 1, 0, 3, 0, 0])]);
        check(device, &[6, 0, 0, 0, 0, 0], &[(1, &[6, 0, 0, 0])]);
        check(device, &[7, 0, 0, 0, 0, 0, 9], &[(6, &[8, 0, 0, 0, 0, 21, 9])]);
        assert_eq!(device.statistics().resubmitted, 3);
        assert_eq!(device.statistics().recirculated, 1);
        assert_eq!(device.statistics().drops[&DropReason::IngressDrop], 1);
        let cells = device.cells();
        let passes = cells.register(ir::RegisterId(0)).expect("declared");
        assert_eq!(passes.read(1).map(|count| count.low_u64()), Some(4));
    });
}

#[test]
fn digests_have_names_and_fields() {
    on_both(|mut device| {
        device.inject(6, 0, vec![5, 77, 0, 0, 0, 0]).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        let digests = device.drain_digests();
        assert_eq!(digests.len(), 1);
        assert_eq!(&*digests[0].name, "seen_t");
        let fields: Vec<(&str, u64)> =
            digests[0].fields.iter().map(|(name, value)| (&**name, value.low_u64())).collect();
        assert_eq!(fields, [("value", 77), ("port", 6)]);
    });
}

#[test]
fn an_assertion_names_its_place() {
    on_both(|mut device| {
        device.inject(6, 0, vec![1, 255, 0, 0, 0, 0]).expect("not in the past");
        let error = device.run_to_completion().expect_err("the assertion fails");
        let DeviceError::AssertionFailed { origin, .. } = error else { panic!("{error}") };
        let span = device.program().origins[origin.index()].span;
        let text = include_str!("program.p4");
        let statement = &text[span.start as usize..span.end as usize];
        assert!(statement.starts_with("assert"), "{statement}");
    });
}

/// Counts passes through egress in the first byte; the first pass adds a header and clones the packet. Each pass writes
/// its `packet_length` behind.
const EGRESS_CLONE: &str = r#"
#include <core.p4>
#include <v1model.p4>
header tag_t { bit<32> length; bit<32> rest; }
header base_t { bit<8> kind; bit<32> length; }
struct headers_t { tag_t tag; base_t base; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.base); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { std.egress_spec = 1; }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.base.length = std.packet_length;
        if (std.instance_type == 0) {
            if (hdr.base.kind == 0) { clone(CloneType.E2E, 5); }
            hdr.tag.setValid();
            if (hdr.base.kind == 1) { clone(CloneType.E2E, 5); hdr.tag.setInvalid(); }
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.tag); packet.emit(hdr.base); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// An egress clone has the length that the packet has at the end of egress: simple_switch copies the packet's length
/// register, to which `setValid` (the primitive `add_header`) has added the header's length.
#[test]
fn an_egress_clone_has_the_length_at_the_end_of_egress() {
    let program = compile("clone.p4", EGRESS_CLONE, &[]);
    for engine in ENGINES {
        let mut device = Device::new(program.clone(), on(engine)).expect("it loads");
        write(&device, [session(5, &[(7, 0)])]);
        let tagged = |length: u8, kind: u8| vec![0, 0, 0, 0, 0, 0, 0, 0, kind, 0, 0, 0, length, 9];
        let plain = |length: u8, kind: u8| vec![kind, 0, 0, 0, length, 9];
        check(&mut device, &plain(0, 0), &[(1, &tagged(6, 0)), (7, &tagged(14, 0))]);
        check(&mut device, &plain(0, 1), &[(1, &plain(6, 1)), (7, &plain(6, 1))]);
    }
}

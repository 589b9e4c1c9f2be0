// SPDX-License-Identifier: Apache-2.0
//! Probes: the values of a packet's storage at the ends of a control, the same on both engines.

use device::{Device, DeviceOptions, EngineChoice, TappedEvent};
use ir::ready::ReadyProgram;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::Diagnostics;

const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; bit<8> count; }
struct headers_t { h_t h; h_t other; }
struct metadata_t { bit<4> seen; }
parser read(packet_in packet, out headers_t hdr, inout metadata_t meta,
    inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.h); transition accept; }
}
control change(inout headers_t hdr, inout metadata_t meta) {
    apply { if (hdr.h.kind == 9) { exit; } hdr.h.count = hdr.h.count + 1; meta.seen = 5; }
}
control ingress(inout headers_t hdr, inout metadata_t meta,
    inout standard_metadata_t standard_metadata) {
    change() change_here;
    apply {
        standard_metadata.egress_spec = 2;
        change_here.apply(hdr, meta);
        hdr.h.count = 0;
    }
}
control egress(inout headers_t hdr, inout metadata_t meta,
    inout standard_metadata_t standard_metadata) { apply { } }
control none(inout headers_t hdr, inout metadata_t meta) { apply { } }
control write(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(read(), none(), ingress(), egress(), none(), write()) main;
";

/// Values at probes of a control, one line each, and the outputs.
fn probed(engine: EngineChoice, bytes: [u8; 2]) -> Vec<String> {
    let options = PreprocessorOptions::default();
    let compiled = p4::compile::compile("probes.p4", PROGRAM.into(), &InterfacesOnly, &options);
    let typed = compiled.program.expect("a right program");
    let probes = ["ingress.change_here".into()];
    let ready = ReadyProgram::lower_with_probes(typed, &probes, &mut Diagnostics::new());
    let program = ready.expect("it lowers").program().clone();
    assert_eq!(ir::verify(&program), Ok(()));
    let options = DeviceOptions { engine, tap: true, ..DeviceOptions::default() };
    let mut device = Device::new(program.clone(), options).expect("it loads");
    device.inject(1, 0, bytes.to_vec()).expect("a port");
    device.run_to_completion().expect("it runs");
    let mut lines = Vec::new();
    for tapped in device.drain_taps() {
        match tapped.what {
            TappedEvent::Probed { request, values } => {
                let request = &program.requests[request.index()];
                let values = request.fields.iter().zip(values).map(|((name, _), value)| {
                    format!("{name} {}", value.to_u64().expect("a short value"))
                });
                lines.push(format!("{}: {}", request.label, values.collect::<Vec<_>>().join(", ")));
            }
            TappedEvent::Sent { bytes, .. } => lines.push(format!("sent {bytes:?}")),
            _ => {}
        }
    }
    lines
}

#[test]
fn probes_give_values_at_both_ends_of_a_control() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let begin = "ingress.change_here begin: hdr.h.$valid 1, hdr.h.kind 3, hdr.h.count 7, \
                     hdr.other.$valid 0, hdr.other.kind 0, hdr.other.count 0, meta.seen 0";
        let end = "ingress.change_here end: hdr.h.$valid 1, hdr.h.kind 3, hdr.h.count 8, \
                   hdr.other.$valid 0, hdr.other.kind 0, hdr.other.count 0, meta.seen 5";
        assert_eq!(probed(engine, [3, 7]), [begin, end, "sent [3, 0]"], "{engine:?}");
    }
}

#[test]
fn control_left_by_exit_has_no_end() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let begin = "ingress.change_here begin: hdr.h.$valid 1, hdr.h.kind 9, hdr.h.count 7, \
                     hdr.other.$valid 0, hdr.other.kind 0, hdr.other.count 0, meta.seen 0";
        assert_eq!(probed(engine, [9, 7]), [begin, "sent [9, 7]"], "{engine:?}");
    }
}

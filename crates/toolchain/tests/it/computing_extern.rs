// SPDX-License-Identifier: Apache-2.0
//! An extern that only computes is written in two pieces, as docs/externs.md says: its declaration in P4 and one
//! function. Both engines call it, and the layout counts it as a statement.

use device::{Device, DeviceOptions, EngineChoice};
use ir::Bits;
use ir::ready::ReadyProgram;
use source::Span;
use state::externs::{ExternRegistry, PureExtern};

/// The first piece.
const DECLARATION: &str = "@pure extern bit<8> popcount(in bit<32> x);";

/// The second piece.
fn popcount(arguments: &[Bits], result_widths_bits: &[u32]) -> Vec<Bits> {
    vec![Bits::from_u64(result_widths_bits[0], arguments[0].low_u64().count_ones().into())]
}

const PROGRAM: &str = "
header h_t { bit<32> word; bit<8> ones; bit<8> twice; }
struct headers_t { h_t h; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action count() { hdr.h.ones = popcount(hdr.h.word); }
    table t { actions = { count; } default_action = count(); }
    apply {
        t.apply();
        hdr.h.twice = popcount(hdr.h.word) + hdr.h.ones;
        s.egress_spec = 9w4;
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

fn ready() -> ReadyProgram {
    let includes = "#include <core.p4>\n#include <v1model.p4>\n";
    let text = format!("{includes}{DECLARATION}{PROGRAM}");
    ReadyProgram::of_text("popcount.p4", text).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn both_engines_call_a_computing_extern() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let provider =
            PureExtern { name: "popcount".into(), signature: (1, 1), evaluate: popcount };
        let externs = ExternRegistry::new().with(provider);
        let options = DeviceOptions { engine, externs, ..DeviceOptions::default() };
        let mut device = Device::new(ready().program().clone(), options).expect("it loads");
        device.inject(0, 0, vec![0xf0, 0, 0, 7, 0, 0]).expect("a port and a time");
        device.run_to_completion().expect("no assertion fails");
        let sent = device.drain_transmitted();
        assert_eq!(sent.len(), 1, "{engine:?}");
        assert_eq!(sent[0].bytes, [0xf0, 0, 0, 7, 7, 14], "{engine:?}");
    }
}

#[test]
fn layout_counts_a_computing_extern_as_a_statement() {
    let ready = ready();
    assert!(pisa::graph::obstacles(ready.program()).is_empty());
    let problem = pisa::graph::problem_of(ready.program());
    assert!(problem.units.iter().any(|unit| &*unit.name == "popcount"));
    let tofino = pisa::HardwareModel::named("tofino", Span::NONE).expect("it is built in");
    let layout = pisa::greedy::greedy(&problem, &tofino).expect("it fits");
    assert!(!layout.stages.is_empty());
}

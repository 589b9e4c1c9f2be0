// SPDX-License-Identifier: Apache-2.0
//! Small programs for v1model around the declarations and statements of an ingress control.

use ir::ready::ReadyProgram;

/// The control's statements read and write these fields.
const FRAME: &str = "\
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> i; bit<8> j; bit<8> m; bit<32> v; bit<32> w; }
register<bit<32>>(8) shared;
struct headers { h_t h; }
struct metadata { bit<32> x; bit<8> k; }
parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
";

/// Returns the program with these declarations in ingress, and these statements in ingress and egress. Both see
/// the register `shared`.
pub fn program(declarations: &str, ingress: &str, egress: &str) -> ReadyProgram {
    both_controls((declarations, ingress), ("", egress))
}

/// The same with declarations in egress too.
pub fn both_controls(
    (declarations, ingress): (&str, &str),
    (of_egress, egress): (&str, &str),
) -> ReadyProgram {
    let text = format!(
        "{FRAME}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{
    {of_egress}
    apply {{ bit<32> x; bit<32> y; bit<32> z; {egress} }}
}}
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{
    {declarations}
    apply {{ bit<32> x; bit<32> y; bit<32> z; sm.egress_spec = 9w1; {ingress} }}
}}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    );
    ReadyProgram::of_text("test.p4", text).expect("the program is right")
}

/// A register of 8 cells of this name.
pub fn register(name: &str) -> String {
    format!("register<bit<32>>(8) {name};")
}

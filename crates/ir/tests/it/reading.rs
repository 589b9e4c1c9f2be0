// SPDX-License-Identifier: Apache-2.0
//! How many bytes of a packet programs read.

use ir::reading::max_read_bytes;
use ir::ready::ReadyProgram;
use p4::preprocessor::PreprocessorOptions;

/// A v1model program with these states of the parser and statements of the checksum computation.
fn check(states: &str, compute: &str, expected: Option<usize>) {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header ten_t {{ bit<80> f; }}\n\
         header var_t {{ bit<8> f; varbit<64> v; }}\n\
         struct headers_t {{ ten_t a; ten_t[3] s; var_t v; }}\n\
         struct metadata_t {{ bit<16> m; }}\n\
         parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {{\n\
         {states}\n}}\n\
         control V(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}\n\
         control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control C(inout headers_t hdr, inout metadata_t meta) {{\n\
         apply {{ {compute} }} }}\n\
         control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.a); }} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n",
    );
    let ready = ReadyProgram::of_text_with("test.p4", &text, &PreprocessorOptions::default());
    let ready = ready.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(max_read_bytes(ready.lowered()), expected, "{states} {compute}");
}

#[test]
fn the_longest_path_counts() {
    check("state start { transition accept; }", "", Some(0));
    check("state start { packet.extract(hdr.a); transition accept; }", "", Some(10));
    let branches = "state start { packet.extract(hdr.a); transition select(hdr.a.f) { 1: more; default: accept; } }
                    state more { packet.advance(12); packet.extract(hdr.s.next); transition accept; }";
    check(branches, "", Some(22));
    let ahead = "state start { meta.m = packet.lookahead<bit<16>>(); transition accept; }";
    check(ahead, "", Some(2));
}

#[test]
fn loops_lengths_and_payloads_have_no_limit() {
    let again = "state start { packet.extract(hdr.s.next); transition select(hdr.s.last.f) { 1: start; default: accept; } }";
    check(again, "", None);
    let variable = "state start { packet.extract(hdr.v, 16); transition accept; }";
    check(variable, "", None);
    let computed = "state start { packet.extract(hdr.a); packet.advance((bit<32>)hdr.a.f[7:0]); transition accept; }";
    check(computed, "", None);
    let plain = "state start { packet.extract(hdr.a); transition accept; }";
    let payload = "update_checksum_with_payload(true, { hdr.a.f }, meta.m, HashAlgorithm.csum16);";
    check(plain, payload, None);
}

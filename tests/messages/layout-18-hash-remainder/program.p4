// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> a; bit<16> b; bit<16> c; }
struct headers_t { h_t h; }
struct metadata_t { bit<14> pick; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() { mark_to_drop(std); }
    action pick(bit<14> base, bit<32> count) {
        hash(meta.pick, HashAlgorithm.crc16, base, { hdr.h.a, hdr.h.b }, count);
    }
    action send(bit<9> port) { std.egress_spec = port; }
    table groups { key = { hdr.h.a: lpm; } actions = { drop; pick; } default_action = drop(); size = 1024; }
    table members { key = { meta.pick: exact; } actions = { send; drop; } default_action = drop(); }
    apply { groups.apply(); members.apply(); if (hdr.h.c == 3) { drop(); } }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

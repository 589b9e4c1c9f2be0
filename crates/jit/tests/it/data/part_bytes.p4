// SPDX-License-Identifier: Apache-2.0
// Headers that are not whole bytes, and an advance by a length known only at run time.
#include <core.p4>
#include <v1model.p4>

header odd_t { bit<3> a; bit<70> b; bit<4> c; }
header even_t { bit<5> a; bit<12> b; }

struct headers_t { odd_t odd; even_t even; even_t[3] more; }
struct metadata_t { bit<7> ahead; bit<150> far; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta,
         inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.odd);
        meta.ahead = packet.lookahead<bit<7>>();
        packet.advance((bit<32>)(hdr.odd.c));
        packet.extract(hdr.even);
        transition select(hdr.even.a) {
            0 .. 9: far;
            10 .. 20: more;
            default: accept;
        }
    }
    state far { meta.far = packet.lookahead<bit<150>>(); transition accept; }
    state more {
        packet.extract(hdr.more.next);
        transition select(hdr.more.last.a) { 0 .. 15: more; default: accept; }
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.odd.b = hdr.odd.b + (bit<70>)meta.ahead;
        if (hdr.more[1].isValid()) { hdr.more[0] = hdr.more[1]; }
        hdr.even.b = (bit<12>)meta.far[149:140];
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;

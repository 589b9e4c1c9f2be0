// SPDX-License-Identifier: Apache-2.0
// A product of two fields, and a loop that ends when a field says so.
#include <core.p4>
#include <v1model.p4>

header fields_t { bit<32> a; bit<32> b; bit<32> c; bit<8> kind; }
header wide_t { bit<128> p; bit<128> q; bit<128> r; bit<128> s; bit<128> t; }
struct headers_t { fields_t f; wide_t w; }
struct metadata_t { bit<32> x; bit<32> y; bit<32> z; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta,
         inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.f);
        packet.extract(hdr.w);
        transition accept;
    }
}
control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.f);
        packet.emit(hdr.w);
    }
}
control Ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.f.a = hdr.f.b * hdr.f.c;
        for (bit<32> i = 0; i < hdr.f.b; i = i + 1) {
            meta.x = meta.x + i;
        }
    }
}
control Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}
V1Switch(P(), Verify(), Ingress(), Egress(), Compute(), Deparse()) main;

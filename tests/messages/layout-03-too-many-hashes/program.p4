// SPDX-License-Identifier: Apache-2.0
// One action computes three hashes.
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
    action spread() {
        hash(hdr.f.a, HashAlgorithm.crc32, 32w0, { meta.x, meta.y }, 32w1024);
        hash(hdr.f.b, HashAlgorithm.crc16, 32w0, { meta.x, meta.y }, 32w1024);
        hash(hdr.f.c, HashAlgorithm.crc32, 32w0, { meta.y, meta.z }, 32w1024);
    }
    table spreading {
        key = { hdr.f.kind : exact; }
        actions = { spread; NoAction; }
        default_action = NoAction();
    }
    apply { spreading.apply(); }
}
control Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}
V1Switch(P(), Verify(), Ingress(), Egress(), Compute(), Deparse()) main;

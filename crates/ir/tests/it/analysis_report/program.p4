// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<8> id;
    bit<8> hops;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
    bit<32> index;
    bit<32> seen;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(256) last;
    register<bit<32>>(256) packets;

    action forward(bit<9> port) {
        standard.egress_spec = port;
        meta.index = 0;
    }

    table ports {
        key = { hdr.flow.id: exact; }
        actions = { forward; }
    }

    apply {
        meta.index = (bit<32>) hdr.flow.id;
        if (hdr.flow.hops > 3) {
            ports.apply();
            last.read(meta.seen, meta.index);
        }
        packets.write(meta.seen, 1);
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.flow.hops = hdr.flow.hops - 1;
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.flow);
    }
}

V1Switch(Parse(), Verify(), Ingress(), Egress(), Compute(), Deparse()) main;

// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<32> flow;
    bit<32> value;
    bit<8> color;
}

struct headers {
    data_t data;
}

struct metadata {
}

parser Reader(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control Verify(inout headers hdr, inout metadata meta) {
    apply {
    }
}

control Ingress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    table routes {
        key = {
            hdr.data.flow: exact;
        }
        actions = {
            forward;
            NoAction;
        }
    }
    apply {
        routes.apply();
    }
}

control Egress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    apply {
    }
}

control Compute(inout headers hdr, inout metadata meta) {
    apply {
    }
}

control Writer(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.data);
    }
}

V1Switch(Reader(), Verify(), Ingress(), Egress(), Compute(), Writer()) main;

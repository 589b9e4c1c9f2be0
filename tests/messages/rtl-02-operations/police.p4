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
    register<bit<32>>(32) sums;
    meter(32, MeterType.packets) rates;
    apply {
        bit<32> sum;
        sums.read(sum, hdr.data.flow & 31);
        sums.write(hdr.data.flow & 31, sum + hdr.data.value);
        hdr.data.value = sum / hdr.data.value;
        random(hdr.data.color, 0, 9);
        clone(CloneType.I2E, 5);
        rates.execute_meter<bit<8>>(hdr.data.flow & 31, hdr.data.color);
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

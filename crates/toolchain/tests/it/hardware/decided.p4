// SPDX-License-Identifier: Apache-2.0
// Accesses that depend on state: the first array decides whether a packet accesses the second, which is stages behind it, and packets of
// two flows meet in the second. So phantoms are cancelled, and by losses in front of the first array too.
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<32> first;
    bit<32> second;
    bit<32> value;
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
    register<bit<32>>(32) counts;
    register<bit<32>>(16) sums;
    apply {
        bit<32> seen;
        counts.read(seen, hdr.data.first & 31);
        counts.write(hdr.data.first & 31, seen * 3 + hdr.data.value);
        hdr.data.value = hdr.data.value ^ seen;
        bit<32> mixed = (hdr.data.value * 7 + 5) ^ (seen >> 3);
        mixed = mixed * 5 + 1;
        if (seen[2:2] == 0) {
            bit<32> sum;
            sums.read(sum, hdr.data.second & 15);
            sums.write(hdr.data.second & 15, sum * 31 + mixed);
            hdr.data.value = sum + mixed;
        }
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

// SPDX-License-Identifier: Apache-2.0
// Packets that go round by port 68 for ever, each counting in a register what number it is.
#include <core.p4>
#include <v1model.p4>

header event_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
    bit<32> number;
    bit<32> rounds;
}

struct headers_t {
    event_t event;
}

struct metadata_t { }

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.event);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    register<bit<32>>(1024) counts;
    apply {
        bit<32> count;
        counts.read(count, hdr.event.number & 1023);
        count = count + 1;
        counts.write(hdr.event.number & 1023, count);
        hdr.event.rounds = count;
        standard.priority = 7;
        standard.egress_spec = 68;
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply { }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.event);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

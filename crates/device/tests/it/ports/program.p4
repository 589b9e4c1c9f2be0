// SPDX-License-Identifier: Apache-2.0
// Packets that go round by a port so many times and then leave by port 2, with what they saw last.
#include <core.p4>
#include <v1model.p4>

header round_t {
    bit<8>  rounds;
    bit<8>  by;
    bit<8>  queue;
    bit<8>  group;
    bit<16> came_by;
    bit<16> instance;
    bit<48> at_ingress;
    bit<48> at_egress;
    bit<32> enqueued;
    bit<32> waited;
    bit<16> before;
    bit<16> behind;
    bit<32> drawn;
}

struct headers_t {
    round_t round;
}

struct metadata_t { }

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.round);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    apply {
        hdr.round.came_by = (bit<16>)standard.ingress_port;
        hdr.round.at_ingress = standard.ingress_global_timestamp;
        random(hdr.round.drawn, 0, 1000000);
        if (hdr.round.rounds == 0) {
            standard.egress_spec = 2;
        } else {
            hdr.round.rounds = hdr.round.rounds - 1;
            standard.priority = (bit<3>)hdr.round.queue;
            if (hdr.round.group != 0) {
                standard.mcast_grp = (bit<16>)hdr.round.group;
                hdr.round.group = 0;
            } else {
                standard.egress_spec = (bit<9>)hdr.round.by;
            }
        }
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply {
        if (standard.egress_port != 2) {
            hdr.round.instance = standard.egress_rid;
            hdr.round.at_egress = standard.egress_global_timestamp;
            hdr.round.enqueued = standard.enq_timestamp;
            hdr.round.waited = standard.deq_timedelta;
            hdr.round.before = (bit<16>)standard.enq_qdepth;
            hdr.round.behind = (bit<16>)standard.deq_qdepth;
        }
    }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

// SPDX-License-Identifier: Apache-2.0
// What simple_switch does between ingress and egress, chosen by the first byte of a packet.
#include <core.p4>
#include <v1model.p4>

header choice_t {
    bit<8>  what;
    bit<8>  value;
    bit<16> seen;
    bit<16> sum;
}

struct headers_t {
    choice_t choice;
}

struct metadata_t {
    @field_list(1)
    bit<16> kept;
    bit<16> lost;
}

struct seen_t {
    bit<8>  value;
    bit<9>  port;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.choice);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    register<bit<16>>(8) passes;

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    action multicast(bit<16> group) {
        standard.mcast_grp = group;
    }
    action drop() {
        mark_to_drop(standard);
    }
    action copy(bit<32> session) {
        meta.kept = 7;
        meta.lost = 7;
        clone_preserving_field_list(CloneType.I2E, session, 1);
        standard.egress_spec = 1;
    }
    action again() {
        meta.kept = meta.kept + 1;
        meta.lost = meta.lost + 1;
        resubmit_preserving_field_list(1);
    }
    action tell() {
        digest<seen_t>(1, { hdr.choice.value, standard.ingress_port });
        standard.egress_spec = 1;
    }
    action shorten(bit<32> length) {
        truncate(length);
        standard.egress_spec = 1;
    }

    table choose {
        key = { hdr.choice.what : exact; }
        actions = { forward; multicast; drop; copy; again; tell; shorten; }
        default_action = drop();
        const entries = {
            1 : forward(3);
            2 : multicast(9);
            3 : copy(5);
            4 : again();
            5 : tell();
            6 : shorten(4);
            7 : forward(2);
        }
    }

    apply {
        bit<16> count;
        passes.read(count, (bit<32>) hdr.choice.value);
        passes.write((bit<32>) hdr.choice.value, count + 1);
        if (standard.instance_type == 6 && meta.kept == 3) {
            hdr.choice.seen = meta.kept;
            hdr.choice.sum = meta.lost;
            standard.egress_spec = 4;
        } else if (standard.instance_type == 4) {
            hdr.choice.sum = meta.kept;
            standard.egress_spec = 6;
        } else {
            choose.apply();
        }
        assert(hdr.choice.value != 255);
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type == 1) {
            hdr.choice.seen = meta.kept;
            hdr.choice.sum = meta.lost;
        }
        if (standard.instance_type == 5) {
            hdr.choice.seen = standard.egress_rid;
        }
        if (hdr.choice.what == 7 && standard.instance_type == 0 && hdr.choice.sum == 0) {
            meta.kept = 21;
            hdr.choice.what = 8;
            recirculate_preserving_field_list(1);
        }
    }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.choice);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

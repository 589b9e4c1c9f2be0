// SPDX-License-Identifier: Apache-2.0
// A program that writes its number into each packet, and counts packets by their key. The first byte chooses what
// else it asks of its device.
#include <core.p4>
#include <v1model.p4>

#ifndef NUMBER
#define NUMBER 1
#endif
#ifndef CELLS
#define CELLS 16
#endif

header note_t {
    bit<8>  what;
    bit<8>  key;
    bit<8>  in_ingress;
    bit<8>  in_egress;
    bit<32> count;
}

struct headers_t {
    note_t note;
}

struct metadata_t {
#ifdef LONGER
    bit<64> before;
    bit<64> sum;
#endif
    bit<8> unused;
}

struct news_t {
    bit<8> number;
    bit<8> key;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.note);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    register<bit<32>>(CELLS) seen;

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    action drop() {
        mark_to_drop(standard);
    }

    table choose {
        key = { hdr.note.key : exact; }
        actions = { forward; drop; }
        default_action = forward(3);
        size = 64;
        support_timeout = true;
    }

    apply {
        bit<32> count;
        seen.read(count, (bit<32>) hdr.note.key);
        count = count + 1;
        seen.write((bit<32>) hdr.note.key, count);
        hdr.note.count = count;
        hdr.note.in_ingress = (bit<8>) NUMBER;
#ifdef LONGER
        meta.before = (bit<64>) hdr.note.key;
        meta.sum = meta.before + 1;
        hdr.note.count = hdr.note.count + (bit<32>) meta.sum - (bit<32>) meta.before - 1;
#endif
        choose.apply();
        if (hdr.note.what == 1) {
            clone(CloneType.I2E, 5);
        } else if (hdr.note.what == 2) {
            if (standard.instance_type == 0) { resubmit_preserving_field_list(0); }
        } else if (hdr.note.what == 4) {
            digest<news_t>(1, { (bit<8>) NUMBER, hdr.note.key });
        } else if (hdr.note.what == 5) {
            standard.mcast_grp = 9;
        } else if (hdr.note.what == 6) {
            hdr.note.what = 0;
            standard.egress_spec = 68;
        }
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply {
        hdr.note.in_egress = (bit<8>) NUMBER;
        if (hdr.note.what == 3) {
            hdr.note.what = 0;
            recirculate_preserving_field_list(0);
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

// SPDX-License-Identifier: Apache-2.0
// Lookups that are made before packets run: two tables by longest prefix, for addresses at two places each.
// Some packets send a digest, and some fail an assertion.

#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header tag_t { bit<16> tag; bit<16> kind; }
header ipv4_t { bit<8> what; bit<32> src; bit<32> dst; }
struct headers_t { ethernet_t ethernet; tag_t tag; ipv4_t ipv4; }
struct metadata_t { bit<9> port; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            0x8100: tag;
            0x0800: ipv4;
            default: accept;
        }
    }
    state tag {
        packet.extract(hdr.tag);
        transition select(hdr.tag.kind) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action send(bit<9> port) { standard.egress_spec = port; }
    action mark(bit<48> mark) { hdr.ethernet.src = mark; }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { send; drop; NoAction; }
        default_action = drop();
        size = 4096;
    }
    table sources {
        key = { hdr.ipv4.src: lpm; }
        actions = { mark; NoAction; }
        default_action = NoAction();
        size = 4096;
    }
    apply {
        standard.egress_spec = 1;
        if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.what == 1) {
                hdr.ipv4.src = 0x0a000001;
            }
            if (!routes.apply().hit) {
                standard.egress_spec = 2;
            }
            sources.apply();
            if (hdr.ipv4.what == 2) {
                digest<bit<32>>(1, hdr.ipv4.dst);
            }
            assert(hdr.ipv4.what != 3);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tag);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;

// SPDX-License-Identifier: Apache-2.0
// Tables that are large enough to be fetched ahead for: an exact one by an address and the ingress port, a
// second exact one of the same, one by longest prefix, one with masks, and one whose key is another's result.

#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header tag_t { bit<16> tag; bit<16> kind; }
header ipv4_t { bit<32> src; bit<32> dst; bit<64> flow; }
struct headers_t { ethernet_t ethernet; tag_t tag; ipv4_t ipv4; }
struct metadata_t { bit<32> found; bit<16> mark; }

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
    action find(bit<32> found) { meta.found = found; }
    action mark(bit<16> mark) { meta.mark = meta.mark + mark; }
    action send(bit<9> port) { standard.egress_spec = port; }
    action drop() { mark_to_drop(standard); }
    table sources {
        key = { hdr.ethernet.src: exact; standard.ingress_port: exact; }
        actions = { mark; }
        default_action = mark(1);
        size = 65536;
    }
    table flows {
        key = { hdr.ipv4.flow: exact; }
        actions = { mark; }
        default_action = mark(2);
        size = 65536;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { find; drop; }
        default_action = drop();
        size = 65536;
    }
    table rules {
        key = { hdr.ipv4.src: ternary; hdr.ipv4.flow: ternary; }
        actions = { mark; }
        default_action = mark(4);
        size = 65536;
    }
    table hops {
        key = { meta.found: exact; }
        actions = { send; drop; }
        default_action = drop();
        size = 65536;
    }
    apply {
        standard.egress_spec = 1;
        sources.apply();
        if (hdr.ipv4.isValid()) {
            flows.apply();
            rules.apply();
            if (routes.apply().hit) { hops.apply(); }
            hdr.ipv4.flow[15:0] = meta.mark;
        }
        hdr.ethernet.kind = meta.mark;
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

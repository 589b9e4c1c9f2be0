// SPDX-License-Identifier: Apache-2.0
// A program whose trace has one of everything that people look for.
#include <core.p4>
#include <v1model.p4>

enum Kind { none, request, reply }

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<8>  ttl;
    bit<8>  protocol;
    bit<32> dst_addr;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t {
    Kind kind;
}

struct seen_t {
    bit<48> src;
    Kind    kind;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x800: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ttl != 255, error.HeaderTooShort);
        transition select(hdr.ipv4.protocol, hdr.ipv4.ttl) {
            (1, _): parse_request;
            (2 &&& 2, 0..10): reject;
            default: accept;
        }
    }
    state parse_request {
        meta.kind = Kind.request;
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    register<bit<32>>(8) seen;

    action forward(bit<9> port, bit<48> mac) {
        standard.egress_spec = port;
        hdr.ethernet.dst = mac;
    }
    action drop() {
        mark_to_drop(standard);
    }
    table routes {
        key = { hdr.ipv4.dst_addr : lpm; }
        actions = { forward; drop; }
        default_action = drop();
        const entries = {
            0x0a000000 &&& 0xff000000 : forward(3, 0x0200000000fe);
        }
    }

    apply {
        bit<32> count;
        seen.read(count, 3);
        seen.write(3, count + 1);
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl != 0) {
            switch (routes.apply().action_run) {
                forward: {
                    hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                    digest<seen_t>(1, { hdr.ethernet.src, meta.kind });
                }
                default: { }
            }
        } else {
            hdr.ipv4.setInvalid();
            mark_to_drop(standard);
        }
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
        packet.emit(hdr);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

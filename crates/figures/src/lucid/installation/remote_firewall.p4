// SPDX-License-Identifier: Apache-2.0
// A firewall between an inside port (1) and an outside port (2) whose flows stand in a match table that a
// controller fills: the baseline of figure 17. A packet from inside always passes; that of a new flow is
// reported. A packet from outside passes if its flow is known.

#include <core.p4>
#include <v1model.p4>

const bit<9> INSIDE = 1;
const bit<9> OUTSIDE = 2;
const bit<16> ETHERTYPE_IPV4 = 0x0800;

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<96> before_addresses;
    bit<32> src_addr;
    bit<32> dst_addr;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct new_flow_t {
    bit<32> inside_addr;
    bit<32> outside_addr;
}

struct metadata_t {
    bit<32> inside_addr;
    bit<32> outside_addr;
}

parser FirewallParser(packet_in packet,
                      out headers_t hdr,
                      inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control FirewallVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FirewallIngress(inout headers_t hdr,
                        inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    action pass() { }

    table flows {
        key = {
            meta.inside_addr: exact;
            meta.outside_addr: exact;
        }
        actions = {
            pass;
        }
        size = 2048;
        default_action = pass();
    }

    apply {
        if (!hdr.ipv4.isValid()) {
            mark_to_drop(standard_metadata);
        } else if (standard_metadata.ingress_port == INSIDE) {
            standard_metadata.egress_spec = OUTSIDE;
            meta.inside_addr = hdr.ipv4.src_addr;
            meta.outside_addr = hdr.ipv4.dst_addr;
            if (flows.apply().miss) {
                digest<new_flow_t>(1, { meta.inside_addr, meta.outside_addr });
            }
        } else {
            standard_metadata.egress_spec = INSIDE;
            meta.inside_addr = hdr.ipv4.dst_addr;
            meta.outside_addr = hdr.ipv4.src_addr;
            if (flows.apply().miss) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

control FirewallEgress(inout headers_t hdr,
                       inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {
    apply { }
}

control FirewallComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FirewallDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(
    FirewallParser(),
    FirewallVerifyChecksum(),
    FirewallIngress(),
    FirewallEgress(),
    FirewallComputeChecksum(),
    FirewallDeparser()
) main;

// SPDX-License-Identifier: Apache-2.0
// Source routing: the sender writes the output port of every switch on the path into a stack of
// hops after the Ethernet header. A switch takes the first hop off and sends the packet there; the
// last switch also gives the packet back its IPv4 Ethernet type.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
// IEEE 802 local experimental Ethernet type 1.
const bit<16> ETHERTYPE_SOURCE_ROUTE = 0x88b5;

// The longest route, in switches.
#define MAXIMUM_HOPS 8

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header hop_t {
    bit<1>  is_last;
    bit<15> port;
}

header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      diffserv;
    bit<16>     total_len;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

struct headers_t {
    ethernet_t           ethernet;
    hop_t[MAXIMUM_HOPS]  hops;
    ipv4_t               ipv4;
}

struct metadata_t { }

parser SourceRoutingParser(packet_in packet,
                           out headers_t hdr,
                           inout metadata_t meta,
                           inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_SOURCE_ROUTE: parse_hop;
            default: accept;
        }
    }

    // A route longer than the stack ends in the parser error StackOutOfBounds.
    state parse_hop {
        packet.extract(hdr.hops.next);
        transition select(hdr.hops.last.is_last) {
            1: parse_ipv4;
            default: parse_hop;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control SourceRoutingVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SourceRoutingIngress(inout headers_t hdr,
                             inout metadata_t meta,
                             inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action follow_route() {
        standard_metadata.egress_spec = (port_t) hdr.hops[0].port;
        hdr.hops.pop_front(1);
    }

    action end_route() {
        hdr.ethernet.ether_type = ETHERTYPE_IPV4;
    }

    action decrement_ttl() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    apply {
        if (standard_metadata.parser_error != error.NoError || !hdr.hops[0].isValid()) {
            drop();
        } else if (hdr.ipv4.ttl <= 1) {
            drop();
        } else {
            if (hdr.hops[0].is_last == 1) {
                end_route();
            }
            follow_route();
            decrement_ttl();
        }
    }
}

control SourceRoutingEgress(inout headers_t hdr,
                            inout metadata_t meta,
                            inout standard_metadata_t standard_metadata) {
    apply { }
}

control SourceRoutingComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version,
              hdr.ipv4.ihl,
              hdr.ipv4.diffserv,
              hdr.ipv4.total_len,
              hdr.ipv4.identification,
              hdr.ipv4.flags,
              hdr.ipv4.frag_offset,
              hdr.ipv4.ttl,
              hdr.ipv4.protocol,
              hdr.ipv4.src_addr,
              hdr.ipv4.dst_addr },
            hdr.ipv4.hdr_checksum,
            HashAlgorithm.csum16);
    }
}

control SourceRoutingDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.hops);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(
    SourceRoutingParser(),
    SourceRoutingVerifyChecksum(),
    SourceRoutingIngress(),
    SourceRoutingEgress(),
    SourceRoutingComputeChecksum(),
    SourceRoutingDeparser()
) main;

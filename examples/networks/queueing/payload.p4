// SPDX-License-Identifier: Apache-2.0
// A queue whose packets are payloads alone: UDP datagrams that arrive at any port leave by port 1 without their
// Ethernet, IPv4 and UDP headers, so that the size on the wire is that of the payload. Other packets are dropped.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  diffserv;
    bit<16> total_len;
    bit<32> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> len;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
}

struct metadata_t { }

parser PayloadParser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 17): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control PayloadVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PayloadIngress(inout headers_t hdr,
                       inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.udp.isValid()) {
            standard_metadata.egress_spec = 1;
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

control PayloadEgress(inout headers_t hdr,
                      inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    apply { }
}

control PayloadComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PayloadDeparser(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(
    PayloadParser(),
    PayloadVerifyChecksum(),
    PayloadIngress(),
    PayloadEgress(),
    PayloadComputeChecksum(),
    PayloadDeparser()
) main;

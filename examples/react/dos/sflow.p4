// SPDX-License-Identifier: Apache-2.0
// Flow sizes by sFlow: one packet of 30,000, chosen at random, is reported to the control plane. The estimate of a source is
// the sum of its samples' lengths times 30,000.
#include <core.p4>
#include <v1model.p4>

// One packet of so many is sampled.
#ifndef PERIOD
#define PERIOD 30000
#endif

const bit<16> ETHERTYPE_IPV4 = 0x0800;

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> tos;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> frag_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
}

struct metadata_t {}

struct sample_t {
    bit<32> source;
    bit<32> length;
}

parser SflowParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
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

control SflowVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control SflowIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    apply {
        if (hdr.ipv4.isValid()) {
            bit<32> number;
            random(number, 32w0, 32w0 + (PERIOD - 1));
            if (number == 0) {
                digest<sample_t>(1, { hdr.ipv4.src_addr, standard_metadata.packet_length });
            }
        }
        standard_metadata.egress_spec = 1;
    }
}

control SflowEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    apply {}
}

control SflowComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control SflowDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(
    SflowParser(),
    SflowVerifyChecksum(),
    SflowIngress(),
    SflowEgress(),
    SflowComputeChecksum(),
    SflowDeparser()
) main;

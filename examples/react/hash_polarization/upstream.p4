// SPDX-License-Identifier: Apache-2.0
// A switch before hash_polarization.p4r that hashes the same fields in the same way. So all packets that it sends to one of
// its paths have equal rests of the hash, and the next switch uses a part of its paths.
#include <core.p4>
#include <v1model.p4>

// Paths, on ports from 1 on; at most 8.
#ifndef PATHS
#define PATHS 2
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

header ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    ports_t ports;
}

struct metadata_t {
    bit<16> path;
}

parser UpstreamParser(
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
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, 6): parse_ports;
            (0, 17): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control UpstreamVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control UpstreamIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table paths {
        key = {
            meta.path: exact;
        }
        actions = {
            forward;
            drop;
        }
        default_action = drop();
        const entries = {
            0: forward(1);
            1: forward(2);
            2: forward(3);
            3: forward(4);
            4: forward(5);
            5: forward(6);
            6: forward(7);
            7: forward(8);
        }
    }

    apply {
        if (!hdr.ports.isValid()) {
            drop();
            exit;
        }
        hash(
            meta.path,
            HashAlgorithm.crc16,
            16w0,
            {
                hdr.ipv4.src_addr,
                hdr.ipv4.dst_addr,
                hdr.ipv4.protocol,
                hdr.ports.src_port,
                hdr.ports.dst_port
            },
            16w0 + PATHS
        );
        paths.apply();
    }
}

control UpstreamEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    apply {}
}

control UpstreamComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control UpstreamDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(
    UpstreamParser(),
    UpstreamVerifyChecksum(),
    UpstreamIngress(),
    UpstreamEgress(),
    UpstreamComputeChecksum(),
    UpstreamDeparser()
) main;

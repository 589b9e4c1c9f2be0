// SPDX-License-Identifier: Apache-2.0
// Flow sizes by a hash table: a register of bytes, indexed by the hash of the source, without a check of keys. Beside the
// estimates of dos.p4r and flow_sizes.p4r.
#include <core.p4>
#include <v1model.p4>

// Cells of the table.
#ifndef CELLS
#define CELLS 8192
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

parser HashTableParser(
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

control HashTableVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control HashTableIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    register<bit<32>>(CELLS) bytes;

    apply {
        if (hdr.ipv4.isValid()) {
            bit<32> index;
            bit<32> count;
            hash(index, HashAlgorithm.crc32, 32w0, { hdr.ipv4.src_addr }, 32w0 + CELLS);
            bytes.read(count, index);
            bytes.write(index, count + standard_metadata.packet_length);
        }
        standard_metadata.egress_spec = 1;
    }
}

control HashTableEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    apply {}
}

control HashTableComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control HashTableDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(
    HashTableParser(),
    HashTableVerifyChecksum(),
    HashTableIngress(),
    HashTableEgress(),
    HashTableComputeChecksum(),
    HashTableDeparser()
) main;

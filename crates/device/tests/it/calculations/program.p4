// SPDX-License-Identifier: Apache-2.0
// Hashes of nine bytes by several calculations. The checksum stands before the hashes in the text and is
// numbered behind them.
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<72> bytes;
    bit<16> fixed;
    bit<32> first;
    bit<32> second;
    bit<16> third;
    bit<32> sum;
}

struct headers_t {
    data_t data;
}

struct metadata_t { }

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.data.isValid(), { hdr.data.bytes }, hdr.data.sum,
                        HashAlgorithm.crc32_custom);
    }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    action second() {
        hash(hdr.data.second, HashAlgorithm.crc32_custom, 32w0, { hdr.data.bytes }, 33w0x100000000);
    }
    table either {
        key = { hdr.data.fixed: exact; }
        actions = { second; }
        const default_action = second();
    }
    apply {
        hash(hdr.data.fixed, HashAlgorithm.crc16, 16w0, { hdr.data.bytes }, 17w0x10000);
        hash(hdr.data.first, HashAlgorithm.crc32_custom, 32w0, { hdr.data.bytes }, 33w0x100000000);
        either.apply();
        hash(hdr.data.third, HashAlgorithm.crc16_custom, 16w0, { hdr.data.bytes }, 17w0x10000);
        standard.egress_spec = 1;
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.data);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

// SPDX-License-Identifier: Apache-2.0
// Many hashes of few bytes: pairs of CRCs of the same inputs in one place and in different ones, inputs that
// are in the packet, that were copied, changed or are constant, headers behind others of two lengths.

#include <core.p4>
#include <v1model.p4>

header first_t { bit<8> kind; bit<4> high; bit<4> low; }
header tag_t { bit<16> tag; bit<8> more; }
header flow_t {
    bit<32> source;
    bit<32> destination;
    bit<16> source_port;
    bit<16> destination_port;
    bit<8> protocol;
    bit<24> spare;
}
header result_t {
    bit<64> a;
    bit<64> b;
    bit<64> c;
    bit<64> d;
    bit<64> e;
    bit<64> f;
}

struct headers_t { first_t first; tag_t tag; flow_t flow; result_t result; }
struct flow_of_t {
    bit<32> near;
    bit<32> far;
    bit<16> near_port;
    bit<16> far_port;
    bit<8> protocol;
}
struct metadata_t { flow_of_t flow; bit<16> copied; bit<32> row; bit<32> other_row; bit<64> wide; }

parser HashesParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind) {
            1 .. 7: tag;
            default: flow;
        }
    }
    state tag {
        packet.extract(hdr.tag);
        transition flow;
    }
    state flow {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control HashesVerify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control HashesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action rows() {
        hash(meta.row, HashAlgorithm.crc16, 32w0,
             { meta.flow.near, meta.flow.far, meta.flow.near_port, meta.flow.far_port, meta.flow.protocol },
             32w4096);
        hash(meta.other_row, HashAlgorithm.crc32, 32w0,
             { meta.flow.near, meta.flow.far, meta.flow.near_port, meta.flow.far_port, meta.flow.protocol },
             32w4096);
    }
    apply {
        standard.egress_spec = 2;
        hdr.result.setValid();
        if (!hdr.flow.isValid()) {
            hash(hdr.result.a, HashAlgorithm.crc32, 64w0, { hdr.first.kind, hdr.tag.tag }, 64w0x100000000);
            hash(hdr.result.b, HashAlgorithm.crc16, 64w0, { hdr.first.kind, hdr.tag.tag }, 64w0x100000000);
            return;
        }
        if (hdr.first.kind[0:0] == 1) {
            meta.flow = { hdr.flow.source, hdr.flow.destination, hdr.flow.source_port,
                          hdr.flow.destination_port, hdr.flow.protocol };
            rows();
        } else {
            meta.flow = { hdr.flow.destination, hdr.flow.source, hdr.flow.destination_port,
                          hdr.flow.source_port, hdr.flow.protocol };
            rows();
        }
        // Copies of one thing or another.
        hdr.result.e = (bit<64>) (meta.flow.near ++ meta.flow.far_port) ^ (bit<64>) meta.flow.far;
        // In the other order, with changes between, and of what was hashed before a branch.
        hash(hdr.result.a, HashAlgorithm.crc32, 64w0, { hdr.flow.source, hdr.flow.protocol }, 64w0x100000000);
        if (hdr.first.high == 3) {
            hdr.flow.protocol = hdr.flow.protocol + 1;
        }
        hash(hdr.result.b, HashAlgorithm.crc16, 64w0, { hdr.flow.source, hdr.flow.protocol }, 64w0x100000000);
        if (hdr.first.low == 3) {
            hash(hdr.result.c, HashAlgorithm.crc32, 64w5, { hdr.flow.source, hdr.flow.protocol }, 64w77);
        } else if (hdr.first.low == 4) {
            // Of a length that no other CRC has, and with a constant.
            hash(hdr.result.c, HashAlgorithm.crc16, 64w0, { hdr.flow.spare, 8w200, hdr.flow.source_port,
                                                            8w7 }, 64w0x100000000);
        } else if (hdr.first.low == 5) {
            // 16 bytes, 17 bytes, and no whole ones.
            meta.wide = hdr.flow.source ++ hdr.flow.destination;
            hash(hdr.result.c, HashAlgorithm.crc32, 64w0, { meta.wide, meta.wide }, 64w0x100000000);
            hash(hdr.result.d, HashAlgorithm.crc16, 64w0, { meta.wide, meta.wide }, 64w0x100000000);
            hash(hdr.result.e, HashAlgorithm.crc16, 64w0, { meta.wide, 8w1, meta.wide }, 64w0x100000000);
            hash(hdr.result.f, HashAlgorithm.crc32, 64w0, { hdr.first.high, meta.wide, hdr.first.low },
                 64w0x100000000);
        } else {
            meta.copied = hdr.flow.source_port;
            hash(hdr.result.d, HashAlgorithm.crc32, 64w0, { meta.copied }, 64w0x100000000);
            hash(hdr.result.e, HashAlgorithm.crc16, 64w0, { hdr.flow.source_port }, 64w0x100000000);
            hash(hdr.result.f, HashAlgorithm.crc32, 64w0, { 8w3, 8w4 }, 64w0x100000000);
        }
    }
}

control HashesEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.flow.isValid()) {
            hdr.flow.source = meta.row;
            hdr.flow.destination = meta.other_row;
        }
    }
}

control HashesCompute(inout headers_t hdr, inout metadata_t meta) { apply { } }

control HashesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.first);
        packet.emit(hdr.tag);
        packet.emit(hdr.flow);
        packet.emit(hdr.result);
    }
}

V1Switch(HashesParser(), HashesVerify(), HashesIngress(), HashesEgress(), HashesCompute(),
         HashesDeparser()) main;

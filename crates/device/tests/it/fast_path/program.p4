// SPDX-License-Identifier: Apache-2.0
// Cases that leave the fast path or are special on it. KIND chooses the deparser and egress.

#include <core.p4>
#include <v1model.p4>

header first_t {
    bit<8> op;
    bit<8> arg;
    bit<16> sum;
}

header big_t {
    bit<2400> value;
}

header options_t {
    bit<8> length;
    varbit<128> rest;
}

struct headers_t {
    big_t big;
    first_t first;
#ifdef WITH_VARBIT
    options_t options;
#endif
}

struct meta_t {
    bit<16> drawn;
}

struct note_t {
    bit<8> op;
}

parser MyParser(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.first);
#ifdef WITH_VARBIT
        transition select(hdr.first.op) {
            7: parse_options;
            default: accept;
        }
    }
    state parse_options {
        packet.extract(hdr.options, (bit<32>)(packet.lookahead<bit<8>>() & 0xf) * 8);
#endif
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(hdr.first.op == 9, { hdr.first.op, hdr.first.arg }, hdr.first.sum,
            HashAlgorithm.csum16);
    }
}

control MyIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = (bit<9>) hdr.first.arg;
        if (hdr.first.op == 1) {
            hdr.big.setValid();
            hdr.big.value = 0x123456;
        }
        if (hdr.first.op == 2) {
            random(meta.drawn, 0, 65535);
            hdr.first.sum = meta.drawn;
        }
        if (hdr.first.op == 8) {
            log_msg("ingress {}", { hdr.first.arg });
        }
        if (std.checksum_error == 1) {
            hdr.first.sum = 0xdead;
        }
    }
}

control MyEgress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
#ifdef DRAWS
        if (hdr.first.op == 3 || hdr.first.op == 2) {
            random(meta.drawn, 0, 65535);
            hdr.first.sum = hdr.first.sum ^ meta.drawn;
        }
#endif
        if (hdr.first.op == 8) {
            log_msg("egress {}", { hdr.first.arg });
        }
        if (hdr.first.op == 4) {
            std.egress_port = 9;
            hdr.first.sum = (bit<16>) std.packet_length;
        }
    }
}

control MyCompute(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.first.op == 5, { hdr.first.op, hdr.first.arg }, hdr.first.sum,
            HashAlgorithm.csum16);
    }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.big);
        packet.emit(hdr.first);
#ifdef WITH_VARBIT
        packet.emit(hdr.options);
#endif
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

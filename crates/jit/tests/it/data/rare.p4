// SPDX-License-Identifier: Apache-2.0
// Constructs that the examples do not have, in whole bytes.
#include <core.p4>
#include <v1model.p4>

header first_t { bit<8> kind; bit<8> count; bit<200> wide; }
header option_t { bit<4> words; bit<4> rest; varbit<120> data; }
header label_t { bit<20> label; bit<3> class; bit<1> bottom; bit<8> ttl; }
header short_t { bit<16> a; }
header long_t { bit<32> a; bit<64> b; }
header_union either_t { short_t short; long_t long; }

struct headers_t { first_t first; option_t option; label_t[4] labels; either_t[2] either; }
struct metadata_t { bit<200> wide; bit<32> sum; bit<8> at; int<16> signed; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta,
         inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind) {
            0 &&& 3: options;
            1 &&& 3: labels;
            2 &&& 3: either;
            default: accept;
        }
    }
    state options {
        bit<4> words = packet.lookahead<bit<4>>();
        packet.extract(hdr.option, (bit<32>)words * 8);
        transition labels;
    }
    state labels {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom, hdr.labels.lastIndex) {
            (0, 0 .. 2): labels;
            (_, _): accept;
        }
    }
    state either {
        transition select(packet.lookahead<bit<8>>()) {
            0 .. 127: short;
            default: long;
        }
    }
    state short { packet.extract(hdr.either.next.short); transition accept; }
    state long { packet.extract(hdr.either.next.long); transition labels; }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<200>>(8) wides;
    register<bit<32>>(16) sums;
    action shift() { hdr.labels.push_front(1); hdr.labels[0].setValid(); hdr.labels[0].label = 7; }
    action pop() { hdr.labels.pop_front(2); }
    action keep() { meta.at = meta.at + 1; }
    table choose {
        key = { hdr.first.count: ternary; hdr.first.kind: range; }
        actions = { shift; pop; keep; }
        const default_action = keep;
        const entries = {
            (0x10 &&& 0x30, 0 .. 90): shift();
            (_, 80 .. 200): pop();
        }
    }
    apply {
        bit<32> index = (bit<32>)(hdr.first.count & 7);
        bit<200> before;
        wides.read(before, index);
        meta.wide = (before << 3) ^ hdr.first.wide + 5 - (hdr.first.wide * before >> 7);
        wides.write(index, meta.wide);
        hdr.first.wide[130:60] = meta.wide[70:0];
        choose.apply();
        if (index < 4) {
            hdr.labels[index].ttl = hdr.labels[index].ttl |-| 100;
            meta.signed = (int<16>)(bit<16>)hdr.labels[index].label - 300;
        }
        if (meta.signed < 0) { meta.sum = meta.sum + 1; }
        bit<32> sum;
        sums.read(sum, index);
        sums.write(index, sum + meta.sum + hdr.either[0].long.a);
        hash(meta.sum, HashAlgorithm.crc32, 32w0,
             { hdr.first.wide, hdr.labels[1].label, meta.signed }, 32w0xffffffff);
        if (hdr.option.isValid() && hdr.first.count > 200) { hdr.option.setInvalid(); }
        if (hdr.first.wide > meta.wide) { hdr.either[1].short.setValid(); }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;

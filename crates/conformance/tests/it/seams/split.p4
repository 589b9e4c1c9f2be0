// SPDX-License-Identifier: Apache-2.0
// A control whose statements use variables, metadata, tables, state, a digest and random numbers on both sides of
// each boundary between them.
#include <core.p4>
#include <v1model.p4>

header work_h {
    bit<8>  key;
    bit<8>  kind;
    bit<16> a;
    bit<16> b;
    bit<16> c;
    bit<32> count;
    bit<16> drawn;
}

struct headers_t {
    work_h work;
}

struct metadata_t {
    bit<16> amount;
    bit<8>  colour;
}

struct news_t {
    bit<8>  key;
    bit<16> amount;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.work);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    bit<16> first;
    bit<8> second = 3;
    bool is_large;
    bit<16> drawn;
    bit<16> again;

    register<bit<32>>(8) arrivals;
    register<bit<32>>(8) totals;

    action set_amount(bit<16> amount, bit<9> port) {
        meta.amount = amount;
        standard.egress_spec = port;
    }
    action discard() { mark_to_drop(standard); }
    table amounts {
        key = { hdr.work.key: exact; }
        actions = { set_amount; discard; }
        default_action = set_amount(7, 2);
        size = 16;
    }
    action paint(bit<8> colour) { meta.colour = colour; second = second + 1; }
    table colours {
        key = { first: ternary; hdr.work.kind: exact; }
        actions = { paint; discard; }
        default_action = paint(1);
        size = 16;
    }

    apply {
        amounts.apply();
        first = hdr.work.a + meta.amount;
        random(drawn, 0, 1000);
        is_large = first > 200;
        bit<32> seen;
        arrivals.read(seen, (bit<32>)(hdr.work.key & 7));
        arrivals.write((bit<32>)(hdr.work.key & 7), seen + 1);
        if (is_large) {
            second = (bit<8>)first;
            digest<news_t>(1, { hdr.work.key, meta.amount });
        }
        colours.apply();
        random(again, 0, 1000);
        hdr.work.b = first + (bit<16>)meta.colour;
        bit<32> total;
        totals.read(total, (bit<32>)(second & 7));
        total = total + (bit<32>)meta.amount + seen;
        totals.write((bit<32>)(second & 7), total);
        hdr.work.count = total;
        if (is_large && hdr.work.kind == 3) {
            mark_to_drop(standard);
        }
        hdr.work.drawn = drawn ^ (again << 4);
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply {
        hdr.work.c = (bit<16>)meta.colour + (bit<16>)standard.egress_port + 1;
    }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.work);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

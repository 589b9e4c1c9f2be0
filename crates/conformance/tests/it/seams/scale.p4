// SPDX-License-Identifier: Apache-2.0
// A table that ingress and egress look up through what it set, and a register array that both change. Each packet
// carries away what it saw, and random numbers of both halves.
#include <core.p4>
#include <v1model.p4>

header work_h {
    bit<8>  key;
    bit<8>  index;
    bit<16> added;
    bit<32> first;
    bit<32> second;
    bit<16> drawn;
    bit<16> drawn_again;
}

struct headers_t {
    work_h work;
}

struct metadata_t { }

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
    @name("arrivals")
    register<bit<32>>(16) arrivals;
    @name("seen")
    counter(4, CounterType.packets_and_bytes) seen;

    action add(bit<16> value, bit<9> port) {
        hdr.work.added = value;
        standard.egress_spec = port;
    }
    action discard() { mark_to_drop(standard); }
    @name("amounts")
    table amounts {
        key = { hdr.work.key: exact; }
        actions = { add; discard; }
        default_action = add(1, 1);
        size = 64;
    }

    apply {
        amounts.apply();
        bit<32> value;
        arrivals.read(value, (bit<32>)hdr.work.index);
        value = value + (bit<32>)hdr.work.added;
        arrivals.write((bit<32>)hdr.work.index, value);
        hdr.work.first = value;
        seen.count((bit<32>)(hdr.work.key & 3));
        random(hdr.work.drawn, 0, 0xffff);
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    @name("departures")
    register<bit<32>>(16) departures;

    apply {
        bit<32> value;
        departures.read(value, (bit<32>)hdr.work.index);
        value = value * 3 + hdr.work.first;
        departures.write((bit<32>)hdr.work.index, value);
        hdr.work.second = value;
        random(hdr.work.drawn_again, 0, 0xffff);
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

// SPDX-License-Identifier: Apache-2.0
// Each bit of a packet's mask sends it through one place, where it takes the next number; the places are one
// after the other, so packets take different paths through the same stages.
#include <core.p4>
#include <v1model.p4>

header order_h {
    bit<8>  mask;
    bit<16> arrival;
    bit<16> a;
    bit<16> b;
    bit<16> c;
    bit<16> d;
}

struct headers_t {
    order_h order;
}

struct metadata_t { }

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Place(inout bit<16> number) {
    register<bit<16>>(1) next;
    apply {
        @atomic {
            next.read(number, 0);
            number = number + 1;
            next.write(0, number);
        }
    }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    Place() a;
    Place() b;
    Place() c;
    apply {
        standard.egress_spec = 1;
        if (hdr.order.mask[0:0] == 1) {
            a.apply(hdr.order.a);
        }
        if (hdr.order.mask[2:2] == 1) {
            c.apply(hdr.order.c);
        }
        if (hdr.order.mask[1:1] == 1) {
            b.apply(hdr.order.b);
        }
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    Place() d;
    apply {
        d.apply(hdr.order.d);
    }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

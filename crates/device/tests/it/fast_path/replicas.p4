// SPDX-License-Identifier: Apache-2.0
// Copies whose egress asks the device for nothing: it numbers them, notes what the device says of them,
// adds a header to some and drops those for the port that the packet came from.

#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8> group;
    bit<8> priority;
}

header copy_t {
    bit<8>  number;
    bit<16> instance;
    bit<16> port;
    bit<8>  type;
    bit<32> length;
    bit<19> depths;
    bit<3>  priority;
    bit<2>  rest;
}

struct headers_t {
    order_t order;
    copy_t  copy;
}

struct metadata_t {
    bit<16> port;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta,
         inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.mcast_grp = (bit<16>)hdr.order.group;
        standard.priority = (bit<3>)hdr.order.priority;
        standard.egress_spec = 3;
        if (hdr.order.group == 9) {
            hdr.order.setInvalid();
        }
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<8>>(1) numbers;
    counter(512, CounterType.packets_and_bytes) sizes;
    apply {
        bit<8> number;
        numbers.read(number, 0);
        numbers.write(0, number + 1);
        sizes.count((bit<32>)standard.egress_port);
        if (standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        }
        meta.port = (bit<16>)standard.egress_port;
#ifndef ALIKE
        if (standard.egress_rid != 7) {
            hdr.copy.setValid();
            hdr.copy.number = number;
            hdr.copy.instance = standard.egress_rid;
            hdr.copy.port = (bit<16>)standard.egress_port;
            hdr.copy.type = (bit<8>)standard.instance_type;
            hdr.copy.length = standard.packet_length;
            hdr.copy.depths = standard.enq_qdepth + standard.deq_qdepth;
            hdr.copy.priority = standard.priority;
            hdr.copy.rest = 0;
        }
#endif
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
#ifdef ALIKE
    apply {
        hdr.copy.setValid();
        hdr.copy = { 1, 2, 3, 4, 5, 6, 7, 0 };
        update_checksum(true, { hdr.order.group }, hdr.copy.instance, HashAlgorithm.csum16);
#ifdef MARKED
        hdr.copy.port = meta.port;
#endif
    }
#else
    apply { }
#endif
}

control Deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.copy);
        packet.emit(hdr.order);
    }
}

V1Switch(P(), Verify(), Ingress(), Egress(), Compute(), Deparser()) main;

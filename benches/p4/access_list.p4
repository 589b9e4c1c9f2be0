// SPDX-License-Identifier: Apache-2.0
// An access list in the wire between pairs of ports: TCP and UDP packets that the most urgent matching
// rule permits go on to the other port of their pair. Everything else is dropped.
// ../c/access_list.c does the same.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      diffserv;
    bit<16>     total_len;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> seq_no;
    bit<32> ack_no;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent_ptr;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    tcp_t      tcp;
    udp_t      udp;
}

struct metadata_t {
    bit<16> src_port;
    bit<16> dst_port;
}

parser AccessListParser(packet_in packet,
                        out headers_t hdr,
                        inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    // Ports follow only a header without options, and only in the first fragment.
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (4, 5, 0, PROTOCOL_TCP): parse_tcp;
            (4, 5, 0, PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        meta.src_port = hdr.tcp.src_port;
        meta.dst_port = hdr.tcp.dst_port;
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        meta.src_port = hdr.udp.src_port;
        meta.dst_port = hdr.udp.dst_port;
        transition accept;
    }
}

control AccessListVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control AccessListIngress(inout headers_t hdr,
                          inout metadata_t meta,
                          inout standard_metadata_t standard_metadata) {
    action permit() { }

    action deny() {
        mark_to_drop(standard_metadata);
    }

    action send(port_t port) {
        standard_metadata.egress_spec = port;
    }

    table rules {
        key = {
            hdr.ipv4.src_addr: ternary;
            hdr.ipv4.dst_addr: ternary;
            hdr.ipv4.protocol: ternary;
            meta.src_port: ternary;
            meta.dst_port: ternary;
        }
        actions = {
            permit;
            deny;
        }
        size = 16384;
        default_action = deny();
    }

    table wires {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            send;
            deny;
        }
        size = 64;
        default_action = deny();
    }

    apply {
        if (hdr.tcp.isValid() || hdr.udp.isValid()) {
            switch (rules.apply().action_run) {
                permit: { wires.apply(); }
                default: { }
            }
        } else {
            deny();
        }
    }
}

control AccessListEgress(inout headers_t hdr,
                         inout metadata_t meta,
                         inout standard_metadata_t standard_metadata) {
    apply { }
}

control AccessListComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control AccessListDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

V1Switch(
    AccessListParser(),
    AccessListVerifyChecksum(),
    AccessListIngress(),
    AccessListEgress(),
    AccessListComputeChecksum(),
    AccessListDeparser()
) main;

// SPDX-License-Identifier: Apache-2.0
// A stateful firewall in the wire between an inside and an outside port. A TCP connection or UDP
// exchange begun inside sets two bits of a Bloom filter held in registers; TCP and UDP packets from
// outside pass only where both bits are set. ARP and ICMP pass in both directions.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

// Bits in each of the filter's two rows.
const bit<32> FILTER_SIZE = 4096;

// Index into the counter array `verdicts`.
enum bit<32> Verdict {
    NOT_TRACKED = 0,
    FROM_INSIDE_OPENING = 1,
    FROM_INSIDE = 2,
    FROM_OUTSIDE_ALLOWED = 3,
    FROM_OUTSIDE_REFUSED = 4,
    UNSUPPORTED = 5
}

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
    bit<1>  cwr;
    bit<1>  ece;
    bit<1>  urg;
    bit<1>  ack;
    bit<1>  psh;
    bit<1>  rst;
    bit<1>  syn;
    bit<1>  fin;
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

// A flow as seen from inside, for packets of both directions: both hash alike.
struct flow_t {
    ipv4_addr_t inside_addr;
    ipv4_addr_t outside_addr;
    bit<16>     inside_port;
    bit<16>     outside_port;
    bit<8>      protocol;
}

struct metadata_t {
    bit<1>  is_from_inside;
    bit<16> src_port;
    bit<16> dst_port;
    flow_t  flow;
}

parser FirewallParser(packet_in packet,
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
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_TCP): parse_tcp;
            (5, 0, PROTOCOL_UDP): parse_udp;
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

control FirewallVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FirewallIngress(inout headers_t hdr,
                        inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    register<bit<1>>(FILTER_SIZE) filter_row_1;
    register<bit<1>>(FILTER_SIZE) filter_row_2;
    counter(6, CounterType.packets) verdicts;

    bit<32> index_1;
    bit<32> index_2;
    bit<1> bit_1;
    bit<1> bit_2;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action refuse(in Verdict verdict) {
        verdicts.count((bit<32>) verdict);
        mark_to_drop(standard_metadata);
    }

    action from_inside(port_t outside_port) {
        meta.is_from_inside = 1;
        standard_metadata.egress_spec = outside_port;
    }

    action from_outside(port_t inside_port) {
        meta.is_from_inside = 0;
        standard_metadata.egress_spec = inside_port;
    }

    table ports {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            from_inside;
            from_outside;
            drop;
        }
        size = 64;
        default_action = drop();
    }

    action compute_indexes() {
        hash(index_1, HashAlgorithm.crc16, 32w0,
             { meta.flow.inside_addr,
               meta.flow.outside_addr,
               meta.flow.inside_port,
               meta.flow.outside_port,
               meta.flow.protocol },
             FILTER_SIZE);
        hash(index_2, HashAlgorithm.crc32, 32w0,
             { meta.flow.inside_addr,
               meta.flow.outside_addr,
               meta.flow.inside_port,
               meta.flow.outside_port,
               meta.flow.protocol },
             FILTER_SIZE);
    }

    apply {
        if (ports.apply().hit) {
            if (hdr.ethernet.ether_type == ETHERTYPE_ARP
                || (hdr.ipv4.isValid() && hdr.ipv4.protocol == PROTOCOL_ICMP)) {
                verdicts.count((bit<32>) Verdict.NOT_TRACKED);
            } else if (!hdr.tcp.isValid() && !hdr.udp.isValid()) {
                refuse(Verdict.UNSUPPORTED);
            } else if (meta.is_from_inside == 1) {
                meta.flow = { hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
                              meta.src_port, meta.dst_port, hdr.ipv4.protocol };
                compute_indexes();
                // Every UDP packet, and a SYN that is not the answer to one from outside.
                if (hdr.udp.isValid() || (hdr.tcp.syn == 1 && hdr.tcp.ack == 0)) {
                    filter_row_1.write(index_1, 1);
                    filter_row_2.write(index_2, 1);
                    verdicts.count((bit<32>) Verdict.FROM_INSIDE_OPENING);
                } else {
                    verdicts.count((bit<32>) Verdict.FROM_INSIDE);
                }
            } else {
                meta.flow = { hdr.ipv4.dst_addr, hdr.ipv4.src_addr,
                              meta.dst_port, meta.src_port, hdr.ipv4.protocol };
                compute_indexes();
                filter_row_1.read(bit_1, index_1);
                filter_row_2.read(bit_2, index_2);
                if (bit_1 == 1 && bit_2 == 1) {
                    verdicts.count((bit<32>) Verdict.FROM_OUTSIDE_ALLOWED);
                } else {
                    refuse(Verdict.FROM_OUTSIDE_REFUSED);
                }
            }
        }
    }
}

control FirewallEgress(inout headers_t hdr,
                       inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {
    apply { }
}

control FirewallComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FirewallDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

V1Switch(
    FirewallParser(),
    FirewallVerifyChecksum(),
    FirewallIngress(),
    FirewallEgress(),
    FirewallComputeChecksum(),
    FirewallDeparser()
) main;

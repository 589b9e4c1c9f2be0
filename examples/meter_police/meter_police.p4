// SPDX-License-Identifier: Apache-2.0
// Two-rate policing (RFC 2698): every subscriber has a meter. Within the committed rate a packet
// passes as it is, within the peak rate it is marked to be dropped first later on, and above that
// it is dropped here.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> GREEN = 0;
const bit<8> YELLOW = 1;
const bit<8> RED = 2;
// The code point AF13 (RFC 2597): dropped first where there is congestion.
const bit<6> DSCP_AF13 = 14;

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<6>      dscp;
    bit<2>      ecn;
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

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t {
    bit<8> color;
}

parser PoliceParser(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        meta.color = GREEN;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control PoliceVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PoliceIngress(inout headers_t hdr,
                      inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    direct_meter<bit<8>>(MeterType.bytes) subscriber_meter;
    direct_counter(CounterType.packets_and_bytes) subscriber_traffic;
    counter(3, CounterType.packets_and_bytes) colors;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    table wires {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            forward;
            drop;
        }
        size = 64;
        default_action = drop();
    }

    // The meter belongs to the entry that matched; reading it measures the packet.
    action police() {
        subscriber_meter.read(meta.color);
    }

    table subscribers {
        key = {
            hdr.ipv4.src_addr: exact;
        }
        actions = {
            police;
            NoAction;
        }
        size = 1024;
        meters = subscriber_meter;
        counters = subscriber_traffic;
        default_action = NoAction();
    }

    apply {
        if (wires.apply().hit && hdr.ipv4.isValid()) {
            if (subscribers.apply().hit) {
                colors.count((bit<32>) meta.color);
                if (meta.color == RED) {
                    drop();
                } else if (meta.color == YELLOW) {
                    hdr.ipv4.dscp = DSCP_AF13;
                }
            }
        }
    }
}

control PoliceEgress(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    apply { }
}

control PoliceComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version,
              hdr.ipv4.ihl,
              hdr.ipv4.dscp,
              hdr.ipv4.ecn,
              hdr.ipv4.total_len,
              hdr.ipv4.identification,
              hdr.ipv4.flags,
              hdr.ipv4.frag_offset,
              hdr.ipv4.ttl,
              hdr.ipv4.protocol,
              hdr.ipv4.src_addr,
              hdr.ipv4.dst_addr },
            hdr.ipv4.hdr_checksum,
            HashAlgorithm.csum16);
    }
}

control PoliceDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(
    PoliceParser(),
    PoliceVerifyChecksum(),
    PoliceIngress(),
    PoliceEgress(),
    PoliceComputeChecksum(),
    PoliceDeparser()
) main;

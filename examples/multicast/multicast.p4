// SPDX-License-Identifier: Apache-2.0
// IPv4 multicast routing: a group address leads to a multicast group of the replication engine, and
// every copy gets the MAC address of the port it leaves by. The port the packet came from is left
// out, so a group's members may also be its senders.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;

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

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t { }

parser MulticastParser(packet_in packet,
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

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control MulticastVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MulticastIngress(inout headers_t hdr,
                         inout metadata_t meta,
                         inout standard_metadata_t standard_metadata) {
    counter(4, CounterType.packets) replicated;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action replicate(bit<16> group) {
        standard_metadata.mcast_grp = group;
        replicated.count((bit<32>) group);
    }

    // Ternary, so that a block of groups can share an entry and a longer match can overrule it.
    table groups {
        key = {
            hdr.ipv4.dst_addr: ternary;
        }
        actions = {
            replicate;
            drop;
        }
        size = 256;
        default_action = drop();
    }

    apply {
        // What has a TTL of 1, such as IGMP, is meant for the local network only.
        if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5 && hdr.ipv4.ttl > 1) {
            groups.apply();
        } else {
            drop();
        }
    }
}

control MulticastEgress(inout headers_t hdr,
                        inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    counter(64, CounterType.packets) copies;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // The destination MAC address is the group's own (RFC 1112) and stays.
    action set_source(mac_addr_t src_addr) {
        hdr.ethernet.src_addr = src_addr;
    }

    table port_addresses {
        key = {
            standard_metadata.egress_port: exact;
        }
        actions = {
            set_source;
            drop;
        }
        size = 64;
        default_action = drop();
    }

    apply {
        if (standard_metadata.egress_port == standard_metadata.ingress_port) {
            drop();
        } else if (port_addresses.apply().hit) {
            copies.count((bit<32>) standard_metadata.egress_rid);
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        }
    }
}

control MulticastComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version,
              hdr.ipv4.ihl,
              hdr.ipv4.diffserv,
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

control MulticastDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(
    MulticastParser(),
    MulticastVerifyChecksum(),
    MulticastIngress(),
    MulticastEgress(),
    MulticastComputeChecksum(),
    MulticastDeparser()
) main;

// SPDX-License-Identifier: Apache-2.0
// The router of a data centre's switches: a route leads to a group of paths of equal cost, and a hash
// over addresses, protocol and ports picks the path, so that the packets of one flow stay in order. The
// hash begins with a number of the switch: otherwise the switches of the next level would get only
// flows with equal hashes, and use one of their paths. Packets that find 20 others in their queue get
// a mark (ECN, RFC 3168) if their sender reacts to marks.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<2> NOT_ECT = 0;
const bit<2> CE = 3;
// Waiting packets from which on packets are marked.
const bit<19> MARKING_THRESHOLD = 20;

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

// The part that TCP and UDP have in common.
header ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> group;
    bit<16> path;
    bit<16> seed;
}

parser FabricParser(packet_in packet,
                  out headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        // Zero for packets without ports: they still hash to one path a pair of hosts.
        meta.src_port = 0;
        meta.dst_port = 0;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    // Ports follow only a header without options, and only in an unfragmented packet: if one
    // fragment were hashed with its ports and the next without, they would take different paths.
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_TCP): parse_ports;
            (5, 0 &&& 1, 0, PROTOCOL_UDP): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        meta.src_port = hdr.ports.src_port;
        meta.dst_port = hdr.ports.dst_port;
        transition accept;
    }
}

control FabricVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(
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

control FabricIngress(inout headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    // Set by the default action of a table without keys: a number for each switch.
    action set_seed(bit<16> seed) {
        meta.seed = seed;
    }

    table switch_seed {
        actions = {
            set_seed;
        }
        default_action = set_seed(0);
    }

    // The group's paths have the numbers 0 to size - 1.
    action set_group(bit<16> group, bit<16> size) {
        meta.group = group;
        hash(meta.path, HashAlgorithm.crc16, 16w0,
             { meta.seed,
               hdr.ipv4.src_addr,
               hdr.ipv4.dst_addr,
               hdr.ipv4.protocol,
               meta.src_port,
               meta.dst_port },
             size);
    }

    action forward(port_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_group;
            drop;
        }
        size = 1024;
        default_action = drop();
    }

    table paths {
        key = {
            meta.group: exact;
            meta.path: exact;
        }
        actions = {
            forward;
            drop;
        }
        size = 1024;
        default_action = drop();
    }

    apply {
        // Options would need a checksum over more than the fixed header.
        if (!hdr.ipv4.isValid() || hdr.ipv4.ihl != 5 || hdr.ipv4.ttl <= 1
            || standard_metadata.checksum_error == 1) {
            drop();
        } else {
            switch_seed.apply();
            if (routes.apply().hit) {
                paths.apply();
            }
        }
    }
}

control FabricEgress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn != NOT_ECT
            && standard_metadata.enq_qdepth >= MARKING_THRESHOLD) {
            hdr.ipv4.ecn = CE;
        }
    }
}

control FabricComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
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

control FabricDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(
    FabricParser(),
    FabricVerifyChecksum(),
    FabricIngress(),
    FabricEgress(),
    FabricComputeChecksum(),
    FabricDeparser()
) main;

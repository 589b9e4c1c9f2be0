// SPDX-License-Identifier: Apache-2.0
// An IPv4 and IPv6 router for the v1model architecture: longest-prefix match to a next hop, the
// next hop to a port and two MAC addresses, header checksum verified and recomputed, TTL and hop
// limit decremented. Every packet that is not forwarded is counted under the reason why.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<128> ipv6_addr_t;
typedef bit<9> port_t;
typedef bit<16> next_hop_id_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;

// Index into the counter array `drops`.
enum bit<32> DropReason {
    PARSER_ERROR = 0,
    CHECKSUM_ERROR = 1,
    NOT_UNICAST = 2,
    NOT_IP = 3,
    TTL_EXPIRED = 4,
    NO_ROUTE = 5,
    FOR_ROUTER = 6,
    NO_NEXT_HOP = 7
}

error {
    Ipv4VersionMismatch,
    Ipv4HeaderTooShort,
    Ipv4OptionsUnsupported,
    Ipv6VersionMismatch
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

header ipv6_t {
    bit<4>      version;
    bit<8>      traffic_class;
    bit<20>     flow_label;
    bit<16>     payload_len;
    bit<8>      next_hdr;
    bit<8>      hop_limit;
    ipv6_addr_t src_addr;
    ipv6_addr_t dst_addr;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
}

struct metadata_t {
    next_hop_id_t next_hop_id;
}

parser RouterParser(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    // A failed verify ends parsing; the packet still goes through ingress, which drops it.
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.Ipv4VersionMismatch);
        verify(hdr.ipv4.ihl >= 5, error.Ipv4HeaderTooShort);
        verify(hdr.ipv4.ihl == 5, error.Ipv4OptionsUnsupported);
        transition accept;
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.Ipv6VersionMismatch);
        transition accept;
    }
}

control RouterVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid(),
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

control RouterIngress(inout headers_t hdr,
                      inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    counter(8, CounterType.packets_and_bytes) drops;
    direct_counter(CounterType.packets_and_bytes) ipv4_route_hits;
    direct_counter(CounterType.packets_and_bytes) ipv6_route_hits;

    action discard(in DropReason reason) {
        drops.count((bit<32>) reason);
        mark_to_drop(standard_metadata);
    }

    action no_route() {
        discard(DropReason.NO_ROUTE);
    }

    // The router's own addresses. A real router would send these to its control plane.
    action for_router() {
        discard(DropReason.FOR_ROUTER);
    }

    action no_next_hop() {
        discard(DropReason.NO_NEXT_HOP);
    }

    action set_next_hop(next_hop_id_t next_hop_id) {
        meta.next_hop_id = next_hop_id;
    }

    action forward(port_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            for_router;
            no_route;
        }
        size = 4096;
        counters = ipv4_route_hits;
        default_action = no_route();
    }

    table ipv6_routes {
        key = {
            hdr.ipv6.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            for_router;
            no_route;
        }
        size = 4096;
        counters = ipv6_route_hits;
        default_action = no_route();
    }

    table next_hops {
        key = {
            meta.next_hop_id: exact;
        }
        actions = {
            forward;
            no_next_hop;
        }
        size = 256;
        default_action = no_next_hop();
    }

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            discard(DropReason.PARSER_ERROR);
        } else if (standard_metadata.checksum_error == 1) {
            discard(DropReason.CHECKSUM_ERROR);
        } else if (hdr.ethernet.dst_addr[40:40] == 1) {
            // The group bit: broadcast (ARP requests) and multicast (neighbour discovery).
            discard(DropReason.NOT_UNICAST);
        } else if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ttl <= 1) {
                discard(DropReason.TTL_EXPIRED);
            } else {
                switch (ipv4_routes.apply().action_run) {
                    set_next_hop: {
                        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                        next_hops.apply();
                    }
                    default: { }
                }
            }
        } else if (hdr.ipv6.isValid()) {
            if (hdr.ipv6.hop_limit <= 1) {
                discard(DropReason.TTL_EXPIRED);
            } else {
                switch (ipv6_routes.apply().action_run) {
                    set_next_hop: {
                        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
                        next_hops.apply();
                    }
                    default: { }
                }
            }
        } else {
            discard(DropReason.NOT_IP);
        }
    }
}

control RouterEgress(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    counter(512, CounterType.packets_and_bytes) forwarded;

    apply {
        forwarded.count((bit<32>) standard_metadata.egress_port);
    }
}

control RouterComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
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

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

V1Switch(
    RouterParser(),
    RouterVerifyChecksum(),
    RouterIngress(),
    RouterEgress(),
    RouterComputeChecksum(),
    RouterDeparser()
) main;

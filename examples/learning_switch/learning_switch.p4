// SPDX-License-Identifier: Apache-2.0
// An Ethernet switch that learns. A packet from a source not yet known at its port is reported to
// the control plane in a digest; a packet to a known destination leaves at one port, and one to an
// unknown destination leaves at all ports of the flood group but the one it came from.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<9> port_t;

// The multicast group with all ports, and the receiver number of the digests.
const bit<16> FLOOD_GROUP = 1;
const bit<32> LEARN_RECEIVER = 1;

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t { }

// The digest for the control plane: this address is at this port.
struct learn_t {
    mac_addr_t src_addr;
    port_t     ingress_port;
}

parser SwitchParser(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control SwitchVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchIngress(inout headers_t hdr,
                      inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets) source_hits;
    direct_counter(CounterType.packets) destination_hits;

    action learn() {
        digest<learn_t>(LEARN_RECEIVER, { hdr.ethernet.src_addr, standard_metadata.ingress_port });
    }

    action known() { }

    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    action flood() {
        standard_metadata.mcast_grp = FLOOD_GROUP;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // The port is part of the key: a host that has moved is learned again.
    table sources {
        key = {
            hdr.ethernet.src_addr: exact;
            standard_metadata.ingress_port: exact;
        }
        actions = {
            known;
            learn;
        }
        size = 4096;
        counters = source_hits;
        default_action = learn();
    }

    table destinations {
        key = {
            hdr.ethernet.dst_addr: exact;
        }
        actions = {
            forward;
            drop;
            flood;
        }
        size = 4096;
        counters = destination_hits;
        default_action = flood();
    }

    apply {
        sources.apply();
        destinations.apply();
    }
}

control SwitchEgress(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    apply {
        // A packet never goes back to where it came from.
        if (standard_metadata.egress_port == standard_metadata.ingress_port) {
            mark_to_drop(standard_metadata);
        }
    }
}

control SwitchComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(
    SwitchParser(),
    SwitchVerifyChecksum(),
    SwitchIngress(),
    SwitchEgress(),
    SwitchComputeChecksum(),
    SwitchDeparser()
) main;

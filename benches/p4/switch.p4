// SPDX-License-Identifier: Apache-2.0
// A learning Ethernet switch for large tables: a source not known at its port is reported in a digest,
// a known destination has a port, an unknown one is flooded, and nothing goes back to where it came
// from. ../c/switch.c does the same.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<9> port_t;

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

    table sources {
        key = {
            hdr.ethernet.src_addr: exact;
            standard_metadata.ingress_port: exact;
        }
        actions = {
            known;
            learn;
        }
        size = 1048576;
        default_action = learn();
    }

    table destinations {
        key = {
            hdr.ethernet.dst_addr: exact;
        }
        actions = {
            forward;
            flood;
        }
        size = 1048576;
        default_action = flood();
    }

    apply {
        if (hdr.ethernet.isValid()) {
            sources.apply();
            destinations.apply();
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

control SwitchEgress(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    apply {
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

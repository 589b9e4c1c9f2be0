// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t { bit<8> ttl; bit<8> protocol; }
header tag_t { bit<8> tag; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; tag_t tag; tag_t other; }
struct metadata_t { }
parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x800: ipv4;
            0x800 &&& 0xF00: tag;
            0x801 .. 0x8FF: accept;
            0x800: accept;
        }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
    state tag { packet.extract(hdr.tag); transition accept; }
}
control Check(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    bit<8> protocol;
    bit<9> port;
    direct_counter(CounterType.packets) sent;
    action forward(bit<9> to) { port = to; sent.count(); }
    action refuse() { mark_to_drop(standard); }
    table routes {
        key = { hdr.other.tag: exact; }
        actions = { forward; refuse; }
        default_action = refuse();
    }
    apply {
        if (hdr.ipv4.isValid()) { protocol = hdr.ipv4.protocol; }
        routes.apply();
        if (protocol == 6) { standard.egress_spec = port; }
    }
}
control Egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 3;
        standard.mcast_grp = 1;
        resubmit_preserving_field_list(0);
    }
}
control Deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); packet.emit(hdr.ethernet); }
}
V1Switch(Parse(), Check(), Ingress(), Egress(), Check(), Deparse()) main;

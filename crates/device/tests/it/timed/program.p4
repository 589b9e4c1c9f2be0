// SPDX-License-Identifier: Apache-2.0
// Accesses to state in several stages, chosen by the first byte of a packet, which carries away what they gave.
#include <core.p4>
#include <v1model.p4>

header order_h {
    bit<8>  what;
    bit<8>  port;
    bit<16> first;
    bit<16> second;
    bit<16> third;
}

struct headers_t {
    order_h order;
}

struct metadata_t {
    bit<1> version;
}

struct news_t {
    bit<16> first;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    register<bit<16>>(4) cells;
    register<bit<16>>(4) others;

    action set_version(bit<1> version) { meta.version = version; }
    table version {
        actions = { set_version; }
        default_action = set_version(0);
    }
    action set_first(bit<16> value) { hdr.order.first = value; }
    table one {
        key = { meta.version: exact; }
        actions = { set_first; @defaultonly NoAction; }
        default_action = NoAction();
    }
    action set_second(bit<16> value) { hdr.order.second = value; }
    table two {
        key = { meta.version: exact; }
        actions = { set_second; @defaultonly NoAction; }
        default_action = NoAction();
    }

    apply {
        standard.egress_spec = (bit<9>) hdr.order.port;
        // Tables in stages 0, 1 and 2.
        if (hdr.order.what == 1) {
            version.apply();
            one.apply();
            two.apply();
        }
        // A read in one moment and a write in the next.
        if (hdr.order.what == 2) {
            bit<16> value;
            cells.read(value, 0);
            hdr.order.first = value;
            cells.write(0, value + 1);
        }
        if (hdr.order.what == 3) {
            @atomic {
                bit<16> value;
                cells.read(value, 1);
                hdr.order.first = value;
                cells.write(1, value + 1);
            }
        }
        // Two arrays that have to agree.
        if (hdr.order.what == 4) {
            cells.read(hdr.order.first, 2);
            others.read(hdr.order.second, 2);
        }
        if (hdr.order.what == 5) {
            @atomic {
                cells.read(hdr.order.first, 2);
                others.read(hdr.order.second, 2);
            }
        }
        if (hdr.order.what == 6) {
            digest<news_t>(1, { hdr.order.first });
            log_msg("first is {}", { hdr.order.first });
        }
        if (hdr.order.what == 7) {
            clone_preserving_field_list(CloneType.I2E, 5, 0);
        }
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    register<bit<16>>(1) departures;

    apply {
        @atomic {
            departures.read(hdr.order.third, 0);
            departures.write(0, hdr.order.third + 1);
        }
    }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

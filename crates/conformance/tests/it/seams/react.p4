// SPDX-License-Identifier: Apache-2.0
// Two tables and a value, of which each packet carries away what it saw. With AS_RUN there are two copies of both
// tables, and an init table says which one packets look up; with SPLIT the second table stands in egress.
#include <core.p4>
#include <v1model.p4>

#ifdef AS_RUN
#define VERSION meta.version: exact;
#define COPIES 2
#else
#define VERSION
#define COPIES 1
#endif

header seen_h {
    bit<16> key;
    bit<16> value;
    bit<16> one;
    bit<16> two;
    bit<16> legacy;
    bit<16> version;
}

struct headers_t {
    seen_h seen;
}

struct metadata_t {
    bit<1> version;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.seen);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Second(inout headers_t hdr, inout metadata_t meta) {
    action set_two(bit<16> value) { hdr.seen.two = value; }
    @name("two")
    table two {
        key = {
            VERSION
            hdr.seen.key: exact;
        }
        actions = { set_two; @defaultonly NoAction; }
        default_action = NoAction();
        size = 4 * COPIES;
    }
    apply {
        two.apply();
    }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
#ifdef AS_RUN
    action set_init(bit<1> version, bit<16> value) {
        meta.version = version;
        hdr.seen.version = (bit<16>) version;
        hdr.seen.value = value;
    }
    @name("init")
    table init {
        actions = { set_init; }
        default_action = set_init(0, 0);
    }
#else
    action set_value(bit<16> value) { hdr.seen.value = value; }
    @name("value")
    table value {
        actions = { set_value; }
        default_action = set_value(0);
    }
#endif
    action set_one(bit<16> value) { hdr.seen.one = value; }
    @name("one")
    table one {
        key = {
            VERSION
            hdr.seen.key: exact;
        }
        actions = { set_one; @defaultonly NoAction; }
        default_action = NoAction();
        // Of both copies together: a third entry is too much, which shows when it is prepared.
        size = 4;
    }
    // Of a controller that knows nothing of versions.
    action set_legacy(bit<16> value) { hdr.seen.legacy = value; }
    @name("legacy")
    table legacy {
        key = { hdr.seen.key: exact; }
        actions = { set_legacy; @defaultonly NoAction; }
        default_action = NoAction();
    }
#ifndef SPLIT
    Second() second;
#endif
    apply {
#ifdef AS_RUN
        init.apply();
#else
        value.apply();
#endif
        one.apply();
        legacy.apply();
#ifndef SPLIT
        second.apply(hdr, meta);
#endif
        standard.egress_spec = 9;
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
#ifdef SPLIT
    Second() second;
#endif
    apply {
#ifdef SPLIT
        second.apply(hdr, meta);
#endif
    }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.seen);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

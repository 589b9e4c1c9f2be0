// SPDX-License-Identifier: Apache-2.0
// A program of two tables, FIRST and SECOND. With AS_RUN it is a persona: packets of ports 1 to 3 belong to the
// programs 1 to 3, packets of other ports to program 0, and each program has rows of its own.
#include <core.p4>
#include <v1model.p4>

#ifdef AS_RUN
#define EXACT_PROGRAM meta.program: exact;
#define TERNARY_PROGRAM meta.program: ternary;
#define COPIES 16
#define FIRST first
#define SECOND second
#define FIRST_NAME "first"
#define SECOND_NAME "second"
#else
#define EXACT_PROGRAM
#define TERNARY_PROGRAM
#define COPIES 1
#endif

header work_h {
    bit<8>  kind;
    bit<8>  key;
    bit<16> one;
    bit<16> two;
}

struct headers_t {
    work_h work;
}

struct metadata_t {
    bit<4> program;
}

struct news_t {
#ifdef AS_RUN
    bit<4> program;
#endif
    bit<8> key;
}

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.work);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) hits;

    action send(bit<16> value, bit<9> port) {
        hdr.work.one = value;
        standard.egress_spec = port;
    }
    action flood(bit<16> group) { standard.mcast_grp = group; }
    action copy(bit<32> session) {
        clone(CloneType.I2E, session);
        standard.egress_spec = 8;
    }
    action tell() {
#ifdef AS_RUN
        digest<news_t>(1, { meta.program, hdr.work.key });
#else
        digest<news_t>(1, { hdr.work.key });
#endif
        standard.egress_spec = 8;
    }
    action discard() { mark_to_drop(standard); }
    @name(FIRST_NAME)
    table FIRST {
        key = {
            EXACT_PROGRAM
            hdr.work.key: exact;
        }
        actions = { send; flood; copy; tell; @defaultonly discard; }
        default_action = discard();
        size = 4 * COPIES;
        counters = hits;
        support_timeout = true;
    }
    action mark(bit<16> value) { hdr.work.two = value; }
    @name(SECOND_NAME)
    table SECOND {
        key = {
            TERNARY_PROGRAM
            hdr.work.kind: ternary;
        }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction();
        size = 4 * COPIES;
    }

    apply {
#ifdef AS_RUN
        meta.program = 0;
        if (standard.ingress_port < 4) {
            meta.program = (bit<4>) standard.ingress_port;
        }
#endif
        FIRST.apply();
        SECOND.apply();
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply { }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.work);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

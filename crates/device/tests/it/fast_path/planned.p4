// SPDX-License-Identifier: Apache-2.0
// Forwards, copies and drops packets as their first byte says; egress notes the depth of the queue, adds a header, and
// looks a table up.

#include <core.p4>
#include <v1model.p4>

header note_t {
    bit<8> kind;
    bit<8> port;
    bit<16> depth;
    bit<8> mark;
}

header added_t {
    bit<64> zeros;
}

struct headers_t {
    added_t added;
    note_t note;
}

struct metadata_t {}

parser TheParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.note);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control TheIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = (bit<9>)hdr.note.port;
        if (hdr.note.kind == 1) {
            standard_metadata.mcast_grp = 1;
        } else if (hdr.note.kind == 2) {
            mark_to_drop(standard_metadata);
        } else if (hdr.note.kind == 3) {
            clone(CloneType.I2E, 1);
        }
#ifdef WITH_PRIORITY
        standard_metadata.priority = hdr.note.mark[2:0];
#endif
    }
}

control TheEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action mark(bit<8> number) {
        hdr.note.mark = hdr.note.mark + number;
    }
    table marks {
        key = { standard_metadata.egress_port: exact; }
        actions = { mark; NoAction; }
        const entries = { 1: mark(7); 2: mark(9); }
    }
#ifdef WITH_REGISTER
    register<bit<8>>(1) counted;
#endif
    apply {
        hdr.note.depth = (bit<16>)standard_metadata.enq_qdepth;
        marks.apply();
        if (hdr.note.kind == 4) {
            hdr.added.setValid();
            hdr.added.zeros = 0;
        }
#ifdef WITH_DEPARTURE
        hdr.note.mark = (bit<8>)standard_metadata.deq_qdepth;
#endif
#ifdef WITH_REGISTER
        counted.read(hdr.note.mark, 0);
        counted.write(0, hdr.note.mark + 1);
#endif
#ifdef WITH_DROP
        if (hdr.note.mark[1:0] == 0) {
            mark_to_drop(standard_metadata);
        }
#endif
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control TheDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(TheParser(), Verify(), TheIngress(), TheEgress(), Compute(), TheDeparser()) main;

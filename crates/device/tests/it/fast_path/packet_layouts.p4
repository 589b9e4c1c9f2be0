// SPDX-License-Identifier: Apache-2.0
// Packets of many layouts: a stack parsed in a loop, checksums verified and computed again, headers that
// come and go, results of tables that decide, and a deparser with conditions.

#include <core.p4>
#include <v1model.p4>

error { Odd }

header kind_t { bit<4> high; bit<4> low; bit<8> count; bit<16> sum; }
header item_t { bit<1> is_last; bit<7> value; bit<16> more; }
header tail_t { bit<8> left; bit<16> middle; bit<32> right; bit<8> end; }
header new_t { bit<24> mark; }

struct headers_t { kind_t kind; item_t[4] items; tail_t tail; new_t fresh; tail_t never; }
struct metadata_t { bit<1> is_marked; bit<1> is_hit; bit<8> seen; bit<16> spare; }

parser WaysParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.kind);
        verify(hdr.kind.high == 4 || hdr.kind.high != 9, error.Odd);
        transition select(hdr.kind.high, hdr.kind.low) {
            (4, 5): items;
            (4, _): tail;
            (5, 1 .. 7): look;
            default: accept;
        }
    }
    state look {
        transition select(packet.lookahead<bit<16>>()) {
            0x0102: tail;
            0x0304: items;
            default: accept;
        }
    }
    state items {
        packet.extract(hdr.items.next);
        meta.seen = meta.seen + 1;
        transition select(hdr.items.last.is_last) {
            1: after;
            default: items;
        }
    }
    state after {
        transition select(hdr.items[0].value) {
            1: tail;
            default: accept;
        }
    }
    state tail {
        packet.extract(hdr.tail);
        transition accept;
    }
}

control WaysVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.tail.isValid(),
            { hdr.kind.high, hdr.kind.low, hdr.kind.count, hdr.tail.left, hdr.tail.end,
              hdr.tail.middle, hdr.tail.right },
            hdr.kind.sum, HashAlgorithm.csum16);
    }
}

control WaysIngress(inout headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard) {
    action pass(bit<9> port) { standard.egress_spec = port; }
    action mark(bit<9> port, bit<24> value) {
        standard.egress_spec = port;
        meta.is_marked = 1;
        hdr.fresh.setValid();
        hdr.fresh.mark = value;
    }
    action drop() { mark_to_drop(standard); }
    table kinds {
        key = { hdr.kind.count: exact; }
        actions = { pass; mark; drop; }
        default_action = pass(3);
        entries = { 1: mark(2, 0x010203); 2: drop(); 3: pass(7); }
    }
    table values {
        key = { hdr.items[0].value: exact; hdr.kind.high: exact; }
        actions = { pass; drop; NoAction; }
        const default_action = NoAction();
        entries = { (1, 4): pass(8); (2, 4): NoAction(); (3, 5): drop(); }
    }
    apply {
        switch (kinds.apply().action_run) {
            mark: { hdr.kind.count = hdr.kind.count + 1; }
            drop: { meta.spare = 7; }
            default: { }
        }
        if (values.apply().hit) { meta.is_hit = 1; }
        if (standard.checksum_error == 1) { meta.seen = meta.seen ^ 0x80; }
        if (standard.parser_error != error.NoError) { standard.egress_spec = 6; }
        if (hdr.kind.low == 3) { hdr.items.push_front(1); hdr.items[0].setValid();
                                 hdr.items[0].more = 0xaabb; }
        if (hdr.kind.low == 4) { hdr.items.pop_front(2); }
        if (hdr.kind.low == 6) { hdr.tail.setInvalid(); }
        if (hdr.kind.low == 7) { hdr.never.setValid(); hdr.never.middle = 0x1234; }
        if (hdr.kind.low == 5) { hdr.items.push_front(2); }
    }
}

control WaysEgress(inout headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    apply {
        hdr.tail.end = hdr.tail.end - 1;
        if (meta.is_hit == 1) { hdr.tail.middle = hdr.tail.middle + 1; }
        if (meta.is_marked == 1 && meta.seen == 2) { mark_to_drop(standard); }
        hdr.kind.low = hdr.kind.low ^ 8;
    }
}

control WaysCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.tail.isValid(),
            { hdr.kind.high, hdr.kind.low, hdr.kind.count, hdr.tail.left, hdr.tail.end,
              hdr.tail.middle, hdr.tail.right },
            hdr.kind.sum, HashAlgorithm.csum16);
    }
}

control WaysDeparser(packet_out packet, in headers_t hdr) {
    apply {
        if (hdr.never.left == 1) { packet.emit(hdr.tail); }
        packet.emit(hdr.kind);
        if (hdr.kind.high != 2) { packet.emit(hdr.fresh); }
        packet.emit(hdr.items);
        packet.emit(hdr.never);
        packet.emit(hdr.tail);
    }
}

V1Switch(WaysParser(), WaysVerify(), WaysIngress(), WaysEgress(), WaysCompute(), WaysDeparser()) main;

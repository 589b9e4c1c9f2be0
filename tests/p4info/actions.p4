// SPDX-License-Identifier: Apache-2.0
// Actions that tables have, that controls call, that only actions call, and that nothing reaches.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; }
struct headers_t { h_t h; }
struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

action uncalled_at_top(inout h_t h) { h.b = 1; }
@name("renamed") action called_at_top(inout h_t h) { h.b = 2; }
@name(".dotted.name") action dotted(inout h_t h) { h.b = 3; }
@id(0x55) action in_two_controls(inout h_t h) { h.b = 4; }

control Inner(inout headers_t hdr) {
    action twice() { hdr.h.a = 5; }
    action before_return() { hdr.h.a = 6; }
    apply {
        twice();
        if (hdr.h.b == 3) { before_return(); return; }
        twice();
    }
}

control Outer(inout headers_t hdr) {
    Inner() applied;
    Inner() unapplied;
    apply { applied.apply(hdr); applied.apply(hdr); }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    Outer() left;
    Outer() right;
    action never() { hdr.h.b = 7; }
    action by_never() { hdr.h.b = 7; }
    action calls_but_is_never_called() { by_never(); }
    action by_action(in bit<8> x, @id(4) bit<8> y) { hdr.h.a = x + y; }
    action in_table(bit<8> x) { by_action(1, x); }
    action in_table_and_called(@id(3) bit<8> x) { hdr.h.b = x; }
    @brief("without parameters") @note["a"]
    action called(inout bit<8> x, bit<8> y) { x = y; }
    action empty() { }
    @hidden action hidden_one() { hdr.h.b = 8; }
    action in_case() { hdr.h.b = 9; }
    action by_default() { hdr.h.b = 10; }
    action of_dead_table() { hdr.h.b = 11; }
    action of_unapplied_table() { hdr.h.b = 12; }
    action under_false() { hdr.h.b = 13; }
    action after_exit() { hdr.h.b = 14; }
    action after_return() { hdr.h.b = 15; }
    table t { key = { hdr.h.a: exact; } actions = { in_table; in_table_and_called; } }
    table dead { key = { hdr.h.a: exact; } actions = { of_dead_table; } }
    table unapplied { key = { hdr.h.a: exact; } actions = { of_unapplied_table; } }
    apply {
        called_at_top(hdr.h);
        dotted(hdr.h);
        in_two_controls(hdr.h);
        left.apply(hdr);
        right.apply(hdr);
        in_table_and_called(8);
        called(hdr.h.a, 3);
        empty();
        hidden_one();
        switch (t.apply().action_run) { in_table: { in_case(); } default: { by_default(); } }
        if (1 == 2) { under_false(); dead.apply(); }
        if (hdr.h.a == 1) { exit; after_exit(); }
        return;
        after_return();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    // The name of an action of the other control: neither has a short alias.
    action in_case() { hdr.h.b = 16; }
    apply { in_two_controls(hdr.h); in_case(); }
}

control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;

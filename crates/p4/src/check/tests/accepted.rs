// SPDX-License-Identifier: Apache-2.0
//! Programs about which there is nothing to say.

use super::check;

#[test]
fn a_router() {
    check(
        r#"
#include <core.p4>
#include <v1model.p4>
typedef bit<48> mac_t;
header ethernet_t { mac_t destination; mac_t source; bit<16> ether_type; }
header ipv4_t { bit<8> ttl; bit<8> protocol; bit<32> source; bit<32> destination; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct metadata_t { bit<32> next_hop; }
parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x800: ipv4;
            default: accept;
        }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}
control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action forward(bit<32> next_hop, bit<9> port) {
        meta.next_hop = next_hop;
        standard.egress_spec = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl |-| 1;
    }
    table routes {
        key = { hdr.ipv4.destination: lpm; }
        actions = { forward; drop; NoAction; }
        size = 1024;
        default_action = drop();
    }
    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            switch (routes.apply().action_run) {
                forward: { hdr.ethernet.source = hdr.ethernet.destination; }
                default: { exit; }
            }
        } else {
            drop();
        }
    }
}
control Egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); }
}
V1Switch(Parse(), Verify(), Ingress(), Egress(), Compute(), Deparse()) main;
"#,
        &[],
    );
}

#[test]
fn generics_are_inferred() {
    check(
        r#"
struct Pair<T, U> { T first; U second; }
extern void use<T>(in T value);
extern Store<T> { Store(T first); T get(); void put(in T value); }
bit<8> f(in Pair<bit<8>, bool> p) { return p.second ? p.first : 0; }
control c(inout bit<8> x) {
    Store(16w1) store;
    apply {
        Pair<bit<8>, bool> p = { 1, true };
        Pair<bit<8>, bool> q = { second = false, first = 2 };
        use(p);
        use({ x, 8w1 });
        x = f(p) + f(q) + (bit<8>) store.get();
        store.put(3);
    }
}
"#,
        &[],
    );
}

#[test]
fn overloads_go_by_names() {
    check(
        r#"
extern void f(in bit<8> a);
extern void f(in bit<8> b, in bit<8> c);
control c() { apply { f(1); f(1, 2); f(c = 1, b = 2); } }
"#,
        &[],
    );
}

#[test]
fn loops_and_switches() {
    check(
        r#"
enum bit<4> Kind { NONE = 0, SOME = 3 }
header H { bit<8> a; }
bit<8> f(in Kind kind, in H[3] stack) {
    bit<8> sum = 0;
    for (bit<8> i in 0 .. 7) { if (i == 3) { continue; } sum += i; }
    for (H h in stack) { sum = sum + h.a; }
    for (bit<8> j = 0; j < 4; j = j + 1) { sum = sum ^ j; }
    switch (kind) {
        Kind.NONE: { return 1; }
        Kind.SOME: { return sum; }
        default: { return 2; }
    }
}
"#,
        &[],
    );
}

#[test]
fn abstract_methods_are_implemented() {
    check(
        r#"
extern Action<T> { Action(T first); abstract void run(inout T value); T execute(); }
control c(inout bit<8> x) {
    Action<bit<8>>(1) bump = { void run(inout bit<8> value) { value = value + 1; } };
    apply { x = bump.execute(); bump.run(x); }
}
"#,
        &[],
    );
}

#[test]
fn parsers_call_parsers() {
    check(
        r#"
#include <core.p4>
header H { bit<8> next; varbit<64> rest; }
parser Inner(packet_in packet, out H h)(bit<32> size) {
    state start { packet.extract(h, size); transition accept; }
}
parser Outer(packet_in packet, out H h, out H[4] more) {
    Inner(8) inner;
    value_set<bit<8>>(4) special;
    state start {
        inner.apply(packet, h);
        transition select(h.next, packet.lookahead<bit<8>>()) {
            (special, _): again;
            (1 .. 3, 0x10 &&& 0xF0): again;
            default: accept;
        }
    }
    state again {
        packet.extract(more.next, (bit<32>) more.lastIndex);
        verify(more.last.next != 0, error.NoMatch);
        transition accept;
    }
}
"#,
        &[],
    );
}

#[test]
fn bare_numbers_for_new_types() {
    check(
        "type bit<10> vrf_t;\nconst vrf_t DEFAULT = 0;\n\
         control c(out vrf_t a, out bool b) { apply { a = 5; b = a == DEFAULT; } }\n",
        &[],
    );
}

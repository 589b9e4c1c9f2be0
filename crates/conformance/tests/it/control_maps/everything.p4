// SPDX-License-Identifier: Apache-2.0
// Everything that a control plane writes in one program: an action selector, a value set, meters, counters and
// registers, a custom CRC, multicast groups and clone sessions. OTHER_ORDER exchanges the order of objects.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> kind; bit<8> key; bit<16> one; bit<16> two; bit<8> colour; bit<8> more; }
struct headers_t { h_t h; }
struct metadata_t { bit<8> colour; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<8>>(4) special;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            special: mark;
            default: accept;
        }
    }
    state mark { hdr.h.more = 0xee; transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
#ifdef OTHER_ORDER
    register<bit<16>>(4) sums;
    counter(8, CounterType.packets) seen;
#else
    counter(8, CounterType.packets) seen;
    register<bit<16>>(4) sums;
#endif
    meter(4, MeterType.packets) limits;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<8>>(MeterType.packets) rates;
    action_selector(HashAlgorithm.crc16, 32w16, 32w8) chosen;
    action send(bit<9> port) { std.egress_spec = port; }
    action flood(bit<16> group) { std.mcast_grp = group; }
    action copy(bit<32> session) { clone(CloneType.I2E, session); std.egress_spec = 3; }
    action paint(bit<16> value) { rates.read(hdr.h.colour); hdr.h.one = value; }
    action skip() { rates.read(hdr.h.colour); }
    table balanced {
        key = { hdr.h.key: exact; hdr.h.one: selector; }
        actions = { send; flood; copy; }
        default_action = send(1);
        implementation = chosen;
        size = 16;
    }
    table painted {
        key = { hdr.h.kind: ternary; hdr.h.key: range; }
        actions = { paint; skip; }
        default_action = skip();
        counters = hits;
        meters = rates;
        size = 16;
        support_timeout = true;
    }
    apply {
        painted.apply();
        balanced.apply();
        hash(hdr.h.two, HashAlgorithm.crc16_custom, 16w0, { hdr.h.key, hdr.h.kind }, 32w65536);
        seen.count((bit<32>)(hdr.h.key & 7));
        bit<16> old;
        sums.read(old, (bit<32>)(hdr.h.kind & 3));
        sums.write((bit<32>)(hdr.h.kind & 3), old + 1);
        hdr.h.one = hdr.h.one ^ old;
        bit<8> colour;
        limits.execute_meter((bit<32>)(hdr.h.key & 3), colour);
        hdr.h.colour = hdr.h.colour + (colour << 4);
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { hdr.h.more = hdr.h.more + (bit<8>)std.egress_rid; }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

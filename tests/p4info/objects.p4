// SPDX-License-Identifier: Apache-2.0
// Every kind of object that P4Info describes.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.org/port", string)
type bit<9> port_t;
@p4runtime_translation("example.org/tag", 24)
type bit<12> tag_t;
type bit<48> station_t;
typedef bit<32> address_t;

enum bit<8> Kind { Data = 1, Control = 0x80 }
enum Level { Low, High }

header h_t {
    station_t station;
    tag_t tag;
    bit<4> unused;
    Kind kind;
    bit<16> value;
}

struct pair_t {
    bit<8> first;
    bit<8> second;
}

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    @id(7) bit<7> reason;
    pair_t pair;
}

struct headers_t {
    packet_in_t packet_in;
    h_t h;
}

struct metadata_t {
    port_t port;
    bit<16> hash;
    error status;
}

struct seen_t {
    station_t station;
    Kind kind;
    bool is_new;
    error status;
}

struct key_t {
    @id(3) bit<16> value;
    @match(ternary) Kind kind;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(8) values;
    @id(0x11) value_set<key_t>(4) keys;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.value, hdr.h.kind) {
            keys: accept;
            default: more;
        }
    }
    state more {
        transition select(hdr.h.value) {
            values: accept;
            default: accept;
        }
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control Count(inout headers_t hdr) {
    counter(16, CounterType.bytes) seen;
    apply { seen.count((bit<32>)hdr.h.value & 15); }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    Count() first;
    Count() second;
    direct_counter(CounterType.packets) by_entry;
    direct_meter<bit<2>>(MeterType.bytes) rates;
    @id(0x77) meter(4, MeterType.packets) policer;
    register<bit<48>>(64) last;
    register<pair_t>(2) pairs;
    @max_group_size(200)
    action_selector(HashAlgorithm.crc16, 64, 16) paths;
    bit<2> color = 0;

    @brief("Sends a packet") @description("to a \"port\"")
    action send(@id(5) port_t port, bit<16> value) {
        std.egress_spec = (bit<9>)port;
        hdr.h.value = value;
    }
    @id(99)
    action mark(tag_t tag, Kind kind, Level level, bool flag, station_t station) {
        hdr.h.tag = tag;
        hdr.h.kind = kind;
        hdr.h.station = station;
        if (level == Level.High && flag) { hdr.h.value = 1; }
    }
    action drop() { mark_to_drop(std); }
    action metered() { rates.read(color); }

    @name("stations") @id(0x02001234) @brief("The stations")
    @note[text = "a", number = -1, flag = true] @list["x", 2]
    table by_station {
        key = {
            hdr.h.station: exact @name("station") @id(4);
            hdr.h.tag: exact @brief("the tag");
            hdr.h.kind: ternary;
            meta.port: range;
            std.instance_type: optional;
        }
        actions = { send; @tableonly mark; @defaultonly drop; }
        default_action = send((port_t)9w1, 0x102);
        counters = by_entry;
        size = 512;
        support_timeout = true;
    }
    table routes {
        key = { hdr.h.value: lpm; meta.hash: selector; }
        actions = { send; NoAction; }
        implementation = paths;
    }
    table fixed {
        key = { hdr.h.value: exact; meta.status: exact; }
        actions = { drop; metered; }
        const default_action = drop();
        const entries = { (1, error.NoError): metered(); }
        meters = rates;
    }
    apply {
        first.apply(hdr);
        second.apply(hdr);
        policer.execute_meter(0, color);
        bit<48> time;
        last.read(time, 0);
        pair_t pair;
        pairs.read(pair, 0);
        last.write((bit<32>)pair.first, std.ingress_global_timestamp + time);
        by_station.apply();
        routes.apply();
        fixed.apply();
        digest<seen_t>(1, { hdr.h.station, hdr.h.kind, true, error.NoMatch });
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

@pkginfo(name = "objects", version = "1.0")
@platform_property(multicast_group_table_size = 10)
V1Switch(P(), V(), I(), E(), C(), D()) main;

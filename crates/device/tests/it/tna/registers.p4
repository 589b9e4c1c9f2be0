// SPDX-License-Identifier: Apache-2.0
// The first byte of a packet chooses a register action; the results come back in the packet.
#include <core.p4>
#include <tna.p4>

header order_h {
    bit<8> what;
    bit<8> index;
    bit<32> value;
    bit<32> first;
    bit<32> second;
}
struct headers_t { order_h order; }
struct nothing_t { }
struct pair_t {
    bit<32> low;
    bit<32> high;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out nothing_t md,
                     out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout nothing_t md,
                in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Register<bit<32>, bit<8>>(16, 100) counts;
    Register<pair_t, bit<8>>(16, { 3, 7 }) pairs;
    Register<bit<1>, bit<8>>(16) marks;
    Register<bit<16>, bit<8>>(16) small;
    RegisterParam<bit<32>>(50) limit;

    // Counts to the limit, then begins again; gives the old count.
    RegisterAction<bit<32>, bit<8>, bit<32>>(counts) count = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            if (value >= 102) {
                value = 0;
            } else {
                value = value + 1;
            }
        }
    };
    // The new value, larger of both, as result.
    RegisterAction<bit<32>, bit<8>, bit<32>>(counts) largest = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = max(value, hdr.order.value);
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(counts) look = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(counts) forget = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };
    // Conditions on both fields, an early return, and a variable of its own.
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) turn = {
        void apply(inout pair_t value, out bit<32> result) {
            bit<32> before = value.low;
            if (hdr.order.value == 0) {
                result = 1;
                return;
            }
            if (value.low > value.high && hdr.order.value[0:0] == 1) {
                value.low = value.high - hdr.order.value;
                result = before;
            } else if (value.low == value.high || hdr.order.value > 1000) {
                value.high = value.high |+| hdr.order.value;
                result = value.high;
            } else {
                value = { value.high, before + hdr.order.value };
                result = value.low;
            }
        }
    };
    RegisterAction2<pair_t, bit<8>, bit<32>, bit<32>>(pairs) both = {
        void apply(inout pair_t value, out bit<32> one, out bit<32> other) {
            one = value.low;
            other = value.high;
            value.low = value.low ^ hdr.order.value;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(marks) mark = {
        void apply(inout bit<1> value, out bit<1> result) {
            result = ~value;
            value = 1;
        }
    };
    RegisterAction<bit<16>, bit<8>, bool>(small) passes = {
        void apply(inout bit<16> value, out bool result) {
            if (value < (bit<16>) hdr.order.value[15:0]) {
                value = hdr.order.value[15:0];
                result = true;
            } else {
                result = false;
            }
        }
    };
    action do_count() { hdr.order.first = count.execute(hdr.order.index); }
    action do_largest() { hdr.order.first = largest.execute(hdr.order.index); }
    action do_look() { hdr.order.first = look.execute(hdr.order.index); }
    action do_forget() { forget.execute(hdr.order.index); }
    action do_turn() { hdr.order.first = turn.execute(hdr.order.index); }
    action do_both() { hdr.order.first = both.execute(hdr.order.index, hdr.order.second); }
    action do_mark() { hdr.order.first = (bit<32>) mark.execute(hdr.order.index); }
    @pragma stage 3
    table choose {
        key = { hdr.order.what: exact; }
        actions = { do_count; do_largest; do_look; do_forget; do_turn; do_both; do_mark; NoAction; }
        const entries = {
            0: do_count();
            1: do_largest();
            2: do_look();
            3: do_forget();
            4: do_turn();
            5: do_both();
            6: do_mark();
        }
        default_action = NoAction();
    }
    apply {
        for_tm.ucast_egress_port = 1;
        for_tm.bypass_egress = 1;
        choose.apply();
        if (hdr.order.what == 7) {
            if (passes.execute(hdr.order.index)) { hdr.order.second = 1; }
        } else if (hdr.order.what == 8) {
            counts.write(hdr.order.index, hdr.order.value);
            hdr.order.first = counts.read(hdr.order.index);
            hdr.order.second = limit.read();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in nothing_t md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out nothing_t md,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        transition accept;
    }
}
control Egress(inout headers_t hdr, inout nothing_t md,
               in egress_intrinsic_metadata_t intrinsic) {
    apply { }
}
control EgressDeparser(packet_out pkt, inout headers_t hdr, in nothing_t md) {
    apply { }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;

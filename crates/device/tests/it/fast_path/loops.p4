// SPDX-License-Identifier: Apache-2.0
// A parser's loop that takes more turns than code is copied for: headers extracted over and over, fields
// that are written in some turns only, headers that only some turns extract. With LARGE the program is
// larger than what is copied at all.

#include <core.p4>
#include <v1model.p4>

header part_t { bit<4> kind; bit<4> value; }
header long_t { bit<8> first; bit<16> second; bit<3> third; bit<5> fourth; }
header mark_t { bit<8> text; }

struct headers_t { long_t ahead; part_t part; long_t kept; long_t changed; mark_t mark; mark_t late; part_t copy; }
struct metadata_t { bit<8> turns; bit<16> sum; bit<16> mixed; }

parser LoopsParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ahead);
        hdr.late.text = 7;
        transition part;
    }
    state part {
        packet.extract(hdr.part);
        meta.turns = meta.turns + 1;
        meta.sum = meta.sum + (bit<16>) hdr.part.value;
        transition select(hdr.part.kind, meta.turns) {
            (0, _): accept;
            (1, _): kept;
            (2, _): changed;
            (3, _): mark;
            (4, _): rewrite;
            (5, _): copy;
            (6, _): look;
            (7, _): forget;
            // What turns whose number is known never come to.
            (8, 18 .. 25): late;
            (9, 18 .. 25): rewrite_ahead;
            default: part;
        }
    }
    state late {
        packet.extract(hdr.late);
        transition part;
    }
    state rewrite_ahead {
        hdr.ahead.second = hdr.ahead.second + meta.sum;
        transition part;
    }
    state kept {
        packet.extract(hdr.kept);
        meta.sum = meta.sum ^ hdr.kept.second;
        transition part;
    }
    state changed {
        packet.extract(hdr.changed);
        transition select(hdr.changed.third) {
            1: rewrite;
            default: part;
        }
    }
    state rewrite {
        hdr.changed.second = hdr.changed.second + meta.sum;
        hdr.changed.fourth = hdr.part.value ++ hdr.kept.third[0:0];
        transition part;
    }
    state mark {
        packet.extract(hdr.mark);
        transition part;
    }
    state copy {
        hdr.copy = hdr.part;
        transition part;
    }
    state look {
        meta.sum = meta.sum + packet.lookahead<bit<16>>();
        transition part;
    }
    state forget {
        hdr.kept.setInvalid();
        hdr.mark.text = 7;
        transition part;
    }
}

control LoopsVerify(inout headers_t hdr, inout metadata_t meta) { apply { } }

#define MIX meta.mixed = (meta.mixed ^ meta.sum) + (bit<16>) hdr.part.value; meta.sum = meta.sum + 3;
#define MIX_8 MIX MIX MIX MIX MIX MIX MIX MIX
#define MIX_64 MIX_8 MIX_8 MIX_8 MIX_8 MIX_8 MIX_8 MIX_8 MIX_8
#define MIX_512 MIX_64 MIX_64 MIX_64 MIX_64 MIX_64 MIX_64 MIX_64 MIX_64

control LoopsIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action go(bit<9> port) { standard.egress_spec = port; }
    action change(bit<5> to) {
        standard.egress_spec = 3;
        hdr.changed.fourth = to;
        hdr.kept.first = hdr.kept.first + 1;
    }
    action back() {
        standard.egress_spec = 4;
        hdr.kept = hdr.changed;
    }
    table kinds {
        key = { hdr.part.kind: exact; hdr.part.value: ternary; hdr.kept.isValid(): exact; }
        actions = { go; change; back; }
        const default_action = go(2);
        const entries = {
            (0, 1 &&& 3, true): change(9);
            (0, 2 &&& 3, true): back();
            (0, 2 &&& 3, false): change(30);
        }
    }
    apply {
#ifdef LARGE
        MIX_512 MIX_512
#endif
        kinds.apply();
        if (standard.parser_error != error.NoError) {
            standard.egress_spec = 5;
        } else if (meta.turns > 30) {
            hdr.mark.setValid();
            hdr.mark.text = meta.turns;
            hdr.late.text = hdr.late.text + 1;
        } else if (hdr.part.value == 9) {
            clone(CloneType.I2E, 7);
        } else if (hdr.part.value == 8) {
            standard.mcast_grp = 1;
        }
    }
}

control LoopsEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type != 0) {
            hdr.copy.setValid();
            hdr.copy.kind = 15;
        }
        hdr.part.value = meta.mixed[3:0];
    }
}

control LoopsCompute(inout headers_t hdr, inout metadata_t meta) { apply { } }

control LoopsDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ahead);
        packet.emit(hdr.part);
        packet.emit(hdr.kept);
        packet.emit(hdr.changed);
        packet.emit(hdr.mark);
        packet.emit(hdr.late);
        packet.emit(hdr.copy);
    }
}

V1Switch(LoopsParser(), LoopsVerify(), LoopsIngress(), LoopsEgress(), LoopsCompute(), LoopsDeparser())
    main;

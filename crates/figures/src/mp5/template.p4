// SPDX-License-Identifier: Apache-2.0
// A stateful stage of MP5's template (Figure 5): match, predicate, index, access.
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; bit<32> flow; bit<32> value; }
struct headers { h_t h; }
struct metadata { }
parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    register<bit<32>>(64) sums;
    action update(bit<32> offset) {
        if (hdr.h.value > 7) {
            bit<32> sum;
            bit<32> index = (hdr.h.flow + offset) & 63;
            sums.read(sum, index);
            sum = sum * 3 + hdr.h.value;
            sums.write(index, sum);
            hdr.h.value = sum;
        }
    }
    table chosen {
        key = { hdr.h.kind: exact; }
        actions = { update; NoAction; }
        default_action = NoAction;
    }
    apply { sm.egress_spec = 1; chosen.apply(); }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;

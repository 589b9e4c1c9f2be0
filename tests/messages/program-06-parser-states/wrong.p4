// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header a_t { bit<8> kind; }
struct h_t { a_t a; }
parser p(packet_in packet, out h_t hdr) {
    state begin {
        packet.extract(hdr.a);
        transition select(hdr.a.kind) {
            1: parse_next;
            8w256: accept;
        }
    }
    state never { transition accept; }
}

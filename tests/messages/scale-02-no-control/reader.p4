// SPDX-License-Identifier: Apache-2.0
#include <core.p4>

header data_t {
    bit<32> value;
}

parser Read(packet_in packet, out data_t data);

package Reader(Read read);

parser Values(packet_in packet, out data_t data) {
    state start {
        packet.extract(data);
        transition accept;
    }
}

Reader(Values()) main;

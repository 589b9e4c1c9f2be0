// SPDX-License-Identifier: Apache-2.0
// An array of which packets write the first and the last cell at one moment, and tables for controllers.
#include <core.p4>
#include <v1model.p4>

header work_h {
    bit<32> number;
}

struct headers_t {
    work_h work;
}

struct metadata_t { }

parser MyParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.work);
        transition accept;
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    register<bit<32>>(4) cells;
    action set_mode(bit<16> mode) { hdr.work.number[15:0] = mode; }
    table mode {
        actions = { set_mode; NoAction; }
        default_action = NoAction();
    }
    action send(bit<9> port) { standard.egress_spec = port; }
    table ports {
        key = { hdr.work.number: exact; }
        actions = { send; @defaultonly NoAction; }
        default_action = NoAction();
        size = 64;
    }
    apply {
        @atomic {
            cells.write(0, hdr.work.number);
            cells.write(3, hdr.work.number);
        }
        ports.apply();
        mode.apply();
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {
    apply { }
}

control MyCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.work);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;

// SPDX-License-Identifier: Apache-2.0
// Counts packets of the packet generator's applications and tells of each by port 1. Application 7 makes
// frames of flow control: the destination goes in the place of the generator's header.
#include <core.p4>
#include <tna.p4>

header report_h {
    bit<8> application;
    bit<16> batch_id;
    bit<16> packet_id;
    bit<32> count;
    bit<16> port;
}
header address_h {
    bit<48> destination;
}
struct headers_t {
    report_h report;
    address_h address;
    pktgen_timer_header_t timer;
}
struct metadata_t { }

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(intrinsic.ingress_port) {
            68: generated;
            69: generated;
            default: accept;
        }
    }
    state generated {
        pkt.extract(hdr.timer);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Register<bit<32>, bit<3>>(8) counts;
    RegisterAction<bit<32>, bit<3>, bit<32>>(counts) count = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value + 1;
            result = value;
        }
    };
    apply {
        if (hdr.timer.isValid()) {
            bit<32> number = count.execute(hdr.timer.app_id);
            if (hdr.timer.app_id == 7) {
                hdr.address.setValid();
                hdr.address.destination = 0x0180c2000001;
                for_tm.qid = 7;
                for_tm.ucast_egress_port = 68;
            } else {
                hdr.report.setValid();
                hdr.report.application = 2w0 ++ hdr.timer.pipe_id ++ 1w0 ++ hdr.timer.app_id;
                hdr.report.batch_id = hdr.timer.batch_id;
                hdr.report.packet_id = hdr.timer.packet_id;
                hdr.report.count = number;
                hdr.report.port = 7w0 ++ intrinsic.ingress_port;
                for_tm.ucast_egress_port = 1;
            }
            hdr.timer.setInvalid();
        } else {
            for_tm.ucast_egress_port = 2;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { pkt.emit(hdr); }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_output) {
    apply { }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;

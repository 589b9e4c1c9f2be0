// SPDX-License-Identifier: Apache-2.0
// The first byte of a packet chooses the path through the pipe. Egress writes its metadata into the packet.
#include <core.p4>
#include <tna.p4>

const bit<3> MIRRORED = 1;
const bit<3> AGAIN = 2;
const bit<3> NEWS = 3;

header order_h {
    bit<8> what;
    bit<8> port;
    bit<16> seen;     // replication id, first with it, queue
    bit<8> rounds;
    bit<16> length;
}
header copied_h {
    bit<8> mark;      // 0xc0 for ingress, 0xe0 for egress
    bit<8> from;
}
header kept_h {
    bit<8> rounds;
    bit<56> rest;
}
struct headers_t {
    copied_h copied;
    order_h order;
}
struct ingress_t {
    bit<8> rounds;
    bit<16> news;
}
struct egress_t {
    bit<8> from;
}
struct news_t {
    bit<8> what;
    bit<9> port;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_t md,
                     out ingress_intrinsic_metadata_t intrinsic) {
    kept_h kept;
    state start {
        pkt.extract(intrinsic);
        transition select(intrinsic.resubmit_flag) {
            1: again;
            default: first;
        }
    }
    state again {
        pkt.extract(kept);
        md.rounds = kept.rounds;
        transition order;
    }
    state first {
        pkt.advance(PORT_METADATA_SIZE);
        md.rounds = 0;
        transition order;
    }
    state order {
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout ingress_t md,
                in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    apply {
        hdr.order.rounds = md.rounds;
        switch (hdr.order.what) {
            1: { for_tm.ucast_egress_port = (PortId_t) hdr.order.port; }
            2: { for_tm.mcast_grp_a = 1; }
            3: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                for_tm.mcast_grp_a = 1;
                for_tm.mcast_grp_b = 2;
                for_tm.qid = 3;
            }
            4: { }
            5: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                for_deparser.drop_ctl = 1;
            }
            6: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                if (md.rounds < 3) { for_deparser.resubmit_type = AGAIN; }
            }
            7: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                for_deparser.mirror_type = MIRRORED;
            }
            8: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                for_deparser.mirror_type = MIRRORED;
                for_deparser.drop_ctl = 5;
            }
            // Round and round: port 68 is in loopback.
            9: {
                hdr.order.what = intrinsic.ingress_port == 68 ? 8w1 : 8w9;
                for_tm.ucast_egress_port = intrinsic.ingress_port == 68 ?
                    (PortId_t) hdr.order.port : 9w68;
            }
            10: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                for_tm.bypass_egress = 1;
            }
            11: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                for_deparser.digest_type = NEWS;
            }
            12: {
                for_tm.copy_to_cpu = 1;
            }
            13: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                invalidate(for_tm.ucast_egress_port);
            }
            // Port 0 is a port.
            14: { for_tm.ucast_egress_port = 0; }
            // Mirrored and dropped in egress: see there.
            default: { for_tm.ucast_egress_port = (PortId_t) hdr.order.port; }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_t md,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser,
                        in ingress_intrinsic_metadata_t intrinsic) {
    Mirror() mirror;
    Resubmit(AGAIN) resubmit;
    Digest<news_t>() digest;
    apply {
        if (for_deparser.mirror_type == MIRRORED) {
            mirror.emit<copied_h>(5, { 0xc0, hdr.order.port });
        }
        resubmit.emit<kept_h>({ md.rounds + 1, 0 });
        if (for_deparser.digest_type == NEWS) {
            digest.pack({ hdr.order.what, intrinsic.ingress_port });
        }
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out egress_t md,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        transition select(pkt.lookahead<bit<8>>()) {
            0xc0: copied;
            0xe0: copied;
            default: order;
        }
    }
    state copied {
        pkt.extract(hdr.copied);
        transition order;
    }
    state order {
        pkt.extract(hdr.order);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout egress_t md,
               in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply {
        hdr.order.seen = intrinsic.egress_rid[7:0] ++ 2w0 ++ intrinsic.egress_rid_first
                         ++ intrinsic.egress_qid;
        hdr.order.length = intrinsic.pkt_length;
        if (!hdr.copied.isValid()) {
            if (hdr.order.what == 20) { for_deparser.mirror_type = MIRRORED; }
            if (hdr.order.what == 21) { for_deparser.drop_ctl = 1; }
            if (hdr.order.what == 22) {
                for_deparser.mirror_type = MIRRORED;
                for_deparser.drop_ctl = 1;
            }
        }
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_t md,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser,
                       in egress_intrinsic_metadata_t intrinsic) {
    Mirror(MIRRORED) mirror;
    apply {
        mirror.emit<copied_h>(6, { 0xe0, intrinsic.egress_port[7:0] });
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;

// SPDX-License-Identifier: Apache-2.0
//! Malleables in controls behind a pipeline: checksums are computed from what the malleables stand for at its end.

use crate::compiled::compiled_with;
use device::{Device, DeviceOptions};

const HEAD: &str = "\
malleable value bit<16> v { init = 7; }
malleable field bit<16> f { init = hdr.d.b; alts { hdr.d.a, hdr.d.b } }
header d_t { bit<16> a; bit<16> b; bit<16> sum; }
struct headers_t { d_t d; }
struct meta_t { bit<8> own; }
";

const V1MODEL: &str = "\
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { sm.egress_spec = 1; } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply { hdr.d.b = hdr.d.b + 1; if (hdr.d.a == 2) { exit; } hdr.d.b = hdr.d.b + 1; }
}
control C(inout headers_t headers, inout meta_t own) {
    apply { update_checksum(true, { ${v}, ${f} }, headers.d.sum, HashAlgorithm.csum16); }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.d); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const TNA: &str = "\
parser P(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic); packet.advance(PORT_METADATA_SIZE); packet.extract(hdr.d); transition accept;
    }
}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t parsed, inout ingress_intrinsic_metadata_for_deparser_t sm,
    inout ingress_intrinsic_metadata_for_tm_t tm) {
    action last() { hdr.d.b = hdr.d.b + 1; exit; }
    apply {
        tm.ucast_egress_port = 1; tm.bypass_egress = 1;
        if (hdr.d.a == 2) { last(); }
        hdr.d.b = hdr.d.b + 2;
    }
}
control D(packet_out packet, inout headers_t headers, in meta_t own) {
    Checksum() sum;
    apply { headers.d.sum = sum.update({ ${v}, ${f} }); packet.emit(headers.d); }
}
parser Q(packet_in packet, out headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start { packet.extract(intrinsic); transition accept; }
}
control E(inout headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t intrinsic) { apply { } }
control F(packet_out packet, inout headers_t hdr, in meta_t meta) { apply { } }
Pipeline(P(), I(), D(), Q(), E(), F()) pipe;
Switch(pipe) main;
";

/// Sends packets with these fields `a` and `b`; returns `b` and the sum of those that leave.
#[track_caller]
fn check(include: &str, body: &str, packets: &[(u16, u16)], expected: &[(u16, u16)]) {
    let text = format!("#include <core.p4>\n#include <{include}>\n{HEAD}{body}");
    let compiled = compiled_with(&text, None);
    for ready in [&compiled.written, &compiled.run] {
        let mut device =
            Device::new(ready.program().clone(), DeviceOptions::default()).expect("it loads");
        for (a, b) in packets {
            let bytes = [*a, *b, 0].iter().flat_map(|field| field.to_be_bytes()).collect();
            device.inject(0, device.now_ps(), bytes).expect("it is taken");
        }
        device.run_to_completion().expect("it runs");
        let sent = device.drain_transmitted().into_iter().map(|sent| {
            let field = |at: usize| u16::from_be_bytes([sent.bytes[at], sent.bytes[at + 1]]);
            (field(2), field(4))
        });
        assert_eq!(sent.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn checksums_read_what_malleables_stand_for_at_the_end() {
    // The complement of 7 and `b` as it leaves.
    check("v1model.p4", V1MODEL, &[(1, 10), (2, 10)], &[(12, !19), (11, !18)]);
    check("tna.p4", TNA, &[(1, 10), (2, 10)], &[(12, !19), (11, !18)]);
}

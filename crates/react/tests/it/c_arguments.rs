// SPDX-License-Identifier: Apache-2.0
//! Arguments of reactions, compiled and read.

use crate::fixture::{Fixture, argument, bits, boolean, field, int, named, path, register};
use react::interface::{Argument, ArgumentKind, Scalar};

/// Runs a body with the malleable value `v` of 64 bits, and compares what it assigns.
#[track_caller]
fn check(arguments: Vec<Argument>, validities: &[&str], input: &[u64], body: &str, expected: u64) {
    let fixture = Fixture::new().value("v", bits(64)).reaction_of(arguments, validities, body);
    assert_eq!(fixture.run(input, &[0]).0, [expected], "{body}");
}

#[test]
fn fields_are_written_as_in_p4() {
    let fields = || {
        vec![
            argument(field("hdr.ip.src", bits(32))),
            argument(field("hdr.ip.ttl", bits(8))),
            argument(field("hdr.eth.dst", bits(48))),
            argument(field("meta.x", int(12))),
            argument(field("meta.in.flag", boolean())),
        ]
    };
    let input = [0x0a00_0001, 64, 0x1122_3344_5566, 0xfff, 1];
    check(fields(), &[], &input, "${v} = hdr.ip.src;", 0x0a00_0001);
    check(fields(), &[], &input, "${v} = hdr.ip.ttl - 65 == -1;", 1);
    check(fields(), &[], &input, "${v} = hdr.eth.dst;", 0x1122_3344_5566);
    check(fields(), &[], &input, "${v} = meta.x + 3;", 2);
    check(fields(), &[], &input, "${v} = meta.in.flag + sizeof hdr.ip.ttl;", 2);
}

#[test]
fn wide_fields_are_bytes_in_network_order() {
    let fields =
        vec![argument(field("hdr.ip6.src", bits(128))), argument(field("hdr.w", bits(68)))];
    let input = [0x090a_0b0c_0d0e_0f10, 0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 0xa];
    let body = "${v} = hdr.ip6.src[0] | hdr.ip6.src[15] << 8 | hdr.w[0] << 16 | hdr.w[8] << 24 | sizeof hdr.w << 32;";
    check(fields, &[], &input, body, 0x09_180a_1001);
}

#[test]
fn whole_headers_have_all_their_fields() {
    let ip = |name: Option<&str>| {
        let fields = [("version", 4), ("register", 4), ("src", 32)];
        let fields = fields.map(|(name, width)| (name.into(), bits(width))).to_vec();
        Argument {
            name: name.map(Into::into),
            ..argument(ArgumentKind::Header { path: path("hdr.ip"), fields })
        }
    };
    let input = [4, 5, 77, 1];
    let body =
        "if (valid(hdr.ip)) ${v} = hdr.ip.version * 1000 + hdr.ip.register_ * 100 + hdr.ip.src;";
    check(vec![ip(None)], &["hdr.ip"], &input, body, 4577);
    let body = "${v} = valid(p) && valid(hdr.ip) ? p.src : 0;";
    check(vec![ip(Some("p"))], &["hdr.ip"], &input, body, 77);
    check(vec![ip(Some("p"))], &["hdr.ip"], &[4, 5, 77, 0], body, 0);
}

#[test]
fn validity_travels_along_with_fields() {
    let fields = vec![
        argument(field("hdr.vlan[1].id", bits(12))),
        argument(field("hdr.vlan[0].id", bits(12))),
        named("port", field("hdr.udp.dst", bits(16))),
    ];
    let body = "${v} = hdr.vlan[1].id * 10 + hdr.vlan[0].id;\n\
                ${v} = ${v} * 1000 + valid(hdr.vlan[0]) * 100 + valid(hdr.vlan[1]) * 10 + valid(hdr.udp);\n\
                for (int i = 0; i < 2; i++) ${v} += hdr.vlan[i].id;\n ${v} += port;";
    let headers = ["hdr.vlan[0]", "hdr.vlan[1]", "hdr.udp"];
    check(fields, &headers, &[2, 3, 0, 1, 0, 1], body, 23_106);
}

#[test]
fn registers_have_their_own_indices() {
    let cells =
        || vec![argument(register("q", bits(16), 3, 5)), argument(field("meta.x", bits(8)))];
    let input = [30, 40, 50, 9];
    check(cells(), &[], &input, "for (int i = 3; i <= 5; i++) ${v} = ${v} * 100 + q[i];", 304_050);
    // Cells have the type of their width.
    check(cells(), &[], &input, "${v} = q[3] - q[4] == -10 && sizeof q[3] == 2;", 1);
    check(cells(), &[], &input, "${v} = meta.x;", 9);
    check(vec![named("p", register("q", bits(16), 3, 5))], &[], &input[..3], "${v} = p[5];", 50);
}

#[test]
fn cells_of_all_types() {
    let cell = |ty: Scalar| vec![argument(register("q", ty, 1, 2))];
    check(cell(int(12)), &[], &[0xfff, 5], "${v} = q[1] == -1 && q[2] == 5;", 1);
    check(cell(boolean()), &[], &[0, 1], "${v} = q[1] * 10 + q[2];", 1);
    check(cell(bits(64)), &[], &[7, u64::MAX], "${v} = q[2];", u64::MAX);
    let wide = "${v} = q[1][0] * 1000 + q[2][0] * 100 + q[2][15] * 10 + q[1][15];";
    check(cell(bits(128)), &[], &[1, 2 << 56, 3, 4 << 56], wide, 2431);
}

#[test]
fn large_registers_and_far_ranges_need_no_stack() {
    let cells = vec![argument(register("q", bits(32), 0, 999_999))];
    let input: Vec<u64> = (0..1_000_000).collect();
    check(cells, &[], &input, "for (int i = 0; i < 1000000; i++) ${v} += q[i];", 499_999_500_000);
    let far = vec![argument(register("q", bits(32), 4_000_000_000, 4_000_000_001))];
    check(far, &[], &[5, 6], "${v} = q[4000000000] * 10 + q[4000000001];", 56);
}

#[test]
fn malleables_and_constants_are_arguments_by_their_names() {
    let arguments = vec![
        argument(ArgumentKind::Malleable { malleable: "v".into(), ty: bits(64) }),
        named("w", ArgumentKind::Malleable { malleable: "f".into(), ty: bits(32) }),
        argument(ArgumentKind::Constant { constant: "LIMIT".into(), ty: bits(16), value: 5 }),
    ];
    check(arguments, &[], &[100, 20], "${v} = v + w + LIMIT;", 125);
    let constant =
        |ty, value| vec![argument(ArgumentKind::Constant { constant: "C".into(), ty, value })];
    check(constant(int(12), 0xfff), &[], &[], "${v} = C == -1;", 1);
    check(constant(int(64), 1 << 63), &[], &[], "${v} = C == INT64_MIN;", 1);
    check(constant(boolean(), 1), &[], &[], "${v} = C;", 1);
    check(constant(bits(64), u64::MAX), &[], &[], "${v} = C;", u64::MAX);
}

#[test]
fn variables_of_the_body_hide_arguments() {
    let arguments = || vec![argument(field("hdr.ip.src", bits(32)))];
    let body = "struct { struct { int other; } ip; } hdr = { { 4 } }; ${v} = hdr.ip.other;";
    check(arguments(), &[], &[1], body, 4);
    check(arguments(), &[], &[1], "struct { int hdr; } s = { 3 }; ${v} = s.hdr + hdr.ip.src;", 4);
}

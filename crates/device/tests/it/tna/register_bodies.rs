// SPDX-License-Identifier: Apache-2.0
//! Random bodies of register actions, each as a register action and, on a second register, as the same statements between a
//! read and a write, which have another lowering.

use super::harness::{program_with_warnings, side_by_side};
use device::DeviceOptions;
use proptest::prelude::*;

/// Numbers in a body: the cell's fields, two inputs of the packet, a variable and a result.
const NAMES: [&str; 6] = ["value.low", "value.high", "left", "right", "kept", "result"];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&NAMES[..]).prop_map(str::to_string),
        1 => prop_oneof![0u32..4, any::<u32>()].prop_map(|number| format!("32w{number}")),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["+", "-", "&", "|", "^", "|+|", "|-|"]);
    prop_oneof![
        1 => number(),
        2 => (number(), operator, number()).prop_map(|(left, operator, right)| {
            format!("({left} {operator} {right})")
        }),
        1 => (number(), number()).prop_map(|(left, right)| format!("max({left}, {right})")),
        1 => (condition(), number(), number())
            .prop_map(|(condition, then, other)| format!("({condition} ? {then} : {other})")),
    ]
}

fn comparison() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    (number(), operator, number())
        .prop_map(|(left, operator, right)| format!("{left} {operator} {right}"))
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => comparison(),
        1 => (comparison(), prop::sample::select(vec!["&&", "||"]), comparison())
            .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
    ]
}

fn statements() -> impl Strategy<Value = String> {
    let target = prop::sample::select(vec!["value.low", "value.high", "kept", "result"]);
    let assignment =
        (target, expression()).prop_map(|(target, value)| format!("{target} = {value};\n"));
    let leaf = prop::collection::vec(assignment, 1..3).prop_map(|lines| lines.concat());
    leaf.prop_recursive(3, 24, 3, |inner| {
        let both =
            (condition(), inner.clone(), inner.clone()).prop_map(|(condition, then, otherwise)| {
                format!("if ({condition}) {{\n{then}}} else {{\n{otherwise}}}\n")
            });
        let one = (condition(), inner.clone(), prop::bool::weighted(0.3)).prop_map(
            |(condition, then, ends)| {
                let end = if ends { "return;\n" } else { "" };
                format!("if ({condition}) {{\n{then}{end}}}\n")
            },
        );
        prop_oneof![prop::collection::vec(inner, 1..3).prop_map(|all| all.concat()), both, one,]
    })
}

fn program_with(bodies: &[String]) -> String {
    let mut objects = String::new();
    let mut calls = String::new();
    for (at, body) in bodies.iter().enumerate() {
        let body = format!("bit<32> kept = 0;\nresult = 0;\n{body}");
        objects.push_str(&format!(
            "Register<pair_t, bit<8>>(4, {{ 1, 2 }}) one{at};\n\
             RegisterAction<pair_t, bit<8>, bit<32>>(one{at}) act{at} = {{\n\
             void apply(inout pair_t value, out bit<32> result) {{\n\
             bit<32> left = hdr.order.left;\nbit<32> right = hdr.order.right;\n{body}}}\n}};\n\
             Register<pair_t, bit<8>>(4, {{ 1, 2 }}) other{at};\n\
             action step{at}(inout pair_t value, in bit<32> left, in bit<32> right,\n\
             out bit<32> result) {{\n{body}}}\n",
        ));
        calls.push_str(&format!(
            "if (hdr.order.what == {at}) {{\n\
             hdr.order.one = act{at}.execute(hdr.order.index);\n\
             pair = other{at}.read(hdr.order.index);\n\
             step{at}(pair, hdr.order.left, hdr.order.right, hdr.order.other);\n\
             other{at}.write(hdr.order.index, pair);\n\
             pair = one{at}.read(hdr.order.index);\n\
             hdr.order.low_one = pair.low;\nhdr.order.high_one = pair.high;\n\
             pair = other{at}.read(hdr.order.index);\n\
             hdr.order.low_other = pair.low;\nhdr.order.high_other = pair.high;\n}}\n",
        ));
    }
    format!(
        "#include <core.p4>
#include <tna.p4>
header order_h {{
    bit<8> what; bit<8> index; bit<32> left; bit<32> right;
    bit<32> one; bit<32> low_one; bit<32> high_one;
    bit<32> other; bit<32> low_other; bit<32> high_other;
}}
struct headers_t {{ order_h order; }}
struct nothing_t {{ }}
struct pair_t {{ bit<32> low; bit<32> high; }}
parser IngressParser(packet_in pkt, out headers_t hdr, out nothing_t md,
                     out ingress_intrinsic_metadata_t intrinsic) {{
    state start {{
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.order);
        transition accept;
    }}
}}
control Ingress(inout headers_t hdr, inout nothing_t md,
                in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {{
{objects}
    apply {{
        pair_t pair = {{ 0, 0 }};
        for_tm.ucast_egress_port = 1;
        for_tm.bypass_egress = 1;
{calls}
    }}
}}
control IngressDeparser(packet_out pkt, inout headers_t hdr, in nothing_t md) {{
    apply {{ pkt.emit(hdr); }}
}}
parser EgressParser(packet_in pkt, out headers_t hdr, out nothing_t md,
                    out egress_intrinsic_metadata_t intrinsic) {{
    state start {{ pkt.extract(intrinsic); transition accept; }}
}}
control Egress(inout headers_t hdr, inout nothing_t md,
               in egress_intrinsic_metadata_t intrinsic) {{ apply {{ }} }}
control EgressDeparser(packet_out pkt, inout headers_t hdr, in nothing_t md) {{ apply {{ }} }}
Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(16), ..ProptestConfig::default() })]

    #[test]
    fn a_body_does_the_same_either_way(
        bodies in prop::collection::vec(statements(), 1..5),
        orders in prop::collection::vec(
            (
                prop_oneof![4 => 0u8..3, 1 => 4u8..6],
                prop_oneof![0u32..4, any::<u32>()],
                prop_oneof![0u32..4, any::<u32>()],
            ),
            1..12,
        ),
    ) {
        let program = program_with_warnings(&program_with(&bodies));
        let mut both = side_by_side(&program, &DeviceOptions::default(), &[]);
        for what in 0..bodies.len() as u8 {
            for (index, left, right) in &orders {
                let mut bytes = vec![what, *index];
                bytes.extend_from_slice(&left.to_be_bytes());
                bytes.extend_from_slice(&right.to_be_bytes());
                bytes.resize(34, 0);
                let now_ps = both.now_ps();
                let agreed = both.receive(1, now_ps, bytes).expect("engines agree");
                let left = &agreed.transmitted[0].bytes;
                prop_assert_eq!(&left[10..22], &left[22..34], "body {}", bodies[usize::from(what)]);
            }
        }
    }
}

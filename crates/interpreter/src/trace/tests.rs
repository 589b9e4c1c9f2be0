// SPDX-License-Identifier: Apache-2.0
//! The text and JSON forms of a small tree. Trees of real blocks are tested from outside.

use super::*;
use ir::Bits;

#[test]
fn details_become_words_and_keys() {
    let port = Bits::from_u64(9, 3);
    let node =
        TraceNode::new("packet", "1").with("port", 2u64).with("dropped", false).with_steps(vec![
            TraceNode::new("replica", "")
                .with("egress_port", TraceValue::Value(port, "3".into()))
                .with("queues", TraceValue::List(vec![TraceValue::Number(1), "x".into()])),
        ]);
    assert_eq!(
        render_text(&node),
        "packet 1: port 2, no dropped\n  replica: egress port 3, queues [1, x]\n"
    );
    assert_eq!(
        to_json(&node).to_string(),
        r#"{"step":"packet","name":"1","port":2,"dropped":false,"steps":[{"step":"replica","egress_port":{"value":"0x003","width_bits":9,"text":"3"},"queues":[1,"x"]}]}"#
    );
}

#[test]
fn numbers_are_written_for_people() {
    let check = |width_bits, value, name: &str, expected: &str| {
        let program = ir::Program::default();
        let value = Bits::from_u64(width_bits, value);
        let text = value_text(&program, &ir::Display::Unsigned, name, &value);
        assert_eq!(text, expected, "{name}");
    };
    check(9, 511, "standard_metadata.egress_spec", "511");
    check(48, 0x0200_0000_0001, "hdr.ethernet.dst", "02:00:00:00:00:01");
    check(48, 1_500_000, "standard_metadata.ingress_global_timestamp", "1500000");
    check(48, 1, "", "0x000000000001");
    check(32, 0x0a00_0102, "hdr.ipv4.dst_addr", "0x0a000102 (10.0.1.2)");
    check(32, 0x0a00_0102, "meta.hash", "0x0a000102");
    check(128, 1, "hdr.ipv6.srcAddr", "0x00000000000000000000000000000001 (::1)");
}

#[test]
fn wide_values_have_all_their_digits() {
    let program = ir::Program::default();
    let text = value_text(&program, &ir::Display::Unsigned, "x", &Bits::from_u64(300_000, 1));
    assert_eq!(text.len(), 2 + 75_000);
}

#[test]
fn thousands_of_counts_are_apart() {
    assert_eq!(count_text(99_900), "99,900");
    assert_eq!(count_text(100), "100");
}

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

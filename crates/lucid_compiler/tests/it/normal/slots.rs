// SPDX-License-Identifier: Apache-2.0
//! Slots of generated events.

use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_compiler::normal::{generate_slots, normalize};
use source::SourceMap;

/// Least and most of each `generate`, then of the whole handler.
fn check(body: &str, expected: &str) {
    let text = format!("event e(int x);\nhandle e(int x) {{ {body} }}\n");
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let compiled = front::compile(&mut map, "slots.dpt", text, &files, &Symbolics::default(), &[]);
    let program = normalize(&compiled.expect("a program").program);
    let body = program.events[0].handler.as_ref().expect("a handler");
    let slots = generate_slots(body);
    let mut text: Vec<String> =
        (slots.slots.iter()).map(|slots| format!("{}-{}", slots.least, slots.most)).collect();
    text.push(format!("all {}-{}", slots.least, slots.most));
    assert_eq!(text.join(" "), expected, "{body:?}");
}

#[test]
fn slots_are_counts_by_path() {
    check("", "all 0-0");
    check("generate e(1); generate e(2);", "0-0 1-1 all 2-2");
    check("if (x == 1) { generate e(1); } else { generate e(2); }", "0-0 0-0 all 1-1");
    check("if (x == 1) { generate e(1); } generate e(2);", "0-0 0-1 all 1-2");
    check("match x with | 1 -> { generate e(1); } | 2 -> { generate e(2); }", "0-0 0-0 all 0-1");
    check(
        "match x with | 1 -> { generate e(1); generate e(3); } | _ -> { generate e(2); }",
        "0-0 1-1 0-0 all 1-2",
    );
}

// SPDX-License-Identifier: Apache-2.0
//! What each pass makes: a source, the handlers that all passes up to one make of it.

use lucid::compile::normal;
use lucid::elaborate::Symbolics;
use lucid::front;
use source::{RenderOptions, SourceMap, render_text};

/// The core program after all passes up to this one, without what stands before `from`.
fn check(source: &str, pass: &str, from: &str, expected: &str) {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let text = source.to_owned();
    let compiled = front::compile(&mut map, "pass.dpt", text, &files, &symbolics, &[]);
    let program = match compiled {
        Ok(compiled) => compiled.program,
        Err(said) => panic!("{}", render_text(&map, &said, RenderOptions::default())),
    };
    let after = normal::after_passes(&program);
    let after = after.into_iter().find(|after| after.name == pass).expect("a pass");
    let found = after.text.split_once(from).map_or("", |(_, rest)| rest);
    let found = format!("{from}{found}");
    assert_eq!(found.trim_end(), expected.trim(), "\nfound:\n{found}");
}

#[test]
fn known_values_are_computed() {
    check(
        "event e(int x, int<8> y);
         handle e(int x, int<8> y) {
             int a = 4;
             int b = a + 3;
             if (b == 7) { x = x + 0; } else { x = 5; }
             int<16> c = (int<16>)((int<32>)y);
             generate e(x + b, (int<8>)c);
         }",
        "dead_code",
        "handle (int<32> x, int<8> y)",
        "handle (int<32> x, int<8> y)
    local int<16> c
      c = (int<16>)y
      generate e(x + 7w32, c[7:0])",
    );
}

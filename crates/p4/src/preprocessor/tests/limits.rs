// SPDX-License-Identifier: Apache-2.0
//! Hostile input: everything ends soon, without deep recursion, with a diagnostic.

use super::super::PreprocessorOptions;
use super::{Files, Run, check};

#[test]
fn deep_conditions_need_no_stack() {
    let text = "#if 1\n".repeat(50_000) + "x\n" + &"#endif\n".repeat(50_000);
    check(&text, "x");
    let text = "#if 0\n".repeat(50_000) + "x\n" + &"#endif\n".repeat(50_000);
    check(&text, "");
}

#[test]
fn deep_expressions() {
    for condition in [
        "(".repeat(100_000),
        "1 ? ".repeat(100_000),
        "1 || (".repeat(10_000),
        "defined(".repeat(1000),
    ] {
        assert_eq!(Run::of(format!("#if {condition}\n#endif\n")).codes().len(), 1);
    }
    check(&format!("#if {}1\nx\n#endif\n", "1 + ".repeat(20_000)), "x");
    check(&format!("#if {}1\nx\n#endif\n", "- ".repeat(20_000)), "x");
}

#[test]
fn deep_macro_uses() {
    let nested = |depth: usize| {
        let program = format!("#define f(x) [x]\n{}1{}\n", "f(".repeat(depth), ")".repeat(depth));
        Run::of(program)
    };
    assert_eq!(nested(150).codes(), [""; 0]);
    assert_eq!(nested(5000).codes(), ["P4-E0041"]);
}

#[test]
fn macro_bombs() {
    let mut bomb = String::from("#define A0(x) x x\n");
    for level in 1..64 {
        bomb += &format!("#define A{level}(x) A{0}(x) A{0}(x)\n", level - 1);
    }
    assert_eq!(Run::of(bomb + "#if A63(1)\n#endif\n").codes(), ["P4-E0041"]);
    let mut pastes = String::from("#define P(a) a ## a\n#define R(x) P(x)\n#define Q0 ab\n");
    for level in 1..64 {
        pastes += &format!("#define Q{level} R(Q{})\n", level - 1);
    }
    assert_eq!(Run::of(pastes + "Q63").codes(), ["P4-E0041"]);
}

#[test]
fn include_cycles() {
    let files = Files::default()
        .with("main.p4", "#include \"a.p4\"\n#include \"a.p4\"\n")
        .with("a.p4", "x\n#include \"b.p4\"\n#include \"b.p4\"\n")
        .with("b.p4", "#include \"a.p4\"\n");
    let run = Run::new(&files, &PreprocessorOptions::default());
    assert_eq!(run.codes(), ["P4-E0012"]);
    let diagnostic = run.diagnostics.iter().next().expect("a diagnostic");
    assert_eq!(diagnostic.notes, ["the chain: b.p4 -> a.p4 -> b.p4"]);
    // With guards, a cycle is harmless.
    let files = Files::default()
        .with("main.p4", "#ifndef M\n#define M\n#include \"a.p4\"\nm\n#endif\n")
        .with("a.p4", "#include \"main.p4\"\na\n");
    let run = Run::new(&files, &PreprocessorOptions::default());
    assert_eq!((run.text().as_str(), run.codes().len()), ("a m", 0));
}

#[test]
fn include_trees() {
    let mut files = Files::default().with("main.p4", "#include \"0.p4\"\n").with("40.p4", "x\n");
    for level in 0..40 {
        let next = level + 1;
        let text = format!("#include \"{next}.p4\"\n#include \"{next}.p4\"\n");
        files = files.with(&format!("{level}.p4"), text);
    }
    assert_eq!(Run::new(&files, &PreprocessorOptions::default()).codes(), ["P4-E0012"]);
}

#[test]
fn many_errors() {
    let codes = Run::of("$\n".repeat(5000)).codes();
    assert_eq!((codes.len(), codes.last()), (101, Some(&"P4-E0042")));
    // Stray quotes must not be searched to the end of the file each.
    let run = Run::of("\"\\\"\n".repeat(20_001));
    assert!(run.codes().len() <= 101);
}

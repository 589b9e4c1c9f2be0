// SPDX-License-Identifier: Apache-2.0
//! Runs the files in `tests/`: cases of P4 source after a line `//// title`, and what they become after
//! a line `// becomes`: the items that the program adds to its storage, or the errors. With
//! `PLANEWRIGHT_BLESS=1` in the environment, what is found is written there. `atomic.txt` shows stages of
//! accesses instead of items.

use crate::{Operation, Program};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use p4::typed::TypedProgram;
use source::Diagnostics;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Declarations for cases that need no architecture: a control and a parser, each alone.
const PRELUDE: &str = "#include <core.p4>\n\
    control Block<H>(inout H hdr);\n\
    package Single<H>(Block<H> c);\n\
    parser Reader<H>(packet_in packet, out H hdr);\n\
    package Reading<H>(Reader<H> p);\n";

fn lower(typed: &TypedProgram, found: &mut Diagnostics) -> Option<Program> {
    super::lower_with_probes(typed, crate::architecture::ARCHITECTURES, &[], found)
}

/// What a program becomes.
fn lowered(text: &str) -> String {
    let text = match text.contains("#include") {
        true => text.to_owned(),
        false => format!("{PRELUDE}{text}"),
    };
    let compiled =
        p4::compile::compile("case.p4", text, &InterfacesOnly, &PreprocessorOptions::default());
    let Some(typed) = compiled.program else {
        let options = source::RenderOptions::default();
        return source::render_text(&compiled.map, &compiled.diagnostics, options);
    };
    let mut diagnostics = Diagnostics::new();
    let Some(program) = lower(&typed, &mut diagnostics) else {
        let mut text = String::new();
        for diagnostic in diagnostics.iter() {
            let _ = writeln!(text, "{}: {}", diagnostic.code, diagnostic.message);
        }
        return text;
    };
    if let Err(errors) = crate::verify(&program) {
        return errors.iter().map(|error| format!("does not verify: {error}\n")).collect();
    }
    assert_eq!(
        crate::text::parse(&crate::text::print(&program)).ok().as_ref(),
        Some(&program),
        "the text form gives the program back"
    );
    shown(&crate::text::print_without_origins(&program))
}

/// The items of a program's text without storage, blocks and empty regions.
fn shown(text: &str) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '}'])
            && let Some(item) = items.last_mut()
        {
            let _ = writeln!(item, "{line}");
        } else {
            items.push(format!("{line}\n"));
        }
    }
    let hidden = |item: &String| {
        let kind = item.split(' ').next().unwrap_or("");
        matches!(
            kind,
            "ir" | "error" | "slot" | "header_type" | "header" | "stack" | "union" | "block"
        ) || item.ends_with("{\n  block0:\n    return\n}\n")
    };
    items.into_iter().filter(|item| !hidden(item)).collect()
}

fn run(file: &str) {
    run_as(file, lowered);
}

fn run_as(file: &str, shown: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lowering/tests").join(file);
    let text = fs::read_to_string(&path).expect("the test file is there");
    let (head, rest) = text.split_once("//// ").expect("the test file has cases");
    let mut updated = head.to_owned();
    let mut wrong = String::new();
    for case in rest.split("\n//// ") {
        let (title, body) = case.split_once('\n').unwrap_or((case, ""));
        let (program, expected) = body.split_once("// becomes\n").unwrap_or((body, ""));
        let found = shown(program);
        if found.trim() != expected.trim() {
            let _ = writeln!(wrong, "{title}\nexpected:\n{expected}\nfound:\n{found}");
        }
        let program = program.trim_end();
        let _ = write!(updated, "//// {title}\n{program}\n// becomes\n{}\n\n", found.trim_end());
    }
    if testing::golden::is_blessing() {
        let updated = format!("{}\n", updated.trim_end());
        fs::write(&path, updated).expect("the test file can be written");
    } else {
        assert!(wrong.is_empty(), "{file}: {wrong}");
    }
}

#[test]
fn expressions() {
    run("expressions.txt");
}

#[test]
fn statements() {
    run("statements.txt");
}

#[test]
fn headers_and_stacks() {
    run("headers.txt");
}

#[test]
fn calls_and_inlining() {
    run("inlining.txt");
}

#[test]
fn parsers() {
    run("parsers.txt");
}

#[test]
fn tables() {
    run("tables.txt");
}

#[test]
fn v1model() {
    run("v1model.txt");
}

#[test]
fn portable_architectures() {
    run("portable.txt");
}

/// The stages of a program's calls of externs, each after the extern's name.
fn stages(text: &str) -> String {
    let text = format!(
        "{PRELUDE}extern Cell {{ Cell(); bit<8> read(); void write(in bit<8> x); }}\n{text}"
    );
    let compiled =
        p4::compile::compile("case.p4", text, &InterfacesOnly, &PreprocessorOptions::default());
    let typed = compiled.program.expect("the program is correct");
    let program = lower(&typed, &mut Diagnostics::new()).expect("the program lowers");
    let again = crate::text::parse(&crate::text::print(&program)).expect("the text form is read");
    assert_eq!(again, program);
    let region = program.blocks[0].region;
    let moments = crate::moments::of_region(&program, region, None, &Default::default());
    let moments = moments.expect("no stage is asked for");
    let mut text = String::new();
    for (number, block) in program.regions[region.index()].blocks.iter().enumerate() {
        for moment in moments.of_block(number) {
            let instruction = &block.instructions[moment.instruction as usize];
            let Operation::CallExtern { target, method, .. } = &instruction.operation else {
                continue;
            };
            let name = &program.externs[target.index()].instance;
            let _ = writeln!(text, "{name}.{method} in stage {}", moment.stage);
        }
    }
    text
}

#[test]
fn atomic_blocks_are_one_moment() {
    run_as("atomic.txt", stages);
}

#[test]
fn refusals() {
    run("refusals.txt");
}

#[test]
fn explanations_have_examples_that_hold() {
    for explanation in crate::codes::explanations() {
        let codes = |text: &str| -> Vec<source::Code> {
            let options = PreprocessorOptions::default();
            let mut compiled =
                p4::compile::compile("example.p4", text.to_owned(), &InterfacesOnly, &options);
            crate::ready::ReadyProgram::of(&mut compiled);
            compiled.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
        };
        if !explanation.wrong.is_empty() {
            let mut wrong = codes(explanation.wrong);
            wrong.dedup();
            assert_eq!(wrong, [explanation.code], "{}", explanation.wrong);
            let right = codes(explanation.right);
            assert!(!right.contains(&explanation.code), "{}: {right:?}", explanation.right);
        }
    }
}

#[test]
fn a_library_without_main_lowers_to_nothing() {
    assert_eq!(lowered("struct empty {}"), "");
}

#[test]
fn headers_of_part_bytes_are_warned_of_once() {
    let text = "#include <v1model.p4>\n\
        header A { bit<12> a; }\n\
        struct H { A a; }\n\
        struct M { }\n\
        parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) {\n\
            state start { b.extract(h.a); transition accept; }\n\
        }\n\
        control V(inout H h, inout M m) { apply { } }\n\
        control I(inout H h, inout M m, inout standard_metadata_t s) { apply { } }\n\
        control D(packet_out b, in H h) { apply { b.emit(h.a); } }\n\
        V1Switch(P(), V(), I(), I(), V(), D()) main;\n";
    let options = PreprocessorOptions::default();
    let compiled = p4::compile::compile("case.p4", text.to_owned(), &InterfacesOnly, &options);
    let typed = compiled.program.expect("the program is correct");
    let mut diagnostics = Diagnostics::new();
    assert!(lower(&typed, &mut diagnostics).is_some());
    let reported: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message))
        .collect();
    assert_eq!(reported, ["IR-W0201 header `A` has 12 bits, but BMv2 only handles whole bytes"]);
}

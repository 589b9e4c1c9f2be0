// SPDX-License-Identifier: Apache-2.0
//! How each construct is compiled on each target, and the explanations' examples.

use crate::constructs::{CONSTRUCTS, On, table};
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::Loader;
use lucid_compiler::support::{Supported, known_ports, normal_form};
use lucid_compiler::{Backend, Options, atomic, codes, tna, v1model};
use lucid_reference::specification::{Format, read_symbolics};
use source::{Code, Diagnostics, RenderOptions, Severity, SourceMap, render_text};
use std::path::Path;

struct Memops;

impl Loader for Memops {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        let text = "memop plus(int stored, int x) { return stored + x; }\n";
        Ok((path == "memops.dpt").then(|| text.to_owned()))
    }
}

/// The core program of a text; programs that are wrong for all targets fail the test.
fn program(text: &str) -> (Program, SourceMap) {
    let mut map = SourceMap::new();
    let given = "{\"sizes\": {\"w\": 8}, \"symbolics\": {\"n\": 4}}";
    let file = map.add("given.symb", given);
    let (symbolics, said) = read_symbolics(&map, file, Format::Json);
    assert!(said.is_empty(), "{said:?}");
    let uses = |word: &str| text.contains(&format!("symbolic {word}"));
    let symbolics = match uses("int") || uses("size") {
        true => symbolics.expect("symbolics"),
        false => Symbolics::default(),
    };
    let text = text.to_owned();
    let compiled = front::compile(&mut map, "construct.dpt", text, &Memops, &symbolics, &[]);
    let compiled = compiled.unwrap_or_else(|said| {
        panic!("{}", render_text(&map, &said, RenderOptions::default()));
    });
    (compiled.program, map)
}

/// What `support` says of a program for a target.
fn supported(text: &str, target: Backend) -> (Result<Supported, Diagnostics>, SourceMap) {
    let (program, map) = program(text);
    (normal_form(&program, target), map)
}

fn shown(map: &SourceMap, said: &Diagnostics) -> String {
    render_text(map, said, RenderOptions::default())
}

fn only(said: &Diagnostics, code: Code, severity: Severity) -> bool {
    !said.is_empty() && said.iter().all(|one| one.code == code && one.severity == severity)
}

#[test]
fn constructs_become_what_the_table_says() {
    let mut wrong = Vec::new();
    for construct in CONSTRUCTS.iter().flat_map(|(_, list)| *list) {
        for target in [Backend::V1Model, Backend::Tna] {
            let (result, map) = supported(construct.source, target);
            let right = match (&result, construct.on(target)) {
                (Ok(supported), On::Compiles | On::As(_)) => supported.warnings.is_empty(),
                (Ok(supported), On::LeftOut(code)) => {
                    only(&supported.warnings, code, Severity::Warning)
                }
                (Err(said), On::Refused(code)) => only(said, code, Severity::Error),
                _ => false,
            };
            if !right {
                let said = match &result {
                    Ok(supported) => shown(&map, &supported.warnings),
                    Err(said) => shown(&map, said),
                };
                wrong.push(format!("{} on {target:?}:\n{said}", construct.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn constructs_that_a_target_has_compile_for_it() {
    let mut wrong = Vec::new();
    for construct in CONSTRUCTS.iter().flat_map(|(_, list)| *list) {
        for target in [Backend::V1Model, Backend::Tna] {
            let (Ok(supported), map) = supported(construct.source, target) else { continue };
            let options = Options { target, ..Options::default() };
            let program = &supported.program;
            let compiled = match target {
                Backend::V1Model => v1model::compile(program, map, &options),
                Backend::Tna => tna::compile_unlimited(program, map, &options),
            };
            let Err(said) = compiled else { continue };
            let said: Vec<String> =
                said.iter().map(|one| format!("{} {}", one.code, one.message)).collect();
            wrong.push(format!("{} on {target:?}: {}", construct.name, said.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_committed_table_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lucid-constructs.md");
    if testing::golden::is_blessing() {
        std::fs::write(&path, table()).expect("writing");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == table(), "PLANEWRIGHT_BLESS=1 writes docs/lucid-constructs.md anew");
}

/// The wrong example gets the code on some target, the right one compiles for both without a word.
#[test]
fn explanations_have_examples_that_are_what_they_say() {
    let own = codes::EXPLANATIONS.iter();
    for explanation in own.chain(atomic::codes::EXPLANATIONS) {
        let code = explanation.code;
        if explanation.wrong.is_empty() {
            continue;
        }
        let refused = [Backend::V1Model, Backend::Tna].map(|target| {
            let (result, _) = supported(explanation.wrong, target);
            let said = match result {
                Ok(supported) => supported.warnings,
                Err(said) => said,
            };
            said.iter().any(|one| one.code == code)
        });
        let warned = known_ports(&program(explanation.wrong).0).iter().any(|one| one.code == code);
        assert!(refused[0] || refused[1] || warned, "{code}: the wrong example does not get it");
        assert!(known_ports(&program(explanation.right).0).is_empty(), "{code}, the right example");
        for target in [Backend::V1Model, Backend::Tna] {
            let (result, map) = supported(explanation.right, target);
            match result {
                Ok(found) => assert!(found.warnings.is_empty(), "{code}, the right example"),
                Err(said) => panic!("{code}, the right example:\n{}", shown(&map, &said)),
            }
        }
    }
}

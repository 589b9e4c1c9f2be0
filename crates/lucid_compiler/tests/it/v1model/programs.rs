// SPDX-License-Identifier: Apache-2.0
//! What is true of every compiled program of the examples and the library: no warnings, the same IR
//! when it is printed and read again, one transaction for each access of the source.

use super::compiled;
use ir::ready::ReadyProgram;
use lucid::core::walk::each_statement;
use lucid::core::{Program, StatementKind};
use lucid_compiler::normal::normalize;
use lucid_compiler::{Clock, Delay, Options, Recirculation};
use lucid_testing::programs::{Disk, core};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).expect("the examples").flatten() {
        let files = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        found.extend(
            files
                .map(|file| file.path())
                .filter(|path| path.extension().is_some_and(|end| end == "dpt")),
        );
    }
    found.sort();
    found
}

fn lowered(typed: Arc<p4::typed::TypedProgram>) -> Arc<ir::Program> {
    let mut said = Diagnostics::new();
    let ready = ReadyProgram::lower(typed, &mut said).expect("it lowers");
    assert!(said.is_empty(), "{said:?}");
    ready.program().clone()
}

/// Accesses of handlers of a pipeline.
fn accesses(program: &Program) -> usize {
    let mut count = 0;
    for event in &program.events {
        for body in [&event.handler, &event.egress_handler].into_iter().flatten() {
            each_statement(&body.statements, &mut |statement| {
                count += usize::from(matches!(statement.kind, StatementKind::Access { .. }));
            });
        }
    }
    count
}

#[test]
fn what_is_printed_is_what_runs_and_each_access_is_one_transaction() {
    let bmv2 = Options {
        delay: Delay::Recirculation,
        clock: Clock::Microseconds,
        recirculation: Recirculation::Primitive,
        ..Options::default()
    };
    let paths = programs();
    assert!(paths.len() >= 19, "only {} programs", paths.len());
    for path in paths {
        for options in [&Options::default(), &bmv2] {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(&path).expect("a program");
            let mut map = SourceMap::new();
            let program = core(&mut map, &name, &text, &Disk);
            let compiled =
                compiled(&map, &program, options).unwrap_or_else(|said| panic!("{said}"));
            let warned = &compiled.built.warnings;
            let render = RenderOptions::default();
            assert!(warned.is_empty(), "{}", render_text(&compiled.built.map, warned, render));
            let own = lowered(compiled.built.program.clone());
            let printed = compiled.built.print();
            let preprocessing = PreprocessorOptions::default();
            let again =
                p4::compile::compile("printed.p4", printed, &InterfacesOnly, &preprocessing);
            let render = RenderOptions::default();
            let said = render_text(&again.map, &again.diagnostics, render);
            assert!(again.diagnostics.is_empty(), "{name}: {said}");
            let again = lowered(again.program.expect("a program"));
            assert_eq!(
                ir::text::print_without_origins(&own),
                ir::text::print_without_origins(&again),
                "{name}"
            );
            let text = ir::text::print_without_origins(&own);
            let transactions = text.matches("register_access ").count();
            let wanted = accesses(&normalize(&program));
            // Fewer where both sides of a branch begin or end with the same access.
            assert!(transactions <= wanted, "{name}: {transactions} for {wanted} accesses");
            assert!(wanted == 0 || transactions > 0, "{name}");
        }
    }
}

/// p4c warns of a size beside constant entries.
#[test]
fn tables_with_constant_entries_have_no_size() {
    let mut tables = 0;
    for path in programs() {
        let mut map = SourceMap::new();
        let text = std::fs::read_to_string(&path).expect("a program");
        let program = core(&mut map, &path.display().to_string(), &text, &Disk);
        let Ok(compiled) = compiled(&map, &program, &Options::default()) else { continue };
        let text = compiled.built.print();
        for table in text.split("\n    table ").skip(1) {
            let table = table.split("\n    }").next().unwrap_or(table);
            if table.contains("const entries") {
                tables += 1;
                assert!(!table.contains("size ="), "{}: table {table}", path.display());
            }
        }
    }
    assert!(tables >= 10, "{tables}");
}

// SPDX-License-Identifier: Apache-2.0
//! Tests of the rewriter: each edit on a small program, as printed text, and each mistaken use as
//! its message.

use super::*;
use crate::ast::*;
use crate::compile::compile;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::PreprocessorOptions;
use crate::printer::{print, same_tree};

pub(super) fn typed(text: &str) -> (Arc<TypedProgram>, SourceMap) {
    let options = PreprocessorOptions::default();
    let done = compile("test.p4", text.to_owned(), &InterfacesOnly, &options);
    let program = done.program.unwrap_or_else(|| panic!("{text}\n{:?}", done.diagnostics));
    (program, done.map)
}

#[test]
fn unchanged_programs_stay_the_same() {
    let (program, map) = typed("#include <core.p4>\n#include <v1model.p4>\n");
    let rewritten = Rewriter::of(&program).finish(map).expect("as right as before");
    assert!(same_tree(&program.program, &rewritten.program.program));
    assert_eq!(print(&program.program), print(&rewritten.program.program));
    assert_eq!(rewritten.came_from.copies().count(), 0);
}

#[test]
fn copies_have_ids_of_their_own_and_refer_to_their_own_declarations() {
    let text = "control c(inout bit<8> x) {\n\
                bit<8> y = 1; action a() { x = y; } apply { a(); y = x; } }\n";
    let (program, map) = typed(text);
    let mut rewriter = Rewriter::of(&program);
    let mut copy = rewriter.copy(&program.program.declarations[0]);
    copy.name.text = "d".into();
    let DeclarationKind::Control(control) = &copy.kind else { panic!("a control") };
    let old = rewriter.came_from().origin(control.locals[0].id);
    assert_ne!(old, control.locals[0].id);
    let StatementKind::Assign { target, value, .. } = &control.body.statements[1].kind else {
        panic!("an assignment")
    };
    let local = control.locals[0].id;
    assert_eq!(rewriter.definition(target.id), Some(Definition::Node(local)));
    let parameter = control.signature.parameters[0].id;
    assert_eq!(rewriter.definition(value.id), Some(Definition::Node(parameter)));
    assert_eq!(copy.span, program.program.declarations[0].span);

    let again = rewriter.copy(&copy);
    assert_eq!(rewriter.came_from().origin(again.id), program.program.declarations[0].id);
    rewriter.tree.declarations.push(copy);
    let rewritten = rewriter.finish(map).expect("a right program");
    let printed = print(&rewritten.program.program);
    assert_eq!(printed.matches("bit<8> y = 1;").count(), 2);
}

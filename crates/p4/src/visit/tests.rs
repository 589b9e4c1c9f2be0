// SPDX-License-Identifier: Apache-2.0
//! Tests of both visitors: on programs with every form of the tree they meet every identity once,
//! in the same order, and a change of all of them leaves the tree the same otherwise.

use super::{Visit, walk_program, walk_statement};
use crate::ast::*;
use crate::interfaces::{InterfacesOnly, interface_names};
use crate::preprocessor::{PreprocessorOptions, preprocess};
use crate::printer::same_tree;
use crate::visit_mut::{self, VisitMut};
use source::{Diagnostics, SourceMap, Span};

fn read(text: &str) -> Program {
    let mut map = SourceMap::new();
    let main = map.add("test.p4", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut diagnostics);
    let program = crate::parser::parse(tokens, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{text}\n{diagnostics:?}");
    program
}

#[derive(Default)]
struct Ids {
    ids: Vec<NodeId>,
    spans: usize,
}

impl<'a> Visit<'a> for Ids {
    fn id(&mut self, id: &'a NodeId) {
        self.ids.push(*id);
    }

    fn span(&mut self, _: &'a Span) {
        self.spans += 1;
    }
}

/// Counts as [`Ids`], and moves all identities up by one.
#[derive(Default)]
struct Shift {
    ids: Vec<NodeId>,
}

impl VisitMut for Shift {
    fn id(&mut self, id: &mut NodeId) {
        self.ids.push(*id);
        id.0 += 1;
    }
}

fn check_walks(text: &str) {
    let mut program = read(text);
    let mut visited = Ids::default();
    walk_program(&mut visited, &program);
    // The derived form is what a walk is compared with: it leaves nothing out.
    let all = format!("{:?}", program.declarations);
    let mut written: Vec<NodeId> = all
        .split("NodeId(")
        .skip(1)
        .filter_map(|rest| rest.split(')').next()?.parse().ok().map(NodeId))
        .collect();
    let mut found = visited.ids.clone();
    found.sort_unstable();
    written.sort_unstable();
    assert_eq!(found, written, "{text}");
    let in_tokens = all.matches("Token { kind").count();
    assert_eq!(visited.spans, all.matches("Span {").count() - in_tokens, "{text}");

    let before = program.clone();
    let mut shift = Shift::default();
    visit_mut::walk_program(&mut shift, &mut program);
    assert_eq!(shift.ids, visited.ids);
    assert!(same_tree(&before, &program));
    let mut after = Ids::default();
    walk_program(&mut after, &program);
    let moved: Vec<NodeId> = visited.ids.iter().map(|id| NodeId(id.0 + 1)).collect();
    assert_eq!(after.ids, moved);
}

#[test]
fn walks_meet_every_node_once() {
    check_walks(crate::printer::tests::EVERYTHING);
    for name in interface_names() {
        check_walks(&format!("#include <{name}>\n"));
    }
}

#[test]
fn walks_enter_what_they_are_let_into() {
    /// Counts statements outside of `if`, and in blocks that are left again.
    #[derive(Default)]
    struct Outside {
        statements: usize,
        open: usize,
        left: usize,
    }
    impl<'a> Visit<'a> for Outside {
        fn enter<T: Node>(&mut self, _: &'a T) -> bool {
            self.open += 1;
            true
        }

        fn leave<T: Node>(&mut self, _: &'a T) {
            self.left += 1;
        }

        fn statement(&mut self, statement: &'a Statement) {
            self.statements += 1;
            if !matches!(statement.kind, StatementKind::If { .. }) {
                walk_statement(self, statement);
            }
        }
    }
    let program = read("control c() { apply { if (true) { return; } { exit; ; } } }");
    let mut outside = Outside::default();
    walk_program(&mut outside, &program);
    assert_eq!((outside.statements, outside.open, outside.left), (4, 1, 1));
}

#[test]
fn deep_trees_are_walked() {
    let text = format!("const bit<8> a = {}1{};", "(1 + ".repeat(200), ")".repeat(200));
    check_walks(&text);
    let many = "1 + ".repeat(900);
    check_walks(&format!("const bit<8> a = {many}1;"));
}

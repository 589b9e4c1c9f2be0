// SPDX-License-Identifier: Apache-2.0
//! Tests of pieces: what is read prints as it should, has fresh identities, keeps its places.

use super::*;
use crate::ast::Name;
use crate::printer::{
    print_declarations, print_expression, print_statement, print_type_ref, same_tree,
};

const TYPES: &str = "header h_t { bit<8> a; } typedef bit<16> word_t; \
                     T pick<T>(in T one, in T other) { return one; }";

/// Names and the first free identity of a small program.
fn program() -> (Program, PieceNames) {
    let mut diagnostics = Diagnostics::new();
    let tokens = tokens_at(Span::NONE, TYPES, &mut diagnostics);
    let program = crate::parser::parse(tokens, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let names = PieceNames::of(&program);
    (program, names)
}

fn tokens(text: &str) -> Vec<Token> {
    let mut diagnostics = Diagnostics::new();
    let tokens = tokens_at(Span::NONE, text, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    tokens
}

/// The messages of what is wrong with a piece.
fn mistakes<P: std::fmt::Debug>(read: Result<P, Diagnostics>) -> Vec<String> {
    let found = read.expect_err("a wrong piece");
    found.iter().map(|diagnostic| diagnostic.message.clone()).collect()
}

fn printed(statements: &[Statement]) -> String {
    statements.iter().map(print_statement).collect()
}

#[test]
fn statements_are_read_with_the_names_of_the_program() {
    let (program, names) = program();
    let mut next = program.node_count;
    let mut reader = PieceReader::new(names, &mut next);
    let text = "word_t x = (word_t) 1 + 2;\nx = pick<word_t>(x, 3);\nif (x == 4) {\n    exit;\n}\n";
    let statements = reader.statements(tokens(text)).expect("statements");
    assert_eq!(printed(&statements), text);
    assert!(statements.iter().all(|statement| statement.id.0 >= program.node_count));
    assert!(next > program.node_count + 10);
}

#[test]
fn holes_take_parts_of_a_tree() {
    let (program, names) = program();
    let mut next = program.node_count;
    let mut reader = PieceReader::new(names, &mut next);
    let condition = reader.expression(tokens("a == 1 || b")).expect("an expression");
    let id = condition.id;
    let body = reader.statements(tokens("t.apply(); x = 2;")).expect("statements");
    let ty = reader.type_ref(tokens("bit<8>")).expect("a type");
    let name = Name { text: "fresh".into(), span: Span::NONE };
    reader.fill("c", condition).fill("body", body).fill("T", ty).fill("n", name);
    let text = "${T} ${n} = 1; if (${c} && y) { ${body} } else z = (${n} + 1)[3:0];";
    let statements = reader.statements(tokens(text)).expect("statements");
    assert_eq!(
        printed(&statements),
        "bit<8> fresh = 1;\nif ((a == 1 || b) && y) {\n    t.apply();\n    x = 2;\n} else \
         z = (fresh + 1)[3:0];\n"
    );
    assert!(format!("{statements:?}").contains(&format!("{id:?}")), "the hole keeps its identity");
}

#[test]
fn statements_in_a_hole_after_a_condition_become_a_block() {
    let (_, names) = program();
    let mut next = 0;
    let mut reader = PieceReader::new(names, &mut next);
    let body = reader.statements(tokens("x = 1; y = 2;")).expect("statements");
    reader.fill("body", body);
    let statements = reader.statements(tokens("if (c) ${body}")).expect("statements");
    assert_eq!(printed(&statements), "if (c) {\n    x = 1;\n    y = 2;\n}\n");
}

#[test]
fn declarations_states_and_properties_are_pieces() {
    let (_, names) = program();
    let mut next = 0;
    let mut reader = PieceReader::new(names, &mut next);
    let text = "const word_t ONE = 1;\n\nstruct s_t {\n    h_t h;\n}\n";
    let declarations = reader.declarations(tokens(text)).expect("declarations");
    assert_eq!(print_declarations(&declarations), text);

    let (locals, states) = reader
        .parser_elements(tokens("word_t w; state start { w = 1; transition accept; }"))
        .expect("parser elements");
    reader.fill("states", states).fill("locals", locals);
    let parser = reader
        .declarations(tokens("parser p() { ${locals} ${states} }"))
        .expect("a parser with holes");
    assert_eq!(
        print_declarations(&parser),
        "parser p() {\n    word_t w;\n\n    state start {\n        w = 1;\n        \
         transition accept;\n    }\n}\n"
    );

    let locals = reader
        .control_locals(tokens("action a() { } table t { actions = { a; } }"))
        .expect("declarations of a control");
    assert_eq!(locals.len(), 2);
    reader.fill("locals", locals);
    let control = reader.declarations(tokens("control c() { ${locals} apply { t.apply(); } }"));
    assert_eq!(control.expect("a control").len(), 1);

    let properties = reader
        .table_properties(tokens("key = { h.a: exact; } size = 16; const default_action = a();"))
        .expect("properties");
    assert_eq!(properties.len(), 3);
}

#[test]
fn mistakes_are_diagnostics_with_places() {
    let (_, names) = program();
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let tokens_of = tokens_in_file(&mut map, "piece.p4", "x = 1;\ny = ;\n", &mut found);
    let mut next = 0;
    let mut reader = PieceReader::new(names, &mut next);
    let wrong = reader.statements(tokens_of).expect_err("no expression");
    let place = wrong.iter().next().and_then(|first| map.location(first.primary.span));
    assert_eq!(
        place.map(|place| (place.file.to_string(), place.line)),
        Some(("piece.p4".into(), 2))
    );

    assert_eq!(
        mistakes(reader.expression(tokens("a b"))),
        ["expected the end of this piece, found `b`"]
    );
    assert_eq!(
        mistakes(reader.statements(tokens("x = 1; }"))),
        ["expected the end of this piece, found `}`"]
    );
    assert_eq!(
        mistakes(reader.statements(tokens("x = ${y};")))[0],
        "P4 does not know the characters `${y}`"
    );
    let one = reader.expression(tokens("1")).expect("one");
    reader.fill("y", one);
    assert_eq!(
        mistakes(reader.statements(tokens("x = ${y} + ${y};"))),
        ["expected an expression in this hole, once in a piece, found `${y}`"]
    );
    let one = reader.expression(tokens("1")).expect("one");
    reader.fill("y", one);
    let wrong_kind = mistakes(reader.statements(tokens("{ bit<8> ${y} = 1; }")));
    assert_eq!(wrong_kind, ["expected the name of a variable, found `${y}`"]);
}

#[test]
fn printed_pieces_read_again() {
    let (_, names) = program();
    let mut next = 0;
    let mut reader = PieceReader::new(names, &mut next);
    let expression = reader.expression(tokens("(bit<8>) h.a ++ {1, x}[0:0]")).expect("one");
    let again = reader.expression(tokens(&print_expression(&expression))).expect("again");
    assert_eq!(print_expression(&again), print_expression(&expression));
    let ty = reader.type_ref(tokens("tuple<h_t, bit<8>>")).expect("a type");
    assert_eq!(print_type_ref(&ty), "tuple<h_t, bit<8>>");
    let (program, _) = self::program();
    assert!(same_tree(&program, &self::program().0));
}

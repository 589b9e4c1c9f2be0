// SPDX-License-Identifier: Apache-2.0
//! A small dialect, *Knobs*: a declaration `knob T name = value;`, references `${name}`, a statement
//! `note expression;`. It is parsed, checked, visited, printed, formatted and rewritten to P4_16.

use super::*;
use crate::ast::{
    Declaration, DeclarationKind, ExpressionKind, ExtensionPart, Statement, StatementKind,
};
use crate::compile::{Compilation, compile, compile_dialect};
use crate::format::{format_dialect, format_source};
use crate::interfaces::InterfacesOnly;
use crate::parser::pieces::{PieceNames, PieceReader, tokens_at};
use crate::preprocessor::PreprocessorOptions;
use crate::visit::{Visit, walk_program};
use crate::visit_mut::{self, VisitMut};
use crate::{check, printer};
use source::{Diagnostics, Span};

struct Knobs;

impl Dialect for Knobs {
    fn name(&self) -> &'static str {
        "Knobs"
    }

    fn characters(&self) -> &'static str {
        "$"
    }

    fn form<'t>(
        &self,
        place: FormPlace,
        ahead: &dyn Fn(usize) -> &'t Token,
    ) -> Option<&'static str> {
        match (place, ahead(0).kind, &*ahead(0).text) {
            (FormPlace::TopLevel, TokenKind::Identifier, "knob") => Some("knob"),
            (FormPlace::Statement, TokenKind::Identifier, "note") => Some("note"),
            (FormPlace::Expression, TokenKind::Foreign, _) => Some("reference"),
            _ => None,
        }
    }

    fn read(&self, form: &'static str, reader: &mut dyn ExtensionReader) -> Result<(), Unparsed> {
        reader.token();
        match form {
            "knob" => {
                reader.type_ref()?;
                reader.name("a knob")?;
                reader.expect(TokenKind::Assign, "after the name of a knob")?;
                reader.expression()?;
                reader.expect(TokenKind::Semicolon, "after a knob")
            }
            "note" => {
                reader.expression()?;
                reader.expect(TokenKind::Semicolon, "after a note")
            }
            _ => Ok(()),
        }
    }

    fn type_of<'p>(&self, extension: &Extension, program: &'p Program) -> Option<&'p TypeRef> {
        knob(extension, program)?.types().next()
    }
}

/// The name in `${name}`.
fn referred(extension: &Extension) -> Option<&str> {
    extension.tokens().next()?.text.strip_prefix("${")?.strip_suffix('}')
}

/// The knob that a reference names.
fn knob<'p>(reference: &Extension, program: &'p Program) -> Option<&'p Extension> {
    let name = referred(reference)?;
    program.declarations.iter().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Extension(knob) if *declaration.name.text == *name => Some(&**knob),
        _ => None,
    })
}

const PROGRAM: &str = "knob bit<16> speed = 5;

control c(inout bit<16> x) {
    apply {
        if (${speed} > x && ${speed} & 1 == 0) {
            x = ${speed} + 2 * (${speed} - 1);
        }
        note x + ${speed};
    }
}
";

fn compiled(text: &str) -> Compilation {
    let options = PreprocessorOptions::default();
    compile_dialect("test.p4", text.to_owned(), &InterfacesOnly, &options, Some(&Knobs))
}

fn program(text: &str) -> Program {
    let compiled = compiled(text);
    compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics)).program.clone()
}

/// Codes and places of what is wrong.
fn found(diagnostics: &Diagnostics) -> Vec<(&'static str, u32)> {
    diagnostics.iter().map(|each| (each.code.0, each.primary.span.start)).collect()
}

#[test]
fn a_dialect_parses_checks_and_prints() {
    let tree = program(PROGRAM);
    assert_eq!(printer::print(&tree), PROGRAM);
    assert!(printer::same_tree(&tree, &program(&printer::print(&tree))));
}

#[test]
fn references_have_the_type_of_what_they_name() {
    let wrong = compiled(&PROGRAM.replace("knob bit<16>", "knob bit<8>"));
    assert!(wrong.diagnostics.iter().any(|found| found.code.0 == "P4-E0402"), "{wrong:?}");
    let text = "control c(inout bit<16> x) { apply { x = ${speed}; } }";
    let wrong = compiled(text);
    assert_eq!(found(&wrong.diagnostics), [("P4-E0124", 41)]);
    let message = wrong.diagnostics.iter().next().map(|first| first.message.clone());
    assert_eq!(message.as_deref(), Some("`${speed}` refers to nothing that Knobs declares"));
    // A knob is no variable.
    let wrong = compiled("knob bit<8> k = 1; control c() { apply { ${k} = 2; } }");
    assert!(wrong.diagnostics.has_errors());
}

#[test]
fn a_mistake_in_a_form_is_reported_and_the_rest_is_read() {
    let wrong = compiled("knob bit<8> = 1;\nconst bit<8> a = true;\nknob int b 2;\n");
    assert_eq!(found(&wrong.diagnostics), [("P4-E0101", 12), ("P4-E0101", 51)]);
}

#[test]
fn without_the_dialect_it_is_refused() {
    let options = PreprocessorOptions::default();
    let strict = compile("test.p4", PROGRAM.to_owned(), &InterfacesOnly, &options);
    let first = strict.diagnostics.iter().next().map(|first| first.message.clone());
    assert_eq!(first.as_deref(), Some("P4 does not know the character `$`"));
    // And so is a tree with its forms.
    let mut diagnostics = Diagnostics::new();
    check::check(program(PROGRAM), &mut diagnostics);
    assert_eq!(diagnostics.len(), 6);
    assert!(diagnostics.iter().all(|found| found.code.0 == "P4-E0124"));
    // Words of the dialect are names in P4_16.
    let text = "const bit<8> knob = 1;\nconst bit<8> note = knob;\n";
    assert!(
        !compile("test.p4", text.to_owned(), &InterfacesOnly, &options).diagnostics.has_errors()
    );
}

#[test]
fn the_formatter_keeps_a_dialect() {
    let ragged =
        PROGRAM.replace("\n        ", "  ").replace(" = 5", "=5").replace("  note", "//\n note");
    assert_eq!(
        format_dialect(&ragged, Some(&Knobs)).expect("formats"),
        PROGRAM
            .replace("        note", "//\n        note")
            .replace("        }\n//", "        } //")
    );
    assert_eq!(format_dialect(PROGRAM, Some(&Knobs)).as_deref(), Ok(PROGRAM));
    assert!(format_source(PROGRAM).is_err());
}

#[test]
fn visitors_go_into_the_parts() {
    #[derive(Default)]
    struct Count {
        references: usize,
        names: Vec<String>,
    }
    impl<'a> Visit<'a> for Count {
        fn expression(&mut self, expression: &'a Expression) {
            self.references += usize::from(matches!(expression.kind, ExpressionKind::Extension(_)));
            crate::visit::walk_expression(self, expression);
        }
        fn name(&mut self, name: &'a Name) {
            self.names.push(name.text.to_string());
        }
    }
    let mut count = Count::default();
    let tree = program(PROGRAM);
    walk_program(&mut count, &tree);
    assert_eq!(count.references, 5);
    // The declaration's name and the one in its form; `note x` is the last.
    assert_eq!(count.names, ["speed", "speed", "c", "x", "x", "x", "x"]);
}

#[test]
fn a_rewriter_translates_it_to_plain_p4() {
    /// Knobs become constants, notes go.
    struct Translate {
        next_id: u32,
    }
    impl Translate {
        fn reader(&mut self) -> PieceReader<'_> {
            PieceReader::new(PieceNames::of_declarations([]), &mut self.next_id)
        }
    }
    impl VisitMut for Translate {
        fn declaration(&mut self, declaration: &mut Declaration) {
            if let DeclarationKind::Extension(knob) = &declaration.kind {
                let mut parts = knob.parts.clone().into_iter();
                let ty = parts.find_map(|part| match part {
                    ExtensionPart::Type(ty) => Some(ty),
                    _ => None,
                });
                let value = parts.find_map(|part| match part {
                    ExtensionPart::Expression(value) => Some(value),
                    _ => None,
                });
                let (Some(ty), Some(value)) = (ty, value) else { return };
                declaration.kind = DeclarationKind::Constant { ty, value };
            }
            visit_mut::walk_declaration(self, declaration);
        }
        fn statement(&mut self, statement: &mut Statement) {
            if matches!(statement.kind, StatementKind::Extension(_)) {
                statement.kind = StatementKind::Empty;
            }
            visit_mut::walk_statement(self, statement);
        }
        fn expression(&mut self, expression: &mut Expression) {
            if let ExpressionKind::Extension(reference) = &expression.kind {
                let name = referred(reference).unwrap_or_default();
                let tokens = tokens_at(expression.span, name, &mut Diagnostics::new());
                *expression = self.reader().expression(tokens).expect("a name");
            }
            visit_mut::walk_expression(self, expression);
        }
    }
    let mut tree = program(PROGRAM);
    let mut translate = Translate { next_id: tree.node_count };
    visit_mut::walk_program(&mut translate, &mut tree);
    tree.node_count = translate.next_id;
    let mut diagnostics = Diagnostics::new();
    let typed = check::check(tree, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!(
        printer::print(&typed.program),
        "const bit<16> speed = 5;\n\ncontrol c(inout bit<16> x) {\n    apply {\n        \
         if (speed > x && speed & 1 == 0) {\n            x = speed + 2 * (speed - 1);\n        };\n    }\n}\n"
    );
    let user = Span::new(source::FileId(0), 0, 1);
    assert!(typed.program.declarations.iter().all(|own| own.span.file == user.file));
}

// SPDX-License-Identifier: Apache-2.0
//! What the tables of a checked program promise.

use super::compile;
use crate::ast::{DeclarationKind, ExpressionKind};
use crate::typed::{Callee, Constant, TypeKind};
use num_bigint::BigInt;

#[test]
fn no_inference_variables_are_left() {
    let (_, diagnostics, typed) = compile(
        r#"
extern T pick<T>(in T a, in T b);
extern Cell<T> { Cell(T first); T get(); }
control c(inout bit<8> x) {
    Cell(8w1) cell;
    apply { x = pick(x, 1) + pick(2, cell.get()); }
}
"#,
    );
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let inferred = |ty: &TypeKind| matches!(ty, TypeKind::Inferred(_));
    assert!(typed.expression_types.values().all(|ty| !inferred(ty)));
    assert!(typed.implicit_casts.values().all(|ty| !inferred(ty)));
    for call in typed.calls.values() {
        assert!(!inferred(&call.result) && call.type_arguments.iter().all(|ty| !inferred(ty)));
    }
}

#[test]
fn constants_have_their_type_after_the_cast() {
    let (_, diagnostics, typed) =
        compile("const bit<4> A = 1 + 2 * 3;\nconst int<4> B = -A[2:0] ++ 1w0;\n");
    assert_eq!(diagnostics.iter().filter(|d| d.severity == source::Severity::Error).count(), 1);
    let declaration = &typed.program.declarations[0];
    let DeclarationKind::Constant { value, .. } = &declaration.kind else { panic!("a constant") };
    assert_eq!(typed.constants[&value.id], Constant::Integer(BigInt::from(7)));
    assert_eq!(*typed.implicit_casts[&value.id], TypeKind::Bit(4));
    assert_eq!(*typed.expression_types[&value.id], TypeKind::Integer);
}

#[test]
fn calls_say_what_they_call() {
    let (_, diagnostics, typed) = compile(
        r#"
bit<8> f(in bit<8> a, in bit<8> b = 3) { return a + b; }
control c(inout bit<8> x) { apply { x = f(b = x, a = 1) + f(2); } }
"#,
    );
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let function = typed.program.declarations[0].id;
    let mut arguments: Vec<_> =
        typed.calls.values().map(|call| (call.callee, call.arguments.clone())).collect();
    arguments.sort_by_key(|(_, arguments)| arguments.clone());
    assert_eq!(
        arguments,
        [
            (Callee::Function(function), vec![Some(0), None]),
            (Callee::Function(function), vec![Some(1), Some(0)]),
        ]
    );
}

#[test]
fn literals_in_braces_get_the_type_of_their_place() {
    let (_, diagnostics, typed) =
        compile("struct S { bit<8> a; bool b; }\nconst S s = { b = true, a = 1 };\n");
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let structure = typed.program.declarations[0].id;
    let DeclarationKind::Constant { value, .. } = &typed.program.declarations[1].kind else {
        panic!("a constant")
    };
    assert!(matches!(value.kind, ExpressionKind::Struct { .. }));
    assert_eq!(*typed.implicit_casts[&value.id], TypeKind::Struct(structure, Vec::new()));
    assert_eq!(
        typed.constants[&value.id],
        Constant::Struct(vec![
            ("a".into(), Constant::Integer(BigInt::from(1))),
            ("b".into(), Constant::Bool(true)),
        ])
    );
}

// SPDX-License-Identifier: Apache-2.0
//! What tree a text gives: precedence, and every construct once.

use super::{show, tree};
use lucid::syntax::ast::{DeclarationKind, StatementKind};

/// The tree of an expression.
#[track_caller]
fn check(text: &str, expected: &str) {
    let program = tree(&format!("const int c = {text};"));
    let DeclarationKind::Constant { value, .. } = &program.declarations[0].kind else {
        panic!("{:?}", program.declarations[0]);
    };
    assert_eq!(show::expression(value), expected, "{text}");
}

/// The tree of a statement.
#[track_caller]
fn check_statement(text: &str, expected: &str) {
    let program = tree(&format!("event e() {{ {text} }}"));
    let DeclarationKind::Event { body: Some(body), .. } = &program.declarations[0].kind else {
        panic!("{:?}", program.declarations[0]);
    };
    let shown = show::block(body);
    assert_eq!(&shown[1..shown.len() - 1], expected, "{text}");
}

/// The tree of a type.
#[track_caller]
fn check_type(text: &str, expected: &str) {
    let program = tree(&format!("extern {text} x;"));
    let DeclarationKind::Extern { ty, .. } = &program.declarations[0].kind else {
        panic!("{:?}", program.declarations[0]);
    };
    assert_eq!(show::ty(ty), expected, "{text}");
}

/// The tree of declarations.
#[track_caller]
fn check_program(text: &str, expected: &str) {
    assert_eq!(show::program(&tree(text)).trim_end(), expected, "{text}");
}

#[test]
fn precedence() {
    check("a && b || c", "(Or (And a b) c)");
    check("a || b && c", "(And (Or a b) c)");
    check("a == b && c != d", "(And (Equal a b) (NotEqual c d))");
    check("a + b == c - d", "(Equal (Add a b) (Subtract c d))");
    check("a - b + c", "(Add (Subtract a b) c)");
    check("a |+| b |-| c", "(SaturatingSubtract (SaturatingAdd a b) c)");
    check("a + b ^ c", "(Add a (Concatenate b c))");
    check("a ^ b & c", "(Concatenate a (BitAnd b c))");
    check("a & b | c ^^ d", "(BitXor (BitOr (BitAnd a b) c) d)");
    check("a << 1 >> 2", "(ShiftRight (ShiftLeft a 1) 2)");
    check("a + 1 << 2", "(Add a (ShiftLeft 1 2))");
    check("a & b &&& c", "(BitAnd a (mask b c))");
    check("a <<< 1", "(ShiftLeft a 1)");
    check("a >>> 1", "(ShiftRight a 1)");
    check("(a + b) & c", "(BitAnd (Add a b) c)");
    check("a <= b", "(LessOrEqual a b)");
    check("a >= b || a < b", "(Or (GreaterOrEqual a b) (Less a b))");
}

#[test]
fn prefix_operators() {
    check("-a + b", "(Add (Negate a) b)");
    check("-a & b", "(Negate (BitAnd a b))");
    check("a - -b", "(Subtract a (Negate b))");
    check("a--b", "(Subtract a (Negate b))");
    check("!a && b", "(And (Not a) b)");
    check("~a & b", "(BitAnd (BitNot a) b)");
    check("!r#f", "(Not (field r f))");
    check("(int<8>)a + b", "(Add (cast int<8> a) b)");
    check("(int<8>)r#f", "(cast int<8> (field r f))");
    check("(int)a", "(cast int a)");
    check("(int<<8>>)a[3:0]", "(cast int<8> (slice a 3 0))");
    check("(int<8>)(int<16>)a", "(cast int<8> (cast int<16> a))");
    check("flood ingress_port", "(flood ingress_port)");
}

#[test]
fn literals() {
    check("10", "10");
    check("0xfF", "255");
    check("0b101", "5");
    check("5w16", "5w16");
    check("0x1fw9", "31w9");
    check("3<<16>>", "3<<16>>");
    check("3<<n>>", "3<<n>>");
    check("f(3<<16>>, 1)", "(call f 3<<16>> 1)");
    check("3<<16>>+1", "(Add 3<<16>> 1)");
    check("3 << 16 >> 2", "(ShiftRight (ShiftLeft 3 16) 2)");
    check("3<<16>>2", "(ShiftRight (ShiftLeft 3 16) 2)");
    check("3<<n", "(ShiftLeft 3 n)");
    check("0b1*0*", "(pattern 1*0*)");
    check("340282366920938463463374607431768211455", "340282366920938463463374607431768211455");
    check("true", "true");
    check("f(\"a b\")", "(call f \"a b\")");
}

#[test]
fn operands() {
    check("f()", "(call f)");
    check("M.f(a, b)", "(call M.f a b)");
    check("Array.get<unordered>(a, i)", "(call unordered:Array.get a i)");
    check("a < unordered", "(Less a unordered)");
    check("hash<10>(seed, a)", "(hash 10 seed a)");
    check("hash<<w>>(seed, a)", "(hash w seed a)");
    check("hash<'a>(seed, a)", "(hash 'a seed a)");
    check("size_to_int(i + 1)", "(size_to_int (+ i 1))");
    check("size_to_int<16>(i)", "(size_to_int i 16)");
    check("x[7:0]", "(slice x 7 0)");
    check("v[i][j + 1]", "(index (index v i) (+ j 1))");
    check("r#a#b[2]", "(index (field (field r a) b) 2)");
    check("f(x)#a", "(field (call f x) a)");
    check("[1; 2; 3]", "(vector 1 2 3)");
    check("[1; 2;]", "(vector 1 2)");
    check("[f(i) for i < 'k]", "(for i 'k (call f i))");
    check("[[0 for j < 2] for i < n]", "(for i n (for j 2 0))");
    check("{1, 2}", "(group 1 2)");
    check("{a = 1; b = x + 1}", "(record a=1 b=(Add x 1))");
    check("{a = 1;}", "(record a=1)");
    check("{r with a = 1; b = 2;}", "(with r a=1 b=2)");
    check("{f(x) with a = 1}", "(with (call f x) a=1)");
    check("()", "(tuple )");
    check("(a, b)", "(tuple a b)");
    check("((a))", "a");
    check("new Array<<32>>(8)", "(new (paper:Array 32) 8)");
}

#[test]
fn types() {
    check_type("int", "int");
    check_type("int<8>", "int<8>");
    check_type("int<<8>>", "int<8>");
    check_type("int<'a>", "int<'a>");
    check_type("int<n + 'a>", "int<(+ n 'a)>");
    check_type("int[4]", "(vector int 4)");
    check_type("int['k1]['k2]", "(vector (vector int 'k1) 'k2)");
    check_type("'a", "'a");
    check_type("auto", "auto");
    check_type("Array.t<32>", "(Array.t 32)");
    check_type("Array.t<<32>>", "(paper:Array.t 32)");
    check_type("Array.t<32>[4]", "(vector (Array.t 32) 4)");
    check_type("M.t<'a, 4>", "(M.t 'a 4)");
    check_type("Payload.t", "Payload.t");
    check_type("group", "group");
    check_type("event", "event");
    check_type("bitstring", "bitstring");
    check_type("memop<32>", "(memop 32)");
    check_type("{ int a; bool b; }", "(record (int a) (bool b))");
    check_type("{ int a; bool b }", "(record (int a) (bool b))");
    check_type("Table.t<<key_t, key_t, key_t, res_t>>", "(of Table.t key_t key_t key_t res_t)");
    check_type(
        "Table.t<<int<16>, (), (int, bool), int<16>>>",
        "(of Table.t int<16> (tuple ) (tuple int bool) int<16>)",
    );
    check_type(
        "Table.t<<int<16>, int, (), int<16> >>",
        "(of Table.t int<16> int (tuple ) int<16>)",
    );
}

#[test]
fn statements() {
    check_statement("skip;", "skip");
    check_statement("int x = 1;", "(int x = 1)");
    check_statement("noinline int x = 1;", "(noinline int x = 1)");
    check_statement("@noinline t x = 1;", "(noinline t x = 1)");
    check_statement("noinline x = 1;", "(noinline x = 1)");
    check_statement("noinline = 1;", "(noinline = 1)");
    check_statement("M.t<8> x = f();", "((M.t 8) x = (call f))");
    check_statement("t<<8>> x = f();", "((paper:t 8) x = (call f))");
    check_statement("t[4] x = f();", "((vector t 4) x = (call f))");
    check_statement("'a x = y;", "('a x = y)");
    check_statement("event x = f();", "(event x = (call f))");
    check_statement("group x = {1};", "(group x = (group 1))");
    check_statement("{ int a; } x = y;", "((record (int a)) x = y)");
    check_statement("x = 1;", "(x = 1)");
    check_statement("f(x);", "(call f x)");
    check_statement("Array.set<unordered>(a, 0, 1);", "(call unordered:Array.set a 0 1)");
    check_statement("return;", "return");
    check_statement("return x;", "(return x)");
    check_statement("printf(\"x\");", "(print \"x\")");
    check_statement("printf(\"%d\", x);", "(print \"%d\" x)");
    check_statement("generate e(1);", "(generate (call e 1))");
    check_statement("generate (e(1));", "(generate (call e 1))");
    check_statement("mgenerate x;", "(mgenerate x)");
    check_statement("generate_switch(1, x);", "(switch 1 x)");
    check_statement("generate_port(1, x);", "(port 1 x)");
    check_statement("generate_ports({1, 2}, x);", "(ports (group 1 2) x)");
    check_statement("for (i < n + 1) { skip; }", "(for i (+ n 1) [skip])");
    check_statement("if (a) { skip; }", "(if a [skip])");
    check_statement("if (a) { } else { skip; }", "(if a [] else [skip])");
    check_statement(
        "if (a) { } else if (b) { skip; } else { }",
        "(if a [] else [(if b [skip] else [])])",
    );
    check_statement("skip; ; skip;", "skip skip");
    check_statement("read = 1; drop(x); int end = 2;", "(read = 1) (call drop x) (int end = 2)");
}

#[test]
fn matches() {
    check_statement(
        "match x with | 1 -> { } | _ -> { skip; }",
        "(match x | 1 -> [] | _ -> [skip])",
    );
    check_statement("match (a, b) with | 1, _ -> { }", "(match a b | 1 _ -> [])");
    check_statement("match a, b with | (1, K) -> { }", "(match a b | 1 K -> [])");
    check_statement("match r#f with | 0b1* -> { }", "(match (field r f) | 1* -> [])");
    check_statement("match a with | 5w8 -> { }", "(match a | 5 -> [])");
    check_statement("match v with | e(int a) -> { }", "(match v | (event e (int a)) -> [])");
}

#[test]
fn events_and_handlers() {
    check_program("event e(int x);", "(Background e (int x) [])");
    check_program("event e(int x) { skip; }", "(Background e (int x) [] [skip])");
    check_program("packet event e@7(int x);", "(Packet e@7 (int x) [])");
    check_program("entry event e(); exit event f();", "(Entry e  [])\n(Exit f  [])");
    check_program(
        "event u(Array.t<32> p, Array.t<32> q)[p < q; end q];",
        "(Background u ((Array.t 32) p) ((Array.t 32) q) [p<q end:q])",
    );
    check_program("handle e(int x) { skip; }", "(handle Ingress e (int x) [skip])");
    check_program("control handle e() { skip; }", "(handle Control e  [skip])");
    check_program("@egress handle e() { skip; }", "(handle Egress e  [skip])");
    check_program("@main event e();", "@main (Background e  [])");
}

#[test]
fn values() {
    check_program("size n = 8 + m;", "(size n (+ 8 m))");
    check_program("symbolic size n;", "(size n ?)");
    check_program("symbolic int<n> x;", "(symbolic int<n> x)");
    check_program("extern int x;", "(extern int x)");
    check_program("extern f(int x, bool b);", "(extern f (int x) (bool b))");
    check_program("const int K = 4;", "(const int K 4)");
    check_program("group G = {1, 2};", "(const group G (group 1 2))");
    check_program(
        "global Array.t<32> a = Array.create(8);",
        "(global (Array.t 32) a (call Array.create 8))",
    );
    check_program("global a = new Array<<32>>(8);", "(global - a (new (paper:Array 32) 8))");
}

#[test]
fn functions_and_types() {
    check_program("fun int f(int x) { return x; }", "(fun int f (int x) [] [(return x)])");
    check_program(
        "fun void f(t p, t q)[start <= p; p < q] { skip; }",
        "(fun void f (t p) (t q) [start<=p p<q] [skip])",
    );
    check_program("fun 'a f('a x) { return x; }", "(fun 'a f ('a x) [] [(return x)])");
    check_program("memop f(int a, int b) { return a; }", "(memop f (int a) (int b) [(return a)])");
    check_program("type t = { int a; }", "(type t () (record (int a)))");
    check_program("type t<'a, 'b> = { int<'a> a; };", "(type t ('a 'b) (record (int<'a> a)))");
    check_program("type t<<a>> = int<<a>>;", "(type t ('a) int<a>)");
    check_program(
        "constr t<'a> mk(int n) = { a = n; };",
        "(constr (t 'a) mk (int n) (record a=n))",
    );
    check_program("constructor t mk() = M.mk(4);", "(constr t mk  (call M.mk 4))");
    check_program(
        "action int f(int d)(int q) { return d; }",
        "(action int f ((int d)) ((int q)) [(return d)])",
    );
}

#[test]
fn modules() {
    check_program("module M { const int K = 1; }", "(module M - (const int K 1))");
    check_program(
        "module M : { size n; int x; global type t<'a>; type u = int\n type v; \
         constr t<'a> mk(int n); fun int f(t<'a> p) [start <= p; end p]; event e(int x); \
         memop m(int a, int b); module N : { bool b; } } { const int K = 1; }",
        "(module M [(size n) (int x) (global type t ('a) opaque) (type u () int) (type v () opaque) \
         (constr (t 'a) mk (int n)) (fun int f ((t 'a) p) [start<=p end:p]) (event e (int x) []) \
         (memop m (int a) (int b)) (module N (bool b))] (const int K 1))",
    );
    check_program("module F = A if b == 1 else B.C;", "(module F (Equal b 1) A B.C)");
}

#[test]
fn parsers() {
    check_program(
        "parser main(bitstring b) { skip(32, b); drop; }",
        "(parser main (bitstring b) [(skip int<32> b) drop])",
    );
    check_program(
        "parser main(bitstring b) { eth e = read(b); skip(int<16>, b); int x = e#a + 1; e#a = 5; \
         x = 6; match e#ty with | 1 -> { drop; } | K -> { ip(b, e); } | _ -> { generate f(e); } }",
        "(parser main (bitstring b) [(read eth e b) (skip int<16> b) (int x = (Add (field e a) 1)) \
         ((field e a) = 5) (x = 6) (match (field e ty) | 1 -> [drop] | K -> [(call ip b e)] \
         | _ -> [(generate (call f e))])])",
    );
}

#[test]
fn spans_cover_what_was_written() {
    let text = "event e() { int x = (1 + y) & f(2)[3:0]; }";
    let program = tree(text);
    let declaration = &program.declarations[0];
    let slice = |span: source::Span| &text[span.start as usize..span.end as usize];
    assert_eq!(slice(declaration.span), text);
    let DeclarationKind::Event { name, body: Some(body), .. } = &declaration.kind else {
        panic!("{declaration:?}");
    };
    assert_eq!(slice(name.span), "e");
    assert_eq!(slice(body.span), "{ int x = (1 + y) & f(2)[3:0]; }");
    let StatementKind::Local { value, ty, .. } = &body.statements[0].kind else {
        panic!("{body:?}");
    };
    assert_eq!(slice(body.statements[0].span), "int x = (1 + y) & f(2)[3:0];");
    assert_eq!(slice(ty.span), "int");
    assert_eq!(slice(value.span), "(1 + y) & f(2)[3:0]");
}

/// Every number below `node_count` is given once at most, and none above.
#[test]
fn node_numbers_are_unique() {
    let text = "type t<'a> = { int a; }\nevent e(int x) { int y = f(x, M.K) + 1; if (y == 1) { g(y); } }\n\
                parser main(bitstring b) { t v = read(b); generate e(v#a); }";
    let program = tree(text);
    let shown = format!("{program:?}");
    let mut numbers: Vec<u32> = shown
        .split("NodeId(")
        .skip(1)
        .filter_map(|rest| rest.split(')').next()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let count = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
    assert!(numbers.last().is_some_and(|last| *last < program.node_count));
}

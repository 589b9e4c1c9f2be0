// SPDX-License-Identifier: Apache-2.0
//! The formatter: texts before and after, that formatting twice changes nothing, and that a comment
//! may stand anywhere.

use super::{show, tree};
use lucid::syntax::format::format_source;
use proptest::prelude::*;
use source::layout::LINE_WIDTH;
use source::{Diagnostics, SourceMap};

const PROGRAMS: [&str; 2] =
    [include_str!("programs/everything.dpt"), include_str!("programs/older.dpt")];

/// The formatted text, which formatting leaves alone and which is the same program.
#[track_caller]
fn formatted(text: &str) -> String {
    let explain = |errors: Diagnostics| {
        let mut map = SourceMap::new();
        map.add("program.dpt", text);
        source::render_text(&map, &errors, source::RenderOptions::default())
    };
    let once = format_source(text).unwrap_or_else(|errors| panic!("{text}\n{}", explain(errors)));
    let twice = format_source(&once).unwrap_or_else(|errors| panic!("{once}\n{}", explain(errors)));
    assert_eq!(once, twice, "{text}");
    assert_eq!(show::program(&tree(text)), show::program(&tree(&once)), "{text}");
    once
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected, "{text}");
}

/// In a handler's body.
#[track_caller]
fn check_statements(text: &str, expected: &str) {
    let indented: String = expected
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") })
        .collect();
    check(&format!("event e() {{\n{text}\n}}"), &format!("event e() {{\n{indented}}}\n"));
}

#[test]
fn laid_out_programs_stay() {
    for program in PROGRAMS {
        check(program, program);
        assert!(program.lines().all(|line| line.chars().count() <= LINE_WIDTH));
    }
}

#[test]
fn blanks() {
    check_statements("x=a+b&-c;", "x = a + b & -c;");
    check_statements("x = - - y ;", "x = - -y;");
    check_statements("bool b=! a&&~ c==1 ;", "bool b = !a && ~c == 1;");
    check_statements("x=( int < 8 > ) y;", "x = (int<8>)y;");
    check_statements("x=y [ 7 : 0 ];", "x = y[7:0];");
    check_statements("x=r # f # g ;", "x = r#f#g;");
    check_statements("Array . set < unordered > ( a , i , 1 ) ;", "Array.set<unordered>(a, i, 1);");
    check_statements("x=hash < 16 > ( 1,y );", "x = hash<16>(1, y);");
    check_statements("int x=3<<16>>;", "int x = 3<<16>>;");
    check_statements("x=3 << 16 >> 1;", "x = 3 << 16 >> 1;");
    check_statements("x=[ a;b ; c ];", "x = [a; b; c];");
    check_statements("x=[f( i )for i<n + 1];", "x = [f(i) for i < n + 1];");
    check_statements("x={ a=1 ;b = 2; };", "x = {a = 1; b = 2;};");
    check_statements("x={ r with a=1 };", "x = {r with a = 1};");
    check_statements("x = ( ) ;", "x = ();");
    check_statements("generate_ports( flood p,e( ));", "generate_ports(flood p, e());");
    check_statements("printf ( \"a  b\" ) ;", "printf(\"a  b\");");
    check_statements("return( x );", "return (x);");
    check_statements("int [ 'k ][ 2 ] v=w [ i ][ 1 ];", "int['k][2] v = w[i][1];");
    check_statements("for(i<4){skip;}", "for (i < 4) { skip; }");
    check("event e @7( int x )[ ];", "event e@7(int x) [];\n");
    check("fun void f(t a,t b)[a<b<=a;end b]{}", "fun void f(t a, t b) [a < b <= a; end b] {}\n");
    check(
        "global Table . t << t , ( ) , int < 8 > , int < 8 > >> x=f( );",
        "global Table.t<<t, (), int<8>, int<8> >> x = f();\n",
    );
    check(
        "global Table.t<<t,(),t,int<8>>> x=f();",
        "global Table.t<<t, (), t, int<8>>> x = f();\n",
    );
    check("type t<'a , 'b> =int< 'a+'b >", "type t<'a, 'b> = int<'a + 'b>\n");
    check("@main   event e( );", "@main event e();\n");
    check("include\"a.dpt\"", "include \"a.dpt\"\n");
}

#[test]
fn lines_and_bodies() {
    check_statements("int x = 1; int y = 2;", "int x = 1;\nint y = 2;");
    check_statements("if (a) { x = 1; }", "if (a) { x = 1; }");
    check_statements("if (a) { x = 1; y = 2; }", "if (a) {\n    x = 1;\n    y = 2;\n}");
    check_statements("if (a)\n{ x = 1; }", "if (a) {\n    x = 1;\n}");
    check_statements("if (a) {} else { x = 1; }", "if (a) {} else { x = 1; }");
    check_statements("if (a) { }\nelse { }", "if (a) {} else {}");
    check_statements(
        "if (a) { x = 1; }\nelse if (b) { x = 2; } else\n{\n}",
        "if (a) {\n    x = 1;\n} else if (b) {\n    x = 2;\n} else {}",
    );
    check_statements("x = 1;\n\n\n\ny = 2;\n\n", "x = 1;\n\ny = 2;");
    check_statements(
        "match x with | 1 -> { f(); } | 2 -> { f(); g(); }",
        "match x with\n| 1 -> { f(); }\n| 2 -> {\n    f();\n    g();\n}",
    );
    check("event e() {}\n\n\nevent f();event g();", "event e() {}\n\nevent f();\nevent g();\n");
    check("type t = {int a; int b;}", "type t = { int a; int b; }\n");
    check("type t = {\nint a; int b;}", "type t = {\n    int a;\n    int b;\n}\n");
    check("type t = {int a; int b;}\ntype u = {\n}", "type t = { int a; int b; }\ntype u = {}\n");
    check(
        "constr t f() = {\n a = 1; b = {c = 2; d = 3}; };",
        "constr t f() = {\n    a = 1;\n    b = {c = 2; d = 3};\n};\n",
    );
    check("module M{const int K=1;}", "module M { const int K = 1; }\n");
    check("event e() { skip; };", "event e() { skip; };\n");
    check("", "");
    check("\n\n// x  \n\n\n\nevent e();\n\n\n", "// x\n\nevent e();\n");
}

#[test]
fn long_lists() {
    // Short words fill the lines, other elements have lines of their own.
    let numbers: Vec<String> = (100..140).map(|number| number.to_string()).collect();
    let shown = formatted(&format!("const group G = {{{}}};", numbers.join(",")));
    assert_eq!(shown.lines().count(), 5, "{shown}");
    assert!(shown.lines().all(|line| line.len() <= LINE_WIDTH), "{shown}");

    let n = "a_rather_long_name";
    let list = |separator: &str, last: &str| {
        format!("{n}{separator}{n}{separator}f({n}){separator}{last}")
    };
    // What fits on one line of its own is on one.
    check_statements(
        &format!("int another_variable = called({});", list(",", "5678901")),
        &format!("int another_variable = called(\n    {}\n);", list(", ", "5678901")),
    );
    check_statements(
        &format!("called({}, {n}, {n});", list(",", "1234567890")),
        &format!("called(\n    {},\n    {n},\n    {n}\n);", list(",\n    ", "1234567890")),
    );
    check(
        &format!("fun int function(int {n}1, int {n}2, int {n}3, int {n}4, int {n}5) {{ skip; }}"),
        &format!(
            "fun int function(\n    int {n}1,\n    int {n}2,\n    int {n}3,\n    int {n}4,\n    \
             int {n}5\n) {{\n    skip;\n}}\n"
        ),
    );
}

#[test]
fn long_operations() {
    let n = "a_rather_long_name";
    check_statements(
        &format!("int variable = {n} + {n} + {n} + {n} + 56789;"),
        &format!("int variable =\n    {n} + {n} + {n} + {n} + 56789;"),
    );
    check_statements(
        &format!("bool b = {n} == 1 && {n} + 2 == 2 && {n} == 3 && {n} + {n} == 4;"),
        &format!(
            "bool b =\n    {n} == 1\n    && {n} + 2 == 2\n    && {n} == 3\n    && {n} + {n} == 4;"
        ),
    );
    check_statements(
        &format!("if ({n} == 1 && {n} == 2 && {n} == 3 && enough_of) {{ skip; }}"),
        &format!("if (\n    {n} == 1 && {n} == 2 && {n} == 3 && enough_of\n) {{\n    skip;\n}}"),
    );
    check_statements(
        &format!("generate e({n} + {n}, {n} & {n} & {n} & {n} & {n} & {n} & {n} & {n});"),
        &format!(
            "generate e(\n    {n} + {n},\n    {n}\n        & {n}\n        & {n}\n        & {n}\n        \
             & {n}\n        & {n}\n        & {n}\n        & {n}\n);"
        ),
    );
}

#[test]
fn comments() {
    check(
        "/* A program\n   of mine */\nevent e( ) ;// first\nevent longer( );   // second\n                   // goes on\n\n  // alone\nevent f();",
        "/* A program\n   of mine */\nevent e();      // first\nevent longer(); // second\n                // goes on\n\n// alone\nevent f();\n",
    );
    check_statements(
        "/* first */ a(); /* last */\n b(/* mid */ 1, // one\n 2);\n// end",
        "/* first */ a(); /* last */\nb(\n    /* mid */ 1, // one\n    2\n);\n// end",
    );
    check_statements(
        "if (a) { // why\n x = 1; } // then\n // else\n else { y = 2; }",
        "if (a) { // why\n    x = 1;\n} // then\n// else\nelse {\n    y = 2;\n}",
    );
    check_statements(
        "match x with // what\n // one\n | 1 -> { f(); } // done\n | _ -> { }",
        "match x with // what\n// one\n| 1 -> { f(); } // done\n| _ -> {}",
    );
    check(
        "module M {\n      /* a\n           b\n\n    c */\n  event e();\n}",
        "module M {\n    /* a\n         b\n\n  c */\n    event e();\n}\n",
    );
    check("// only\n\n\n// comments", "// only\n\n// comments\n");
}

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let reported = |text: &str| -> Vec<&'static str> {
        let errors = format_source(text).expect_err("the text has a mistake");
        errors.iter().map(|diagnostic| diagnostic.code.0).collect()
    };
    assert_eq!(reported("event e() { x = ; y++; }"), ["LU-E0011", "LU-E0017"]);
    assert_eq!(reported("/* a"), ["LU-E0002"]);
}

#[test]
fn deep_programs_are_laid_out() {
    let deep = format!("event e() {{ {}{} }}", "if (a) { b(); ".repeat(200), "}".repeat(200));
    formatted(&deep);
    formatted(&format!("const int c = {}1{};", "(".repeat(200), ")".repeat(200)));
    formatted(&format!("const int c = {}1{};", "f(a, ".repeat(200), ")".repeat(200)));
    formatted(&format!("const int c = 1{};", " + 1".repeat(500)));
}

/// The places between the tokens of a text.
fn gaps(text: &str) -> Vec<usize> {
    let mut map = SourceMap::new();
    let file = map.add("program", text);
    let lexed = lucid::syntax::lexer::lex(&map, file, &mut Diagnostics::new());
    lexed.tokens.iter().map(|token| token.span.start as usize).collect()
}

/// The text, or nothing if it is no program: the paper's `1<<8>>` is one only without blanks in it.
fn program(text: String) -> Option<String> {
    let (_, _, diagnostics) = super::read(&text);
    Some(text).filter(|_| !diagnostics.has_errors())
}

/// A comment between any two tokens stays, and the layout settles at once.
#[test]
fn comments_anywhere() {
    let comments = [" // c\n", "/* c */", "\n// c\n\n", "/* c\n     d */", "\n/* c */\n"];
    for (text, step) in PROGRAMS.into_iter().zip([11, 3]) {
        for (at, gap) in gaps(text).into_iter().enumerate().step_by(step) {
            let comment = comments[at % comments.len()];
            let changed = format!("{}{comment}{}", &text[..gap], &text[gap..]);
            program(changed).map(|changed| formatted(&changed));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(12)))]

    /// Whatever white space and comments stand between the tokens, the program stays the same, and
    /// formatting settles at once.
    #[test]
    fn any_white_space(choices in prop::collection::vec(0usize..12, 100..2000), which in 0usize..2) {
        let text = PROGRAMS[which];
        let mut gaps = gaps(text);
        gaps.push(text.len());
        let mut changed = String::new();
        for (at, pair) in gaps.windows(2).enumerate() {
            // The comments of the text go, too.
            let token = text[pair[0]..pair[1]].split("//").next().unwrap_or("");
            changed.push_str(token.split("/*").next().unwrap_or("").trim_end());
            changed.push_str(match choices[at % choices.len()] {
                0 => "\n",
                1 => "\n\n\n",
                2 => "  // c\n",
                3 => " /* c */ ",
                4 => "\n   /* c\n d */\n",
                5 => "\t",
                6 => "\r\n",
                _ if text[..pair[1]].ends_with(' ') => " ",
                _ => "",
            });
            if !text[..pair[1]].ends_with('<') && changed.ends_with(char::is_alphanumeric) {
                changed.push(' ');
            }
        }
        let Some(changed) = program(changed) else {
            return Err(TestCaseError::reject("`1<<8>>` was taken apart"));
        };
        formatted(&changed);
    }
}

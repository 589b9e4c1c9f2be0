// SPDX-License-Identifier: Apache-2.0
//! Tests of the formatter: texts before and after, and that formatting twice changes nothing.

use super::{Foreign, format_source, format_tokens};
use testing::assert_snapshot;

/// The formatted text, which formatting leaves alone.
fn formatted(text: &str) -> String {
    let once = format_tokens(text, Foreign::default()).expect("the text has only tokens of P4");
    let twice =
        format_tokens(&once, Foreign::default()).expect("formatted text has only tokens of P4");
    assert_eq!(once, twice);
    once
}

#[test]
fn comments_and_directives_stay() {
    assert_snapshot!(formatted(
        "/* A program\n   of mine */\n#include   <core.p4>\n#define X(a) \\\n   ((a) + 1)\n\n\n\n\
// about h\nheader h_t { // the header\n  bit<8> a;// first\n  bit<16>   bb;   // second\n                  // goes on\n\n  // alone\n  bit<8> c; }\n\
#ifdef Y\ncontrol c(inout h_t h) {\n#else\ncontrol c(inout h_t h, in bit<8> x) {\n#endif\n\
action a() { }\napply { /* first */ a(); /* last */\n  X(3)\n  h.a = X(h.a) /* mid */ + 1; // end\n\
} // of apply\n}\n"
    ));
}

#[test]
fn tables_and_states() {
    assert_snapshot!(formatted(
        "control c(inout bit<8> x){table t{key={x:exact@name(\"x  y\");x[3:0]:ternary;}\n\
actions={a;@defaultonly b;}const entries={(1,2):a();(3&&&4,_):b(1);{1,2}:a();}size=10;}\n\
apply{switch(t.apply().action_run){a:b:{exit;}default:{}}if(x==1)x=2;else x=3;}}\n\
parser p(){state start{transition select(x){0x800:ipv4;default:accept;}}}"
    ));
}

#[test]
fn long_lines_are_broken() {
    assert_snapshot!(formatted(
        "parser MyParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {\n\
state start { verify_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.totalLen }, hdr.ipv4.hdrChecksum, HashAlgorithm.csum16);\n\
meta.some_rather_long_name = hdr.ipv4.some_long_field_name ++ hdr.ipv4.another_long_field_name ++ hdr.ipv4.last;\n\
if (hdr.ipv4.isValid() && hdr.ipv4.some_long_field_name == 1 && hdr.ipv4.another_long_field_name == 2) { exit; }\n\
meta.values = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28 };\n\
} }"
    ));
}

#[test]
fn angles_and_operators() {
    let check = |text: &str, expected: &str| {
        assert_eq!(formatted(&format!("{text};")), format!("{expected};\n"));
    };
    check("a=b<c", "a = b < c");
    check("a=b<c&&d>e", "a = b < c && d > e");
    check("f<bit < 8 >>(x)", "f<bit<8>>(x)");
    check("x=(bit<8>)-y", "x = (bit<8>) -y");
    check("x=a?b:c", "x = a ? b : c");
    check("x=y[7 : 0]++y[0 +: 4]", "x = y[7:0] ++ y[0+:4]");
    check("x=-y- -z", "x = -y - -z");
    check("tuple<bit<8> ,list<bit<8> > >  t", "tuple<bit<8>, list<bit<8>>> t");
    check("x = .f( .y . z )", "x = .f(.y.z)");
    check("a [ 1 ] . b ( )", "a[1].b()");
    check("x |+|= 1", "x |+|= 1");
    check("x=f<T>(y)", "x = f<T>(y)");
    check("return  !x", "return !x");
}

#[test]
fn text_that_is_no_p4_is_left_alone() {
    assert!(format_source("control c() { /* ").is_err());
    assert!(format_source("a $ b").is_err());
}

#[test]
fn unbalanced_and_empty_texts() {
    for text in ["", "\n\n", "}", "{", "( ( {", ") ] }", "x {{ y ]", "@", "@a(", "#if\n", "// x"] {
        formatted(text);
    }
    assert_eq!(formatted("\n\n// x  \n\n\n\ny;\n\n\n"), "// x\n\ny;\n");
}

/// Deep nesting is laid out in bounded time and space.
#[test]
fn hostile_nesting() {
    for text in ["(", "{", "[", "a<", "f(a, ", "if (x) ", "a ? ", "#if x\n", "= {"] {
        formatted(&text.repeat(2_000));
    }
    formatted(&format!("{}{}", "(".repeat(2_000), ")".repeat(2_000)));
    formatted(&format!("x = {}{};", "{ 1, ".repeat(2_000), "}".repeat(2_000)));
}

/// What does not parse is reported and left alone, unless a macro may be the reason.
#[test]
fn text_that_does_not_parse() {
    let codes = |text: &str| match format_source(text) {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(|found| found.code.0).collect::<Vec<_>>(),
    };
    let fine: [&str; 0] = [];
    assert_eq!(codes("control c( { apply { x = ; } }"), ["P4-E0101", "P4-E0102"]);
    assert_eq!(codes("#include <core.p4>\ncontrol c() { apply { x = ; } }"), ["P4-E0101"]);
    assert_eq!(
        codes("#ifndef A\n#define A\ncontrol c() { apply { x = ; } }\n#endif"),
        ["P4-E0101"]
    );
    assert_eq!(codes("#include \"h.p4\"\ncontrol c() { apply { x = ; } }"), ["P4-E0101"]);
    assert_eq!(codes("#include \"h.p4\"\ncontrol c() { apply { USE(x) x = 1; } }"), fine);
    assert_eq!(codes("#include \"h.p4\"\ncontrol c(inout h_t h) { apply { x = (t)h; } }"), fine);
    assert_eq!(codes("#define USE(x) x = ;\ncontrol c() { apply { USE(x) } }"), fine);
    assert_eq!(codes("#ifdef A\ncontrol c() {\n#endif\n apply { } }"), fine);
    // A part that is included in a control.
    assert_eq!(codes("table t { key = { x: exact; } } x = 1;"), fine);
}

/// Text that is excluded whatever is defined stays byte for byte and may hold anything.
#[test]
fn excluded_text_stays() {
    let dead = "#if 0 // not now\n  isn't \" $$ \\ x   =1 ;  \n#ifdef X\n  a\n#else\n b\n#endif  \n\n  c  \n";
    assert_eq!(formatted(&format!("{dead}#endif\nx=1;")), format!("{dead}#endif\nx = 1;\n"));
    assert_eq!(
        formatted(&format!("{dead}#else\nx=1;\n#endif\n")),
        format!("{dead}#else\nx = 1;\n#endif\n")
    );
    assert_eq!(
        formatted("#if 1\nx=1;\n#else\n isn't\n  #endif\ny=1;"),
        "#if 1\nx = 1;\n#else\n isn't\n#endif\ny = 1;\n"
    );
    assert_eq!(formatted("#if (0)\r\n isn't\r\n#endif\r\n"), "#if (0)\r\n isn't\n#endif\n");
    assert_eq!(formatted("#if 0\n isn't"), "#if 0\n isn't\n");
}

/// A carriage return alone ends a line.
#[test]
fn carriage_returns() {
    assert_eq!(
        formatted("// a\rx=1; // b\r\r#define A 1\ry=1;\r/* c\rd */"),
        "// a\nx = 1; // b\n\n#define A 1\ny = 1;\n/* c\nd */\n"
    );
}

/// Uses of macros without `;` keep the lines of their author.
#[test]
fn macro_uses_keep_their_lines() {
    for text in [
        "A(1)\nB(2)\nC\nx = 1;\n",
        "if (x == 1) A(1)\nx = 2;\n",
        "if (x == 1) A(1)\nelse B(1)\nx = 2;\n",
        "x = A(1)\ny = B\nz = 3;\n",
    ] {
        assert_eq!(formatted(text), text);
    }
    assert_eq!(formatted("T(1)\nname;"), "T(1) name;\n");
    assert_eq!(formatted("x = (T)\ny;"), "x = (T) y;\n");
}

/// Trailing comments line up among neighbours, not across the ends of blocks.
#[test]
fn trailing_comments_of_neighbours() {
    let text = "if (x == 1) { // a\n    x = 1;  // b\n    y = 22; // c\n              // goes on\n} // d\nelse { // e\n    x = 3; // f\n} // g\nlonger = 1; // h\n";
    let text = text.replace("              // goes", "            // goes");
    assert_eq!(formatted(&text), text);
}

/// Bodies without braces show by their indentation which `if` an `else` belongs to.
#[test]
fn dangling_else() {
    for (text, expected) in [
        ("if (a) if (b) x=1; else x=2;", "if (a)\n    if (b) x = 1;\n    else x = 2;\n"),
        (
            "if (a) if (b) x=1; else x=2; else x=3; x=4;",
            "if (a)\n    if (b) x = 1;\n    else x = 2;\nelse x = 3;\nx = 4;\n",
        ),
        (
            "if (a) if (b) { x=1; } else { x=2; } else { x=3; }",
            "if (a)\n    if (b) {\n        x = 1;\n    } else {\n        x = 2;\n    }\nelse {\n    x = 3;\n}\n",
        ),
        (
            "if (a) x=1; else if (b) x=2; else x=3;",
            "if (a) x = 1;\nelse if (b) x = 2;\nelse x = 3;\n",
        ),
        ("if (a) for (i in r) x=1; else x=2;", "if (a)\n    for (i in r) x = 1;\nelse x = 2;\n"),
        (
            "if (a) if (b) x=1;\n// c\nelse x=2;\ny=1;",
            "if (a)\n    if (b) x = 1;\n    // c\n    else x = 2;\ny = 1;\n",
        ),
    ] {
        assert_eq!(formatted(text), expected);
    }
}

/// What is too long: conditionals get a line for each value or each `? :`, annotations one each.
#[test]
fn long_conditionals_and_annotations() {
    let name = |letter: &str| letter.repeat(30);
    let (a, b, c) = (name("a"), name("b"), name("c"));
    assert_eq!(
        formatted(&format!("x = {a} == 1 ? {b} : {c};")),
        format!("x = {a} == 1\n    ? {b}\n    : {c};\n")
    );
    assert_eq!(
        formatted(&format!("x = {a} == 1 ? {b} : y == 2 ? {c} : z;")),
        format!("x = {a} == 1 ? {b}\n    : y == 2 ? {c}\n    : z;\n")
    );
    assert_eq!(
        formatted(&format!(
            "@name(\"{a}\") @hidden @brief(\"{b}\") @x[k=1,l=2] action {c}() {{ }}"
        )),
        format!("@name(\"{a}\")\n@hidden\n@brief(\"{b}\")\n@x[k = 1, l = 2]\naction {c}() {{}}\n")
    );
    assert_eq!(formatted("@a @b(1) action c() { }"), "@a @b(1) action c() {}\n");
    assert_eq!(formatted("x = - -y + - - -z;"), "x = - -y + - - -z;\n");
}

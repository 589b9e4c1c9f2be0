// SPDX-License-Identifier: Apache-2.0
//! Programs with mistakes, and all that is said about each.

use super::check;

#[test]
fn names_are_suggested_and_not_repeated() {
    check(
        "const bit<8> LENGTH = 1;\nconst bit<8> A = LENGHT + LENGHT;\n",
        &[
            "P4-E0201 <LENGHT> there is no value `LENGHT` here",
            "P4-E0201 <LENGHT> there is no value `LENGHT` here",
        ],
    );
}

#[test]
fn unknown_types_silence_what_follows() {
    check(
        "struct S { missing_t a; }\nvoid f(inout S s, inout bit<8> x) { s.a = x; x = s.a + 1; s.a.b = 2; }\n",
        &["P4-E0201 <missing_t> there is no type `missing_t` here"],
    );
}

#[test]
fn mismatches_point_at_the_element() {
    check(
        "struct Inner { bit<8> a; bool b; }\nstruct Outer { Inner inner; bit<4> c; }\n\
         const Outer o = { { 1, 2 }, true };\n",
        &[
            "P4-E0301 <2> field `b` has type `bool`, but this is `int`",
            "P4-E0301 <true> field `c` has type `bit<4>`, but this is `bool`",
        ],
    );
}

#[test]
fn several_errors_in_one_go() {
    check(
        r#"
header H { bit<8> a; }
control c(inout H h, in bit<8> x) {
    action set(bit<8> v) { h.b = v; }
    table t {
        key = { h.a: exactly; }
        actions = { set; gone; }
        default_action = set();
    }
    apply {
        x = 1;
        if (h.a) { t.apply(); }
        h.c.d = 2;
    }
}
"#,
        &[
            "P4-E0205 <b> `H` has no member `b`",
            "P4-E0803 <exactly> there is no match kind `exactly`",
            "P4-E0201 <gone> there is no action `gone` here",
            "P4-E0805 <set()> parameter `v` of `set` needs an argument here",
            "P4-E0409 <x> this cannot be assigned to",
            "P4-E0410 <h.a> a condition is `bool`, but this is `bit<8>`",
            "P4-E0205 <c> `H` has no member `c`",
        ],
    );
}

#[test]
fn directions_are_kept() {
    check(
        r#"
void g(inout bit<8> a, out bit<8> b) { b = a; }
control c(in bit<8> x, inout bit<16> y) {
    action a(bit<8> data) { g(data, data); }
    apply { g(x, y); a(1); }
}
"#,
        &[
            "P4-E0506 <data> parameter `a` of `g` is `inout`, so its argument must be writable",
            "P4-E0506 <data> parameter `b` of `g` is `out`, so its argument must be writable",
            "P4-E0506 <x> parameter `a` of `g` is `inout`, so its argument must be writable",
            "P4-E0301 <y> parameter `b` of `g` has type `bit<8>`, but this is `bit<16>`",
        ],
    );
}

#[test]
fn generic_structs_are_checked_when_specialized() {
    check(
        "header H<T> { T field; }\nstruct Good { H<bit<8>> h; }\nstruct Bad { H<error> h; }\n",
        &["P4-E0303 <H<error>> field `field` of a header cannot have type `error`"],
    );
}

#[test]
fn packages_ask_for_fitting_blocks() {
    check(
        r#"
parser P<H>(out H h);
control C<H>(inout H h);
package Switch<H>(P<H> p, C<H> c);
struct A { } struct B { }
parser MyP(out A h) { state start { transition accept; } }
control MyC(inout B h) { apply { } }
Switch(MyP(), MyC()) main;
"#,
        &[
            "P4-E0510 <MyC()> `MyC` does not fit `C`: parameter `h` of `MyC` has type `B`, expected `A`",
        ],
    );
}

#[test]
fn entries_follow_match_kinds() {
    check(
        r#"
#include <core.p4>
control c(inout bit<8> x) {
    table t {
        key = { x: lpm; }
        actions = { NoAction; }
        const entries = { 0x10 &&& 0x31: NoAction; 300: NoAction; 1 .. 2: NoAction; }
    }
    apply { t.apply(); }
}
"#,
        &[
            "P4-E0806 <0x31> the mask of an `lpm` key must be ones followed by zeros",
            "P4-W0401 <300> 300 does not fit `bit<8>`",
            "P4-E0806 <1 .. 2> a range cannot be matched with `lpm`",
        ],
    );
}

#[test]
fn flow_warnings_tell_some_path_from_every_path() {
    check(
        r#"
header H { bit<8> a; }
bit<8> f(inout H h, in bool b) {
    bit<8> x;
    bit<8> y;
    if (b) { x = 1; h.setInvalid(); }
    bit<8> z = x + y;
    z = z + h.a;
    h.setInvalid();
    return z + h.a;
}
"#,
        &[
            "P4-W0407 <x> `x` has no value here on some path",
            "P4-W0404 <y> `y` is read, but nothing has written it",
            "P4-W0406 <h.a> header `h` is never valid here, so its fields have no value",
        ],
    );
}

#[test]
fn deep_nesting_is_no_crash() {
    let depth = 200;
    let text = format!("const bit<8> A = {}1{};\n", "(1 + ".repeat(depth), ")".repeat(depth));
    check(&text, &[]);
}

#[test]
fn types_that_double_end_somewhere() {
    let mut text = String::from("struct S0 { bit<8> a; }\n");
    for level in 1..=16 {
        text.push_str(&format!("struct S{level} {{ S{0} a; S{0} b; }}\n", level - 1));
    }
    check(&text, &["P4-E0303 <S15> this type is too large"]);
}

#[test]
fn constants_that_double_end_somewhere() {
    let mut text = String::from("typedef tuple<bit<8>> T0;\nconst T0 c0 = { 1 };\n");
    for level in 1..=13 {
        let before = level - 1;
        text.push_str(&format!(
            "typedef tuple<T{before}, T{before}> T{level};\nconst T{level} c{level} = {{ c{before}, c{before} }};\n"
        ));
    }
    check(&text, &[]);
}

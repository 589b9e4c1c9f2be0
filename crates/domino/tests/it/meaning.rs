// SPDX-License-Identifier: Apache-2.0
//! What programs mean: evaluation order, and what C leaves undefined. Each case is the body of a packet function with the
//! fields after it, for the interpreter and for the program in evaluation order.

use crate::program;
use domino::interpreter::{State, run};
use std::collections::BTreeMap;

/// Runs statements on the fields `a`, `b`, `c`, `i`, `o` and the unsigned `u`, and compares fields and globals.
fn check(statements: &str, fields: &str, expected: &str) {
    let text = format!(
        "#include \"hashes.h\"\n\
         struct Packet {{ int a; int b; int c; int i; int o; unsigned u; }};\n\
         int s = 10; int r[4] = {{1, 2, 3, 4}}; unsigned w[2]; int read_only = 7;\n\
         int next() {{ s = s + 1; return s; }}\n\
         int set(int x) {{ s = x; return x; }}\n\
         int sign(int x) {{ if (x < 0) return -1; if (x == 0) return 0; return 1; }}\n\
         int odd(int n) {{ int c = 0; for (int k = 0; k < 5; k++) {{ if (k > n) return c; if (k & 1) c += k; }} return 100 + c; }}\n\
         int endless() {{ s = 99; }}\n\
         void twice(int x) {{ if (x == 3) return; s = 2 * x; }}\n\
         void func(struct Packet p) {{ {statements} }}\n"
    );
    let checked = program::read(&text);
    let names: Vec<&str> = checked.program.fields.iter().map(|field| &*field.name).collect();
    let parse = |text: &str| -> BTreeMap<String, i64> {
        let pairs = text.split_whitespace().map(|pair| {
            let (name, value) = pair.split_once('=').expect("name=value");
            (name.to_string(), value.parse().expect("a number"))
        });
        pairs.collect()
    };
    let mut packet = vec![0u32; names.len()];
    for (name, value) in parse(fields) {
        packet[names.iter().position(|one| *one == name).expect("a field")] = value as u32;
    }
    type Run<'r> = &'r dyn Fn(&mut State, &mut [u32]);
    let runs: [(&str, Run<'_>); 2] = [
        ("interpreter", &|state, packet| run(&checked.program, state, packet)),
        ("core", &|state, packet| domino::core::run(&checked.core, state, packet)),
    ];
    for (name, run) in runs {
        let mut state = State::initial(&checked.program);
        let mut packet = packet.clone();
        run(&mut state, &mut packet);
        let value = |wanted: &str| match wanted {
            "s" => state.cells[0][0],
            "w0" => state.cells[2][0],
            _ if wanted.starts_with('r') => {
                state.cells[1][wanted[1..].parse::<usize>().expect("a cell")]
            }
            _ => packet[names.iter().position(|one| *one == wanted).expect("a field")],
        };
        for (wanted, expected) in parse(expected) {
            assert_eq!(
                value(wanted.as_str()),
                expected as u32,
                "{name}: {wanted} after `{statements}`"
            );
        }
    }
}

#[test]
fn operands_are_taken_from_left_to_right() {
    check("p.o = p.a + (p.a = 5) + p.a;", "a=1", "o=11 a=5");
    check("p.o = s + next() + s;", "", "o=32 s=11");
    check("p.o = next() * 100 + next();", "", "o=1112");
    check("p.o = p.a++ + p.a++ * 10 + ++p.a;", "a=1", "o=25 a=4");
    check("p.o = hash2(p.a, p.a = 80);", "a=12345", "o=32226");
    check("p.o = r[p.i++] + r[p.i++];", "i=1", "o=5 i=3");
    check(
        "p.o = (p.a = 3, 0) == 0;".replace("(p.a = 3, 0) == 0", "(p.a = 3) == p.a").as_str(),
        "a=1",
        "o=1 a=3",
    );
}

#[test]
fn assignments_take_index_old_value_and_right_side_in_order() {
    check("r[p.i] = p.i = 2;", "i=1", "r1=2 i=2");
    check("r[p.i++] += p.i;", "i=1", "r1=4 i=2");
    check("p.a += p.a = 4;", "a=1", "a=5");
    check("s += set(100);", "", "s=110");
    check("r[1] += r[1] = 7;", "", "r1=9");
    check("p.a -= p.b - p.c;", "a=10 b=5 c=3", "a=8");
    check("p.a = p.b = p.c = 9;", "", "a=9 b=9 c=9");
    check("p.o = r[2] = 8;", "", "o=8 r2=8");
    check("p.o = r[2] += 8;", "", "o=11 r2=11");
    check("p.o = s++ + (s *= 2);", "", "o=32 s=22");
}

#[test]
fn operators_skip_effects_as_in_c() {
    check("p.o = p.a && (p.b = 1);", "a=0", "o=0 b=0");
    check("p.o = p.a && (p.b = 5);", "a=2", "o=1 b=5");
    check("p.o = p.a || next();", "a=2", "o=1 s=10");
    check("p.o = p.a || next();", "", "o=1 s=11");
    check("p.o = p.a ? (p.b = 1) : (p.c = 2);", "a=1", "o=1 b=1 c=0");
    check("p.o = !!p.a + !(p.a && p.b);", "a=7 b=0", "o=2");
    check("p.o = p.a && r[9] || r[1];", "a=1", "o=1");
    check("if (p.a && next() > 11 || next() > 11) p.o = s;", "a=1", "o=12 s=12");
}

#[test]
fn what_c_leaves_undefined_is_defined() {
    check("p.o = p.a / p.b; p.c = p.a % p.b;", "a=7 b=0", "o=0 c=0");
    check("p.o = p.a / p.b; p.c = p.a % p.b;", "a=-2147483648 b=-1", "o=-2147483648 c=0");
    check("p.o = p.a << p.b; p.c = p.a >> p.b;", "a=-5 b=32", "o=0 c=-1");
    check("p.o = p.a << p.b; p.u >>= p.b;", "a=1 b=-1 u=-1", "o=0 u=0");
    check("r[p.i] = 5; p.o = r[p.i] + 1; r[p.i] += 3; r[p.i]++;", "i=4", "o=1 r0=1 r3=4");
    check("r[p.i] = 5; p.o = r[p.i];", "i=-1", "o=0");
    check("p.o = r[p.u];", "u=4294967295", "o=0");
    check("p.o = 2147483647 + p.a;", "a=1", "o=-2147483648");
    check("int x; p.o = x; int y = y + 3; p.c = y;", "", "o=0 c=3");
}

#[test]
fn unsigned_is_unsigned() {
    check("p.o = p.u > 1; p.c = p.a > 1;", "u=-1 a=-1", "o=1 c=0");
    check("p.o = p.a < p.u;", "a=-1 u=1", "o=0");
    check("p.u = p.u / 2; p.o = p.a / 2;", "u=-2 a=-2", "u=2147483647 o=-1");
    check("p.o = p.a >> 1u; p.u >>= 1;", "a=-2 u=-2", "o=-1 u=2147483647");
    check(
        "p.o = 0xffffffff > 0; p.c = 037777777777 / 2 > 5; p.i = -2147483648 < 0;",
        "",
        "o=1 c=1 i=1",
    );
    check("w[0] = -1; p.o = w[0] / 3 > 1000000;", "", "w0=-1 o=1");
    check("p.o = (p.a ? p.b : p.u) > 0;", "a=1 b=-1", "o=1");
}

#[test]
fn helpers_return_early_loop_and_change_globals() {
    check("p.o = sign(p.a) * 10 + sign(p.b) + sign(p.c) * 100;", "a=-5 b=3 c=0", "o=-9");
    check("p.a = odd(0); p.b = odd(1); p.c = odd(3); p.o = odd(9);", "", "a=0 b=1 c=4 o=104");
    check("p.o = endless();", "", "o=0 s=99");
    check("twice(3); p.o = s; twice(p.a);", "a=4", "o=10 s=8");
    check("if (p.a) return; p.o = 1;", "a=1", "o=0");
    check("if (p.a) { p.o = 2; if (p.b) return; } p.o += 1;", "a=1 b=0", "o=3");
    check("if (p.a) { p.o = 2; if (p.b) return; } p.o += 1;", "a=1 b=1", "o=2");
    check("int x = 1; { int x = 2; p.a = x; } p.b = x + read_only;", "", "a=2 b=8");
}

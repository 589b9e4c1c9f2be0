// SPDX-License-Identifier: Apache-2.0
//! The order check on programs written for it: messages, verdicts on small programs one rule at a
//! time, explanations, and that no program makes it panic. Its soundness on generated programs is
//! tested in `order_soundness`. `PLANEWRIGHT_BLESS=1` writes the expected messages anew.

use crate::support::{compare, corpus, files, root};
use lucid::order::codes::EXPLANATIONS;
use proptest::prelude::*;

fn said(name: &str, text: &str) -> crate::support::Said {
    crate::support::said(name, text, lucid::order::check)
}

#[test]
fn messages() {
    for path in files(&root().join("tests/it/order/messages")) {
        let text = std::fs::read_to_string(&path).expect("a program");
        let said = said(&path.file_name().expect("a name").to_string_lossy(), &text);
        assert!(!said.before.has_errors(), "{}", said.text());
        compare(&path, &said.own());
    }
}

/// Declarations that the programs below begin with.
const GLOBALS: &str = "
type rec_t = { Array.t<32> a; int n; Counter.t<32> c; Array.t<32>[2] v; }
constr rec_t make() = { a = Array.create(4); n = 4; c = Counter.create(0); v = [Array.create(4) for i < 2]; };
memop old(int stored, int x) { return stored; }
memop new_value(int stored, int x) { return x; }
action int act(int x)(int y) { return x; }
symbolic size n;
symbolic bool which;
global Array.t<32> one = Array.create(8);
global rec_t two = make();
global PairArray.t<32> pairs = PairArray.create(8);
global Table.t<<int, int, int, int>> table = Table.create(8, [act], act, 0);
global Array.t<32>[n] many = [Array.create(4) for i < n];
global Array.t<32>[1] single = [Array.create(4) for i < 1];
global Array.t<32> last = Array.create(8);
memop pair(int s1, int s2, int x, int y) { if (true) { cell1 = x; } }
fun void put(Array.t<32> a, int x) { Array.set(a, 0, x); }
fun void all(Array.t<32>['k] v, int x) { for (i < 'k) { Array.set(v[i], 0, x); } }
event over(Array.t<32> p, Array.t<32> q)[p < q];
handle over(Array.t<32> p, Array.t<32> q) { put(p, 1); put(q, 1); }
event single_over(Array.t<32> p) { put(p, 1); }
";

/// What order errors a program gets.
fn check(body: &str, expected: &[&str]) {
    let said = said("program.dpt", &format!("{GLOBALS}{body}"));
    assert!(!said.before.has_errors(), "{body}\n{}", said.text());
    let codes: Vec<&str> = said.found.iter().map(|one| one.code.0).collect();
    assert_eq!(codes, expected, "{body}\n{}", said.own());
}

/// What order errors the body of a handler gets.
fn handler(body: &str, expected: &[&str]) {
    check(&format!("event e(int x) {{ {body} }}"), expected);
}

const DISORDER: &str = "LU-E0301";
const REPEATED: &str = "LU-E0302";
const UNDECLARED: &str = "LU-E0303";
const CONTRADICTION: &str = "LU-E0304";
const INTERFACE: &str = "LU-E0305";
const WHICH: &str = "LU-E0306";
const ARGUMENTS: &str = "LU-E0309";

#[test]
fn sequences_of_all_kinds_of_globals() {
    handler("put(one, x); Counter.add(two#c, 1); put(last, x);", &[]);
    handler(
        "int y = PairArray.update(pairs, 0, pair, x, x, 0); int z = Table.lookup(table, y, x);",
        &[],
    );
    handler(
        "int z = Table.lookup(table, x, x); int y = PairArray.update(pairs, 0, pair, z, x, 0);",
        &[DISORDER],
    );
    handler("int z = Table.lookup(table, x, x); int y = Table.lookup(table, z, x);", &[REPEATED]);
    handler(
        "int y = Array.update(last, 0, old, 0, new_value, x); Array.set(one, 0, y);",
        &[DISORDER],
    );
}

#[test]
fn operands_are_evaluated_left_to_right() {
    handler("int y = Array.get(one, 0) + Array.get(last, 0);", &[]);
    handler("int y = Array.get(last, 0) + Array.get(one, 0);", &[DISORDER]);
    handler("Array.set(last, Array.get(one, 0), x);", &[]);
    handler("Array.set(one, Array.get(last, 0), x);", &[DISORDER]);
    handler("if (Array.get(one, 0) == 1 && Array.get(last, 0) == 1) { skip; }", &[]);
    handler("int y = hash<32>(1, Array.get(last, 0), Array.get(one, 0));", &[DISORDER]);
}

#[test]
fn branches() {
    // Either branch may have run; a branch alone does not see the other.
    handler("if (x == 1) { put(last, x); } else { put(one, x); }", &[]);
    handler("if (x == 1) { put(one, x); } else { Counter.add(two#c, 1); } put(last, x);", &[]);
    handler("if (x == 1) { put(last, x); } put(one, x);", &[DISORDER]);
    handler("if (x == 1) { put(last, x); } else { put(one, x); } put(one, x);", &[DISORDER]);
    handler("match x with | 1 -> { put(last, x); } | 2 -> { put(one, x); } | _ -> { skip; }", &[]);
    handler(
        "match x with | 1 -> { put(one, x); } | _ -> { put(last, x); }\nput(last, x);",
        &[REPEATED],
    );
    // Conditions are not looked into.
    handler("if (x == 1) { put(one, x); } if (x != 1) { put(one, x); }", &[REPEATED]);
}

#[test]
fn returns_end_a_path() {
    let early = "fun void early(int x) { if (x == 1) { put(last, x); return; } put(one, x); }";
    check(&format!("{early} event e(int x) {{ early(x); }}"), &[]);
    check(&format!("{early} event e(int x) {{ early(x); put(last, x); }}"), &[REPEATED]);
    check(
        "fun void dead(int x) { put(last, x); return; put(one, x); } event e(int x) { dead(x); }",
        &[],
    );
    // If no branch of a match fits, what stands behind it runs.
    let some =
        "fun void some(int x) { match x with | 1 -> { put(last, x); return; }\nput(one, x); }";
    check(some, &[]);
}

#[test]
fn parts_of_records_and_vectors() {
    handler("put(two#a, x); Counter.add(two#c, 1); put(two#v[0], x); put(two#v[1], x);", &[]);
    handler("Counter.add(two#c, 1); put(two#a, x);", &[DISORDER]);
    handler("put(two#v[1], x); put(two#v[0], x);", &[DISORDER]);
    handler("all(two#v, x); put(last, x);", &[]);
    handler("all(two#v, x); put(two#v[1], x);", &[REPEATED]);
    handler("put(two#v[1], x); all(two#v, x);", &[DISORDER]);
}

#[test]
fn loops() {
    handler("for (i < 2) { put(two#v[i], x); }", &[]);
    handler("for (i < 2) { put(two#v[i], x); } put(two#v[1], x);", &[REPEATED]);
    handler("for (i < 2) { put(one, x); }", &[REPEATED]);
    handler("for (i < 1) { put(one, x); } put(last, x);", &[]);
    handler("for (i < 2) { if (x == 1) { put(two#v[i], x); } }", &[]);
    handler("for (i < 2) { put(two#v[i], x); put(two#v[i], x); }", &[REPEATED]);
    handler("for (i < 2) { put(two#a, x); put(two#v[i], x); }", &[DISORDER]);
    // A variable number of rounds.
    handler("for (i < n) { put(many[i], x); } put(last, x);", &[]);
    handler("for (i < n) { put(one, x); }", &[REPEATED]);
    handler("for (i < n) { put(many[i], x); } for (i < n) { put(many[i], x); }", &[REPEATED]);
    handler("put(last, x); for (i < n) { put(many[i], x); }", &[DISORDER]);
    handler("for (i < n) { for (j < n) { put(many[j], x); } }", &[REPEATED]);
    handler("for (i < n) { for (j < n) { skip; } put(many[i], x); }", &[]);
    handler("int[n] y = [Array.get(many[i], 0) for i < n]; put(last, x);", &[]);
    handler("int[n] y = [Array.get(one, 0) for i < n];", &[REPEATED]);
    // More rounds than are followed one by one.
    check(
        "global Array.t<32>[2000] long = [Array.create(4) for i < 2000];
           event e(int x) { for (i < 2000) { put(long[i], x); } }",
        &[],
    );
    check(
        "global Array.t<32>[2000] long = [Array.create(4) for i < 2000];
           event e(int x) { for (i < 2000) { put(long[i], x); } put(long[1999], x); }",
        &[REPEATED],
    );
}

#[test]
fn loops_where_the_check_is_conservative() {
    // One round, which is known only at the call.
    check("fun void each(Array.t<32>['k] v, Array.t<32> a, int x) { for (i < 'k) { put(v[i], x); put(a, x); } }
           event e(int x) { each(single, last, x); }", &[CONTRADICTION]);
}

#[test]
fn functions_ask_their_callers() {
    let both = "fun void both(Array.t<32> p, Array.t<32> q, int x) { put(p, x); put(q, x); }";
    check(&format!("{both} event e(int x) {{ both(one, last, x); }}"), &[]);
    check(&format!("{both} event e(int x) {{ both(last, one, x); }}"), &[DISORDER]);
    check(&format!("{both} event e(int x) {{ both(one, one, x); }}"), &[REPEATED]);
    check(
        &format!(
            "{both} fun void through(Array.t<32> q, int x) {{ both(two#a, q, x); }} event e(int x) {{ through(one, x); }}"
        ),
        &[DISORDER],
    );
    check(
        &format!(
            "{both} fun void through(Array.t<32> q, int x) {{ both(two#a, q, x); }} event e(int x) {{ through(two#v[0], x); }}"
        ),
        &[],
    );
    check(
        "fun void fixed(Array.t<32> p, int x) { put(two#a, x); put(p, x); put(last, x); }
           event e(int x) { fixed(two#v[1], x); }",
        &[],
    );
    check(
        "fun void none(Array.t<32> p, int x) { put(last, x); put(p, x); put(one, x); }",
        &[CONTRADICTION],
    );
    // The program does not call it, and it is wrong with any arguments.
    check("fun void twice(Array.t<32> p, int x) { put(p, x); put(p, x); }", &[REPEATED]);
    // A function is summarised once: the error is where the arguments are wrong, once a call.
    check(
        &format!(
            "{both} event e(int x) {{ both(last, one, x); }} event f(int x) {{ both(last, one, x); }}"
        ),
        &[DISORDER, DISORDER],
    );
}

#[test]
fn declared_constraints() {
    check(
        "fun void f(Array.t<32> p, Array.t<32> q)[p < q] { skip; } event e() { f(last, one); }",
        &[ARGUMENTS],
    );
    check(
        "fun void f(Array.t<32> p, Array.t<32> q)[p < q] { skip; } event e() { f(one, last); }",
        &[],
    );
    check("fun void f(Array.t<32> p)[one < p] { skip; } event e() { f(one); }", &[ARGUMENTS]);
    check(
        "fun void f(Array.t<32> p, Array.t<32> q, Array.t<32> r)[p < q < r] { skip; } event e() { f(one, last, two#a); }",
        &[ARGUMENTS],
    );
    check(
        "fun void f(Array.t<32> p, Array.t<32> q)[p <= q] { skip; } event e() { f(one, one); }",
        &[],
    );
    check(
        "fun void f(Array.t<32> p)[end p] { skip; } event e() { f(last); put(one, 1); }",
        &[DISORDER],
    );
    check(
        "fun void f(Array.t<32> p, Array.t<32> q)[p < q] { put(q, 1); put(p, 1); }",
        &[CONTRADICTION],
    );
    check("event g(Array.t<32> p, Array.t<32> q) { put(p, 1); put(q, 1); }", &[UNDECLARED]);
    check(
        "event g(Array.t<32> p, Array.t<32> q, Array.t<32> r)[p < q; q < r] { put(p, 1); put(r, 1); }",
        &[],
    );
    check("event g(Array.t<32> p)[p < last] { put(p, 1); put(last, 1); }", &[]);
    check("event g(Array.t<32> p)[p < two] { put(p, 1); put(last, 1); }", &[]);
    check("event g(Array.t<32> p)[p < last] { put(p, 1); put(two#a, 1); }", &[UNDECLARED]);
}

#[test]
fn event_values() {
    handler("generate over(one, last);", &[]);
    handler("generate over(last, one);", &[ARGUMENTS]);
    handler("event e = over(two#v[0], two#v[1]); generate e;", &[]);
    // Making an event passes nothing.
    handler("put(last, x); generate over(one, two#a); generate single_over(last);", &[]);
    check(
        "fun void send(Array.t<32> p, Array.t<32> q) { generate over(p, q); } event e() { send(last, one); }",
        &[ARGUMENTS],
    );
    check("event g(Array.t<32> p, Array.t<32> q) { generate over(p, q); }", &[UNDECLARED]);
    check("event g(Array.t<32> p, Array.t<32> q)[p < q] { generate over(p, q); }", &[]);
    // The events of a pattern are in the order that they were made with.
    handler(
        "event g = over(one, last); match g with | over(Array.t<32> p, Array.t<32> q) -> { put(p, x); put(q, x); } | _ -> { skip; }",
        &[],
    );
    handler(
        "event g = over(one, last); match g with | over(Array.t<32> p, Array.t<32> q) -> { put(q, x); put(p, x); } | _ -> { skip; }",
        &[CONTRADICTION],
    );
}

#[test]
fn unordered_calls_are_left_out() {
    handler("put(last, x); Array.set<unordered>(one, 0, x); put<unordered>(one, x);", &[]);
    handler("Array.set<unordered>(last, 0, x); put(one, x);", &[]);
    // Not what stands in their arguments.
    handler("put(last, x); Array.set<unordered>(last, 0, Array.get(one, 0));", &[DISORDER]);
    // Handlers rely on what events ask.
    check(
        "fun void send(Array.t<32> p, Array.t<32> q) { generate over(p, q); } event e() { send<unordered>(last, one); }",
        &[ARGUMENTS],
    );
    check(
        "fun void send(Array.t<32> p, Array.t<32> q) { put(p, 1); generate over(p, q); put(q, 1); } event e() { send<unordered>(last, one); }",
        &[ARGUMENTS],
    );
    handler("int y = Table.lookup(table, x, x); Table.install<unordered>(table, x, act, 3);", &[]);
    handler("int y = Table.lookup(table, x, x); Table.install(table, x, act, 3);", &[REPEATED]);
}

#[test]
fn which_global_it_is() {
    let same = "fun 'x same('x y) { return y; }";
    check(&format!("{same} event e(int x) {{ put(same(one), same(x)); }}"), &[WHICH]);
}

const MODULE: &str = "
module M : {
    global type t;
    constr t create();
    fun void set(t p, int x)[start <= p; end p];
    fun void early(t p, int x);
    fun void both(t p, t q, int x)[start <= p; p < q; end q];
} {
    type t = { Array.t<32> a; Array.t<32> b; }
    constr t create() = { a = Array.create(4); b = Array.create(4); };
    fun void set(t p, int x) { put(p#a, x); put(p#b, x); }
    fun void early(t p, int x) { put(p#a, x); }
    fun void inside(t p, int x) { early(p, x); put(p#b, x); }
    fun void both(t p, t q, int x) { set(p, x); early(q, x); }
}
global M.t m1 = M.create();
global M.t m2 = M.create();
";

#[test]
fn interfaces_hide() {
    let with = |body: &str, expected: &[&str]| {
        check(&format!("{MODULE} event e(int x) {{ {body} }}"), expected);
    };
    with("M.set(m1, x); M.set(m2, x);", &[]);
    with("M.set(m2, x); M.set(m1, x);", &[DISORDER]);
    with("M.both(m1, m2, x);", &[]);
    with("M.both(m2, m1, x);", &[ARGUMENTS]);
    with("M.both(m1, m2, x); M.early(m2, x);", &[REPEATED]);
    // Conservative: the interface says that all of it has been passed.
    with("M.early(m1, x); M.early(m1, x);", &[REPEATED]);
    // An interface that lets a function end before it begins does not let others go back.
    check(
        "
        module N : { global type t; constr t create(); fun void f(t p)[end p]; } {
            type t = { Array.t<32> a; }
            constr t create() = { a = Array.create(4); };
            fun void f(t p) { skip; }
        }
        global N.t early = N.create();
        global Array.t<32> late = Array.create(4);
        fun void through(N.t p) { N.f(p); }
        event e(int x) { put(late, x); N.f(early); put(late, x); }
        event f(int x) { put(late, x); through(early); put(late, x); }",
        &[REPEATED, REPEATED],
    );
    check(
        "
        module N : { fun void f(Array.t<32> p, Array.t<32> q)[start <= p; p < q; end p]; } {
            fun void f(Array.t<32> p, Array.t<32> q) { put(p, 1); put(q, 1); }
        }",
        &[INTERFACE],
    );
}

#[test]
fn module_aliases_mean_both_modules() {
    let modules = "
        module A { fun void f(Array.t<32> p, Array.t<32> q) { put(p, 1); put(q, 1); } }
        module B { fun void f(Array.t<32> p, Array.t<32> q) { put(q, 1); } }
        module C = A if which else B;";
    check(&format!("{modules} event e(int x) {{ C.f(one, last); }}"), &[]);
    check(&format!("{modules} event e(int x) {{ C.f(last, one); }}"), &[DISORDER]);
}

#[test]
fn explanations_show_what_they_say() {
    for explanation in EXPLANATIONS {
        let code = explanation.code;
        let wrong = said("wrong.dpt", explanation.wrong);
        let has = |said: &crate::support::Said| said.found.iter().any(|one| one.code == code);
        assert!(!wrong.before.has_errors() && has(&wrong), "{code}: {}", wrong.text());
        let right = said("right.dpt", explanation.right);
        assert!(!right.before.has_errors() && right.found.is_empty(), "{code}: {}", right.text());
    }
}

#[test]
fn every_code_is_in_a_message() {
    let all: String = files(&root().join("tests/it/order/messages"))
        .iter()
        .map(|path| std::fs::read_to_string(path.with_extension("expected")).unwrap_or_default())
        .collect();
    for explanation in EXPLANATIONS {
        let code = format!("[{}]", explanation.code);
        assert!(all.contains(&code), "no program of the tests gets {code}");
    }
}

#[test]
fn examples_are_in_order() {
    for (path, text) in corpus("../../examples/lucid") {
        let said = crate::support::said_in(&path, &text, lucid::order::check);
        assert!(said.found.is_empty(), "{}", said.own());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(200), ..ProptestConfig::default() })]

    /// Programs with words changed, which mostly do not check, make nothing panic and nothing loop.
    #[test]
    fn no_program_makes_it_panic(
        which in any::<prop::sample::Index>(),
        changes in crate::support::changes(),
    ) {
        let corpus = corpus("tests/it/order/messages");
        let (path, text) = &corpus[which.index(corpus.len())];
        let text = crate::support::changed(text, &changes);
        crate::support::said_in(path, &text, lucid::order::check);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Code that replaces other code between two calls.

use crate::fixture::{Fixture, Recorder, argument, bits, field};
use react::module::{Module, StateAfterReload};

fn program(shared: &str, state: &str, body: &str) -> Fixture {
    Fixture::new().value("v", bits(32)).shared(shared).state(state).reaction(body)
}

#[track_caller]
fn call(module: &mut dyn Module) -> u64 {
    let mut malleables = [0];
    module.call(0, &[], &mut malleables, &mut Recorder::default()).expect("a call");
    malleables[0]
}

#[track_caller]
fn check(old: (&str, &str), new: (&str, &str), expected: u64) {
    let old = program(old.0, old.1, "n += 5; ${v} = n;");
    let new = program(new.0, new.1, "n += 100; ${v} = n;");
    let mut module = old.load();
    assert_eq!(call(&mut module), 5);
    module.reload(&new.code(), StateAfterReload::Carried).expect("code that loads");
    assert_eq!(call(&mut module), expected);
}

#[test]
fn state_is_carried_where_name_and_type_are_equal() {
    check(("", "int n;"), ("", "int other = 7; static int  n = 3;"), 105);
    check(("", "int n;"), ("", "unsigned n;"), 100);
    check(("", "int n;"), ("", "long n;"), 100);
    check(("typedef int count;", "count n;"), ("typedef int count;", "count n;"), 105);
    check(("typedef int count;", "count n;"), ("typedef unsigned count;", "count n;"), 100);
}

#[test]
fn types_are_compared_with_their_definitions() {
    let with = |members: &str| format!("struct s {{ {members} }};\n#define n all.first");
    let same = with("int first; int second;");
    let other = with("int second; int first;");
    check((&same, "struct s all;"), (&same, "struct s all;"), 105);
    check((&same, "struct s all;"), (&other, "struct s all;"), 100);
}

#[test]
fn state_is_fresh_on_demand() {
    let fixture = program("", "int n = 1;", "n += 5; ${v} = n;");
    let mut module = fixture.load();
    assert_eq!((call(&mut module), call(&mut module)), (6, 11));
    module.reload(&fixture.code(), StateAfterReload::Fresh).expect("code that loads");
    assert_eq!(call(&mut module), 6);
}

#[test]
fn code_with_other_arguments_leaves_the_old_one_running() {
    let mut module = program("", "int n;", "n += 5; ${v} = n;").load();
    let other = Fixture::new().value("v", bits(32)).reaction_of(
        vec![argument(field("hdr.a.x", bits(8)))],
        &[],
        "${v} = 1;",
    );
    module.reload(&other.code(), StateAfterReload::Carried).expect_err("other arguments");
    assert_eq!(call(&mut module), 5);
}

#[test]
fn code_that_does_not_load_leaves_the_old_one_running() {
    let fixture = program("", "int n;", "n += 5; ${v} = n;");
    let mut module = fixture.load();
    let broken =
        react::module::Code::new(b"no shared object".to_vec(), fixture.code().shape().clone());
    module.reload(&broken, StateAfterReload::Carried).expect_err("no code");
    assert_eq!(call(&mut module), 5);
}

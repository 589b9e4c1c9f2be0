// SPDX-License-Identifier: Apache-2.0
//! What each pass makes: a source, and the handler of its event `go` before or after a pass.

use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_compiler::normal;
use source::{RenderOptions, SourceMap, render_text};

/// The handler of `go` after all passes up to this one: its locals and statements.
fn check(pass: &str, source: &str, expected: &str) {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let text = source.to_owned();
    let compiled = front::compile(&mut map, "pass.dpt", text, &files, &symbolics, &[]);
    let program = match compiled {
        Ok(compiled) => compiled.program,
        Err(said) => panic!("{}", render_text(&map, &said, RenderOptions::default())),
    };
    let after = normal::after_passes(&program);
    let after = after.into_iter().find(|after| after.name == pass).expect("a pass");
    let handler = after.text.lines().skip_while(|line| !line.contains("event go@"));
    let body = handler.skip(2).take_while(|line| line.starts_with("    "));
    let found: Vec<&str> = body.map(|line| &line[4..]).collect();
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    assert_eq!(found, expected, "\nfound:\n{}\n", found.join("\n"));
}

#[test]
fn event_values_become_numbers() {
    check(
        "events",
        "event a(int x, bool b);
         event b();
         event go(int x) {
             event e = a(x, x == 1);
             if (x == 2) { e = b(); }
             generate e;
         }",
        "
local event e
local int<2> e.tag
local int<32> e.a.x
local bool e.a.b
  e.tag = 0w2
  e.tag = 1w2
  e.a.x = x
  e.a.b = x == 1w32
  if x == 2w32
    e.tag = 2w2
  match e.tag
  | 1 ->
    generate a(e.a.x, e.a.b)
  | 2 ->
    generate b()
",
    );
}

#[test]
fn delays_and_places_of_event_values_are_kept() {
    check(
        "events",
        "event a(int x);
         event go(int x) {
             event e = a(x);
             if (x == 2) { e = Event.delay(e, 100); }
             if (x == 3) { e = Event.locate(e, x); }
             if (x == 4) { e = Event.locate(e, {1, 2}); }
             generate e;
             generate_port(7, e);
         }",
        "
local event e
local int<1> e.tag
local int<32> e.delay
local int<2> e.place
local int<32> e.switch
local group e.switches
local int<32> e.a.x
  e.tag = 0w1
  e.tag = 1w1
  e.a.x = x
  e.delay = 0w32
  e.place = 0w2
  if x == 2w32
    e.delay = 100w32
  if x == 3w32
    e.place = 1w2
    e.switch = x
  if x == 4w32
    e.place = 2w2
    e.switches = {1, 2}
  match e.tag
  | 1 ->
    match e.place
    | 0 ->
      generate delay(a(e.a.x), e.delay)
    | 1 ->
      generate delay(a(e.a.x), e.delay) to switch e.switch
    | 2 ->
      generate delay(a(e.a.x), e.delay) to switches e.switches
  match e.tag
  | 1 ->
    generate delay(a(e.a.x), e.delay) to port 7w32
",
    );
}

#[test]
fn this_is_what_the_handler_began_with() {
    check(
        "events",
        "event go(int x, int y) {
             x = x + 1;
             generate Event.delay(this, 10);
         }",
        "
local int<32> this.x
  this.x = x
  x = x + 1w32
  generate delay(go(this.x, y), 10w32)
",
    );
}

#[test]
fn matches_on_events_become_conditions() {
    check(
        "events",
        "event a(int x);
         event b(int x);
         event go(int x) {
             event e = a(x);
             if (x == 2) { e = b(1); }
             match e with
             | a(int y) -> { generate b(y); }
             | go(int z) -> { generate a(z); }
             | _ -> { skip; }
         }",
        "
local event e
local int<32> y
local int<32> z
local int<2> e.tag
local int<32> e.a.x
local int<32> e.b.x
  e.tag = 0w2
  e.tag = 1w2
  e.a.x = x
  if x == 2w32
    e.tag = 2w2
    e.b.x = 1w32
  if e.tag == 1w2
    y = e.a.x
    generate b(y)
",
    );
}

#[test]
fn places_stand_in_the_statement() {
    check(
        "events",
        "event a(int x);
         event go(int x) {
             generate Event.locate(Event.delay(a(x), 5), 3);
             generate_switch(2, Event.locate(a(x), 3));
         }",
        "
  generate delay(a(x), 5w32) to switch 3w32
  generate a(x) to switch 2w32
",
    );
}

#[test]
fn groups_become_numbers() {
    check(
        "groups",
        "extern group far;
         event go(int x) {
             group g = {2, 1};
             if (x == 1) { g = far; }
             if (x == 2) { g = flood x; }
             generate_ports(g, go(1));
         }",
        "
local group g
local int<2> g.which
local int<32> g.port
  g.which = 0w2
  g.port = 0w32
  g.which = 1w2
  if x == 1w32
    g.which = 2w2
  if x == 2w32
    g.which = 3w2
    g.port = x
  match g.which
  | 1 ->
    generate go(1w32) to ports {1, 2}
  | 2 ->
    generate go(1w32) to ports far
  | 3 ->
    generate go(1w32) to ports flood g.port
",
    );
}

#[test]
fn groups_are_compared_by_number() {
    check(
        "groups",
        "event go(int x) {
             group g = {1};
             if (x == 1) { g = flood 3; }
             if (g == {1}) { generate go(2); }
             if (g != flood x) { generate go(3); }
         }",
        "
local group g
local int<2> g.which
local int<32> g.port
  g.which = 0w2
  g.port = 0w32
  g.which = 1w2
  if x == 1w32
    g.which = 2w2
    g.port = 3w32
  if g.which == 1w2
    generate go(2w32)
  if !((g.which == 2w2) && (g.port == x))
    generate go(3w32)
",
    );
}

#[test]
fn ports_of_floods_are_leaves_and_switches_are_single() {
    check(
        "groups",
        "event go(int x) {
             generate_ports(flood (x + 1), go(1));
             generate Event.locate(go(2), {4, 3});
         }",
        "
local int<32> flood.port
  flood.port = x + 1w32
  generate go(1w32) to ports flood flood.port
  generate go(2w32) to switch 3w32
  generate go(2w32) to switch 4w32
",
    );
}

#[test]
fn payloads_are_kept_or_empty() {
    check(
        "payloads",
        "packet event go(int x, Payload.t rest);
         handle go(int x, Payload.t rest) {
             Payload.t p = rest;
             if (x == 1) { p = Payload.empty(); }
             generate_port(1, go(x, p));
         }",
        "
local Payload.t p
local bool p.kept
  p.kept = false
  p.kept = true
  if x == 1w32
    p.kept = false
  if p.kept
    generate go(x, rest) to port 1w32
  else
    generate go(x, empty_payload) to port 1w32
",
    );
}

#[test]
fn what_is_read_early_begins_as_zero() {
    check(
        "initial",
        "event a(int x);
         event go(int x) {
             event e = go(x);
             if (x == 2) { e = a(x + 1); }
             generate e;
         }",
        "
local event e
local int<2> e.tag
local int<32> e.a.x
local int<32> e.go.x
  e.a.x = 0w32
  e.tag = 0w2
  e.tag = 2w2
  e.go.x = x
  if x == 2w32
    e.tag = 1w2
    e.a.x = x + 1w32
  match e.tag
  | 1 ->
    generate a(e.a.x)
  | 2 ->
    generate go(e.go.x)
",
    );
}

#[test]
fn known_values_are_computed() {
    check(
        "dead_code",
        "event go(int x, int<8> y) {
             int a = 4;
             int b = a + 3;
             if (b == 7) { x = x + 0; } else { x = 5; }
             int<16> c = (int<16>)((int<32>)y);
             generate go(x + b, (int<8>)c);
         }",
        "
local int<16> c
  c = (int<16>)y
  generate go(x + 7w32, c[7:0])
",
    );
}

#[test]
fn conditions_teach_what_variables_are() {
    check(
        "dead_code",
        "event go(int x) {
             if (x == 3) {
                 generate go(x + 1);
                 if (x == 4) { generate go(7); }
             } else {
                 match x with
                 | 3 -> { generate go(8); }
                 | 5 -> { generate go(x); }
                 | _ -> { generate go(9); }
             }
         }",
        "
  if x == 3w32
    generate go(4w32)
  else
    match x
    | 3 ->
      generate go(8w32)
    | 5 ->
      generate go(5w32)
    | _ ->
      generate go(9w32)
",
    );
}

#[test]
fn the_last_branch_that_can_match_needs_no_pattern() {
    check(
        "dead_code",
        "event a(int x);
         event b(int x);
         event go(int x) {
             event e = a(x);
             if (x == 2) { e = b(x); }
             generate e;
         }",
        "
local int<2> e.tag
local int<32> e.b.x
  e.b.x = 0w32
  e.tag = 1w2
  if x == 2w32
    e.tag = 2w2
    e.b.x = 2w32
  match e.tag
  | 1 ->
    generate a(x)
  | _ ->
    generate b(e.b.x)
",
    );
}

#[test]
fn reads_that_nobody_wants_go_and_draws_stay() {
    check(
        "dead_code",
        "memop plus(int stored, int x) { return stored + x; }
         global Array.t<32> a = Array.create(4);
         global Array.t<32> b = Array.create(4);
         event go(int x) {
             int _p = Array.get(a, x);
             int _q = Array.update(b, x, plus, 1, plus, 2);
             int _r = Sys.random();
             if (x == 1) { skip; } else { generate go(0); }
         }",
        "
local int<32> _r
  b[x] set plus<32>(old, 2w32)
  _r = random()
  if x != 1w32
    generate go(0w32)
",
    );
}

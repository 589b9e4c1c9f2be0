// SPDX-License-Identifier: Apache-2.0
//! The paper's and the artifact's spellings give the trees of today's.

use super::{show, tree};

/// Both texts give the same tree, but for the marks of how it was spelled.
#[track_caller]
fn check(older: &str, later: &str) {
    let plain = |text: &str| show::program(&tree(text)).replace("paper:", "");
    assert_eq!(plain(older), plain(later), "{older}");
}

#[test]
fn sizes_in_double_angles() {
    check("event e(int<<8>> x);", "event e(int<8> x);");
    check("extern Array.t<<32>> a;", "extern Array.t<32> a;");
    check("extern t<<8, 'a>> a;", "extern t<8, 'a> a;");
    check(
        "event e(int x) { int y = hash<<16>>(1, x); int z = (int<<8>>)y; }",
        "event e(int x) { int y = hash<16>(1, x); int z = (int<8>)y; }",
    );
    check("type t<<a>> = { int b; }", "type t<'a> = { int b; }");
}

#[test]
fn groups_and_constructors() {
    check("group G = {1, 2};", "const group G = {1, 2};");
    check("constructor t mk(int n) = { a = n };", "constr t mk(int n) = { a = n; };");
}

#[test]
fn tables() {
    check(
        "table_type t = { key_type: (int, int<8>) arg_type: () ret_type: bool }",
        "type t = Table.t<<(int, int<8>), auto, (), bool>>",
    );
    check(
        "table_type t = { key_type: int arg_type: (int) ret_type: res }",
        "type t = Table.t<<int, auto, int, res>>",
    );
    check(
        "action_constr f(bool b) = { return action int made(int a) { return a; }; };",
        "action int f(bool b)(int a) { return a; }",
    );
    check(
        "action_constr f(bool b) = { return action t _(int a) { return {x = b}; }; };",
        "action t f(bool b)(int a) { return {x = b}; }",
    );
    check(
        "global t x = table_create<t>((hit, miss), 1024, miss(0));",
        "global t x = Table.create(1024, [hit; miss], miss, 0);",
    );
    check(
        "global t x = table_create<t>((hit), n, hit());",
        "global t x = Table.create(n, [hit], hit, ());",
    );
    check(
        "global t x = table_create<M.t<8>>((hit), n, hit(1, true));",
        "global t x = Table.create(n, [hit], hit, (1, true));",
    );
    check(
        "event e(int k) { bool b = table_match(x, (k, 1), ()); }",
        "event e(int k) { bool b = Table.lookup(x, (k, 1), ()); }",
    );
    check(
        "event e() { table_multi_install(x, { (1) -> f(2); }); }",
        "event e() { table_install(x, { (1) -> f(2) }); }",
    );
}

#[test]
fn table_entries() {
    let program = tree(
        "event e(int a) { table_install(t, { (1, _) -> hit(a); [10](a &&& 0xff, 0b1*) -> M.miss() }); }",
    );
    assert_eq!(
        show::program(&program).trim_end(),
        "(Background e (int a) [] [(install t (- (1 (pattern _)) hit (a)) \
         (10 ((mask a 255) (pattern 1*)) M.miss ()))])"
    );
}

/// The first listing of the paper's that has everything (Lucid §3.1, §4.1), in its own spelling.
#[test]
fn a_program_of_the_paper() {
    let text = "\
        global pathlens = new Array<<32>>(16);\n\
        memop incr(int stored, int added) { return stored + added; }\n\
        fun int get_pathlen(int dst) { return Array.get(pathlens, dst, incr, 1); }\n\
        event route_query(int sender_id, int dst);\n\
        event route_reply(int sender_id, int dst, int pathlen);\n\
        handle route_query(int sender_id, int dst) {\n\
            int pathlen = get_pathlen(dst);\n\
            event reply = route_reply(SELF, dst, pathlen);\n\
            generate Event.locate(reply, sender_id);\n\
        }\n";
    assert_eq!(
        show::program(&tree(text)),
        "(global - pathlens (new (paper:Array 32) 16))\n\
         (memop incr (int stored) (int added) [(return (Add stored added))])\n\
         (fun int get_pathlen (int dst) [] [(return (call Array.get pathlens dst incr 1))])\n\
         (Background route_query (int sender_id) (int dst) [])\n\
         (Background route_reply (int sender_id) (int dst) (int pathlen) [])\n\
         (handle Ingress route_query (int sender_id) (int dst) \
         [(int pathlen = (call get_pathlen dst)) \
         (event reply = (call route_reply SELF dst pathlen)) \
         (generate (call Event.locate reply sender_id))])\n"
    );
}

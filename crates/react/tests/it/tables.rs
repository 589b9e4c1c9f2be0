// SPDX-License-Identifier: Apache-2.0
//! Tables of the program that runs: what their lists, defaults and entries keep of the text, and their names in C.

use crate::compiled::compiled_with;
use react::c::generate;

/// A program with this malleable table and these declarations in front of its control.
fn program(before: &str, locals: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header ip_t {{ bit<32> src; bit<32> dst; }}
struct headers_t {{ ip_t ip; }}
struct meta_t {{ bit<8> level; }}
malleable field bit<32> side {{ init = hdr.ip.src; alts {{ hdr.ip.src, hdr.ip.dst }} }}
{before}
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    state start {{ p.extract(hdr.ip); transition accept; }}
}}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    {locals}
    apply {{ t.apply(); }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.ip); }} }}
reaction r() {{ log(\"on\"); }}
V1Switch(P(), C(), I(), E(), C(), D()) main;
"
    )
}

/// Holds that the program that runs has these lines, and that C has these functions.
fn check(before: &str, locals: &str, lines: &[&str], functions: &[&str]) {
    let compiled = compiled_with(&program(before, locals), None);
    let code = generate(&compiled.interface, &compiled.map).text;
    for line in lines {
        let is_there = compiled.text.lines().any(|one| one.trim() == *line);
        assert!(is_there, "{line} is not in\n{}", compiled.text);
    }
    for function in functions {
        let call = format!("{function}(");
        assert!(code.contains(&call), "{function} is not in\n{code}");
    }
}

#[test]
fn arguments_that_the_program_binds_stay_in_lists_and_default_tables() {
    check(
        "action leave(inout standard_metadata_t to, bit<9> port) { to.egress_spec = port; }",
        "malleable table t {
            key = { hdr.ip.dst: exact; }
            actions = { leave(s); NoAction; }
            default_action = leave(s, 3);
        }",
        &["leave(s);"],
        &["t_add_leave", "t_default_leave"],
    );
    check(
        "",
        "action set(inout bit<32> to, bit<32> by) { to = ${side} + by; }
        malleable table t {
            key = { hdr.ip.dst: exact; }
            actions = { set(hdr.ip.src); }
            default_action = set(hdr.ip.src, 3);
        }",
        &["set__hdr_ip_src(hdr.ip.src);", "set__hdr_ip_dst(hdr.ip.src);"],
        &["t_add_set", "t_default_set"],
    );
}

#[test]
fn entries_of_one_key_may_have_braces() {
    check(
        "",
        "action send(bit<9> port) { s.egress_spec = port; }
        malleable table t {
            key = { hdr.ip.dst: exact; }
            actions = { send; NoAction; }
            const entries = { { 8w1 ++ 24w2 }: send(4); }
        }",
        &["(8w1 ++ 24w2, 0): send(4);", "(8w1 ++ 24w2, 1): send(4);"],
        &[],
    );
}

#[test]
fn names_in_c_are_those_of_the_declarations() {
    check(
        "",
        "@name(\".keep\") action send(bit<9> port) { s.egress_spec = port; }
        action keep() { }
        @name(\"a table\") malleable table t {
            key = { hdr.ip.dst: exact; }
            actions = { send; keep; NoAction; }
        }",
        &[],
        &["t_add_send", "t_mod_send", "t_add_keep", "t_del"],
    );
}

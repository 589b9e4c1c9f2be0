// SPDX-License-Identifier: Apache-2.0
//! Labels of programs, and what `annotate` and `prefix` write.

use super::walk::walk_statements;
use super::*;
use crate::compile::compile;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::PreprocessorOptions;
use crate::printer;

const HEAD: &str = "
match_kind { exact }
extern void random<T>(out T result, in T lo, in T hi);
extern Random<T> { Random(T lo, T hi); T read(); }
@random extern bit<8> noise(in bit<8> x);
extern bit<8> silence(in bit<8> x);
control Body(inout bit<8> x);
package Pair(Body a, Body b);
";

fn typed(text: &str) -> TypedProgram {
    let text = format!("{HEAD}{text}");
    let options = PreprocessorOptions::default();
    let compiled = compile("case.p4", text, &InterfacesOnly, &options);
    let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    TypedProgram::clone(&program)
}

/// What follows the head when labels are written into the program.
fn annotated(text: &str) -> String {
    let typed = typed(text);
    let mut tree = typed.program.clone();
    annotate(&mut tree, &typed);
    let fresh: HashSet<u32> = (typed.program.node_count..tree.node_count).collect();
    assert_eq!(fresh.len(), (tree.node_count - typed.program.node_count) as usize);
    let at = tree.declarations.iter().position(|it| &*it.name.text == "Pair").expect("it is there");
    printer::print_declarations(&tree.declarations[at + 1..])
}

fn check(text: &str, expected: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&annotated(text)), words(expected));
}

#[test]
fn labels_are_written_where_calls_stand() {
    check(
        "
bit<8> die() { bit<8> r; random(r, 1, 6); return silence(r); }
control C(inout bit<8> x) {
    Random<bit<8>>(1, 2) r;
    bit<8> first = die();
    action a() { x = noise(x) + silence(x); }
    action called() { x = noise(x); }
    table t { key = { r.read() : exact @name(\"k\"); } actions = { a; called; } default_action = a(); }
    apply {
        called();
        if (x == r.read()) { x = 1; } else x = die();
        for (bit<8> i = die(); i < 4; i = i + 1) { random(x, 0, i); }
        bit<8> last = die() + die();
        t.apply();
    }
}
control N(inout bit<8> x) { apply { x = x + 1; } }
Pair(C(), N()) main;",
        "
bit<8> die() {
    bit<8> r;
    @random_site(\"0\") {
        random(r, 1, 6);
    }
    return silence(r);
}
control C(inout bit<8> x) {
    Random<bit<8>>(1, 2) r;
    @random_site(\"/block a/0\")
    bit<8> first = die();
    action a() {
        @random_site(\"/action C.a/0\") {
            x = noise(x) + silence(x);
        }
    }
    @random_scope(\"action C.called\")
    action called() {
        @random_site(\"0\") {
            x = noise(x);
        }
    }
    @random_site(\"/table C.t/0\")
    table t {
        key = {
            r.read(): exact @name(\"k\");
        }
        actions = {
            a;
            called;
        }
        default_action = a();
    }
    apply {
        @random_site(\"/block a/1\") {
            called();
        }
        @random_site(\"/block a/2\") {
            if (x == r.read()) {
                x = 1;
            } else @random_site(\"/block a/3\") {
                x = die();
            }
        }
        @random_site(\"/block a/4\")
        for (bit<8> i = die(); i < 4; i = i + 1) {
            @random_site(\"/block a/5\") {
                random(x, 0, i);
            }
        }
        @random_site(\"/block a/6\", \"/block a/7\")
        bit<8> last = die() + die();
        t.apply();
    }
}
control N(inout bit<8> x) {
    apply {
        x = x + 1;
    }
}
Pair(C(), N()) main;",
    );
}

#[test]
fn blocks_in_two_roles_keep_relative_labels() {
    let text =
        annotated("control C(inout bit<8> x) { apply { random(x, 1, 6); } } Pair(C(), C()) main;");
    assert!(text.contains("@random_site(\"0\")"), "{text}");
}

#[test]
fn programs_without_draws_stay() {
    let text = "control C(inout bit<8> x) { apply { x = silence(x); } } Pair(C(), C()) main;";
    let typed = typed(text);
    assert!(RandomSites::of(&typed).is_empty());
    assert!(!annotated(text).contains('@'));
}

/// Copies of statements with ids of their own.
fn copied(statements: &[Statement], next_id: &mut u32) -> Vec<Statement> {
    struct Renumber<'n>(&'n mut u32);

    impl crate::visit_mut::VisitMut for Renumber<'_> {
        fn id(&mut self, id: &mut NodeId) {
            *id = NodeId(*self.0);
            *self.0 += 1;
        }
    }

    let mut copy = statements.to_vec();
    for statement in &mut copy {
        crate::visit_mut::VisitMut::statement(&mut Renumber(next_id), statement);
    }
    copy
}

#[test]
fn labels_add_up_in_whichever_order_calls_are_inlined() {
    let text = "
bit<8> g() { bit<8> r; random(r, 1, 6); return r; }
bit<8> f() { bit<8> y = g() + g(); return y; }
control C(inout bit<8> x) { apply { x = f(); } }
control N(inout bit<8> x) { apply { } }
Pair(C(), N()) main;";
    let typed = typed(text);
    let body = |name: &str| {
        let is_it = |it: &&Declaration| &*it.name.text == name;
        match &typed.program.declarations.iter().find(is_it).expect("it is there").kind {
            DeclarationKind::Function { body, .. } => body.statements.clone(),
            DeclarationKind::Control(control) => control.body.statements.clone(),
            _ => panic!("{name} has a body"),
        }
    };
    let calls = |statements: &[Statement]| {
        let mut found = Vec::new();
        walk_statements(statements, &mut |step| {
            if let Step::Call(call) = step {
                found.push(call.id);
            }
        });
        found
    };
    let mut next_id = typed.program.node_count;
    let inline = |sites: &mut RandomSites, call: NodeId, body: &[Statement], next: &mut u32| {
        let copy = copied(body, next);
        let through = sites.label(call).expect("it draws").clone();
        for (from, to) in calls(body).into_iter().zip(calls(&copy)) {
            sites.copied(from, to, Some(&through));
        }
        copy
    };
    let labels = |sites: &RandomSites, statements: &[Statement]| -> Vec<String> {
        let labels = calls(statements).into_iter().filter_map(|id| sites.label(id));
        labels.map(|label| label.to_string()).collect()
    };
    let expected = ["/block a/0/0/0", "/block a/0/1/0"];
    // From the outside in.
    let mut sites = RandomSites::explicit(&typed);
    let f_in_c = inline(&mut sites, calls(&body("C"))[0], &body("f"), &mut next_id);
    let found: Vec<String> = calls(&f_in_c)
        .into_iter()
        .flat_map(|call| {
            let g_in_c = inline(&mut sites, call, &body("g"), &mut next_id);
            labels(&sites, &g_in_c)
        })
        .collect();
    assert_eq!(found, expected);
    // From the inside out.
    let mut sites = RandomSites::explicit(&typed);
    let found: Vec<String> = calls(&body("f"))
        .into_iter()
        .flat_map(|call| {
            let g_in_f = inline(&mut sites, call, &body("g"), &mut next_id);
            let g_in_c = inline(&mut sites, calls(&body("C"))[0], &g_in_f, &mut next_id);
            labels(&sites, &g_in_c)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn inlined_bodies_get_the_label_of_the_call() {
    let text = "
bit<8> die() {
    bit<8> r = noise(1);
    random(r, 1, 6);
    for (bit<8> i = 0; i < noise(i); i = i + 1) { @random_site(\"/whole\") { random(r, 0, i); } }
    return r;
}
control C(inout bit<8> x) { apply { x = die(); } }
Pair(C(), C()) main;";
    let typed = typed(text);
    let mut tree = typed.program.clone();
    annotate(&mut tree, &typed);
    let body = tree.declarations.iter_mut().find_map(|it| match &mut it.kind {
        DeclarationKind::Function { body, .. } => Some(body),
        _ => None,
    });
    let body = body.expect("the function is there");
    prefix(&mut body.statements, "4");
    let labels: Vec<Arc<str>> =
        RandomSites::of(&TypedProgram { program: tree, ..typed }).labels.into_values().collect();
    let mut labels: Vec<&str> = labels.iter().map(|label| &**label).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["/whole", "0", "4/0", "4/1", "4/2"]);
}

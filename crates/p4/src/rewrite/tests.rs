// SPDX-License-Identifier: Apache-2.0
//! Tests of the rewriter: each edit on a small program, as printed text, and each mistaken use as
//! its message.

use super::*;
use crate::ast::*;
use crate::compile::compile;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::PreprocessorOptions;
use crate::printer::{print, same_tree};

pub(super) fn typed(text: &str) -> (Arc<TypedProgram>, SourceMap) {
    let options = PreprocessorOptions::default();
    let done = compile("test.p4", text.to_owned(), &InterfacesOnly, &options);
    let program = done.program.unwrap_or_else(|| panic!("{text}\n{:?}", done.diagnostics));
    (program, done.map)
}

#[test]
fn unchanged_programs_stay_the_same() {
    let (program, map) = typed("#include <core.p4>\n#include <v1model.p4>\n");
    let rewritten = Rewriter::of(&program, map).finish().expect("as right as before");
    assert!(same_tree(&program.program, &rewritten.program.program));
    assert_eq!(print(&program.program), print(&rewritten.program.program));
    assert_eq!(rewritten.came_from.copies().count(), 0);
}

#[test]
fn copies_have_ids_of_their_own_and_refer_to_their_own_declarations() {
    let text = "control c(inout bit<8> x) {\n\
                bit<8> y = 1; action a() { x = y; } apply { a(); y = x; } }\n";
    let (program, map) = typed(text);
    let mut rewriter = Rewriter::of(&program, map);
    let mut copy = rewriter.copy(&program.program.declarations[0]);
    copy.name.text = "d".into();
    let DeclarationKind::Control(control) = &copy.kind else { panic!("a control") };
    let old = rewriter.came_from().origin(control.locals[0].id);
    assert_ne!(old, control.locals[0].id);
    let StatementKind::Assign { target, value, .. } = &control.body.statements[1].kind else {
        panic!("an assignment")
    };
    let local = control.locals[0].id;
    assert_eq!(rewriter.definition(target.id), Some(Definition::Node(local)));
    let parameter = control.signature.parameters[0].id;
    assert_eq!(rewriter.definition(value.id), Some(Definition::Node(parameter)));
    assert_eq!(copy.span, program.program.declarations[0].span);

    let again = rewriter.copy(&copy);
    assert_eq!(rewriter.came_from().origin(again.id), program.program.declarations[0].id);
    rewriter.tree.declarations.push(copy);
    let rewritten = rewriter.finish().expect("a right program");
    let printed = print(&rewritten.program.program);
    assert_eq!(printed.matches("bit<8> y = 1;").count(), 2);
}

/// A program with most of what can be edited.
const PROGRAM: &str = "\
#include <core.p4>
header h_t { bit<8> a; bit<8> b; }
struct hs_t { h_t h; }
enum bit<8> kind { A = 1, B = 2 }
const bit<8> LIMIT = 7;
parser p(packet_in packet, out hs_t hs) {
    state start { packet.extract(hs.h); transition select(hs.h.a) { 1: again; LIMIT: accept; } }
    state again { hs.h.b = kind.A; transition accept; }
    state lost { transition again; }
}
control unused(inout bit<8> x) { apply { x = 1; } }
control c(inout hs_t hs)(bit<8> start_value) {
    bit<8> local = start_value;
    bit<8> never;
    action set(bit<8> value) { hs.h.a = value; }
    action drop() { }
    table t {
        key = { hs.h.a: exact; local: exact; }
        actions = { set; drop; }
        const entries = { (1, 2): set(3); (2, 3): drop(); }
        size = 16;
    }
    apply {
        if (hs.h.isValid()) local = 1; else local = 2;
        switch (t.apply().action_run) { set: { exit; } default: { local = local + 1; } }
        for (bit<8> i = 0; i < 4; i = i + 1) { local = i; }
    }
}
parser P(packet_in packet, out hs_t hs);
control C(inout hs_t hs);
package top(P p, C c);
top(p(), c(start_value = 5)) main;
";

/// The identity of the node of this kind whose text begins like this, the last of them.
fn at<T: Node>(rewriter: &Rewriter, text: &str) -> NodeId {
    struct Search<'r> {
        rewriter: &'r Rewriter,
        text: &'r str,
        kind: &'static str,
        found: Option<NodeId>,
    }
    impl<'a> crate::visit::Visit<'a> for Search<'_> {
        fn enter<T: Node>(&mut self, node: &'a T) -> bool {
            let spelled = self.rewriter.map().slice(node.span());
            if T::KIND == self.kind && spelled.starts_with(self.text) {
                self.found = Some(node.id());
            }
            true
        }
    }
    let mut search = Search { rewriter, text, kind: T::KIND, found: None };
    crate::visit::walk_program(&mut search, rewriter.program());
    search.found.unwrap_or_else(|| panic!("no {} {text}", T::KIND))
}

fn tokens(text: &str) -> Vec<crate::token::Token> {
    let mut found = Diagnostics::new();
    let tokens = crate::parser::pieces::tokens_at(Span::NONE, text, &mut found);
    assert!(found.is_empty(), "{found:?}");
    tokens
}

fn statements(rewriter: &mut Rewriter, text: &str) -> Vec<Statement> {
    rewriter.pieces().statements(tokens(text)).expect("statements")
}

/// Checks the difference that edits of [`PROGRAM`] make: lines taken away and lines added.
fn check(edit: impl FnOnce(&mut Rewriter) -> Result<(), EditError>, expected: &str) {
    let (program, map) = typed(PROGRAM);
    let before = print(&program.program);
    let mut rewriter = Rewriter::of(&program, map);
    edit(&mut rewriter).unwrap_or_else(|error| panic!("{error}"));
    let rewritten = match rewriter.finish() {
        Ok(rewritten) => rewritten,
        Err((found, map)) => panic!("{}", source::render_text(&map, &found, Default::default())),
    };
    let after = print(&rewritten.program.program);
    let mut found = String::new();
    for change in similar(&before, &after) {
        found.push_str(&change);
        found.push('\n');
    }
    assert_eq!(found.trim_end(), expected.trim(), "{after}");
}

/// Lines of two texts that differ, by the longest common subsequence.
fn similar(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut length = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            length[i][j] = match old[i] == new[j] {
                true => length[i + 1][j + 1] + 1,
                false => length[i + 1][j].max(length[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut changes) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || length[i + 1][j] >= length[i][j + 1]) {
            changes.push(format!("- {}", old[i].trim()));
            i += 1;
        } else {
            changes.push(format!("+ {}", new[j].trim()));
            j += 1;
        }
    }
    changes.retain(|change| change.len() > 2);
    changes
}

#[test]
fn statements_are_put_before_and_after() {
    check(
        |rewriter| {
            let place = at::<Statement>(rewriter, "switch");
            for text in ["never = 1;", "never = 2;"] {
                let code = statements(rewriter, text);
                rewriter.insert_before(place, code)?;
            }
            for text in ["never = 4;", "never = 3;"] {
                let code = statements(rewriter, text);
                rewriter.insert_after(place, code)?;
            }
            Ok(())
        },
        "+ never = 1;\n+ never = 2;\n+ never = 3;\n+ never = 4;",
    );
}

#[test]
fn a_branch_becomes_a_block_and_an_else_goes_away() {
    check(
        |rewriter| {
            let place = at::<Statement>(rewriter, "local = 1");
            let code = statements(rewriter, "never = 1;");
            rewriter.insert_before(place, code)?;
            rewriter.remove(at::<Statement>(rewriter, "local = 2"))
        },
        "- if (hs.h.isValid()) local = 1;\n- else local = 2;\n\
         + if (hs.h.isValid()) {\n+ never = 1;\n+ local = 1;\n+ }",
    );
}

#[test]
fn lists_of_all_kinds_are_edited() {
    check(
        |rewriter| {
            let table = at::<Declaration>(rewriter, "table t");
            let key = at::<TableProperty>(rewriter, "key");
            let local = at::<KeyElement>(rewriter, "local");
            let copy = rewriter.get::<KeyElement>(local)?.clone();
            let copy = KeyElement {
                expression: rewriter.pieces().expression(tokens("start_value")).expect("a key"),
                ..rewriter.copy(&copy)
            };
            rewriter.append(key, vec![copy])?;
            rewriter.remove(local)?;
            rewriter.remove(at::<Entry>(rewriter, "(1, 2)"))?;
            rewriter.remove(at::<ActionRef>(rewriter, "set"))?;
            rewriter.remove(at::<SwitchCase>(rewriter, "set"))?;
            rewriter.remove(at::<TableProperty>(rewriter, "size"))?;
            let new = rewriter.pieces().table_properties(tokens("size = 8;")).expect("a size");
            rewriter.prepend(table, new)
        },
        "+ size = 8;\n- local: exact;\n+ start_value: exact;\n- set;\n- (1, 2): set(3);\n- size = 16;\n\
         - set: {\n- exit;\n- }",
    );
}

#[test]
fn parsers_types_and_blocks_are_edited() {
    check(
        |rewriter| {
            rewriter.remove(at::<SelectCase>(rewriter, "1"))?;
            rewriter.remove(at::<State>(rewriter, "state lost"))?;
            let case = rewriter.get::<SelectCase>(at::<SelectCase>(rewriter, "LIMIT"))?.clone();
            let mut case = rewriter.copy(&case);
            case.keyset.kind = ExpressionKind::Default;
            rewriter.append(at::<State>(rewriter, "state start"), vec![case])?;
            let field = rewriter.get::<Field>(at::<Field>(rewriter, "bit<8> b"))?.clone();
            let mut field = rewriter.copy(&field);
            field.name.text = "version".into();
            rewriter.append(at::<Declaration>(rewriter, "header h_t"), vec![field])?;
            let code = statements(rewriter, "never = 1;");
            rewriter.prepend(at::<Declaration>(rewriter, "control c"), code)?;
            let code = statements(rewriter, "hs.h.version = 0;");
            rewriter.append(at::<State>(rewriter, "state start"), code)?;
            let code = statements(rewriter, "never = 2;");
            rewriter.append(at::<SwitchCase>(rewriter, "default"), code)?;
            let unused =
                rewriter.take::<Declaration>(at::<Declaration>(rewriter, "control unused"))?;
            rewriter.append_declarations(vec![unused])
        },
        "+ bit<8> version;\n+ hs.h.version = 0;\n- 1: again;\n+ default: accept;\n\
         - state lost {\n- transition again;\n- }\n\
         - control unused(inout bit<8> x) {\n- apply {\n- x = 1;\n- }\n- }\n\
         + never = 1;\n+ never = 2;\n\
         + control unused(inout bit<8> x) {\n+ apply {\n+ x = 1;\n+ }\n+ }",
    );
}

#[test]
fn names_change_with_all_that_refers_to_them() {
    check(
        |rewriter| {
            for (from, to) in
                [("header h_t", "eth_t"), ("action set", "put"), ("table t", "table_t")]
            {
                rewriter.rename(at::<Declaration>(rewriter, from), to, ControlPlaneName::Change)?;
            }
            rewriter.rename(
                at::<State>(rewriter, "state again"),
                "more",
                ControlPlaneName::Change,
            )?;
            rewriter.rename(at::<EnumMember>(rewriter, "A"), "FIRST", ControlPlaneName::Change)?;
            rewriter.rename(
                at::<Parameter>(rewriter, "bit<8> start"),
                "v",
                ControlPlaneName::Change,
            )?;
            rewriter.rename(at::<Field>(rewriter, "bit<8> a"), "x", ControlPlaneName::Change)
        },
        "- header h_t {\n- bit<8> a;\n+ header eth_t {\n+ bit<8> x;\n- h_t h;\n+ eth_t h;\n\
         - A = 1,\n+ FIRST = 1,\n- transition select(hs.h.a) {\n- 1: again;\n\
         + transition select(hs.h.x) {\n+ 1: more;\n- state again {\n- hs.h.b = kind.A;\n\
         + state more {\n+ hs.h.b = kind.FIRST;\n- transition again;\n+ transition more;\n\
         - control c(inout hs_t hs)(bit<8> start_value) {\n- bit<8> local = start_value;\n\
         + control c(inout hs_t hs)(bit<8> v) {\n+ bit<8> local = v;\n\
         - action set(bit<8> value) {\n- hs.h.a = value;\n+ action put(bit<8> value) {\n\
         + hs.h.x = value;\n- table t {\n+ table table_t {\n- hs.h.a: exact;\n+ hs.h.x: exact;\n\
         - set;\n+ put;\n- (1, 2): set(3);\n+ (1, 2): put(3);\n\
         - switch (t.apply().action_run) {\n- set: {\n+ switch (table_t.apply().action_run) {\n\
         + put: {\n- top(p(), c(start_value = 5)) main;\n+ top(p(), c(v = 5)) main;",
    );
}

#[test]
fn the_control_plane_keeps_its_names() {
    check(
        |rewriter| {
            let local = at::<Declaration>(rewriter, "bit<8> local");
            rewriter.rename(local, "other", ControlPlaneName::Keep)?;
            rewriter.rename_freshly(
                at::<Declaration>(rewriter, "action drop"),
                "local",
                ControlPlaneName::Keep,
            )?;
            rewriter.rename(at::<Parameter>(rewriter, "bit<8> value"), "w", ControlPlaneName::Keep)
        },
        "- bit<8> local = start_value;\n+ bit<8> other = start_value;\n\
         - action set(bit<8> value) {\n- hs.h.a = value;\n\
         + action set(@name(\"value\") bit<8> w) {\n+ hs.h.a = w;\n\
         - action drop() {}\n+ @name(\"drop\")\n+ action local_1() {}\n\
         - local: exact;\n+ other: exact @name(\"local\");\n\
         - drop;\n+ local_1;\n- (2, 3): drop();\n+ (2, 3): local_1();\n\
         - if (hs.h.isValid()) local = 1;\n- else local = 2;\n\
         + if (hs.h.isValid()) other = 1;\n+ else other = 2;\n\
         - local = local + 1;\n+ other = other + 1;\n- local = i;\n+ other = i;",
    );
}

#[test]
fn new_code_is_renamed_by_scope() {
    check(
        |rewriter| {
            let code = statements(rewriter, "{ never = 1; bit<8> never = never; never = 2; }");
            rewriter.append(at::<Declaration>(rewriter, "control c"), code)?;
            let never = at::<Declaration>(rewriter, "bit<8> never");
            assert!(rewriter.program().declarations.iter().all(|each| each.id != never));
            rewriter.rename(never, "ever", ControlPlaneName::Change)
        },
        "- bit<8> never;\n+ bit<8> ever;\n\
         + {\n+ ever = 1;\n+ bit<8> never = ever;\n+ never = 2;\n+ }",
    );
}

#[test]
fn unreached_declarations_and_states_go() {
    check(
        |rewriter| {
            let code = statements(rewriter, "drop();");
            rewriter.replace_with_list(at::<Statement>(rewriter, "switch"), code)?;
            let count = rewriter.prune();
            assert_eq!(count, 5);
            Ok(())
        },
        "- state lost {\n- transition again;\n- }\n\
         - control unused(inout bit<8> x) {\n- apply {\n- x = 1;\n- }\n- }\n\
         - bit<8> never;\n- action set(bit<8> value) {\n- hs.h.a = value;\n- }\n\
         - table t {\n- key = {\n- hs.h.a: exact;\n- local: exact;\n- }\n- actions = {\n- set;\n\
         - drop;\n- }\n- const entries = {\n- (1, 2): set(3);\n- (2, 3): drop();\n- }\n- size = 16;\n\
         - }\n- switch (t.apply().action_run) {\n- set: {\n- exit;\n- }\n- default: {\n\
         - local = local + 1;\n- }\n- }\n+ drop();",
    );
}

/// Checks what is said of a mistaken edit, and that the program stays as it was.
fn check_mistake(edit: impl FnOnce(&mut Rewriter) -> Result<(), EditError>, expected: &str) {
    let (program, map) = typed(PROGRAM);
    let mut rewriter = Rewriter::of(&program, map);
    let error = edit(&mut rewriter).expect_err("a mistake");
    let place = rewriter.map().slice(error.span).lines().next().unwrap_or("").to_owned();
    let said = error.to_string().replace(&format!("node {}", error.node.0), "node N");
    assert_eq!(format!("{place}: {said}"), expected);
    let rewritten = rewriter.finish().expect("as right as before");
    assert!(same_tree(&program.program, &rewritten.program.program));
}

#[test]
fn mistakes_name_the_node() {
    check_mistake(|rewriter| rewriter.remove(NodeId(1_000_000)), ": no node N in the program");
    check_mistake(
        |rewriter| {
            let key = at::<KeyElement>(rewriter, "local");
            let code = statements(rewriter, "exit;");
            rewriter.insert_before(key, code)
        },
        "local: node N is of the kind table key, not statement",
    );
    check_mistake(
        |rewriter| {
            let code = statements(rewriter, "exit;");
            rewriter.append(at::<Declaration>(rewriter, "table t"), code)
        },
        "table t {: node N, of the kind declaration, has no list of parts of the kind statement",
    );
    check_mistake(
        |rewriter| {
            let code = statements(rewriter, "{ }");
            rewriter.insert_before(at::<Statement>(rewriter, "i = i + 1"), code)
        },
        "i = i + 1: beside node N, in the parentheses of a `for`, only declarations, assignments and \
         calls can stand",
    );
    check_mistake(
        |rewriter| {
            let twice = rewriter.get::<Statement>(at::<Statement>(rewriter, "switch"))?.clone();
            rewriter.insert_before(twice.id, vec![twice])
        },
        "switch (t.apply().action_run) { set: { exit; } default: { local = local + 1; } }: \
         node N is in the program already or was made elsewhere; copy or adopt it first",
    );
    check_mistake(
        |rewriter| {
            let value = at::<Expression>(rewriter, "start_value");
            rewriter.remove(value)
        },
        "start_value: node N, of the kind expression, is in no list; replace it instead",
    );
    let rename = |rewriter: &mut Rewriter, node: NodeId, name: &str| {
        rewriter.rename(node, name, ControlPlaneName::Change)
    };
    check_mistake(
        |rewriter| rename(rewriter, at::<Declaration>(rewriter, "table t"), "local"),
        "t: node N cannot be called `local`: the name is taken",
    );
    check_mistake(
        |rewriter| rename(rewriter, at::<Declaration>(rewriter, "table t"), "table"),
        "t: node N cannot be called `table`: that is not an identifier",
    );
    check_mistake(
        |rewriter| rename(rewriter, at::<State>(rewriter, "state start"), "first"),
        "start: node N, `start`, cannot be renamed: its name has a meaning of its own",
    );
    check_mistake(
        |rewriter| rename(rewriter, rewriter.program().declarations[0].id, "mine"),
        "error: node N, `error`, cannot be renamed: its name has a meaning of its own",
    );
}

#[test]
fn members_in_new_code_are_not_guessed_at() {
    let (program, map) = typed(PROGRAM);
    let mut rewriter = Rewriter::of(&program, map);
    let code = statements(&mut rewriter, "hs.h.b = 1;");
    let control = at::<Declaration>(&rewriter, "control c");
    rewriter.append(control, code).expect("statements of a control");
    let field = at::<Field>(&rewriter, "bit<8> b");
    let found = rewriter.rename(field, "c", ControlPlaneName::Change).expect_err("unknown");
    assert_eq!(found.problem, Problem::UnknownReference { name: "b".into() });
    // After a check everything is known.
    let rewritten = rewriter.finish().expect("a right program");
    let mut rewriter = Rewriter::of_rewritten(rewritten);
    rewriter.rename(field, "c", ControlPlaneName::Change).expect("known now");
    let printed = rewriter.finish().expect("a right program").print();
    assert!(printed.contains("hs.h.c = 1;") && !printed.contains("hs.h.b"), "{printed}");
    assert!(printed.starts_with("#include <core.p4>\n"), "{printed}");
}

#[test]
fn copies_of_copies_come_from_the_first() {
    let (program, map) = typed(PROGRAM);
    let first = at::<Declaration>(&Rewriter::of(&program, map.clone()), "control c");
    let mut rewriter = Rewriter::of(&program, map);
    let mut last = first;
    for number in 0..3 {
        let control = rewriter.get::<Declaration>(last).expect("a control").clone();
        let mut copy = rewriter.copy(&control);
        copy.name = rewriter.fresh_name(None, "c").expect("the top level");
        assert_eq!(&*copy.name.text, format!("c_{}", number + 1));
        rewriter.insert_after(last, vec![copy.clone()]).expect("the top level");
        last = copy.id;
        let rewritten = rewriter.finish().expect("a right program");
        assert_eq!(rewritten.came_from.origin(last), first);
        rewriter = Rewriter::of_rewritten(rewritten);
    }
}

#[test]
fn comments_stay_with_what_a_tool_made() {
    let mut builder = crate::build::ProgramBuilder::new(SourceMap::new(), &["core.p4"]);
    builder.comment("ONE", "the first");
    builder.put(Span::NONE, "const bit<8> ONE = 1; const bit<8> TWO = ONE + 1;");
    let built = builder.finish().expect("a right program");
    let mut rewriter = Rewriter::of_built(built);
    let [.., one, _] = &rewriter.program().declarations[..] else { panic!("two constants") };
    rewriter.rename(one.id, "FIRST", ControlPlaneName::Change).expect("a free name");
    assert_eq!(
        rewriter.finish().expect("a right program").print(),
        "#include <core.p4>\n\n// the first\nconst bit<8> FIRST = 1;\n\nconst bit<8> TWO = FIRST + 1;\n"
    );
}

#[test]
fn parts_copied_together_refer_to_each_other() {
    let (program, map) = typed(
        "struct s { bit<8> a; }\n\
         control c(inout s x) { apply { s y = { a = 1 }; x.a = y.a; } }\n",
    );
    let mut rewriter = Rewriter::of(&program, map);
    let mut copies = rewriter.copy(&program.program.declarations);
    for (id, name) in
        copies.iter().map(|copy| (copy.id, copy.name.text.clone())).collect::<Vec<_>>()
    {
        let name = rewriter.fresh_name(None, &name).expect("the top level");
        rewriter.rename_in(&mut copies, id, &name.text);
    }
    let DeclarationKind::Struct(list) = &copies[0].kind else { panic!("a struct") };
    let field = list.fields[0].id;
    rewriter.append_declarations(copies).expect("new declarations");
    rewriter.rename(field, "b", ControlPlaneName::Change).expect("a free name");
    let rewritten = rewriter.finish().expect("a right program");
    assert_eq!(
        rewritten.print(),
        "struct s {\n    bit<8> a;\n}\n\n\
         control c(inout s x) {\n    apply {\n        s y = { a = 1 };\n        x.a = y.a;\n    }\n}\n\n\
         struct s_1 {\n    bit<8> b;\n}\n\n\
         control c_1(inout s_1 x) {\n    apply {\n        s_1 y = { b = 1 };\n        x.b = y.b;\n    }\n}\n"
    );
}

#[test]
fn fresh_names_are_free_in_their_scope_only() {
    let (program, map) = typed(PROGRAM);
    let mut rewriter = Rewriter::of(&program, map);
    let control = at::<Declaration>(&rewriter, "control unused");
    let state = at::<State>(&rewriter, "state again");
    let header = at::<Declaration>(&rewriter, "header h_t");
    let mut fresh =
        |scope, wanted: &str| rewriter.fresh_name(scope, wanted).expect("a scope").text.to_string();
    // `local` and `a` are names of other controls and of fields.
    assert_eq!(fresh(Some(control), "local"), "local");
    assert_eq!(fresh(Some(header), "a"), "a_1");
    assert_eq!(fresh(Some(header), "b b"), "b_b");
    assert_eq!(fresh(Some(state), "LIMIT"), "LIMIT_1");
    assert_eq!(fresh(Some(state), "extract"), "extract");
    assert_eq!(fresh(None, "never"), "never_1");
    assert_eq!(fresh(None, "never"), "never_2");
    assert_eq!(fresh(None, "packet_in"), "packet_in_1");
    assert_eq!(fresh(None, "table"), "table_1");
    assert_eq!(fresh(None, "1"), "_1");
}

#[test]
fn nodes_of_elsewhere_are_taken_in_first() {
    let (program, map) = typed(PROGRAM);
    let mut rewriter = Rewriter::of(&program, map);
    let mut foreign = 0;
    let mut reader = crate::parser::pieces::PieceReader::new(
        crate::parser::pieces::PieceNames::of(&program.program),
        &mut foreign,
    );
    let code = reader.statements(tokens("never = 3;")).expect("a statement");
    let control = at::<Declaration>(&rewriter, "control c");
    let refused = rewriter.append(control, code.clone()).expect_err("identities of elsewhere");
    assert_eq!(refused.problem, Problem::NotDetached);
    let code = rewriter.adopt(code);
    rewriter.append(control, code.clone()).expect("new identities");
    let again = rewriter.append(control, code).expect_err("the same twice");
    assert_eq!(again.problem, Problem::NotDetached);
    rewriter.finish().expect("a right program");
}

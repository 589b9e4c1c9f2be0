// SPDX-License-Identifier: Apache-2.0
//! Codes and places of mistakes in C texts. The words of C compilers are not compared.

use crate::fixture::{Fixture, argument, bits, boolean, field, register};
use react::c::{Compiler, check, compile, generate};
use react::interface::KeyKind;
use source::{Diagnostics, Severity};

/// A program whose mistakes the tests make.
fn base() -> Fixture {
    Fixture::new()
        .value("threshold", bits(12))
        .field("f", &["hdr.a.x", "hdr.b.yard"])
        .field("g", &["hdr.a.x", "hdr.c.z"])
        .table("T", &[("hdr.a.x", bits(32), KeyKind::Exact)], &[("port", bits(9))], false)
}

/// Checks a fixture whose text has the wrong place between `«` and `»`, which are removed.
#[track_caller]
fn check_places(make: impl Fn(&str) -> Fixture, marked: &str, expected: &[&str]) -> Diagnostics {
    let parts: Vec<&str> = marked.split(['«', '»']).collect();
    let fixture = make(&parts.concat());
    let diagnostics = fixture.diagnostics();
    let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.0).collect();
    assert_eq!(codes, expected, "{marked}: {diagnostics:#?}");
    let map = fixture.map();
    let texts: Vec<&str> =
        diagnostics.iter().map(|diagnostic| map.slice(diagnostic.primary.span)).collect();
    let places: Vec<&str> = parts.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(texts, places, "{marked}: {diagnostics:#?}");
    // The place, not only an equal text.
    let mut before = parts[0].len();
    let body = fixture.text.find(&parts.concat()).expect("the text");
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        assert_eq!(diagnostic.primary.span.start as usize, body + before, "{marked}");
        before += parts[2 * index + 1].len() + parts[2 * index + 2].len();
    }
    diagnostics
}

#[track_caller]
fn check_body(marked: &str, expected: &[&str]) -> Diagnostics {
    let arguments = || {
        let fields = ["hdr.a.x", "hdr.a.width", "meta.vlan[1].id"];
        let fields = fields.iter().map(|path| argument(field(path, bits(32))));
        fields.chain([argument(register("depths", bits(16), 1, 10))]).collect()
    };
    check_places(|body| base().reaction_of(arguments(), &["hdr.a"], body), marked, expected)
}

#[track_caller]
fn help_of(diagnostics: &Diagnostics) -> String {
    let first = diagnostics.iter().next().expect("a diagnostic");
    first.help.join("\n")
}

#[test]
fn errors_of_c_have_their_place() {
    check_body("\n  int x = 1;\n  ${threshold} = x + «y»;\n", &["R-E0301"]);
    check_body("${threshold} = 1; ${f} = hdr.b.yard; ${threshold} = «y»;", &["R-E0301"]);
    check_body("\tint x = 0;\t«y» = x;", &["R-E0301"]);
    check_body("/* ä€ */ ${threshold} = «y»; // ü", &["R-E0301"]);
    check_body("${threshold} = 1;\r\n  «y»++;\r\n", &["R-E0301"]);
    check_body("«unknown»(3);", &["R-E0301"]);
    check_body(
        "\n#define A 1\n#include <math.h>\n#define B (A + \\\n 1)\n ${threshold} = B + sqrt(«y»);",
        &["R-E0301"],
    );
}

#[test]
fn undeclared_names_have_their_place_in_arguments_of_macros() {
    check_body("log(\"%d\", «nothing»);", &["R-E0301"]);
    check_body("${threshold} = valid(hdr.a) + «nothing»;", &["R-E0301"]);
}

#[test]
fn cells_beyond_the_range_are_reported() {
    check_body("${threshold} = depths[1] + depths[10];", &[]);
    check_body("${threshold} = «depths[0]»;", &["R-E0307"]);
    check_body("${threshold} = «depths[11]» + «depths[0]»;", &["R-E0307", "R-E0307"]);
    // Another array, and an index that is computed.
    check_body("uint16_t depths[20] = {0}; ${threshold} = depths[11];", &[]);
    check_body("int i = 0; ${threshold} = depths[i + 0];", &[]);
}

#[track_caller]
fn check_help(fixture: Fixture, code: &str, help: &str) {
    let found = fixture.diagnostics();
    let codes: Vec<&str> = found.iter().map(|diagnostic| diagnostic.code.0).collect();
    assert_eq!(codes, [code], "{found:#?}");
    assert!(help_of(&found).contains(help), "{found:#?}");
}

#[test]
fn errors_say_how_reactions_name_what_they_mean() {
    let mut constant = base().reaction("${threshold} = LIMIT;");
    constant.interface.constants.push("LIMIT".into());
    check_help(constant, "R-E0301", "add it to the arguments");
    let mut ordinary = base().reaction("sums_add_count(1);");
    ordinary.interface.ordinary_tables.push("sums".into());
    check_help(ordinary, "R-E0301", "`malleable table sums`");
    let arguments = vec![argument(field("hdr.a.x", bits(32)))];
    let outside = base().shared("static int f(void) { return hdr.a.x; }");
    let outside = outside.reaction_of(arguments, &[], "${threshold} = f();");
    check_help(outside, "R-E0301", "pass the value to the function");
    check_help(base().reaction("T_insert(1, 2);"), "R-E0301", "T_add_a");
}

#[test]
fn functions_of_two_tables_with_one_name_are_reported() {
    let keys = [("hdr.a.x", bits(32), KeyKind::Exact)];
    let mut fixture = base().table("T_add", &keys, &[], false).reaction("${threshold} = 1;");
    assert!(fixture.diagnostics().is_empty());
    // `T_add_add_a` is of both.
    fixture.interface.tables[0].actions[0].name = "add_a".into();
    let found = fixture.diagnostics();
    let codes: Vec<&str> = found.iter().map(|diagnostic| diagnostic.code.0).collect();
    assert_eq!(codes, ["R-E0308"], "{found:#?}");
}

#[test]
fn warnings_of_c_have_their_place() {
    let warned = check_body("\n int «unused»;\n", &["R-W0301"]);
    assert!(warned.iter().all(|diagnostic| diagnostic.severity == Severity::Warning));
    // Compilers put the place at the call, the format or the argument.
    check_line("uint32_t x = 3;\n log(\"%s\", x);\n", 2, "R-W0301");
}

/// Checks the line of the only diagnostic of a body.
#[track_caller]
fn check_line(body: &str, line: u32, code: &str) -> Diagnostics {
    let fixture = base().reaction(body);
    let found = fixture.diagnostics();
    let first = fixture.text[..fixture.text.find(body).expect("the body")].lines().count() as u32;
    let lines: Vec<(&str, u32)> = found
        .iter()
        .map(|diagnostic| {
            let place = fixture.map().location(diagnostic.primary.span).expect("a place");
            (diagnostic.code.0, place.line - first + 1)
        })
        .collect();
    assert_eq!(lines, [(code, line)], "{body}: {found:#?}");
    found
}

#[test]
fn unknown_malleables_name_the_nearest() {
    let found = check_body(
        "«${treshold}» = 1; ${threshold} = «${nothing_like_it}» + 1;",
        &["R-E0303", "R-E0303"],
    );
    assert!(help_of(&found).contains("${threshold}"), "{found:?}");
    let found = check_body("«${T}» = 1;", &["R-E0303"]);
    assert!(help_of(&found).contains("T_add_"), "{found:?}");
}

#[test]
fn alternatives_that_do_not_exist_name_the_nearest() {
    let found = check_body("${f} = «hdr.b.yarn»;", &["R-E0304"]);
    assert!(help_of(&found).contains("hdr.b.yard"), "{found:?}");
    check_body("if (${f} != «hdr.c.z») ${f} = 1 ? hdr.a.x : «hdr.c.z»;", &["R-E0304", "R-E0304"]);
    check_body("if («hdr.c.z» == ${f}) return;", &["R-E0304"]);
    check_body("switch (${f}) { case «hdr.c.z»: break; }", &["R-E0304"]);
    check_body("${f} = «${g}»;", &["R-E0304"]);
}

#[test]
fn fields_that_are_no_arguments_are_errors() {
    let found = check_body("${threshold} = «hdr.a.y»;", &["R-E0305"]);
    assert!(help_of(&found).contains("ing hdr.a.y"), "{found:?}");
    let found = check_body("${threshold} = «hdr.a.widht»;", &["R-E0305"]);
    assert!(help_of(&found).contains("`hdr.a.width`"), "{found:?}");
    check_body("if (valid(«hdr.b»)) return;", &["R-E0305"]);
    check_body("${threshold} = «meta.vlan[0].id»;", &["R-E0305"]);
    check_body("${threshold} = hdr.a.x;", &[]);
    // The root is no argument: the C compiler finds it, and the advice is the same.
    let found = check_body("${threshold} = «standard_metadata».ingress_port;", &["R-E0301"]);
    assert!(help_of(&found).contains("ing standard_metadata.ingress_port"), "{found:?}");
    let found = check_body("${threshold} = «depth»[3];", &["R-E0301"]);
    assert!(help_of(&found).contains("`depths`"), "{found:?}");
}

#[test]
fn wrong_calls_of_tables_show_the_declaration() {
    let found = check_line("\nT_add_a(1);", 2, "R-E0301");
    let notes = found.iter().next().expect("an error").notes.join("\n");
    assert!(notes.contains("uint64_t T_add_a(uint32_t hdr_a_x, uint16_t port)"), "{found:?}");
    let found = check_body("«T_add_aa»(1, 2);", &["R-E0301"]);
    let first = found.iter().next().expect("an error");
    let advice = [vec![first.message.clone()], first.help.clone()].concat().join("\n");
    assert!(advice.contains("`T_add_a`"), "{found:?}");
}

#[test]
fn malleables_and_tables_that_are_written_like_variables_get_advice() {
    let found = check_body("«threshold» = 1;", &["R-E0301"]);
    assert!(help_of(&found).contains("`${threshold}`"), "{found:?}");
    let found = check_body("depths[3] «=» 1;", &["R-E0301"]);
    assert!(help_of(&found).contains("an argument is a copy"), "{found:?}");
    let found = check_body("«T».addEntry(3);", &["R-E0301"]);
    assert!(help_of(&found).contains("T_add_a, "), "{found:?}");
}

#[test]
fn mistakes_of_all_kinds_are_reported_together() {
    let body =
        "\n«${treshold}» = 1;\n int x = «y»;\n ${f} = «hdr.c.z»;\n x = «hdr.a.y»;\n «g»(1, «z»);\n";
    let parts: Vec<&str> = body.split(['«', '»']).collect();
    let arguments = vec![argument(field("hdr.a.x", bits(32)))];
    let fixture = base().reaction_of(arguments, &[], &parts.concat());
    let mut found: Vec<(u32, &str)> = Vec::new();
    let diagnostics = fixture.diagnostics();
    for diagnostic in diagnostics.iter() {
        found.push((diagnostic.primary.span.start, diagnostic.code.0));
    }
    found.sort_unstable();
    let codes: Vec<&str> = found.iter().map(|(_, code)| *code).collect();
    assert_eq!(
        codes,
        ["R-E0303", "R-E0301", "R-E0304", "R-E0305", "R-E0301", "R-E0301"],
        "{diagnostics:#?}"
    );
}

#[test]
fn state_blocks_have_only_variables() {
    let state = |text: &str| base().state(text);
    check_places(state, " int x; «int f(void)»; ", &["R-E0306"]);
    check_places(
        state,
        " int x = 3, y[2] = { 1, 2 }; struct s { int a; } z; «int g(void) { return 1; } int w»; ",
        &["R-E0306"],
    );
    check_places(state, "uint32_t a, *«b»;", &["R-W0302"]);
    check_places(
        |text| base().shared("struct node { struct node *next; int v; };").state(text),
        "struct node «list»[4];",
        &["R-W0302"],
    );
    check_places(
        |text| base().shared("\n#define N (2 * 3)\nstruct plain { int v[2 * 3]; };").state(text),
        "struct plain list[N];",
        &[],
    );
}

#[test]
fn errors_in_c_and_state_and_init_have_their_place() {
    check_places(|text| base().shared(text), "int f(void) { return «y»; }", &["R-E0301"]);
    check_places(|text| base().state(text), "uint32_t x = «y»;", &["R-E0301"]);
    check_places(|text| base().init(text), "«y» = 1;", &["R-E0301"]);
}

#[test]
fn functions_without_a_definition_are_errors() {
    let fixture = base().shared("int f(int);").reaction("\n\n ${threshold} = f(2);\n");
    let (code, found) = compile(&fixture.interface, &fixture.map(), &Compiler::from_environment());
    assert!(code.is_none());
    assert!(found.has_errors());
}

#[test]
fn a_missing_compiler_is_an_error() {
    let fixture = base().reaction("${threshold} = 1;");
    for found in [
        check(&fixture.interface, &fixture.map(), &Compiler::new("no-such-compiler-here -O3")),
        compile(&fixture.interface, &fixture.map(), &Compiler::new("/bin/false")).1,
    ] {
        let codes: Vec<&str> = found.iter().map(|diagnostic| diagnostic.code.0).collect();
        assert_eq!(codes, ["R-E0302"]);
    }
}

#[test]
fn checks_find_what_compilations_find() {
    let fixture = Fixture::new().value("b", boolean()).reaction("${b} = y;");
    let found = check(&fixture.interface, &fixture.map(), &Compiler::from_environment());
    assert_eq!(found, fixture.diagnostics());
}

#[test]
fn names_of_files_may_have_any_character() {
    let fixture = base().reaction("\n${threshold} = y;\n");
    for name in ["a b/ä\"\\c??/.p4r", "C:\\new\\test.p4r", "x:3:4: error: y.p4r"] {
        let map = fixture.map_named(name);
        let found = check(&fixture.interface, &map, &Compiler::from_environment());
        let places: Vec<&str> =
            found.iter().map(|diagnostic| map.slice(diagnostic.primary.span)).collect();
        assert_eq!(places, ["y"], "{name}: {found:?}");
    }
}

/// Pieces of C that random texts have.
const PIECES: [&str; 44] = [
    "${v}",
    "${f}",
    "${x}",
    "${",
    "$",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "=",
    "==",
    "?",
    ":",
    "hdr.a.x",
    "hdr.b.yard",
    "hdr.c",
    ".",
    "struct",
    "s",
    "typedef",
    "int",
    "*",
    "/*",
    "*/",
    "//",
    "\n",
    "#define",
    "#",
    "\"",
    "'",
    "\\",
    "case",
    "switch",
    "1",
    "0x",
    "ä",
    "#include <",
    "++",
    "enum {",
    "\t",
];

#[test]
fn places_in_random_texts_are_texts() {
    let seeds = testing::seeds(2000);
    for seed in seeds {
        let mut choices = testing::Choices::from_seed(seed);
        let mut text = || -> String {
            let count = choices.below(25);
            (0..count).map(|_| PIECES[choices.below(PIECES.len())]).collect()
        };
        let (state, body) = (text(), text());
        let arguments = vec![argument(field("hdr.a.x", bits(8)))];
        let fixture = base().value("v", bits(8)).state(&state).reaction_of(arguments, &[], &body);
        let generated = generate(&fixture.interface, &fixture.map());
        for diagnostic in generated.diagnostics.iter() {
            let text = fixture.map().slice(diagnostic.primary.span).to_string();
            assert!(!text.is_empty(), "seed {seed}: {diagnostic:?}");
        }
    }
}

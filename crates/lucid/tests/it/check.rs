// SPDX-License-Identifier: Apache-2.0
//! The checker: messages about wrong programs, tables of types found, that the tables have no gaps,
//! that explanations show what they say, and that no program whatever makes it panic.
//! `PLANEWRIGHT_BLESS=1` writes the expected texts anew.

mod tree;

use lucid::check::codes::EXPLANATIONS;
use lucid::check::{CheckedProgram, Definition, Signature, Type, Variable, check};
use lucid::syntax::{Loader, load};
use proptest::prelude::*;
use source::{Diagnostics, RenderOptions, SourceMap, Span, render_text};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Files of a folder with an extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|own| own == extension));
    found.sort();
    assert!(!found.is_empty(), "nothing in {folder:?}");
    found
}

/// Included files, from a folder.
struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(self.0.join(path)).ok())
    }
}

struct Checked {
    program: CheckedProgram,
    syntax: Diagnostics,
    diagnostics: Diagnostics,
    map: SourceMap,
}

impl Checked {
    fn of(name: &str, text: &str, folder: &Path) -> Checked {
        let mut map = SourceMap::new();
        let loader = Folder(folder.to_path_buf());
        let (tree, syntax) = load(&mut map, name, text.to_owned(), &loader);
        let (program, diagnostics) = check(Arc::new(tree));
        Checked { program, syntax, diagnostics, map }
    }

    fn of_file(path: &Path) -> Checked {
        let text = std::fs::read_to_string(path).expect("a program");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        Checked::of(&name, &text, path.parent().expect("a folder"))
    }

    fn said(&self) -> String {
        let options = RenderOptions::default();
        let mut text = render_text(&self.map, &self.syntax, options);
        text.push_str(&render_text(&self.map, &self.diagnostics, options));
        text
    }
}

/// Compares with a file beside the program.
fn compare(path: &Path, extension: &str, found: &str) {
    let expected = path.with_extension(extension);
    if testing::golden::is_blessing() {
        std::fs::write(&expected, found).expect("writable");
        return;
    }
    let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(wanted == found, "{} differs; found:\n{found}", expected.display());
}

#[test]
fn messages() {
    for path in files(&root().join("tests/it/check/messages"), "dpt") {
        let checked = Checked::of_file(&path);
        compare(&path, "expected", &checked.said());
    }
}

#[test]
fn tables_of_types() {
    for path in files(&root().join("tests/it/check/types"), "dpt") {
        let checked = Checked::of_file(&path);
        assert!(!checked.diagnostics.has_errors(), "{}", checked.said());
        compare(&path, "expected", &table(&checked));
    }
}

/// Binders with their types, signatures, and what variables stand for at each use, by place.
fn table(checked: &Checked) -> String {
    let program = &checked.program;
    let mut rows: BTreeMap<(u32, u32, u32), String> = BTreeMap::new();
    let mut row = |span: Span, order: u32, text: String| {
        let place = checked.map.location(span).expect("a place");
        rows.insert((place.line, place.column, order), text);
    };
    for (id, ty) in &program.types {
        if let Some(binder) = program.binders.get(id) {
            row(binder.span, 0, format!("{}: {}", binder.name, program.show(ty)));
        }
    }
    for (id, signature) in &program.signatures {
        let binder = &program.binders[id];
        row(binder.span, 1, format!("{}: {}", binder.name, show_signature(program, signature)));
    }
    for (path, name) in tree::paths(&program.tree) {
        if let Some(instantiation) = program.instantiations.get(&path.id) {
            // By declaration of the variable, as its number is.
            let mut stands: BTreeMap<Variable, String> = BTreeMap::new();
            for (variable, size) in &instantiation.sizes {
                stands.insert(*variable, program.show_size(size));
            }
            for (variable, ty) in &instantiation.types {
                stands.insert(*variable, program.show(ty));
            }
            let stands: Vec<String> = stands
                .iter()
                .map(|(variable, text)| format!("'{} = {text}", program.variable_names[variable]))
                .collect();
            row(path.span, 2, format!("{name} with {}", stands.join(", ")));
        }
    }
    let mut text = String::new();
    for ((line, column, _), shown) in rows {
        writeln!(text, "{line}:{column} {shown}").expect("a string takes it");
    }
    text
}

fn show_signature(program: &CheckedProgram, signature: &Signature) -> String {
    let parameters: Vec<String> = signature.parameters.iter().map(|ty| program.show(ty)).collect();
    let mut text = format!("({}) -> {}", parameters.join(", "), program.show(&signature.result));
    if !signature.variables.is_empty() {
        let names: Vec<String> = signature
            .variables
            .iter()
            .map(|variable| format!("'{}", program.variable_names[variable]))
            .collect();
        write!(text, " for all {}", names.join(", ")).expect("a string takes it");
    }
    text
}

/// All programs of the project's examples.
fn examples() -> Vec<PathBuf> {
    let folder = root().join("../../examples/lucid");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, "dpt"));
        }
    }
    found.sort();
    found
}

#[test]
fn examples_are_right_and_get_no_warnings() {
    for path in examples() {
        let checked = Checked::of_file(&path);
        assert!(checked.said().is_empty(), "{}", checked.said());
    }
}

#[test]
fn tables_have_no_gaps() {
    let types = files(&root().join("tests/it/check/types"), "dpt");
    for path in examples().into_iter().chain(types) {
        let checked = Checked::of_file(&path);
        let gaps = gaps(&checked.program);
        assert!(gaps.is_empty(), "{}: {}", path.display(), gaps.join("\n"));
    }
}

/// What should be in the tables and is not, and types that are not final.
fn gaps(program: &CheckedProgram) -> Vec<String> {
    let mut gaps = Vec::new();
    for expression in tree::expressions(&program.tree) {
        match program.types.get(&expression.id) {
            None => gaps.push(format!("no type: {expression:?}")),
            Some(ty) => final_type(program, ty, &format!("{expression:?}"), &mut gaps),
        }
    }
    for (path, name) in tree::paths(&program.tree) {
        if !program.definitions.contains_key(&path.id) {
            gaps.push(format!("no definition: {name}"));
        }
        if let Some(Definition::Size(_) | Definition::Loop(_)) = program.definitions.get(&path.id)
            && !program.sizes.contains_key(&path.id)
        {
            gaps.push(format!("no size: {name}"));
        }
    }
    for (id, ty) in &program.types {
        final_type(program, ty, &format!("{id:?}"), &mut gaps);
    }
    for signature in program.signatures.values() {
        for ty in signature.parameters.iter().chain([&signature.result]) {
            final_type(program, ty, "a signature", &mut gaps);
        }
    }
    for instantiation in program.instantiations.values() {
        for ty in instantiation.types.values() {
            final_type(program, ty, "an instantiation", &mut gaps);
        }
        for size in instantiation.sizes.values() {
            final_type(program, &Type::Int(size.clone()), "an instantiation", &mut gaps);
        }
    }
    gaps
}

/// Final types mention only variables of signatures and user types, and are not `Type::Error`.
fn final_type(program: &CheckedProgram, ty: &Type, of: &str, gaps: &mut Vec<String>) {
    let shown = program.show(ty);
    if shown.contains('_') && shown.contains("<_") || shown.contains('?') {
        gaps.push(format!("{shown} is not final: {of}"));
    }
}

#[test]
fn explanations_show_what_they_say() {
    let folder = root();
    for explanation in EXPLANATIONS {
        let code = explanation.code;
        let has = |checked: &Checked| checked.diagnostics.iter().any(|one| one.code == code);
        let wrong = Checked::of("wrong.dpt", explanation.wrong, &folder);
        assert!(wrong.syntax.is_empty() && has(&wrong), "{code}: {}", wrong.said());
        let right = Checked::of("right.dpt", explanation.right, &folder);
        let errors = right.diagnostics.has_errors() || !right.syntax.is_empty();
        assert!(!errors && !has(&right), "{code}: {}", right.said());
    }
}

#[test]
fn every_code_is_explained_and_shown() {
    let source = std::fs::read_to_string(root().join("src/check/codes/mod.rs")).expect("the codes");
    let codes: Vec<&str> =
        source.split("Code(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(codes.len() > 30, "{codes:?}");
    let explained: Vec<&str> = EXPLANATIONS.iter().map(|explanation| explanation.code.0).collect();
    assert_eq!(codes, explained);
    let mut said = String::new();
    for path in files(&root().join("tests/it/check/messages"), "dpt") {
        said.push_str(&Checked::of_file(&path).said());
    }
    for code in codes {
        assert!(said.contains(&format!("[{code}]")), "no program of the tests gets {code}");
    }
}

/// Programs that a careless checker needs a deep stack, much memory or very long for.
#[test]
fn large_programs_are_no_trouble() {
    let repeat = |count: usize, piece: &dyn Fn(usize) -> String| -> String {
        (0..count).map(piece).collect()
    };
    let twice = |last: usize, one: &str| {
        format!("event e({one}{last} v) {{ bool b = v == v; printf(\"%b\", b); }}")
    };
    let programs = [
        // Deep and long expressions, deep blocks.
        format!("event e(int x) {{ int y = x{}; printf(\"%d\", y); }}", " + x".repeat(500)),
        format!(
            "event e(int x) {{ int y = {}x{}; printf(\"%d\", y); }}",
            "(".repeat(200),
            ")".repeat(200)
        ),
        format!(
            "event e(int x) {{ {} printf(\"%d\", x); {} }}",
            "if (x == 0) {".repeat(200),
            "}".repeat(200)
        ),
        format!("event e(int x) {{ int y = {}x; printf(\"%d\", y); }}", "~".repeat(200)),
        // Many locals, many declarations, long chains.
        format!(
            "event e(int x) {{ int l0 = x; {} printf(\"%d\", l3000); }}",
            repeat(3000, &|i| format!("int l{} = l{i} + x; ", i + 1))
        ),
        format!(
            "fun int f0(int x) {{ return x; }} {} event e(int x) {{ printf(\"%d\", f1000(x)); }}",
            repeat(1000, &|i| format!("fun int f{}(int x) {{ return f{i}(f{i}(x)); }} ", i + 1))
        ),
        format!(
            "type t0 = {{ int a; }} {} {}",
            repeat(3000, &|i| format!("type t{} = t{i}\n", i + 1)),
            twice(3000, "t")
        ),
        // Records of twice the size of those before, in two families that are equal.
        format!(
            "type t0 = {{ int a; int b; }} {} {}",
            repeat(60, &|i| format!("type t{} = {{ t{i} x; t{i} y; }}\n", i + 1)),
            twice(60, "t")
        ),
        format!(
            "type t0 = {{ int a; int b; }} type s0 = {{ int a; int b; }} {} event e(t60 v, s60 w) {{ bool b = v == w; printf(\"%b\", b); }}",
            repeat(60, &|i| format!(
                "type t{0} = {{ t{i} x; t{i} y; }}\ntype s{0} = {{ s{i} x; s{i} y; }}\n",
                i + 1
            ))
        ),
        format!(
            "type t0<'a> = {{ int a; int b; }} {} event e(t60<3> v, t60<4> w) {{ bool b = v == w; printf(\"%b\", b); }}",
            repeat(60, &|i| format!("type t{0}<'a> = {{ t{i}<'a> x; t{i}<'a> y; }}\n", i + 1))
        ),
        format!("event e(int x) {{ int<8> y = x{}; printf(\"%d\", y); }}", "[7:0]".repeat(500)),
        format!(
            "event e(int x) {{ int y = {}x{}; printf(\"%d\", y); }}",
            "hash<32>(1, ".repeat(200),
            ")".repeat(200)
        ),
        format!(
            "event e(int x) {{ {}skip;{} printf(\"%d\", x); }}",
            "for (i < 3) { ".repeat(200),
            "}".repeat(200)
        ),
        format!(
            "event e(int x) {{ if (x == 1) {{ skip; }}{} }}",
            " else if (x == 2) { skip; }".repeat(200)
        ),
        format!("{}const int x = 3;{}", "module M { ".repeat(200), "}".repeat(200)),
    ];
    for program in &programs {
        let checked = Checked::of("large.dpt", program, &root());
        assert!(checked.said().is_empty(), "{}", checked.said());
    }
    // What is too large is reported once.
    let growing = [
        format!(
            "event e(int x) {{ auto l0 = [x; x]; {} }}",
            repeat(200, &|i| format!("auto l{} = [l{i}; l{i}]; ", i + 1))
        ),
        format!(
            "fun int f(int<'a> l0) {{ {} return 0; }}",
            repeat(200, &|i| format!("auto l{} = l{i} ^ l{i}; ", i + 1))
        ),
        format!(
            "fun auto f0('a x) {{ return [x; x]; }} {}",
            repeat(40, &|i| format!("fun auto f{}('a x) {{ return f{i}(f{i}(x)); }}\n", i + 1))
        ),
    ];
    for program in &growing {
        let checked = Checked::of("growing.dpt", program, &root());
        let large = checked.diagnostics.iter().filter(|one| one.code.0 == "LU-E0126").count();
        assert!(checked.diagnostics.has_errors() && large > 0, "{}", checked.said());
    }
    // A name that is missing thousands of times, and a circle at the end of a long chain.
    let missing = repeat(3000, &|i| format!("event e{i}(int x) {{ generate f{i}(x); }}\n"));
    assert!(Checked::of("missing.dpt", &missing, &root()).diagnostics.has_errors());
    let circle = format!(
        "fun int f(int x) {{ return g0(x); }} {} fun int g500(int x) {{ return f(x); }}",
        repeat(500, &|i| format!("fun int g{i}(int x) {{ return g{0}(g{0}(x)); }}\n", i + 1))
    );
    let said = Checked::of("circle.dpt", &circle, &root()).said();
    assert!(said.contains("LU-E0110"), "{said}");
}

/// Texts to take apart: all programs of the tests and the examples.
fn corpus() -> Vec<(PathBuf, String)> {
    let mut paths = examples();
    paths.extend(files(&root().join("tests/it/check/messages"), "dpt"));
    paths.extend(files(&root().join("tests/it/check/types"), "dpt"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a program");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(300), ..ProptestConfig::default() })]

    /// Words of one program, some left out, doubled or put elsewhere, are checked without panic, and
    /// what has no errors has no gaps.
    #[test]
    fn no_program_makes_it_panic(which in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..3), 1..12)) {
        let corpus = corpus();
        let (path, text) = &corpus[which.index(corpus.len())];
        let mut words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for (at, other, change) in changes {
            if words.is_empty() {
                break;
            }
            let (at, other) = (at.index(words.len()), other.index(words.len()));
            match change {
                0 => { words.remove(at); }
                1 => words.insert(at, words[other]),
                _ => words.swap(at, other),
            }
        }
        let checked = Checked::of("changed.dpt", &words.concat(), path.parent().expect("a folder"));
        if !checked.syntax.has_errors() && !checked.diagnostics.has_errors() {
            let gaps = gaps(&checked.program);
            prop_assert!(gaps.is_empty(), "{}", gaps.join("\n"));
        }
    }
}

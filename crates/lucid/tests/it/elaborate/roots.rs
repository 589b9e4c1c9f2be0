// SPDX-License-Identifier: Apache-2.0
//! Copies of events for globals that a run names.

use lucid::elaborate::{Root, Symbolics};
use lucid::front;
use source::{Severity, SourceMap, Span};

const PROGRAM: &str = "
type counted<'w> = { Array.t<'w>[2] cells; Counter.t<8> uses; }
constr counted<'w> create(int n) = {
  cells = [Array.create(n + size_to_int(i)) for i < 2];
  uses = Counter.create(0);
};
module M { event fill(Array.t<'w> a) { Array.set(a, 0, 1); } }
global counted<16> inner = create(4);
global counted<8> outer = create(2);
global Array.t<8> plain = Array.create(9);
event fill(Array.t<'w> a, int i) { Array.set(a, i, 1); }
event use(counted<'w> c, Array.t<'w> other)[c < other] { Counter.add(c#uses, 1); generate fill(other, 0); }
event without(int i) { skip; }
";

/// Names of the events of the program with these roots, or the messages.
fn events(roots: &[(&str, &[&str])]) -> Result<Vec<String>, Vec<String>> {
    let roots: Vec<Root> = (roots.iter())
        .map(|(event, globals)| Root {
            event: (*event).to_owned(),
            globals: globals.iter().map(|name| (*name).to_owned()).collect(),
            span: Span::NONE,
        })
        .collect();
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let text = PROGRAM.to_owned();
    let symbolics = Symbolics::default();
    match front::compile(&mut map, "roots.dpt", text, &files, &symbolics, &roots) {
        Ok(compiled) => {
            assert_eq!(lucid::core::verify(&compiled.program), Ok(()));
            Ok(compiled.program.events.iter().map(|event| event.name.to_string()).collect())
        }
        Err(said) => {
            let errors = said.iter().filter(|one| one.severity == Severity::Error);
            Err(errors.map(|one| one.message.clone()).collect())
        }
    }
}

#[test]
fn copies_are_made_for_what_a_run_names() {
    assert_eq!(events(&[]), Ok(vec!["without".to_owned()]));
    let found = events(&[
        ("fill", &["plain"]),
        ("fill", &["inner#cells[1]"]),
        ("use", &["outer", "plain"]),
        ("fill", &["plain"]),
        ("without", &[]),
        ("M.fill", &["plain"]),
    ]);
    let expected =
        ["without", "fill(plain)", "fill(inner#cells[1])", "use(outer, plain)", "M.fill(plain)"];
    assert_eq!(found, Ok(expected.map(str::to_owned).to_vec()));
}

#[test]
fn names_that_do_not_fit_are_told() {
    let cases: [(&str, &[&str], &str); 7] = [
        ("fil", &["plain"], "there is no event `fil`"),
        ("fill", &["plan"], "there is no global `plan`"),
        ("fill", &[], "the event `fill` takes 1 globals, here are 0"),
        ("without", &["plain"], "the event `without` takes 0 globals, here are 1"),
        ("fill", &["outer#cells[2]"], "`outer` has no part `outer#cells[2]`"),
        ("fill", &["outer#uses"], "`outer#uses` is a `Counter.t<8>`, not a `Array.t<32>`"),
        ("use", &["inner", "plain"], "`plain` is a `Array.t<8>`, not a `Array.t<16>`"),
    ];
    for (event, globals, expected) in cases {
        assert_eq!(events(&[(event, globals)]), Err(vec![expected.to_owned()]));
    }
}

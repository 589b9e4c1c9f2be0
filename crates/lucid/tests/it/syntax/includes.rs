// SPDX-License-Identifier: Apache-2.0
//! Programs of several files: order, once only, cycles, and what cannot be read.

use super::show;
use lucid::syntax::{Loader, load};
use source::SourceMap;

/// Files in memory; the text `!` cannot be read.
struct Files(&'static [(&'static str, &'static str)]);

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        match self.0.iter().find(|(name, _)| *name == path) {
            Some((_, "!")) => Err("permission denied".to_owned()),
            Some((_, text)) => Ok(Some((*text).to_owned())),
            None => Ok(None),
        }
    }
}

/// Declarations and diagnostics: place, code and message.
fn check(files: &'static [(&'static str, &'static str)], expected: &str) {
    let mut map = SourceMap::new();
    let (name, text) = files[0];
    let (program, diagnostics) = load(&mut map, name, text.to_owned(), &Files(files));
    let mut reported = show::program(&program);
    for diagnostic in diagnostics.iter() {
        let place = map.location(diagnostic.primary.span).expect("each has a place");
        reported +=
            &format!("{}:{} {} {}\n", place.file, place.line, diagnostic.code, diagnostic.message);
        for note in &diagnostic.notes {
            reported += &format!("  {note}\n");
        }
    }
    assert_eq!(reported, expected);
}

#[test]
fn declarations_stand_where_the_include_stood() {
    check(
        &[
            ("d/main.dpt", "include \"a.dpt\"\nevent m();\ninclude \"sub/b.dpt\";\nevent n();"),
            ("d/a.dpt", "event a();"),
            ("d/sub/b.dpt", "include \"../a.dpt\"\ninclude \"c.dpt\"\nevent b();"),
            ("d/sub/c.dpt", "event c();"),
        ],
        "(Background a  [])\n(Background m  [])\n(Background c  [])\n(Background b  [])\n\
         (Background n  [])\n",
    );
}

#[test]
fn a_file_is_included_once() {
    check(
        &[
            (
                "main.dpt",
                "include \"a.dpt\"\ninclude \"./a.dpt\"\ninclude \"x/../a.dpt\"\nevent m();",
            ),
            ("a.dpt", "event a();"),
        ],
        "(Background a  [])\n(Background m  [])\n",
    );
}

#[test]
fn absolute_and_outer_paths() {
    check(
        &[
            ("../main.dpt", "include \"/lib/a.dpt\"\ninclude \"../b.dpt\""),
            ("/lib/a.dpt", "include \"../../c.dpt\" event a();"),
            ("../../b.dpt", "event b();"),
            ("/c.dpt", "event c();"),
        ],
        "(Background c  [])\n(Background a  [])\n(Background b  [])\n",
    );
}

#[test]
fn cycles_name_the_chain() {
    check(
        &[
            ("main.dpt", "include \"a.dpt\"\nevent m();"),
            ("a.dpt", "include \"b.dpt\"\nevent a();"),
            ("b.dpt", "event b();\ninclude \"a.dpt\""),
        ],
        "(Background b  [])\n(Background a  [])\n(Background m  [])\n\
         b.dpt:2 LU-E0009 `a.dpt` includes itself\n  \
         each includes the next: a.dpt -> b.dpt -> a.dpt\n",
    );
    check(
        &[("main.dpt", "event m();\ninclude \"main.dpt\"")],
        "(Background m  [])\nmain.dpt:2 LU-E0009 `main.dpt` includes itself\n  \
         each includes the next: main.dpt -> main.dpt\n",
    );
}

#[test]
fn files_that_cannot_be_read() {
    check(
        &[
            ("d/main.dpt", "include \"gone.dpt\"\ninclude \"closed.dpt\"\nevent m();"),
            ("d/closed.dpt", "!"),
        ],
        "(Background m  [])\nd/main.dpt:1 LU-E0007 there is no file `d/gone.dpt`\n\
         d/main.dpt:2 LU-E0008 `d/closed.dpt` cannot be read: permission denied\n",
    );
}

#[test]
fn mistakes_in_included_files() {
    check(
        &[("main.dpt", "include \"a.dpt\"\nevent m("), ("a.dpt", "event a(;\nevent b();")],
        "(Background b  [])\n\
         main.dpt:2 LU-E0013 expected `)`, found the end of the file\n\
         a.dpt:1 LU-E0011 expected a type, found `;`\n",
    );
}

#[test]
fn a_program_has_a_limit_of_files() {
    struct Endless;
    impl Loader for Endless {
        fn load(&self, path: &str) -> Result<Option<String>, String> {
            Ok(Some(format!("include \"{path}x\"\n")))
        }
    }
    let mut map = SourceMap::new();
    let (_, diagnostics) = load(&mut map, "f", "include \"g\"".to_owned(), &Endless);
    let reported: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.code.0).collect();
    assert_eq!(reported, ["LU-E0010"]);
}

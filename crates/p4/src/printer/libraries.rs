// SPDX-License-Identifier: Apache-2.0
//! A program with its libraries as `#include`. The macros of the program that a library depends on are
//! defined before it and undefined after it, so that the text is complete by itself and no other part
//! of it is expanded. Which files are libraries is in the source map.

use crate::ast::{Declaration, Program};
use source::{Library, SourceMap};

/// Prints a whole program; declarations that came from a library (`core.p4`, `v1model.p4`) are an `#include`
/// of it, at the place of the first of them.
pub fn print_with_includes(map: &SourceMap, program: &Program) -> String {
    let mut text = String::new();
    let mut included: Vec<&Library> = Vec::new();
    let mut own: Vec<&Declaration> = Vec::new();
    for declaration in &program.declarations {
        match map.library(declaration.span) {
            None => own.push(declaration),
            Some(library) if included.iter().any(|known| std::ptr::eq(*known, library)) => {}
            Some(library) => {
                print_own(&mut own, &mut text);
                included.push(library);
                print_include(library, &mut text);
            }
        }
    }
    print_own(&mut own, &mut text);
    text
}

/// Prints what was collected, apart from what is before it.
fn print_own(own: &mut Vec<&Declaration>, text: &mut String) {
    if own.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&super::print_declarations(own.drain(..)));
}

fn print_include(library: &Library, text: &mut String) {
    if !text.is_empty() && !text.ends_with(">\n") {
        text.push('\n');
    }
    for (_, definition) in &library.macros {
        text.push_str(&format!("{definition}\n"));
    }
    text.push_str(&format!("#include <{}>\n", library.name));
    for (name, _) in &library.macros {
        text.push_str(&format!("#undef {name}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::print_with_includes;
    use crate::compile::compile;
    use crate::preprocessor::{IncludeLoader, PreprocessorOptions};

    /// Files of the user's.
    struct Files(&'static [(&'static str, &'static str)]);

    impl IncludeLoader for Files {
        fn load(&self, path: &str) -> Result<Option<String>, String> {
            Ok(self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_string()))
        }
    }

    /// Checks what a program prints as, and that the text read again prints as itself.
    fn check(text: &str, files: &'static [(&'static str, &'static str)], expected: &str) {
        let options = PreprocessorOptions {
            include_dirs: vec!["lib".to_string()],
            defines: vec![("ON_THE_LINE".to_string(), None)],
        };
        let printed = |text: &str, options: &PreprocessorOptions| {
            let compiled = compile("main.p4", text.to_string(), &Files(files), options);
            let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
            print_with_includes(&compiled.map, &program.program)
        };
        let first = printed(text, &options);
        assert_eq!(first, expected);
        let options = PreprocessorOptions { defines: Vec::new(), ..options };
        assert_eq!(printed(&first, &options), expected);
    }

    #[test]
    fn libraries_stay_and_own_files_do_not() {
        check(
            "#include <core.p4>\n#include \"own.p4\"\n#include <v1model.p4>\nconst bit<8> b = A;\n",
            &[("own.p4", "#define A 1\nconst bit<8> a = A;\n")],
            "#include <core.p4>\n\nconst bit<8> a = 1;\n\n#include <v1model.p4>\n\nconst bit<8> b = 1;\n",
        );
    }

    #[test]
    fn a_library_that_includes_another_is_one_include() {
        check(
            "#include <v1model.p4>\n#include <core.p4>\nconst bit<8> b = V1MODEL_METER_COLOR_RED;\n",
            &[],
            "#include <v1model.p4>\n\nconst bit<8> b = 2;\n",
        );
    }

    #[test]
    fn macros_that_a_library_asks_for_are_defined_for_it_alone() {
        check(
            "#define YEAR(y) y ## 0408\n#define V1MODEL_VERSION YEAR(2020)\n#define UNUSED 1\n\
             #include <v1model.p4>\nconst bit<8> b = UNUSED;\n",
            &[],
            "#define YEAR(y) y ## 0408\n#define V1MODEL_VERSION YEAR(2020)\n#include <v1model.p4>\n\
             #undef YEAR\n#undef V1MODEL_VERSION\n\nconst bit<8> b = 1;\n",
        );
    }

    #[test]
    fn an_edition_of_the_users_stays_an_include() {
        check(
            "#include <core.p4>\n#include <other.p4>\nconst bit<8> b = c;\n",
            &[
                ("lib/core.p4", "#include \"more.p4\"\n"),
                (
                    "lib/more.p4",
                    "#ifndef GUARD\n#define GUARD\n#ifdef ON_THE_LINE\nconst bit<8> c = 3;\n#endif\n#endif\n",
                ),
                ("lib/other.p4", "const bit<8> d = c;\n"),
            ],
            "#define ON_THE_LINE 1\n#include <core.p4>\n#undef ON_THE_LINE\n\n\
             const bit<8> d = c;\nconst bit<8> b = c;\n",
        );
    }

    #[test]
    fn a_file_of_the_users_by_that_name_in_quotes_is_the_programs() {
        check(
            "#include \"core.p4\"\nconst bit<8> b = c;\n",
            &[("core.p4", "const bit<8> c = 3;\n")],
            "const bit<8> c = 3;\nconst bit<8> b = c;\n",
        );
    }
}

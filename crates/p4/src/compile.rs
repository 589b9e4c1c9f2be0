// SPDX-License-Identifier: Apache-2.0
//! The front end in one call: preprocess, parse, check. Files come through an [`IncludeLoader`].

use crate::codes::syntax;
use crate::dialect::{Dialect, Foreign};
use crate::preprocessor::{IncludeLoader, Preprocessed, PreprocessorOptions, preprocess_dialect};
use crate::typed::TypedProgram;
use source::{Code, Diagnostic, Diagnostics, Severity, SourceMap, Span};
use std::sync::Arc;

/// Errors that are reported for one program.
pub const ERROR_LIMIT: usize = 100;

/// The result of compiling one program.
#[derive(Debug)]
pub struct Compilation {
    /// All files that were read.
    pub map: SourceMap,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The checked program; `None` when there was an error.
    pub program: Option<Arc<TypedProgram>>,
    /// Names and bodies of the object-like macros of the program.
    pub macros: Vec<(Arc<str>, Arc<str>)>,
}

/// Errors from which the parser recovers with the tree that was meant, so that the type checker can
/// run.
const RECOVERED: &[Code] = &[
    syntax::MISSING_SEMICOLON,
    syntax::MISPLACED_DECLARATION,
    syntax::FOREIGN_STATEMENT,
    syntax::INCREMENT,
    syntax::ASSIGNMENT_IN_EXPRESSION,
    syntax::EXPRESSION_AS_STATEMENT,
    syntax::TYPE_AS_VALUE,
];

/// Compiles the program in `text`, which messages call `name`. After a syntax error the type checker
/// runs only if the parser has recovered the tree that was meant; else its errors would follow from
/// the first one.
pub fn compile(
    name: &str,
    text: String,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Compilation {
    compile_dialect(name, text, loader, options, None)
}

/// Like [`compile`], for a program in a dialect. Constructs of the dialect stay in the checked tree.
pub fn compile_dialect(
    name: &str,
    text: String,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
    dialect: Option<&dyn Dialect>,
) -> Compilation {
    let mut map = SourceMap::new();
    let mut diagnostics = Diagnostics::new();
    let main = map.add(name, text);
    let foreign = Foreign::of(dialect);
    let Preprocessed { tokens, macros } =
        preprocess_dialect(&mut map, loader, main, options, foreign, &mut diagnostics);
    let tree = crate::parser::parse_dialect(tokens, dialect, &mut diagnostics);
    let is_recovered = |diagnostic: &Diagnostic| {
        // An error with help is a misspelled word, so the tree is not the one that was meant.
        let is_guess = diagnostic.code == syntax::MISSING_SEMICOLON && !diagnostic.help.is_empty();
        diagnostic.severity == Severity::Warning
            || (RECOVERED.contains(&diagnostic.code) && !is_guess)
    };
    if !diagnostics.iter().all(is_recovered) {
        return Compilation { map, diagnostics: limited(diagnostics), program: None, macros };
    }
    if diagnostics.has_errors() {
        let mut found = Diagnostics::new();
        crate::check::check_dialect(tree, dialect, &mut found);
        // The checker's errors beside a syntax error follow from it.
        let recovered: Vec<Span> =
            diagnostics.iter().map(|diagnostic| diagnostic.primary.span).collect();
        for diagnostic in found {
            if !recovered.iter().any(|span| touches(*span, diagnostic.primary.span)) {
                diagnostics.push(diagnostic);
            }
        }
        return Compilation {
            map,
            diagnostics: limited(by_place(diagnostics)),
            program: None,
            macros,
        };
    }
    let program = crate::check::check_dialect(tree, dialect, &mut diagnostics);
    let program = if diagnostics.has_errors() { None } else { Some(Arc::new(program)) };
    Compilation { map, diagnostics: limited(diagnostics), program, macros }
}

/// Whether two places overlap or have at most a space between them.
fn touches(one: Span, other: Span) -> bool {
    one.file == other.file
        && one.start <= other.end.saturating_add(1)
        && other.start <= one.end.saturating_add(1)
}

/// Sorts the diagnostics of several passes by place.
fn by_place(diagnostics: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diagnostics.into_iter().collect();
    list.sort_by_key(|diagnostic| diagnostic.primary.span);
    let mut sorted = Diagnostics::new();
    for diagnostic in list {
        sorted.push(diagnostic);
    }
    sorted
}

/// Keeps the first [`ERROR_LIMIT`] errors; a note at the last one counts the others.
fn limited(diagnostics: Diagnostics) -> Diagnostics {
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let total = diagnostics.iter().filter(|diagnostic| is_error(diagnostic)).count();
    if total <= ERROR_LIMIT {
        return diagnostics;
    }
    let mut kept = Diagnostics::new();
    let mut errors = 0;
    for mut diagnostic in diagnostics {
        if is_error(&diagnostic) {
            errors += 1;
            if errors == ERROR_LIMIT {
                diagnostic = diagnostic.note(format!("... and {} more errors", total - errors));
            }
        }
        kept.push(diagnostic);
        if errors == ERROR_LIMIT {
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interfaces::InterfacesOnly;

    fn reported(text: &str) -> Vec<(String, usize)> {
        let options = PreprocessorOptions::default();
        compile("test.p4", text.to_owned(), &InterfacesOnly, &options)
            .diagnostics
            .iter()
            .map(|diagnostic| (diagnostic.code.to_string(), diagnostic.notes.len()))
            .collect()
    }

    #[test]
    fn mended_programs_are_checked_in_order() {
        let text = "const bit<8> a = missing;\n\
                    control c(inout bit<8> x) { apply { x = 1 x = true; } }\n";
        let codes: Vec<String> = reported(text).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["P4-E0201", "P4-E0104", "P4-E0301"]);
    }

    #[test]
    fn what_is_left_of_a_mistake_is_not_told_again() {
        let text = "control c(inout bit<8> x) { apply { if (x = 1) { x = 2; } } }\n";
        let codes: Vec<String> = reported(text).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["P4-E0115"]);
    }

    #[test]
    fn programs_that_are_not_mended_are_not_checked() {
        let codes: Vec<String> = reported("const bit<8> a = ;\nconst bit<8> b = missing;\n")
            .into_iter()
            .map(|(code, _)| code)
            .collect();
        assert!(!codes.contains(&"P4-E0201".to_owned()), "{codes:?}");
    }

    #[test]
    fn very_many_errors_are_counted() {
        let text: String = (0..250).map(|at| format!("const bit<8> c{at} = m{at};\n")).collect();
        let reported = reported(&text);
        assert_eq!(reported.len(), ERROR_LIMIT);
        assert_eq!(reported.last().map(|(_, notes)| *notes), Some(1));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The front end in one call: preprocess, parse, check. Files come through an [`IncludeLoader`].

use crate::codes::syntax;
use crate::preprocessor::{IncludeLoader, PreprocessorOptions, preprocess};
use crate::typed::TypedProgram;
use source::{Code, Diagnostic, Diagnostics, Severity, SourceMap};

/// How many errors of one program are told.
pub const ERROR_LIMIT: usize = 100;

/// What came of compiling one program.
#[derive(Debug)]
pub struct Compilation {
    /// All files that were read.
    pub map: SourceMap,
    /// What there is to tell, warnings included.
    pub diagnostics: Diagnostics,
    /// The checked program; `None` when there was an error.
    pub program: Option<TypedProgram>,
}

/// Mistakes after which the parser has the tree that was meant, so that the program can be checked
/// all the same.
const RECOVERED: &[Code] = &[
    syntax::MISSING_SEMICOLON,
    syntax::MISPLACED_DECLARATION,
    syntax::FOREIGN_STATEMENT,
    syntax::INCREMENT,
    syntax::ASSIGNMENT_IN_EXPRESSION,
    syntax::EXPRESSION_AS_STATEMENT,
    syntax::TYPE_AS_VALUE,
];

/// Compiles the program in `text`, which the user calls `name`. When the text does not parse, types
/// are only checked if the parser could tell what was meant: else what the checker would say follows
/// from the first mistakes.
pub fn compile(
    name: &str,
    text: String,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Compilation {
    let mut map = SourceMap::new();
    let mut diagnostics = Diagnostics::new();
    let main = map.add(name, text);
    let tokens = preprocess(&mut map, loader, main, options, &mut diagnostics);
    let tree = crate::parser::parse(tokens, &mut diagnostics);
    let is_recovered = |diagnostic: &Diagnostic| {
        diagnostic.severity == Severity::Warning || RECOVERED.contains(&diagnostic.code)
    };
    if !diagnostics.iter().all(is_recovered) {
        return Compilation { map, diagnostics: limited(diagnostics), program: None };
    }
    if diagnostics.has_errors() {
        crate::check::check(tree, &mut diagnostics);
        return Compilation { map, diagnostics: limited(by_place(diagnostics)), program: None };
    }
    let program = crate::check::check(tree, &mut diagnostics);
    let program = if diagnostics.has_errors() { None } else { Some(program) };
    Compilation { map, diagnostics: limited(diagnostics), program }
}

/// In the order of their places, for what several passes found.
fn by_place(diagnostics: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diagnostics.into_iter().collect();
    list.sort_by_key(|diagnostic| diagnostic.primary.span);
    let mut sorted = Diagnostics::new();
    for diagnostic in list {
        sorted.push(diagnostic);
    }
    sorted
}

/// What is told of very many errors: the first ones, the last of them with how many more there are.
fn limited(diagnostics: Diagnostics) -> Diagnostics {
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let total = diagnostics.iter().filter(|diagnostic| is_error(diagnostic)).count();
    if total <= ERROR_LIMIT {
        return diagnostics;
    }
    let mut told = Diagnostics::new();
    let mut errors = 0;
    for mut diagnostic in diagnostics {
        if is_error(&diagnostic) {
            errors += 1;
            if errors == ERROR_LIMIT {
                diagnostic = diagnostic.note(format!("... and {} more errors", total - errors));
            }
        }
        told.push(diagnostic);
        if errors == ERROR_LIMIT {
            break;
        }
    }
    told
}

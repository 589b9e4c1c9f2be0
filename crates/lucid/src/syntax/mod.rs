// SPDX-License-Identifier: Apache-2.0
//! Text to tree: lexer, parser, includes, formatter. Parsing never fails: it gives a tree and
//! diagnostics. No names are looked up here.
//!
//! # Operators
//!
//! From the loosest to the tightest, as in the reference implementation's grammar:
//!
//! | operators | chain |
//! | --- | --- |
//! | `&&`, `\|\|` | from the left, and bind equally: `a \|\| b && c` is `(a \|\| b) && c` |
//! | `==`, `!=`, `<`, `>`, `<=`, `>=` | not at all: `a < b < c` is an error |
//! | `+`, `-`, `\|+\|`, `\|-\|` | from the left |
//! | `-x` | takes all that binds tighter: `-a & b` is `-(a & b)` |
//! | `^` (concatenation) | from the left |
//! | `&`, `\|`, `^^`, `<<`, `>>` | from the left, and bind equally |
//! | `&&&` (patterns of tables) | from the left |
//! | `!x`, `~x`, `flood x`, `(int<8>)x` | |
//! | `r#f`, `v[i]`, `x[7:0]` | |
//!
//! Two things differ from the reference, where they could only be errors of types: `!r#f` and
//! `(int<8>)r#f` take the field first.

pub mod ast;
pub mod codes;
pub mod format;
mod include;
pub mod lexer;
mod parser;
pub mod token;
pub mod walk;

pub use include::{FILE_LIMIT, Loader, NoFiles, TEXT_LIMIT_BYTES};
pub use parser::{EXPRESSION_HEIGHT_LIMIT, NESTING_LIMIT};

use ast::Program;
use source::{Diagnostic, Diagnostics, FileId, SourceMap};

/// Reads one file that is in the map already. Its includes are in the program and not followed.
pub fn parse(map: &SourceMap, file: FileId) -> (Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut node_count = 0;
    let lexed = lexer::lex(map, file, &mut diagnostics);
    let parsed = parser::parse_tokens(map, lexed, &mut node_count, &mut diagnostics);
    let includes = parsed.includes.into_iter().map(|(_, include)| include).collect();
    let program = Program { declarations: parsed.declarations, includes, node_count };
    (program, in_order_of_place(diagnostics))
}

/// What was found in one file, from its beginning to its end: the lexer goes before the parser.
fn in_order_of_place(diagnostics: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diagnostics.into_iter().collect();
    list.sort_by_key(|diagnostic| diagnostic.primary.span);
    let mut sorted = Diagnostics::new();
    for diagnostic in list {
        sorted.push(diagnostic);
    }
    sorted
}

/// Reads a whole program: the file `text`, which the user calls `name`, and what it includes. Names
/// of included files are relative to the file that includes them; a file is included once.
pub fn load(
    map: &mut SourceMap,
    name: &str,
    text: String,
    loader: &dyn Loader,
) -> (Program, Diagnostics) {
    include::Reader::new(map, loader).program(name, text)
}

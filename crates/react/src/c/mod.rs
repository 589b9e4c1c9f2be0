// SPDX-License-Identifier: Apache-2.0
//! The C texts of a program: [`generate`] writes one C file of them, [`check`] and [`compile`] run the system's C compiler on
//! it. Messages have their places in the P4R files.
//!
//! In C a reaction sees
//!
//! - its arguments: fields as in P4 (`hdr.ipv4.src`), registers as arrays with the register's own indices, both read-only;
//!   `valid(hdr.ipv4)`. Integers have the smallest type of 8, 16, 32 or 64 bits that holds them, wider ones are arrays of
//!   bytes in network order;
//! - malleables: `${v} = e;` wraps at the width of `v`; `${f} = hdr.b.y;`, `${f} == hdr.b.y`, `switch (${f}) { case
//!   hdr.b.y: }`. As a number `${f}` is the index of its alternative;
//! - tables: `h = T_add_A(keys..., [priority,] arguments...)`, `T_mod_A(h, arguments...)`, `T_del(h)`, `T_find(keys...,
//!   [priority])`, `T_default_A(arguments...)`, `T_reset_default()`. Each returns 0 if the table does not take it;
//! - `now()` in nanoseconds, `log(format, ...)` as `printf`, `failed_commits()`. These names are macros with arguments: a
//!   variable may have them, a function not. With <math.h> `log(x)` of a number is the logarithm.
//!
//! The headers `stdint.h`, `stdbool.h` and `stddef.h` are included.

mod arguments;
pub mod codes;
mod compiler;
mod defines;
mod generate;
mod lexer;
mod messages;
mod names;
mod state;
mod tables;
mod translate;
mod values;

pub use compiler::Compiler;
pub use generate::{Generated, generate};
pub use lexer::KEYWORDS;

use crate::interface::{CText, Interface};
use crate::module::{Code, Shape};
use compiler::Task;
use source::{Diagnostic, Diagnostics, Severity, SourceMap};
use std::path::{Path, PathBuf};

/// Reports the errors and warnings of the C texts.
pub fn check(interface: &Interface, map: &SourceMap, compiler: &Compiler) -> Diagnostics {
    run(interface, map, compiler, Task::Check).1
}

/// Compiles the C texts. The code is `None` if there are errors; the diagnostics may be warnings.
pub fn compile(
    interface: &Interface,
    map: &SourceMap,
    compiler: &Compiler,
) -> (Option<Code>, Diagnostics) {
    let (object, diagnostics) = run(interface, map, compiler, Task::Build);
    let code = object.filter(|_| !diagnostics.has_errors());
    (code.map(|object| Code::new(object, Shape::of(interface))), diagnostics)
}

fn run(
    interface: &Interface,
    map: &SourceMap,
    compiler: &Compiler,
    task: Task,
) -> (Option<Vec<u8>>, Diagnostics) {
    let Generated { text, mut diagnostics } = generate(interface, map);
    let task = if diagnostics.has_errors() { Task::Check } else { task };
    match compiler.run(&text, &folders(interface, map), task) {
        Ok(run) => {
            let found = messages::diagnostics(&run.messages, run.succeeded, &text, interface, map);
            append(&mut diagnostics, found, map);
            (run.object, diagnostics)
        }
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            (None, diagnostics)
        }
    }
}

/// Adds the C compiler's diagnostics. On lines that have an error already, and without a place beside errors, they would
/// say the same once more.
fn append(diagnostics: &mut Diagnostics, found: Diagnostics, map: &SourceMap) {
    let line = |diagnostic: &Diagnostic| {
        map.location(diagnostic.primary.span).map(|place| (place.file, place.line))
    };
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    let lines: Vec<_> = diagnostics.iter().filter(is_error).map(line).collect();
    for diagnostic in found {
        let of = line(&diagnostic);
        if lines.is_empty() || (of.is_some() && is_error(&&diagnostic) && !lines.contains(&of)) {
            diagnostics.push(diagnostic);
        }
    }
}

/// Returns the folders of the files that have C texts: `#include "file"` looks there.
fn folders(interface: &Interface, map: &SourceMap) -> Vec<PathBuf> {
    let bodies = interface.reactions.iter().map(|reaction| &reaction.body);
    let texts =
        interface.shared.iter().chain(&interface.state).chain(&interface.init).chain(bodies);
    let mut folders: Vec<PathBuf> = Vec::new();
    let files = texts.filter(|text: &&CText| !text.span.is_none());
    for text in files {
        let folder = Path::new(&**map.name(text.span.file)).parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

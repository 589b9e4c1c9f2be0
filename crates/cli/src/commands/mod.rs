// SPDX-License-Identifier: Apache-2.0
//! One file a subcommand. Each reads its inputs, calls the crates, prints, and says how it ended.

mod check;
mod corpus;
mod explain;
mod fmt;
mod ir;
mod layout;
mod lucid;
mod print;
mod run;
mod test;
mod verify;

use crate::arguments::{Arguments, Command, Reading};
use crate::files::{self, DiskLoader};
use crate::{Ending, output};
use ::ir::ready::ReadyProgram;
use p4::compile::Compilation;
use std::path::Path;

/// Runs the command.
pub fn run(arguments: Arguments) -> Ending {
    let quiet = arguments.quiet;
    match arguments.command {
        Command::Check(check) => check::run(&check, quiet),
        Command::Run(run) => run::run(&run, quiet),
        Command::Test(test) => test::run(&test, quiet),
        Command::Fmt(fmt) => fmt::run(&fmt, quiet),
        Command::Print(print) => print::run(&print),
        Command::Ir(ir) => ir::run(&ir),
        Command::Layout(layout) => layout::run(&layout, quiet),
        Command::Emit(emit) => lucid::emit::run(&emit, quiet),
        Command::Corpus(corpus) => corpus::run(&corpus, quiet),
        Command::Bench(bench) => lucid::bench::run(&bench, quiet),
        Command::Explain(explain) => explain::run(&explain),
    }
}

/// Reads and checks a program; lowers it when it has a `main`. The error is a message
/// about the file itself.
fn compile(path: &Path, reading: &Reading) -> Result<(Compilation, Option<ReadyProgram>), String> {
    let text = files::read_text(path)?;
    let name = if path == Path::new("-") {
        "standard input".to_string()
    } else {
        path.display().to_string()
    };
    let mut compiled = p4::compile::compile(&name, text, &DiskLoader, &reading.options());
    let ready = ReadyProgram::of(&mut compiled);
    Ok((compiled, ready))
}

/// Compiles one program for a command that cannot go on without it; prints diagnostics. Warnings are
/// left out when `quiet`.
fn compile_or_report(
    path: &Path,
    reading: &Reading,
    quiet: bool,
) -> Option<(Compilation, Option<ReadyProgram>)> {
    match compile(path, reading) {
        Ok((compiled, ready)) => {
            let failed = compiled.diagnostics.has_errors();
            if failed || !quiet {
                output::diagnostics(&compiled.map, &compiled.diagnostics);
            }
            if failed { None } else { Some((compiled, ready)) }
        }
        Err(message) => {
            output::error(&message);
            None
        }
    }
}

/// Where an item of a program stands in the source: `file:line`.
fn place(
    program: &::ir::Program,
    map: &source::SourceMap,
    origin: ::ir::OriginId,
) -> Option<String> {
    let place = map.location(program.origins.get(origin.index())?.span)?;
    Some(format!("{}:{}", place.file, place.line))
}

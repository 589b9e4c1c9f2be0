// SPDX-License-Identifier: Apache-2.0
//! One file for each subcommand. A command reads its arguments, calls the language of its inputs, and returns its exit
//! status.

mod atoms;
mod bench;
mod check;
mod completions;
mod corpus;
mod emit;
mod explain;
mod fmt;
mod gencap;
mod ir;
mod layout;
mod man;
mod measured;
mod net;
mod p4info;
mod print;
mod react;
mod run;
mod scale;
mod test;

use crate::arguments::{Arguments, Command};
use crate::output::Terminal;
use frontend::ExitStatus;

/// Runs the command.
pub fn run(arguments: Arguments) -> ExitStatus {
    let console = Terminal {
        is_quiet: arguments.quiet,
        shows_warnings: !arguments.no_warnings,
        color: arguments.color,
    };
    match arguments.command {
        Command::Check(check) => check::run(&check, &console),
        Command::Run(run) => run::run(&run, &console),
        Command::Net(net) => net::run(&net, &console),
        Command::React(react) => react::run(&react, &console),
        Command::Gencap(gencap) => gencap::run(&gencap, &console),
        Command::Test(test) => test::run(&test, &console),
        Command::Fmt(fmt) => fmt::run(&fmt, &console),
        Command::Print(print) => print::run(&print, &console),
        Command::P4info(p4info) => p4info::run(&p4info, &console),
        Command::Ir(ir) => ir::run(&ir, &console),
        Command::Layout(layout) => layout::run(&layout, &console),
        Command::Atoms(atoms) => atoms::run(&atoms, &console),
        Command::Scale(scale) => scale::run(&scale, &console),
        Command::Emit(emit) => emit::run(&emit, &console),
        Command::Corpus(corpus) => corpus::run(&corpus, &console),
        Command::Bench(bench) => bench::run(&bench, &console),
        Command::Explain(explain) => explain::run(&explain),
        Command::Completions(completions) => completions::run(&completions),
        Command::Man(man) => man::run(&man, &console),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `plane`: arguments, progress, printing and exit codes; nothing else lives here.
//!
//! Exit status: 0 fine, 1 the user's input is wrong, 2 wrong usage, 70 a mistake of ours.

mod arguments;
mod commands;
mod control_files;
mod file_kind;
mod files;
mod output;
mod port_captures;

use clap::Parser;

/// How a command ended, apart from what it printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All is well.
    Fine,
    /// The user's input is wrong; the reasons have been printed.
    WrongInput,
    /// The command line makes no sense; the reasons have been printed.
    WrongUsage,
}

/// Deeply nested programs need stack; the main thread's is small on some systems.
const STACK_BYTES: usize = 256 << 20;

fn main() {
    let arguments = arguments::Arguments::parse();
    std::panic::set_hook(Box::new(|panic| {
        output::internal_error(&panic.to_string());
    }));
    let worker = std::thread::Builder::new()
        .name("plane".to_string())
        .stack_size(STACK_BYTES)
        .spawn(move || commands::run(arguments));
    let ending = match worker.map(|worker| worker.join()) {
        Ok(Ok(ending)) => ending,
        Ok(Err(_)) => std::process::exit(70),
        Err(error) => {
            output::error(&format!("cannot start a thread: {error}"));
            std::process::exit(70);
        }
    };
    std::process::exit(match ending {
        Ending::Fine => 0,
        Ending::WrongInput => 1,
        Ending::WrongUsage => 2,
    });
}

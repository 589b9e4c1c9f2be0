// SPDX-License-Identifier: Apache-2.0
//! `plane`: arguments, progress, printing and exit codes.
//!
//! Exit status: 0 success, 1 wrong input, 2 wrong command line, 70 a mistake in Planewright.

mod arguments;
mod commands;
mod output;
mod programs;
mod run_description;
mod signals;

use frontend::ExitStatus;
use toolchain::p4r;

/// Packets are made on one thread and freed on another, which this allocator does without a lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Deeply nested programs need stack; the main thread's is small on some systems.
const STACK_BYTES: usize = 256 << 20;

fn main() {
    if std::env::args_os().nth(1).is_some_and(|first| first == p4r::WORKER_ARGUMENT) {
        output::error(&p4r::serve_worker());
        std::process::exit(2);
    }
    p4r::run_reactions_in_workers();
    let arguments = arguments::Arguments::read();
    std::panic::set_hook(Box::new(|panic| {
        output::internal_error(&panic.to_string());
    }));
    let worker = std::thread::Builder::new()
        .name("plane".to_string())
        .stack_size(STACK_BYTES)
        .spawn(move || commands::run(arguments));
    let status = match worker.map(|worker| worker.join()) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => std::process::exit(70),
        Err(error) => {
            output::error(&format!("cannot start a thread: {error}"));
            std::process::exit(70);
        }
    };
    std::process::exit(match status {
        ExitStatus::Fine => 0,
        ExitStatus::WrongInput => 1,
        ExitStatus::WrongUsage => 2,
    });
}

// SPDX-License-Identifier: Apache-2.0
//! `plane man`: writes a manual page for each command into a folder.

use crate::arguments::{Arguments, Man};
use crate::programs::ended;
use clap::CommandFactory;
use frontend::{Console, ExitStatus, Failure, count};

/// Runs it.
pub fn run(arguments: &Man, console: &dyn Console) -> ExitStatus {
    ended(write(arguments, console), console)
}

fn write(arguments: &Man, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let folder = &arguments.folder;
    let failed = |error: std::io::Error| {
        format!("cannot write manual pages to `{}`: {}", folder.display(), source::reason(&error))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut command = Arguments::command();
    command.build();
    let mut pages = vec![("plane".to_string(), command.clone())];
    for each in command.get_subcommands().filter(|each| each.get_name() != "help") {
        let name = format!("plane-{}", each.get_name());
        pages.push((name.clone(), each.clone().display_name(name)));
    }
    for (name, command) in &pages {
        let mut text = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut text).map_err(failed)?;
        std::fs::write(folder.join(format!("{name}.1")), text).map_err(failed)?;
    }
    if !console.is_quiet() {
        console.note(&format!("{} written to {}", count(pages.len(), "page"), folder.display()));
    }
    Ok(ExitStatus::Fine)
}

// SPDX-License-Identifier: Apache-2.0
//! `plane react`: reactions of running switches.

use crate::arguments::{React, ReactCommand, Reload};
use crate::programs::ended;
use frontend::{Console, ExitStatus, Failure, ReloadRequest};
use toolchain::net::reloading;

/// Runs it.
pub fn run(arguments: &React, console: &dyn Console) -> ExitStatus {
    let ReactCommand::Reload(reload) = &arguments.command;
    ended(ask(reload, console), console)
}

fn ask(reload: &Reload, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let Reload { name, switch, init, fresh } = reload;
    let request = ReloadRequest { at_ps: 0, runs_init: *init, is_fresh: *fresh };
    let (is_fine, lines) = reloading::ask(name.as_deref(), switch.as_deref(), request)?;
    match is_fine {
        true => lines.iter().for_each(|line| console.note(line)),
        false => lines.iter().for_each(|line| console.error(line)),
    }
    Ok(if is_fine { ExitStatus::Fine } else { ExitStatus::WrongInput })
}

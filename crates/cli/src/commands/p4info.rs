// SPDX-License-Identifier: Apache-2.0
//! `plane p4info`: prints the P4Info of a program, of Lucid programs that of their P4.

use crate::arguments::{Format, P4info};
use crate::programs::{ended, language, on_disk};
use control::p4info::P4Info;
use frontend::{Console, ExitStatus, Failure};

/// Runs it.
pub fn run(arguments: &P4info, console: &dyn Console) -> ExitStatus {
    ended(print(arguments, console), console)
}

fn print(arguments: &P4info, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let options = arguments.program.reading.options();
    let file = on_disk(&arguments.program.file, &options);
    let compiled = language(file.path)?.compile(&file, None)?;
    console.warnings(&compiled.map, &compiled.warnings);
    let info = P4Info::of(compiled.spoken_of());
    console.print(&match arguments.format {
        Format::Text => info.to_text(),
        Format::Json => info.to_json(),
    });
    Ok(ExitStatus::Fine)
}

// SPDX-License-Identifier: Apache-2.0
//! `plane print`: the checked program as P4_16.

use crate::arguments::OneProgram;
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus};

/// Runs it.
pub fn run(arguments: &OneProgram, console: &dyn Console) -> ExitStatus {
    let options = arguments.reading.options();
    let file = on_disk(&arguments.file, &options);
    let text = language(file.path).and_then(|language| language.print(&file));
    ended(text.map(|text| console.print(&text)).map(|()| ExitStatus::Fine), console)
}

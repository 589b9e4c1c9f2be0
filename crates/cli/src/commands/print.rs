// SPDX-License-Identifier: Apache-2.0
//! `plane print`: the checked program as P4_16.

use crate::arguments::Print;
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus, PrintForm};

/// Runs it.
pub fn run(arguments: &Print, console: &dyn Console) -> ExitStatus {
    let options = arguments.program.reading.options();
    let file = on_disk(&arguments.program.file, &options);
    let form = PrintForm { expand_includes: arguments.expand_includes, inline: arguments.inline };
    let text = language(file.path).and_then(|language| language.print(&file, form, console));
    ended(text.map(|text| console.print(&text)).map(|()| ExitStatus::Fine), console)
}

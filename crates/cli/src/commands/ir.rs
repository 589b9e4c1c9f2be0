// SPDX-License-Identifier: Apache-2.0
//! `plane ir`: the intermediate representation that a program is run by, as text.

use crate::arguments::OneProgram;
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus};

/// Runs it.
pub fn run(arguments: &OneProgram, console: &dyn Console) -> ExitStatus {
    let options = arguments.reading.options();
    let file = on_disk(&arguments.file, &options);
    let text = language(file.path).and_then(|language| language.ir(&file));
    ended(text.map(|text| console.print(&text)).map(|()| ExitStatus::Fine), console)
}

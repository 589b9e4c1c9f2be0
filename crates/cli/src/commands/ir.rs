// SPDX-License-Identifier: Apache-2.0
//! `plane ir`: prints the intermediate representation of a program, or the effects of its statements.

use crate::arguments::Ir;
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus};

/// Runs it.
pub fn run(arguments: &Ir, console: &dyn Console) -> ExitStatus {
    let Ir { program, effects } = arguments;
    let options = program.reading.options();
    let file = on_disk(&program.file, &options);
    let text = language(file.path).and_then(|language| match effects {
        true => language.effects(&file),
        false => language.ir(&file),
    });
    ended(text.map(|text| console.print(&text)).map(|()| ExitStatus::Fine), console)
}

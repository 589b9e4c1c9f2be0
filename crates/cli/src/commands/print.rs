// SPDX-License-Identifier: Apache-2.0
//! `plane print`: the checked program as P4_16.

use crate::arguments::OneProgram;
use crate::file_kind::{Language, language};
use crate::{Ending, output};

/// Runs it.
pub fn run(arguments: &OneProgram) -> Ending {
    let file = arguments.file.display();
    let wrong = match language(&arguments.file) {
        Ok(Language::P4) => None,
        Ok(Language::Lucid) => Some(format!(
            "`{file}` is a Lucid program: `plane emit {file} --target v1model -o DIR` writes it as P4_16, \
             and `plane ir {file}` prints its core program"
        )),
        Err(message) => Some(message),
    };
    if let Some(message) = wrong {
        output::error(&message);
        return Ending::WrongInput;
    }
    match super::compile_or_report(&arguments.file, &arguments.reading, true) {
        Some((compiled, _)) => {
            if let Some(typed) = &compiled.program {
                output::print(&p4::printer::print(&typed.program));
            }
            Ending::Fine
        }
        None => Ending::WrongInput,
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `plane ir`: the pipeline IR as text; of a Lucid program its core program.

use crate::arguments::OneProgram;
use crate::file_kind::{Language, language};
use crate::{Ending, output};

/// Runs it.
pub fn run(arguments: &OneProgram) -> Ending {
    match language(&arguments.file) {
        Ok(Language::Lucid) => return super::lucid::ir::run(&arguments.file),
        Ok(Language::P4) => {}
        Err(message) => {
            output::error(&message);
            return Ending::WrongInput;
        }
    }
    match super::compile_or_report(&arguments.file, &arguments.reading, true) {
        Some((_, Some(ready))) => {
            output::print(&ir::text::print(ready.program()));
            Ending::Fine
        }
        Some((_, None)) => {
            output::error(&format!(
                "`{}` has no `main`, so there is nothing to run: instantiate a package",
                arguments.file.display()
            ));
            Ending::WrongInput
        }
        None => Ending::WrongInput,
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `plane ir`: the pipeline IR as text; of a Lucid program its core program.

use crate::arguments::OneProgram;
use crate::{Ending, output};

/// Runs it.
pub fn run(arguments: &OneProgram) -> Ending {
    if super::lucid::is_program(&arguments.file) {
        return super::lucid::ir::run(&arguments.file);
    }
    match super::compile_or_report(&arguments.file, &arguments.reading, true) {
        Some((_, Some(program))) => {
            output::print(&ir::text::print(&program));
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

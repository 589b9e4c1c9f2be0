// SPDX-License-Identifier: Apache-2.0
//! `plane print`: the checked program as P4_16.

use crate::arguments::OneProgram;
use crate::{Ending, output};

/// Runs it.
pub fn run(arguments: &OneProgram) -> Ending {
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

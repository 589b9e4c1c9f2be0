// SPDX-License-Identifier: Apache-2.0
//! The registry of architectures that the compiler writes programs for.

use crate::language::{P4rProgram, codes};
use source::{Diagnostic, Span};

/// Their names.
pub const SUPPORTED: &[&str] = &["v1model"];

/// Reports a program for another architecture.
pub(super) fn unsupported(program: &P4rProgram) -> Option<Diagnostic> {
    if SUPPORTED.contains(&program.architecture) {
        return None;
    }
    let main = program.typed.main;
    let mut all = program.typed.program.declarations.iter();
    let span = all.find(|one| Some(one.id) == main).map_or(Span::NONE, |one| one.span);
    let message = format!("P4R programs for {} are not compiled yet", program.architecture);
    let error = Diagnostic::error(codes::ARCHITECTURE, span, message);
    Some(error.help(format!("write the program for {}", SUPPORTED.join(" or "))))
}

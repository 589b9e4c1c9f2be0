// SPDX-License-Identifier: Apache-2.0
//! The registry of architectures that the compiler writes programs for.

use crate::language::{P4rProgram, codes};
use source::{Diagnostic, Span};

/// Their names.
pub const SUPPORTED: &[&str] = &["v1model", "tna"];

/// How programs of an architecture access registers, and what their hardware forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `register`, with reads and writes in any number.
    V1model,
    /// `Register` and `RegisterAction`: one access of an array a packet. Actions have no conditions.
    Tna,
}

impl Style {
    /// That of a program.
    pub(super) fn of(program: &P4rProgram) -> Style {
        match program.architecture {
            "tna" => Style::Tna,
            _ => Style::V1model,
        }
    }
}

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

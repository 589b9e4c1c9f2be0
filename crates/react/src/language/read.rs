// SPDX-License-Identifier: Apache-2.0
//! Reads and checks a P4R program: the front end of P4_16 with the dialect, then the rules of P4R.

use super::declarations::Declarations;
use super::dialect::P4R;
use super::program::{P4rProgram, pipelines};
use super::{arguments, check, codes};
use crate::interface::Interface;
use p4::compile::{Compilation, compile_dialect};
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use source::{Diagnostic, Diagnostics, SourceMap};
use std::sync::Arc;

/// Reads and checks a program.
///
/// # Errors
///
/// What is wrong, with the map to show it with.
#[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
pub fn read(
    name: &str,
    text: String,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Result<(P4rProgram, Diagnostics), (SourceMap, Diagnostics)> {
    let compiled = compile_dialect(name, text, loader, options, Some(&P4R));
    let Compilation { map, mut diagnostics, program, macros } = compiled;
    let Some(typed) = program else { return Err((map, diagnostics)) };
    let declarations = Declarations::of(&typed.program);
    let (description, pipelines, tails) = match pipelines(&typed) {
        Some(found) => found,
        None => {
            let span =
                typed.program.declarations.last().map_or(source::Span::NONE, |last| last.span);
            let message = "the program has no `main` with an ingress and an egress control";
            diagnostics.push(
                Diagnostic::error(codes::NO_PIPELINE, span, message)
                    .help("instantiate a package such as V1Switch as `main`"),
            );
            return Err((map, diagnostics));
        }
    };
    let mut program = P4rProgram {
        typed,
        map,
        declarations,
        pipelines,
        tails,
        architecture: description.name,
        interface: Interface::default(),
    };
    check::check(&program, &mut diagnostics);
    program.interface = arguments::interface(&program, &mut diagnostics);
    let text = |(name, body): &(Arc<str>, Arc<str>)| (name.to_string(), body.to_string());
    program.interface.defines = macros.iter().map(text).collect();
    match diagnostics.has_errors() {
        true => Err((program.map, diagnostics)),
        false => Ok((program, diagnostics)),
    }
}

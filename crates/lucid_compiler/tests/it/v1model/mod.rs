// SPDX-License-Identifier: Apache-2.0
//! The v1model back end: what each construct becomes, what all programs have in common, and runs of
//! what the examples do not have. That compiled programs do what they mean is `compiled.rs`'s.

mod constructs;
mod programs;

use lucid::core::Program;
use lucid_compiler::{Compiled, Options};
use source::{RenderOptions, SourceMap, render_text};

/// Compiled, or the messages.
fn compiled(map: &SourceMap, program: &Program, options: &Options) -> Result<Compiled, String> {
    lucid_compiler::compile(program, map, options)
        .map_err(|said| render_text(map, &said, RenderOptions::default()))
}

// SPDX-License-Identifier: Apache-2.0
//! [`ReadyProgram`]: a checked program, its IR as lowered and its IR as engines run it. The one sequence of
//! lowering and passes; each pass alone is in [`crate::lowering`], [`crate::passes`] and
//! [`crate::transactions`].

use crate::Program;
use p4::compile::Compilation;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use p4::typed::TypedProgram;
use source::Diagnostics;
use std::sync::{Arc, OnceLock};

/// A program with a `main`, ready to be run, laid out or rewritten.
#[derive(Clone, Debug)]
pub struct ReadyProgram {
    typed: Arc<TypedProgram>,
    lowered: Arc<Program>,
    program: OnceLock<Arc<Program>>,
}

impl ReadyProgram {
    /// Lowers a checked program. Without a `main` the answer is `None` without an error; otherwise `None`
    /// means that errors were reported.
    pub fn lower(typed: Arc<TypedProgram>, found: &mut Diagnostics) -> Option<ReadyProgram> {
        ReadyProgram::lower_with_probes(typed, &[], found)
    }

    /// The same, with probes at both ends of these controls: blocks of the package and instances that are applied,
    /// by their control-plane names.
    pub fn lower_with_probes(
        typed: Arc<TypedProgram>,
        probes: &[Arc<str>],
        found: &mut Diagnostics,
    ) -> Option<ReadyProgram> {
        let architectures = crate::architecture::ARCHITECTURES;
        let lowered = crate::lowering::lower_with_probes(&typed, architectures, probes, found)?;
        let lowered = Arc::new(lowered);
        Some(ReadyProgram { typed, lowered, program: OnceLock::new() })
    }

    /// Lowers what the front end accepted; errors of lowering and warnings about the package join its
    /// diagnostics.
    pub fn of(compilation: &mut Compilation) -> Option<ReadyProgram> {
        let typed = compilation.program.clone()?;
        let ready = ReadyProgram::lower(typed, &mut compilation.diagnostics)?;
        crate::lints::warn(&ready.typed, &ready.lowered, &mut compilation.diagnostics);
        Some(ready)
    }

    /// Compiles a text that includes nothing but the built-in interfaces.
    ///
    /// # Errors
    ///
    /// The diagnostics as text, or that there is no `main`.
    pub fn of_text(name: &str, text: impl Into<String>) -> Result<ReadyProgram, String> {
        let options = PreprocessorOptions::default();
        ReadyProgram::of_text_with(name, text, &options)
    }

    /// The same with macros of the caller's.
    ///
    /// # Errors
    ///
    /// The diagnostics as text, or that there is no `main`.
    pub fn of_text_with(
        name: &str,
        text: impl Into<String>,
        options: &PreprocessorOptions,
    ) -> Result<ReadyProgram, String> {
        let mut compilation = p4::compile::compile(name, text.into(), &InterfacesOnly, options);
        ReadyProgram::of(&mut compilation).ok_or_else(|| {
            let Compilation { map, diagnostics, .. } = compilation;
            match diagnostics.has_errors() {
                true => source::render_text(&map, &diagnostics, source::RenderOptions::default()),
                false => format!("`{name}` has no `main`"),
            }
        })
    }

    /// The checked program, which is what `plane print` prints.
    pub fn typed(&self) -> &Arc<TypedProgram> {
        &self.typed
    }

    /// The IR as lowered: its statements correspond to those of the source one to one.
    pub fn lowered(&self) -> &Arc<Program> {
        &self.lowered
    }

    /// The IR as it is run: simplified, with each read, compute, write sequence of a register fused into one
    /// transaction. Made at the first call.
    pub fn program(&self) -> &Arc<Program> {
        self.program.get_or_init(|| {
            let mut program = Program::clone(&self.lowered);
            crate::passes::simplify(&mut program);
            crate::transactions::fuse_register_accesses(&mut program);
            Arc::new(program)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "#include <core.p4>\n\
        header h_t { bit<8> a; }\n\
        control Block(inout h_t h);\n\
        package Single(Block c);\n\
        control run(inout h_t h) { apply { bit<8> x = 1 + 1; h.a = x; h.a = h.a; } }\n";

    #[test]
    fn program_as_run_is_simplified_and_as_lowered_is_not() {
        let ready = ReadyProgram::of_text("a.p4", format!("{PROGRAM}Single(run()) main;"))
            .expect("it is right");
        let instructions = |program: &Program| -> usize {
            let regions = program.regions.iter();
            regions.flat_map(|region| &region.blocks).map(|block| block.instructions.len()).sum()
        };
        assert!(instructions(ready.program()) < instructions(ready.lowered()));
        assert_eq!(crate::verify(ready.program()), Ok(()));
        assert!(Arc::ptr_eq(ready.program(), ready.clone().program()));
        assert!(ready.typed().main.is_some());
    }

    #[test]
    fn reasons_for_not_being_ready() {
        for (text, reason) in [
            (PROGRAM.to_string(), "has no `main`"),
            ("const bit<8> a = missing;".to_string(), "P4-E0201"),
            ("#include \"other.p4\"".to_string(), "other.p4"),
        ] {
            let found = ReadyProgram::of_text("a.p4", text).expect_err("it is wrong");
            assert!(found.contains(reason), "{found}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! P4_16 as a [`Frontend`]: the front end of crate `p4` and the lowering of crate `ir`. Programs without a `main` are
//! checked and printed, but not run.

use conformance::corpus;
use frontend::{
    Architecture, Checked, Compiled, Console, CorpusJudge, Failure, Frontend, Outcome, PrintForm,
    ProgramFile, typed_p4,
};
use ir::ready::ReadyProgram;
use p4::compile::Compilation;
use source::{Diagnostics, Explanation};

/// P4_16.
pub struct P4;

/// Reads and checks a program.
fn compilation(program: &ProgramFile<'_>) -> Result<Compilation, Failure> {
    let text = program.text()?;
    Ok(p4::compile::compile(&program.name(), text, program, program.preprocessing))
}

impl Frontend for P4 {
    fn name(&self) -> &'static str {
        "P4"
    }

    fn extensions(&self) -> &'static [&'static str] {
        // The others are files that programs include.
        &["p4", "p4i", "p4inc", "inc", "h"]
    }

    fn architectures(&self) -> Vec<&'static str> {
        ir::architecture::descriptions().map(|description| description.name).collect()
    }

    fn check(&self, program: &ProgramFile<'_>) -> Result<Checked, Failure> {
        let mut compiled = compilation(program)?;
        let architecture = match ReadyProgram::of(&mut compiled) {
            Some(ready) => Architecture::Named(ready.lowered().architecture.to_string()),
            None => Architecture::Unknown,
        };
        Ok(Checked { map: compiled.map, diagnostics: compiled.diagnostics, architecture })
    }

    fn compile(&self, program: &ProgramFile<'_>, _: Option<&str>) -> Result<Compiled, Failure> {
        Compiled::lower(compilation(program)?, program)
    }

    fn format(&self, text: &str) -> Result<String, Diagnostics> {
        p4::format::format_source(text)
    }

    fn print(
        &self,
        program: &ProgramFile<'_>,
        form: PrintForm,
        console: &dyn Console,
    ) -> Result<String, Failure> {
        let mut compiled = compilation(program)?;
        ReadyProgram::of(&mut compiled);
        match compiled.program {
            Some(typed) if !compiled.diagnostics.has_errors() => {
                typed_p4::print(&typed, compiled.map, form, console)
            }
            _ => Err(Failure::Found(compiled.map, compiled.diagnostics)),
        }
    }

    fn explanations(&self) -> Vec<&'static Explanation> {
        p4::codes::explanations().chain(ir::codes::explanations()).collect()
    }

    fn corpus(&self) -> Option<&dyn CorpusJudge> {
        Some(self)
    }
}

impl CorpusJudge for P4 {
    fn judge(&self, program: &ProgramFile<'_>, text: &str) -> Outcome {
        corpus::run_one(&program.name(), text, program, program.preprocessing)
    }
}

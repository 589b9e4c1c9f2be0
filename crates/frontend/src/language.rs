// SPDX-License-Identifier: Apache-2.0
//! [`Frontend`]: a source language as tools see it, with the arguments and results of its methods. A language that writes
//! typed P4_16 implements four methods; the defaults read the program that `compile` returns.

use crate::codelets::CodeletSource;
use crate::compiled::Compiled;
use crate::console::{Console, Failure};
use crate::corpus::CorpusJudge;
use crate::emit::Emitter;
use crate::field_runs::FieldRuns;
use crate::networks::NetworkRuns;
use crate::program_file::ProgramFile;
use crate::typed_p4::{self, PrintForm};
use pisa::{Problem, UnitId};
use source::{Code, Diagnostic, Diagnostics, Explanation, SourceMap, Span};
use std::collections::BTreeSet;

/// The language has no formatter.
pub const NO_FORMATTER: Code = Code("CLI-E0102");

/// A source language.
pub trait Frontend: Sync {
    /// Returns its name, as in "a Lucid program".
    fn name(&self) -> &'static str;

    /// Returns the extensions of its files, that of programs first.
    fn extensions(&self) -> &'static [&'static str];

    /// Returns the names of the architectures that programs can be written for; empty if the language has none.
    fn architectures(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the name of the hardware model that its programs are written for.
    fn hardware_model(&self) -> &'static str {
        "tofino"
    }

    /// Checks a program. The default compiles it.
    ///
    /// # Errors
    ///
    /// A file cannot be read. Errors of the program are among the diagnostics.
    fn check(&self, program: &ProgramFile<'_>) -> Result<Checked, Failure> {
        let has_architectures = !self.architectures().is_empty();
        match self.compile(program, None) {
            Ok(Compiled { ready, map, warnings, .. }) => {
                let architecture = match has_architectures {
                    true => Architecture::Named(ready.lowered().architecture.to_string()),
                    false => Architecture::Independent,
                };
                Ok(Checked { map, diagnostics: warnings, architecture })
            }
            Err(Failure::Found(map, diagnostics)) => {
                Ok(Checked { map, diagnostics, architecture: Architecture::Unknown })
            }
            Err(failure) => Err(failure),
        }
    }

    /// Compiles a program for a target of [`Emitter::targets`]; `None` is the default one.
    ///
    /// # Errors
    ///
    /// Errors of the program.
    fn compile(&self, program: &ProgramFile<'_>, target: Option<&str>)
    -> Result<Compiled, Failure>;

    /// Formats a source text. The default has no formatter.
    ///
    /// # Errors
    ///
    /// Why it cannot be formatted, with spans in the first file of a map.
    fn format(&self, text: &str) -> Result<String, Diagnostics> {
        let _ = text;
        let mut found = Diagnostics::new();
        let message = format!("`plane fmt` has no formatter for {} programs", self.name());
        found.push(Diagnostic::error(NO_FORMATTER, Span::NONE, message));
        Err(found)
    }

    /// Prints the checked program as P4_16. Notes on the console name the calls that it could not inline. The default
    /// prints the program that `compile` returns.
    ///
    /// # Errors
    ///
    /// Errors of the program, or the command that writes it as P4_16.
    fn print(
        &self,
        program: &ProgramFile<'_>,
        form: PrintForm,
        console: &dyn Console,
    ) -> Result<String, Failure> {
        let Compiled { ready, map, .. } = self.compile(program, None)?;
        typed_p4::print(ready.typed(), map, form, console)
    }

    /// Prints the intermediate representation that runs execute. The default prints the pipeline IR.
    ///
    /// # Errors
    ///
    /// Errors of the program.
    fn ir(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        Ok(ir::text::print(self.compile(program, None)?.ready.program()))
    }

    /// Prints the effects of statements: reads and writes, guards, accesses of state, and live variables.
    ///
    /// # Errors
    ///
    /// Errors of the program, or that the language has no such report.
    fn effects(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        Ok(typed_p4::effects(&self.compile(program, None)?))
    }

    /// Returns the layout problem of a program. Prints warnings. The default states the problem of the pipeline IR.
    ///
    /// # Errors
    ///
    /// Errors of the program, or why no stages can run it.
    fn layout_problem(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<LayoutProblem, Failure> {
        let Compiled { ready, map, warnings, .. } = self.compile(program, None)?;
        console.warnings(&map, &warnings);
        let obstacles = pisa::graph::obstacles(ready.program());
        if obstacles.has_errors() {
            return Err(Failure::Found(map, obstacles));
        }
        console.diagnostics(&map, &obstacles);
        let mut problem = pisa::graph::problem_of(ready.program());
        problem.name = program.title().into();
        Ok(LayoutProblem { problem, map, scheduler: BTreeSet::new() })
    }

    /// Returns the explanations of the language's diagnostic codes.
    fn explanations(&self) -> Vec<&'static Explanation>;

    /// Returns the judge of programs of a corpus, if the language has one.
    fn corpus(&self) -> Option<&dyn CorpusJudge> {
        None
    }

    /// Returns the emitter of P4_16 files, if the language has one.
    fn emitter(&self) -> Option<&dyn Emitter> {
        None
    }

    /// Returns the runs in networks, if the language has them. Programs of other languages run on captures through one
    /// device.
    fn networks(&self) -> Option<&dyn NetworkRuns> {
        None
    }

    /// Returns the runs of tables of packets, if the language has them.
    fn field_runs(&self) -> Option<&dyn FieldRuns> {
        None
    }

    /// Returns the source of codelets for atoms, if the language has them.
    fn codelet_source(&self) -> Option<&dyn CodeletSource> {
        None
    }
}

/// The result of checking a program.
pub struct Checked {
    /// All files that were read.
    pub map: SourceMap,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The architecture of the program.
    pub architecture: Architecture,
}

/// The architecture of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// The architecture of this name.
    Named(String),
    /// No architecture is known: the program has no `main` or has errors.
    Unknown,
    /// Programs of the language are written for no architecture.
    Independent,
}

/// A program as a layout problem.
pub struct LayoutProblem {
    /// The problem.
    pub problem: Problem,
    /// The files that its spans point into.
    pub map: SourceMap,
    /// Units of the event scheduler, which are not from lines of the program.
    pub scheduler: BTreeSet<UnitId>,
}

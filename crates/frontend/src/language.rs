// SPDX-License-Identifier: Apache-2.0
//! [`Frontend`]: a source language as tools see it, with the arguments and results of its methods.

use crate::compiled::Compiled;
use crate::console::{Console, Failure};
use crate::corpus::CorpusJudge;
use crate::emit::Emitter;
use crate::networks::NetworkRuns;
use crate::program_file::ProgramFile;
use pisa::{Problem, UnitId};
use source::{Diagnostics, Explanation, SourceMap};
use std::collections::BTreeSet;

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

    /// Checks a program.
    ///
    /// # Errors
    ///
    /// A file cannot be read. Errors of the program are among the diagnostics.
    fn check(&self, program: &ProgramFile<'_>) -> Result<Checked, Failure>;

    /// Compiles a program for a target of [`Emitter::targets`]; `None` is the default one.
    ///
    /// # Errors
    ///
    /// Errors of the program.
    fn compile(&self, program: &ProgramFile<'_>, target: Option<&str>)
    -> Result<Compiled, Failure>;

    /// Formats a source text.
    ///
    /// # Errors
    ///
    /// Why it cannot be formatted, with spans in the first file of a map.
    fn format(&self, text: &str) -> Result<String, Diagnostics>;

    /// Prints the checked program as P4_16. Notes on the console name what the form cannot do.
    ///
    /// # Errors
    ///
    /// Errors of the program, or the command that writes it as P4_16.
    fn print(
        &self,
        program: &ProgramFile<'_>,
        form: PrintForm,
        console: &dyn Console,
    ) -> Result<String, Failure>;

    /// Prints the intermediate representation that runs execute.
    ///
    /// # Errors
    ///
    /// Errors of the program.
    fn ir(&self, program: &ProgramFile<'_>) -> Result<String, Failure>;

    /// Prints the effects of statements: reads and writes, guards, accesses of state, and live variables.
    ///
    /// # Errors
    ///
    /// Errors of the program, or that the language has no such report.
    fn effects(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        Err(Failure::Message(format!(
            "--effects does not apply to {} programs such as `{}`: `plane emit` compiles it to P4_16",
            self.name(),
            program.path.display()
        )))
    }

    /// Returns the layout problem of a program. Prints warnings.
    ///
    /// # Errors
    ///
    /// Errors of the program, or why no stages can run it.
    fn layout_problem(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<LayoutProblem, Failure>;

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
}

/// The form of a printed program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintForm {
    /// The text of `core.p4` and of the architecture stands in the program instead of its `#include`.
    pub expand_includes: bool,
    /// Functions, directly called actions, nested controls and sub-parsers are inlined where they can be.
    pub inline: bool,
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
    /// No architecture, as the program has no `main` or has errors.
    NoMain,
    /// The language has no architectures.
    None,
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

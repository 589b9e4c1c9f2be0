// SPDX-License-Identifier: Apache-2.0
//! [`Frontend`]: a source language as tools see it, and what its methods take and give.

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
    /// Its name, as in "a Lucid program".
    fn name(&self) -> &'static str;

    /// Ends of names of its files, that of programs first.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether programs are written for an architecture, which `plane check --arch` can demand.
    fn has_architectures(&self) -> bool {
        false
    }

    /// Checks a program.
    ///
    /// # Errors
    ///
    /// A file cannot be read. What is wrong with the program is among the diagnostics.
    fn check(&self, program: &ProgramFile<'_>) -> Result<Checked, Failure>;

    /// Compiles a program for a target of [`Emitter::targets`], or for the usual one.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn compile(&self, program: &ProgramFile<'_>, target: Option<&str>)
    -> Result<Compiled, Failure>;

    /// Formats a source text.
    ///
    /// # Errors
    ///
    /// Why it cannot be formatted, with spans in the first file of a map.
    fn format(&self, text: &str) -> Result<String, Diagnostics>;

    /// The checked program as P4_16. What the form cannot do is a note on the console.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or which command writes it as P4_16.
    fn print(
        &self,
        program: &ProgramFile<'_>,
        form: PrintForm,
        console: &dyn Console,
    ) -> Result<String, Failure>;

    /// The intermediate representation that the program is run by, as text.
    ///
    /// # Errors
    ///
    /// What is wrong with the program.
    fn ir(&self, program: &ProgramFile<'_>) -> Result<String, Failure>;

    /// What each statement reads and writes, what guards it, which state it accesses and what is live after
    /// it, as text.
    ///
    /// # Errors
    ///
    /// What is wrong with the program, or that the language has no such report.
    fn effects(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        Err(Failure::Message(format!(
            "`--effects` is for P4 programs, and `{}` is none: `plane emit` compiles it to one",
            program.path.display()
        )))
    }

    /// The program as a problem of laying out stages. Warnings are printed.
    ///
    /// # Errors
    ///
    /// What is wrong with the program, or why no stages can run it.
    fn layout_problem(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<LayoutProblem, Failure>;

    /// What `plane explain` says about the language's codes.
    fn explanations(&self) -> Vec<&'static Explanation>;

    /// Verdicts over programs of a corpus.
    fn corpus(&self) -> Option<&dyn CorpusJudge> {
        None
    }

    /// Compilation to P4_16 with all that a control plane sets up.
    fn emitter(&self) -> Option<&dyn Emitter> {
        None
    }

    /// Runs of whole networks by specifications. A language that has them runs its programs so; others run on
    /// captures through one device.
    fn networks(&self) -> Option<&dyn NetworkRuns> {
        None
    }
}

/// How a program is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintForm {
    /// The text of `core.p4` and of the architecture stands in the program instead of its `#include`.
    pub expand_includes: bool,
    /// Functions, directly called actions, nested controls and sub-parsers are inlined where they can be.
    pub inline: bool,
}

/// What checking found.
pub struct Checked {
    /// All files that were read.
    pub map: SourceMap,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// What the program is written for.
    pub architecture: Architecture,
}

/// What a program is written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// The architecture of this name.
    Named(String),
    /// No architecture, as the program has no `main` or has errors.
    NoMain,
    /// The language has no architectures.
    None,
}

/// A program as a problem of laying out stages.
pub struct LayoutProblem {
    /// The problem.
    pub problem: Problem,
    /// The files that its spans point into.
    pub map: SourceMap,
    /// Units of no line of the program's, but of the event scheduler that it is compiled with.
    pub scheduler: BTreeSet<UnitId>,
}

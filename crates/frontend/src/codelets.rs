// SPDX-License-Identifier: Apache-2.0
//! [`CodeletSource`]: the capability of a language to state what its programs do to the state of each stage, for atoms.

use crate::console::{Console, Failure};
use crate::program_file::ProgramFile;
use source::{SourceMap, Span};

/// Stateful codelets of programs.
pub trait CodeletSource: Sync {
    /// Returns the stateful codelets of a program, in the order of their stages. Prints warnings.
    ///
    /// # Errors
    ///
    /// Errors of the program, or why it has no codelets.
    fn codelets(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<ProgramCodelets, Failure>;
}

/// The stateful codelets of a program.
pub struct ProgramCodelets {
    /// The files that spans point into.
    pub map: SourceMap,
    /// The codelets.
    pub codelets: Vec<StatefulCodelet>,
}

/// A stateful codelet.
pub struct StatefulCodelet {
    /// Its name: those of its state variables.
    pub name: String,
    /// Its place in the program.
    pub span: Span,
    /// Its stage from 0, if the language knows it.
    pub stage: Option<usize>,
    /// Its statements, a line each.
    pub text: String,
    /// What it does to the state; `None` if no atom can be asked, for a reason that was printed.
    pub codelet: Option<atoms::Codelet>,
}

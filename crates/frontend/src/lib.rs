// SPDX-License-Identifier: Apache-2.0
//! The interface between source languages and tools: the trait [`Frontend`], compiled programs with their controllers,
//! and capabilities that only some languages have. A language implements the trait; `toolchain` registers languages.
//!
//! No code here opens a file or prints: a frontend reads through [`Files`] and prints through [`Console`].

mod codelets;
mod compiled;
mod console;
mod controller;
mod corpus;
mod emit;
mod field_runs;
mod files;
mod language;
mod networks;
mod program_file;
pub mod typed_p4;

pub use codelets::{CodeletSource, ProgramCodelets, StatefulCodelet};
pub use compiled::{Compiled, Deployed, Deployment, WrittenProgram};
pub use console::{Console, ExitStatus, Failure, Spinner, Work, coded, count, diagnostics_text};
pub use controller::{
    Activity, ActivityKind, Controller, ControllerOptions, Driver, ReloadRequest, Reloads,
};
pub use corpus::{CorpusJudge, Outcome, Verdict};
pub use emit::{EmitRequest, EmitTarget, Emitter};
pub use field_runs::{FieldExecution, FieldProgram, FieldRun, FieldRuns, FieldWriter};
pub use files::{Files, MemoryFiles};
pub use language::{Architecture, Checked, Frontend, LayoutProblem, NO_FORMATTER};
pub use networks::{
    CompiledRun, Execution, NetworkRun, NetworkRuns, NetworkTest, RunCaptures, SPECIFICATIONS,
    Tested, UserP4Files,
};
pub use program_file::ProgramFile;
pub use typed_p4::PrintForm;

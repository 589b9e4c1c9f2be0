// SPDX-License-Identifier: Apache-2.0
//! What a source language offers to tools: the trait [`Frontend`], the compiled program that comes out of it,
//! the controllers that such a program may bring, and the capabilities that only some languages have. A
//! language's crate implements the trait; the registry of languages is in `toolchain`.
//!
//! No code here opens a file or prints: a frontend reads by [`Files`] and tells by [`Console`].

mod compiled;
mod console;
mod controller;
mod corpus;
mod emit;
mod files;
mod language;
mod networks;
mod program_file;

pub use compiled::{Compiled, Deployment};
pub use console::{Console, ExitStatus, Failure, Spinner, Work, coded, count, diagnostics_text};
pub use controller::Controller;
pub use corpus::{CorpusJudge, Outcome, Verdict};
pub use emit::{EmitRequest, EmitTarget, Emitter};
pub use files::{Files, MemoryFiles};
pub use language::{Architecture, Checked, Frontend, LayoutProblem, PrintForm};
pub use networks::{NetworkRun, NetworkRuns, NetworkTest, SPECIFICATIONS, Tested, UserP4Files};
pub use program_file::ProgramFile;

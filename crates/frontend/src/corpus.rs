// SPDX-License-Identifier: Apache-2.0
//! [`CorpusJudge`]: the capability of a language to judge the programs of a corpus. `conformance::corpus` compares
//! verdicts with baselines.

use crate::program_file::ProgramFile;
use std::time::Duration;

/// Judges programs.
pub trait CorpusJudge: Sync {
    /// Checks one program, and everything that must hold for an accepted program.
    fn judge(&self, program: &ProgramFile<'_>, text: &str) -> Outcome;
}

/// The verdict on one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No error.
    Accepted,
    /// The first error's code and message.
    Rejected {
        /// Its code.
        code: String,
        /// Its message.
        message: String,
    },
    /// Accepted, but a later step failed that must hold for every accepted program.
    Broken {
        /// Which step: `verify`, `print`, `ir text`.
        step: &'static str,
        /// What went wrong.
        message: String,
    },
    /// The compiler panicked.
    Crashed(String),
}

impl Verdict {
    /// Returns the word for baselines.
    pub fn word(&self) -> String {
        match self {
            Verdict::Accepted => "accepted".to_string(),
            Verdict::Rejected { code, .. } => format!("rejected {code}"),
            Verdict::Broken { step, .. } => format!("broken {step}"),
            Verdict::Crashed(_) => "crashed".to_string(),
        }
    }
}

/// One program's outcome.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// File name.
    pub name: String,
    /// First 16 hexadecimal digits of the SHA-256 of the file.
    pub hash: String,
    /// Verdict.
    pub verdict: Verdict,
    /// Which architecture's interface it includes: `v1model`, `psa`, `pna`, `core`, `none`, or another
    /// file's name.
    pub architecture: String,
    /// How long preprocessing, parsing, checking and lowering took.
    pub elapsed: Duration,
}

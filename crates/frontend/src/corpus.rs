// SPDX-License-Identifier: Apache-2.0
//! Verdicts over programs of a corpus, and the capability of a language to give them. Baselines and their
//! comparison are in `conformance::corpus`.

use crate::program_file::ProgramFile;
use std::time::Duration;

/// Judges programs.
pub trait CorpusJudge: Sync {
    /// Runs one program's text through everything that must hold for an accepted program; the name is what
    /// messages call it.
    fn judge(&self, program: &ProgramFile<'_>, text: &str) -> Outcome;
}

/// What became of one program.
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
    /// The word that a baseline has for it.
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

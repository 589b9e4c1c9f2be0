// SPDX-License-Identifier: Apache-2.0
//! The benchmark's command line.

use std::path::PathBuf;

/// What the user asked for.
#[derive(Debug, Default)]
pub struct Arguments {
    pub is_quick: bool,
    /// Compare outputs and measure nothing.
    pub checks_only: bool,
    /// Workloads whose names contain one of these; empty is all.
    pub only: Vec<String>,
    pub without_instructions: bool,
    pub rounds: Option<usize>,
    pub corpus_program: Option<PathBuf>,
    pub markdown: Option<PathBuf>,
    pub svg: Option<PathBuf>,
    /// Set where the benchmark runs itself: engine, workload and what to do.
    pub child: Option<Vec<String>>,
}

pub const USAGE: &str = "cargo bench -p conformance --bench forwarding -- [OPTIONS]
  --quick                 few and short rounds
  --check-only            compare every engine's outputs with those of C, measure nothing
  --only TEXT             workloads whose names contain it; may be repeated
  --rounds N              rounds of each engine
  --without-instructions  do not run under callgrind
  --corpus-program FILE   measure this v1model program too
  --markdown FILE         write the tables
  --svg FILE              write the picture";

impl Arguments {
    /// Reads the command line, without the name of the program.
    pub fn read(list: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments::default();
        let mut list = list;
        while let Some(argument) = list.next() {
            let mut value = || list.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                // What `cargo bench` adds.
                "--bench" => {}
                "--quick" => arguments.is_quick = true,
                "--check-only" => arguments.checks_only = true,
                "--only" => arguments.only.push(value()?),
                "--without-instructions" => arguments.without_instructions = true,
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| *rounds > 0);
                    arguments.rounds = Some(rounds.ok_or("--rounds needs a positive number")?);
                }
                "--corpus-program" => arguments.corpus_program = Some(value()?.into()),
                "--markdown" => arguments.markdown = Some(value()?.into()),
                "--svg" => arguments.svg = Some(value()?.into()),
                "--child" => {
                    arguments.child = Some(list.collect());
                    break;
                }
                _ => return Err(format!("unknown argument {argument}")),
            }
        }
        Ok(arguments)
    }

    pub fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.is_quick { 3 } else { 9 })
    }

    /// How long a round is to last, in seconds.
    pub fn round_seconds(&self) -> f64 {
        if self.is_quick { 0.02 } else { 0.1 }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! A campaign makes cases from seeds, runs each on both subjects, and shrinks those on which they differ. The caller
//! counts and prints.

use crate::case::{Case, CaseError};
use crate::forms::Forms;
use crate::runner::{Agreement, Difference, compare};
use crate::shrink;
use crate::subject::Subject;
use testing::Choices;
use testing::p4::Knobs;

/// What went wrong with a case.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The program is refused.
    Program(CaseError),
    /// The subjects differ.
    Difference {
        /// In what, on the small case.
        difference: Box<Difference>,
        /// The small case.
        case: Box<Case>,
    },
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Program(error) => write!(formatter, "{error}"),
            Failure::Difference { difference, case } => {
                writeln!(formatter, "{difference}")?;
                writeln!(formatter, "The steps:")?;
                for (number, stimulus) in case.stimuli.iter().enumerate() {
                    writeln!(formatter, "  {number}: {stimulus}")?;
                }
                writeln!(formatter, "The program:\n{}", case.tree.print())
            }
        }
    }
}

/// Makes a case, runs it on both subjects, and shrinks it when they differ.
pub fn run(
    choices: &mut Choices,
    knobs: Knobs,
    packet_count: usize,
    subjects: (&mut dyn Subject, &mut dyn Subject),
) -> Result<(Agreement, Forms), Failure> {
    let (left, right) = subjects;
    let (case, forms) = Case::make(choices, knobs, packet_count).map_err(Failure::Program)?;
    match compare(&forms, &case.stimuli, left, right) {
        Ok(agreement) => Ok((agreement, forms)),
        Err(difference) => {
            let (case, difference) = shrink::shrink(case, *difference, left, right);
            let (case, difference) = (Box::new(case), Box::new(difference));
            Err(Failure::Difference { difference, case })
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Many programs, one after the other: each is made from its seed, run on both subjects, and shrunk
//! when they differ. What is printed is the caller's matter.

use super::choices::Choices;
use super::forms::{FormError, Forms};
use super::generator::{self, Generated, Knobs};
use super::piece::Piece;
use super::runner::{Agreement, Difference, compare};
use super::shrink;
use super::subject::{Stimulus, Subject};
use super::{entries, packets};

/// Ports that packets come in by: 0 to this, excluded.
const PORTS: u32 = 8;

/// A program with everything that is done to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub tree: Piece,
    /// Commands and packets in order.
    pub stimuli: Vec<Stimulus>,
}

/// What went wrong with a case.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The program did not compile, or its IR does not verify: a mistake of the generator or of the
    /// front end.
    Program {
        /// What is wrong.
        error: FormError,
        /// The program's text.
        text: String,
    },
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
            Failure::Program { error, text } => {
                writeln!(formatter, "{error}")?;
                writeln!(formatter, "The program:\n{text}")
            }
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

/// Makes a case; the program is compiled on the way, because entries are made from its IR.
pub fn make(
    choices: &mut Choices,
    knobs: Knobs,
    packet_count: usize,
) -> Result<(Case, Forms), Failure> {
    let Generated { tree, parser, palette } = generator::generate(choices, knobs);
    let text = tree.print();
    let forms = match Forms::of_text(&text) {
        Ok(forms) => forms,
        Err(error) => return Err(Failure::Program { error, text }),
    };
    let program = forms.lowered().clone();
    let commands = entries::configuration(&program, choices, &palette);
    let mut stimuli: Vec<Stimulus> = commands.into_iter().map(Stimulus::Command).collect();
    for _ in 0..packet_count {
        if choices.chance(8) {
            let changes = entries::change(&program, choices, &palette);
            stimuli.extend(changes.into_iter().map(Stimulus::Command));
        }
        let bytes = packets::packet(&parser, choices, &palette);
        let gap_ps = u64::from(choices.between(1, 1000)) * 10_000;
        stimuli.push(Stimulus::Packet { port: choices.between(0, PORTS - 1), gap_ps, bytes });
    }
    Ok((Case { tree, stimuli }, forms))
}

/// Makes a case, runs it on both subjects, and shrinks it when they differ.
pub fn run(
    choices: &mut Choices,
    knobs: Knobs,
    packet_count: usize,
    subjects: (&mut dyn Subject, &mut dyn Subject),
) -> Result<(Agreement, Forms), Failure> {
    let (left, right) = subjects;
    let (case, forms) = make(choices, knobs, packet_count)?;
    match compare(&forms, &case.stimuli, left, right) {
        Ok(agreement) => Ok((agreement, forms)),
        Err(difference) => {
            let (case, difference) = shrink::shrink(case, *difference, left, right);
            let (case, difference) = (Box::new(case), Box::new(difference));
            Err(Failure::Difference { difference, case })
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! [`Case`]: a generated program with the commands and packets that subjects get.

use crate::forms::{FormError, Forms};
use crate::subject::Stimulus;
use testing::Choices;
use testing::p4::piece::Piece;
use testing::p4::{Generated, Knobs, entries, generate, packets};

/// Packets enter by the ports below this number.
const PORTS: u32 = 8;

/// A program with everything that is done to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub tree: Piece,
    /// Commands and packets in order.
    pub stimuli: Vec<Stimulus>,
}

/// A generated program that does not compile, or whose IR does not verify: a mistake of the generator, of the front
/// end or of lowering.
#[derive(Clone, Debug)]
pub struct CaseError {
    /// What is wrong.
    pub error: FormError,
    /// The program's text.
    pub text: String,
}

impl std::fmt::Display for CaseError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CaseError { error, text } = self;
        writeln!(formatter, "{error}")?;
        writeln!(formatter, "The program:\n{text}")
    }
}

impl Case {
    /// Makes a case. It compiles the program, because entries are made from its IR.
    ///
    /// # Errors
    ///
    /// The program, if it is refused.
    pub fn make(
        choices: &mut Choices,
        knobs: Knobs,
        packet_count: usize,
    ) -> Result<(Case, Forms), CaseError> {
        let Generated { tree, parser, palette } = generate(choices, knobs);
        let text = tree.print();
        let forms = match Forms::of_text(&text) {
            Ok(forms) => forms,
            Err(error) => return Err(CaseError { error, text }),
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
}

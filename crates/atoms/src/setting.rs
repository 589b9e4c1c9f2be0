// SPDX-License-Identifier: Apache-2.0
//! [`Setting`]: the width of words, the ranges of values and constants, and how a template is connected to a codelet.

use crate::codelet::Codelet;
use crate::template::{Hole, Template};
use crate::words::Words;

/// A range of numbers in two's complement, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The least number.
    pub low: i64,
    /// The greatest number.
    pub high: i64,
}

impl Domain {
    /// Returns all numbers of a width.
    pub fn full(words: Words) -> Domain {
        Domain { low: words.min(), high: words.max() }
    }

    /// Whether the range has every number of a width.
    pub fn is_full(self, words: Words) -> bool {
        self.low <= words.min() && self.high >= words.max()
    }

    /// Whether the range has the number that a word stands for.
    pub fn contains(self, words: Words, word: u32) -> bool {
        (self.low..=self.high).contains(&words.signed(word))
    }

    /// Returns how many numbers the range has.
    pub fn count(self) -> u64 {
        u64::try_from(self.high - self.low + 1).unwrap_or(0)
    }

    /// Returns the numbers that both ranges have.
    pub fn intersect(self, other: Domain) -> Domain {
        Domain { low: self.low.max(other.low), high: self.high.min(other.high) }
    }
}

/// Which fields and state variables of a codelet reach which places of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// Any state variable reaches any state variable, any field any input.
    Any,
    /// By alphabetical order of the names, as Domino's compiler connects them: further fields reach nothing.
    Alphabetical,
}

/// What a mapping is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The arithmetic.
    pub words: Words,
    /// The values of state variables and packet fields.
    pub values: Domain,
    /// The values of constant holes.
    pub constants: Domain,
    /// The connections.
    pub wiring: Wiring,
}

impl Setting {
    /// Returns the setting of all values and constants of a width, with any wiring.
    pub fn exact(width_bits: u32) -> Setting {
        let words = Words::new(width_bits);
        let full = Domain::full(words);
        Setting { words, values: full, constants: full, wiring: Wiring::Any }
    }

    /// Returns the ranges of Domino's compiler: values and constants from 0 to 31 in words that do not overflow.
    pub fn small() -> Setting {
        let small = Domain { low: 0, high: 31 };
        Setting { values: small, constants: small, ..Setting::exact(32) }
    }

    /// Returns the constants that may fill a hole.
    pub fn range(&self, hole: Hole) -> Domain {
        let within = self.constants.intersect(Domain::full(self.words));
        match hole {
            Hole::Constant(Some((low, high))) => within.intersect(Domain { low, high }),
            _ => within,
        }
    }

    /// Returns the codelet with the unused state variables and inputs that this template meets.
    pub fn pad(&self, codelet: &Codelet, template: &Template) -> Codelet {
        let inputs = match self.wiring {
            Wiring::Any => template.inputs.len().min(1),
            Wiring::Alphabetical => template.inputs.len(),
        };
        codelet.padded(template.states.len(), inputs)
    }
}

/// The connections of a padded codelet to a template.
#[derive(Clone, Debug)]
pub struct Connections {
    /// The codelet's state variable in each state variable of the template: all ways.
    pub states: Vec<Vec<usize>>,
}

impl Connections {
    /// Returns all ways to place the state variables of a padded codelet. `changing` are those that need a place; the
    /// template sees no others than those that have one.
    pub fn new(
        setting: &Setting,
        codelet: &Codelet,
        template: &Template,
        changing: &[bool],
    ) -> Self {
        let (names, places) = (&codelet.states, template.states.len());
        let mut states = Vec::new();
        place(names.len(), places, &mut Vec::new(), &mut states);
        states.retain(|placed| {
            let covered = (0..names.len()).all(|state| !changing[state] || placed.contains(&state));
            let sorted = || placed.windows(2).all(|pair| names[pair[0]] <= names[pair[1]]);
            covered && (setting.wiring == Wiring::Any || sorted())
        });
        Connections { states }
    }

    /// Returns the codelet's inputs that each input of the template may be connected to.
    pub fn inputs(setting: &Setting, codelet: &Codelet, template: &Template) -> Vec<Vec<usize>> {
        let mut inputs: Vec<usize> = (0..codelet.inputs.len()).collect();
        inputs.sort_by_key(|input| &codelet.inputs[*input]);
        match setting.wiring {
            Wiring::Any => vec![inputs; template.inputs.len()],
            Wiring::Alphabetical => {
                inputs.into_iter().take(template.inputs.len()).map(|input| vec![input]).collect()
            }
        }
    }
}

/// Adds all sequences of `places` different numbers below `count`, in order.
fn place(count: usize, places: usize, begun: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if begun.len() == places {
        found.push(begun.clone());
        return;
    }
    for state in 0..count {
        if !begun.contains(&state) {
            begun.push(state);
            place(count, places, begun, found);
            begun.pop();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The question to the solver whether a configuration serves all values.

use super::circuit::{Circuit, Word};
use super::encode::{encode, fixed};
use super::solver::{Bit, Found, Meter, Solver};
use crate::codelet::{Codelet, Point};
use crate::setting::{Domain, Setting};
use crate::template::{Configuration, Template};

/// What the solver says about a configuration.
pub enum Verified {
    /// It serves all values.
    Serves,
    /// It fails for these.
    Fails(Point),
    /// The budget ended.
    Unknown,
}

/// Demands that a word is in a range.
pub fn restrict(circuit: &mut Circuit<'_>, setting: &Setting, word: &[Bit], domain: Domain) {
    if domain.is_full(setting.words) {
        return;
    }
    if domain.low == 0 && domain.count().is_power_of_two() {
        for bit in &word[domain.count().trailing_zeros() as usize..] {
            circuit.solver.clause(&[!*bit]);
        }
        return;
    }
    let constant = |circuit: &Circuit<'_>, number| circuit.constant(setting.words.word(number));
    let (low, high) = (constant(circuit, domain.low), constant(circuit, domain.high));
    let (above, below) = (circuit.at_most(&low, word), circuit.at_most(word, &high));
    circuit.solver.clause(&[above]);
    circuit.solver.clause(&[below]);
}

/// Returns a word of variables that has the values of a range.
fn ranged(circuit: &mut Circuit<'_>, setting: &Setting, domain: Domain) -> Word {
    if domain.low == 0 && domain.count().is_power_of_two() {
        let bits = domain.count().trailing_zeros() as usize;
        let mut word = circuit.constant(0);
        for bit in word.iter_mut().take(bits) {
            *bit = circuit.solver.variable();
        }
        return word;
    }
    let word = circuit.variables();
    restrict(circuit, setting, &word, domain);
    word
}

/// A codelet on words of variables.
struct Symbolic<'a> {
    circuit: Circuit<'a>,
    states: Vec<Word>,
    inputs: Vec<Word>,
    next: Vec<Word>,
}

impl<'a> Symbolic<'a> {
    fn new(meter: &'a Meter<'a>, setting: &Setting, codelet: &Codelet) -> Symbolic<'a> {
        let mut circuit = Circuit::new(Solver::new(meter), setting.words);
        let mut words = |count: usize| -> Vec<Word> {
            (0..count).map(|_| ranged(&mut circuit, setting, setting.values)).collect()
        };
        let free_inputs = codelet.free_inputs();
        let (states, free) = (words(codelet.states.len()), words(free_inputs.len()));
        let mut inputs = vec![circuit.constant(0); codelet.inputs.len()];
        free_inputs.into_iter().zip(free).for_each(|(input, word)| inputs[input] = word);
        if !codelet.computed.is_empty() {
            let nodes = encode(&mut circuit, &codelet.graph, &states, &inputs, &[]);
            for (input, value) in &codelet.computed {
                inputs[*input] = nodes[value.index()].clone();
            }
        }
        let nodes = encode(&mut circuit, &codelet.graph, &states, &inputs, &[]);
        let next = codelet.updates.iter().map(|update| nodes[update.index()].clone()).collect();
        Symbolic { circuit, states, inputs, next }
    }

    /// Searches values for which one of the bits is true.
    fn search(mut self, any: &[Bit]) -> Verified {
        let goal = self.circuit.any(any);
        match self.circuit.solver.solve(&[goal]) {
            Found::Nothing => Verified::Serves,
            Found::Unknown => Verified::Unknown,
            Found::Model => {
                let values = |words: &[Word]| -> Vec<u32> {
                    words.iter().map(|word| self.circuit.value(word)).collect()
                };
                Verified::Fails(Point {
                    states: values(&self.states),
                    inputs: values(&self.inputs),
                })
            }
        }
    }
}

/// Searches values for which the configured template differs from the padded codelet.
pub fn verify(
    meter: &Meter<'_>,
    setting: &Setting,
    codelet: &Codelet,
    template: &Template,
    configuration: &Configuration,
) -> Verified {
    let mut symbolic = Symbolic::new(meter, setting, codelet);
    let circuit = &mut symbolic.circuit;
    let states: Vec<Word> =
        configuration.states.iter().map(|state| symbolic.states[*state].clone()).collect();
    let inputs: Vec<Word> =
        configuration.inputs.iter().map(|input| symbolic.inputs[*input].clone()).collect();
    let holes = fixed(circuit, template, configuration);
    let nodes = encode(circuit, &template.graph, &states, &inputs, &holes);
    let mut expected = symbolic.states.clone();
    for (state, update) in configuration.states.iter().zip(&template.updates) {
        expected[*state] = nodes[update.index()].clone();
    }
    let differences: Vec<Bit> = expected
        .iter()
        .zip(&symbolic.next)
        .map(|(found, wanted)| !circuit.equal(found, wanted))
        .collect();
    symbolic.search(&differences)
}

/// Searches values for which the codelet changes a state variable; [`Verified::Serves`] if it never does.
pub fn find_change(
    meter: &Meter<'_>,
    setting: &Setting,
    codelet: &Codelet,
    state: usize,
) -> Verified {
    let mut symbolic = Symbolic::new(meter, setting, codelet);
    let (before, after) = (symbolic.states[state].clone(), symbolic.next[state].clone());
    let difference = !symbolic.circuit.equal(&before, &after);
    symbolic.search(&[difference])
}

// SPDX-License-Identifier: Apache-2.0
//! [`Circuit`]: gates and words of bits as clauses of the solver. Equal gates are built once, gates with known inputs
//! not at all.

use super::solver::{Bit, Solver};
use crate::words::{Binary, Unary, Words};
use std::collections::HashMap;

/// A word, from its lowest bit.
pub type Word = Vec<Bit>;

/// A gate with operands in a fixed order and polarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Gate {
    And(Bit, Bit),
    Xor(Bit, Bit),
    Mux(Bit, Bit, Bit),
    Majority(Bit, Bit, Bit),
}

/// A circuit of words of one width.
pub struct Circuit<'a> {
    /// The solver that has the clauses.
    pub solver: Solver<'a>,
    words: Words,
    gates: HashMap<Gate, Bit>,
    /// The operands of each majority gate.
    carries: HashMap<Bit, [Bit; 3]>,
    /// The outputs of [`Circuit::choose`], by selectors and alternatives.
    choices: HashMap<(Vec<Bit>, Vec<Bit>), Bit>,
}

impl<'a> Circuit<'a> {
    /// Creates a circuit without gates.
    pub fn new(solver: Solver<'a>, words: Words) -> Circuit<'a> {
        let (gates, carries, choices) = (HashMap::new(), HashMap::new(), HashMap::new());
        Circuit { solver, words, gates, carries, choices }
    }

    /// Returns the word of a constant.
    pub fn constant(&self, value: u32) -> Word {
        (0..self.words.width_bits()).map(|bit| Bit::constant(value >> bit & 1 == 1)).collect()
    }

    /// Returns a word of new variables.
    pub fn variables(&mut self) -> Word {
        (0..self.words.width_bits()).map(|_| self.solver.variable()).collect()
    }

    /// Returns a word's value in the last model.
    pub fn value(&self, word: &[Bit]) -> u32 {
        let bits = word.iter().enumerate();
        bits.map(|(at, bit)| u32::from(self.solver.value(*bit)) << at).sum()
    }

    /// Returns the output of a gate, with `clauses(output)` that define it.
    fn gate<const N: usize>(&mut self, gate: Gate, clauses: impl Fn(Bit) -> [[Bit; 3]; N]) -> Bit {
        if let Some(output) = self.gates.get(&gate) {
            return *output;
        }
        let output = self.solver.variable();
        for clause in clauses(output) {
            self.solver.clause(&clause);
        }
        self.gates.insert(gate, output);
        output
    }

    /// Returns `a && b`.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.known(), b.known()) {
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            (Some(false), _) | (_, Some(false)) => return Bit::FALSE,
            _ if a == b => return a,
            _ if a == !b => return Bit::FALSE,
            _ => {}
        }
        let (a, b) = (a.min(b), a.max(b));
        self.gate(Gate::And(a, b), |y| [[!y, a, a], [!y, b, b], [y, !a, !b]])
    }

    /// Returns `a || b`.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// Returns whether the bits differ.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.known(), b.known()) {
            (Some(known), _) => return if known { !b } else { b },
            (_, Some(known)) => return if known { !a } else { a },
            _ if a == b => return Bit::FALSE,
            _ if a == !b => return Bit::TRUE,
            _ => {}
        }
        let flip = a.is_negated() != b.is_negated();
        let positive = |bit: Bit| if bit.is_negated() { !bit } else { bit };
        let (a, b) = (positive(a), positive(b));
        let (a, b) = (a.min(b), a.max(b));
        let y = self.gate(Gate::Xor(a, b), |y| [[!y, a, b], [!y, !a, !b], [y, !a, b], [y, a, !b]]);
        if flip { !y } else { y }
    }

    /// Returns `condition ? then : otherwise`.
    pub fn mux(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if let Some(known) = condition.known() {
            return if known { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.xor(condition, otherwise);
        }
        match (then.known(), otherwise.known()) {
            (Some(true), _) => return self.or(condition, otherwise),
            (Some(false), _) => return self.and(!condition, otherwise),
            (_, Some(true)) => return self.or(!condition, then),
            (_, Some(false)) => return self.and(condition, then),
            _ => {}
        }
        let (c, t, e) = match condition.is_negated() {
            true => (!condition, otherwise, then),
            false => (condition, then, otherwise),
        };
        self.gate(Gate::Mux(c, t, e), |y| {
            [[!c, !t, y], [!c, t, !y], [c, !e, y], [c, e, !y], [!t, !e, y], [t, e, !y]]
        })
    }

    /// Returns whether at least two of the bits are true.
    fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut bits = [a, b, c];
        bits.sort();
        let [a, b, c] = bits;
        match (a.known(), b == c) {
            (Some(true), _) => return self.or(b, c),
            (Some(false), _) => return self.and(b, c),
            (_, true) => return b,
            _ => {}
        }
        if a == b || b == !c {
            return a;
        }
        if a == !b {
            return c;
        }
        // The carry of two sign bits is the same at each further place.
        for (carry, others) in [(a, [b, c]), (b, [a, c]), (c, [a, b])] {
            if let Some(operands) = self.carries.get(&carry)
                && others.iter().all(|other| operands.contains(other))
            {
                return carry;
            }
        }
        let carry = self.gate(Gate::Majority(a, b, c), |y| {
            [[!a, !b, y], [!a, !c, y], [!b, !c, y], [a, b, !y], [a, c, !y], [b, c, !y]]
        });
        self.carries.insert(carry, [a, b, c]);
        carry
    }

    /// Returns whether any bit is true.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        if bits.contains(&Bit::TRUE) {
            return Bit::TRUE;
        }
        let mut unknown: Vec<Bit> = bits.iter().copied().filter(|bit| *bit != Bit::FALSE).collect();
        unknown.sort();
        unknown.dedup();
        match unknown.as_slice() {
            [] => Bit::FALSE,
            [bit] => *bit,
            [a, b] => self.or(*a, *b),
            _ => {
                let y = self.solver.variable();
                for bit in &unknown {
                    self.solver.clause(&[y, !*bit]);
                }
                unknown.push(!y);
                self.solver.clause(&unknown);
                y
            }
        }
    }

    /// Returns the word that a selector chooses; exactly one selector is true.
    pub fn choose(&mut self, selectors: &[Bit], alternatives: &[Word]) -> Word {
        if let Some(chosen) = selectors.iter().position(|bit| *bit == Bit::TRUE) {
            return alternatives[chosen].clone();
        }
        let width = alternatives.first().map_or(0, Vec::len);
        (0..width)
            .map(|at| {
                let first = alternatives[0][at];
                if alternatives.iter().all(|word| word[at] == first) {
                    return first;
                }
                if let [selector, _] = selectors {
                    return self.mux(*selector, first, alternatives[1][at]);
                }
                let bits: Vec<Bit> = alternatives.iter().map(|word| word[at]).collect();
                if let Some(output) = self.choices.get(&(selectors.to_vec(), bits.clone())) {
                    return *output;
                }
                let output = self.solver.variable();
                for (selector, bit) in selectors.iter().zip(&bits) {
                    self.solver.clause(&[!*selector, !*bit, output]);
                    self.solver.clause(&[!*selector, *bit, !output]);
                }
                self.choices.insert((selectors.to_vec(), bits), output);
                output
            })
            .collect()
    }

    /// Returns selectors of which exactly one is true in every model.
    pub fn selectors(&mut self, count: usize) -> Vec<Bit> {
        match count {
            0 | 1 => vec![Bit::TRUE; count],
            2 => {
                let first = self.solver.variable();
                vec![first, !first]
            }
            _ => {
                let selectors: Vec<Bit> = (0..count).map(|_| self.solver.variable()).collect();
                self.solver.clause(&selectors);
                for (at, bit) in selectors.iter().enumerate() {
                    for other in &selectors[..at] {
                        self.solver.clause(&[!*bit, !*other]);
                    }
                }
                selectors
            }
        }
    }

    /// Returns the word of a truth value.
    fn truth(&self, bit: Bit) -> Word {
        let mut word = self.constant(0);
        word[0] = bit;
        word
    }

    /// Returns `a + b + carry` and the last carry.
    pub fn add(&mut self, a: &[Bit], b: &[Bit], mut carry: Bit) -> (Word, Bit) {
        let mut sum = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            let half = self.xor(*a, *b);
            sum.push(self.xor(half, carry));
            carry = self.majority(*a, *b, carry);
        }
        (sum, carry)
    }

    /// Returns `-a` if `negative`, else `a`.
    fn negate_if(&mut self, negative: Bit, a: &[Bit]) -> Word {
        let flipped: Word = a.iter().map(|bit| self.xor(*bit, negative)).collect();
        let zero = self.constant(0);
        self.add(&flipped, &zero, negative).0
    }

    /// Returns `a < b` of unsigned words.
    fn below(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let mut below = Bit::FALSE;
        for (a, b) in a.iter().zip(b) {
            below = self.majority(!*a, *b, below);
        }
        below
    }

    /// Returns `a == b`.
    pub fn equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let differences: Vec<Bit> = a.iter().zip(b).map(|(a, b)| self.xor(*a, *b)).collect();
        !self.any(&differences)
    }

    /// Returns `a <= b` of signed words.
    pub fn at_most(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        !self.signed_below(b, a)
    }

    fn signed_below(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let flip = |word: &[Bit]| {
            let mut word = word.to_vec();
            if let Some(sign) = word.last_mut() {
                *sign = !*sign;
            }
            word
        };
        self.below(&flip(a), &flip(b))
    }

    /// Returns the quotient and remainder of unsigned words; both are 0 for a divisor of 0.
    fn divide(&mut self, a: &[Bit], b: &[Bit]) -> (Word, Word) {
        let valid = self.any(b);
        let mut divisor = b.to_vec();
        divisor.push(Bit::FALSE);
        let mut rest = vec![Bit::FALSE; divisor.len()];
        let mut quotient = self.constant(0);
        for at in (0..a.len()).rev() {
            rest.pop();
            rest.insert(0, a[at]);
            let fits = !self.below(&rest, &divisor);
            let negated: Word = divisor.iter().map(|bit| !*bit).collect();
            let (difference, _) = self.add(&rest, &negated, Bit::TRUE);
            rest = rest
                .iter()
                .zip(difference)
                .map(|(rest, less)| self.mux(fits, less, *rest))
                .collect();
            quotient[at] = self.and(fits, valid);
        }
        rest.truncate(a.len());
        let rest = rest.into_iter().map(|bit| self.and(bit, valid)).collect();
        (quotient, rest)
    }

    /// Returns a shifted word: bit `n` of the result is bit `source(n, count)` of `a`, or `fill`.
    fn shift(&mut self, a: &[Bit], count: &[Bit], left: bool, fill: Bit) -> Word {
        let width = a.len();
        let mut word = a.to_vec();
        let mut too_far = Vec::new();
        for (power, bit) in count.iter().enumerate() {
            let distance = if power < 6 { 1usize << power } else { width };
            if distance >= width {
                too_far.push(*bit);
                continue;
            }
            let before = word.clone();
            for (at, place) in word.iter_mut().enumerate() {
                let source = match left {
                    true => at.checked_sub(distance),
                    false => Some(at + distance).filter(|source| *source < width),
                };
                let moved = source.map_or(fill, |source| before[source]);
                *place = self.mux(*bit, moved, before[at]);
            }
        }
        let out = self.any(&too_far);
        word.into_iter().map(|bit| self.mux(out, fill, bit)).collect()
    }

    /// Applies an operator to a word.
    pub fn unary(&mut self, operator: Unary, a: &[Bit]) -> Word {
        match operator {
            Unary::Negate => self.negate_if(Bit::TRUE, a),
            Unary::Complement => a.iter().map(|bit| !*bit).collect(),
            Unary::Not => {
                let any = self.any(a);
                self.truth(!any)
            }
        }
    }

    /// Applies an operator to two words.
    pub fn binary(&mut self, operator: Binary, a: &[Bit], b: &[Bit]) -> Word {
        let sign = |word: &[Bit]| word.last().copied().unwrap_or(Bit::FALSE);
        let bits: Vec<(Bit, Bit)> = a.iter().copied().zip(b.iter().copied()).collect();
        let truth = match operator {
            Binary::And => return bits.into_iter().map(|(a, b)| self.and(a, b)).collect(),
            Binary::Or => return bits.into_iter().map(|(a, b)| self.or(a, b)).collect(),
            Binary::Xor => return bits.into_iter().map(|(a, b)| self.xor(a, b)).collect(),
            Binary::Add => return self.add(a, b, Bit::FALSE).0,
            Binary::Subtract => {
                let negated: Word = b.iter().map(|bit| !*bit).collect();
                return self.add(a, &negated, Bit::TRUE).0;
            }
            Binary::Multiply => return self.multiply(a, b),
            Binary::DivideUnsigned => return self.divide(a, b).0,
            Binary::RemainderUnsigned => return self.divide(a, b).1,
            Binary::Divide | Binary::Remainder => {
                let (absolute_a, absolute_b) =
                    (self.negate_if(sign(a), a), self.negate_if(sign(b), b));
                let (quotient, rest) = self.divide(&absolute_a, &absolute_b);
                if operator == Binary::Remainder {
                    return self.negate_if(sign(a), &rest);
                }
                let negative = self.xor(sign(a), sign(b));
                return self.negate_if(negative, &quotient);
            }
            Binary::ShiftLeft => return self.shift(a, b, true, Bit::FALSE),
            Binary::ShiftRight => return self.shift(a, b, false, sign(a)),
            Binary::ShiftRightUnsigned => return self.shift(a, b, false, Bit::FALSE),
            Binary::LogicalOr => {
                let (a, b) = (self.any(a), self.any(b));
                self.or(a, b)
            }
            Binary::LogicalAnd => {
                let (a, b) = (self.any(a), self.any(b));
                self.and(a, b)
            }
            Binary::Equal => self.equal(a, b),
            Binary::NotEqual => !self.equal(a, b),
            Binary::Less => self.signed_below(a, b),
            Binary::LessEqual => !self.signed_below(b, a),
            Binary::Greater => self.signed_below(b, a),
            Binary::GreaterEqual => !self.signed_below(a, b),
            Binary::LessUnsigned => self.below(a, b),
            Binary::LessEqualUnsigned => !self.below(b, a),
            Binary::GreaterUnsigned => self.below(b, a),
            Binary::GreaterEqualUnsigned => !self.below(a, b),
        };
        self.truth(truth)
    }

    fn multiply(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        // The operand with more known bits decides which rows are added; equal products are built once.
        let known = |word: &[Bit]| word.iter().filter(|bit| bit.known().is_some()).count();
        let (a, b) = if (known(a), a) > (known(b), b) { (b, a) } else { (a, b) };
        let mut sum = self.constant(0);
        for (at, bit) in b.iter().enumerate() {
            if *bit == Bit::FALSE {
                continue;
            }
            let mut row = self.constant(0);
            for (place, source) in row[at..].iter_mut().zip(a) {
                *place = self.and(*bit, *source);
            }
            sum = self.add(&sum, &row, Bit::FALSE).0;
        }
        sum
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Circuits against the arithmetic of words: each operator on all words of three and five bits, with operands known and
//! unknown.

use super::circuit::Circuit;
use super::solver::{Bit, Budget, Found, Meter, Solver};
use crate::words::{Binary, Unary, Words};

/// Returns the assumptions under which a word of variables has a value.
fn is(word: &[Bit], value: u32) -> Vec<Bit> {
    word.iter()
        .enumerate()
        .map(|(at, bit)| if value >> at & 1 == 1 { *bit } else { !*bit })
        .collect()
}

#[test]
fn binary_operators_are_those_of_words() {
    let meter = Meter::new(Budget::conflicts(u64::MAX));
    for words in [Words::new(3), Words::new(5)] {
        let count = 1u32 << words.width_bits();
        for operator in Binary::ALL {
            let mut circuit = Circuit::new(Solver::new(&meter), words);
            let (a, b) = (circuit.variables(), circuit.variables());
            let output = circuit.binary(*operator, &a, &b);
            let step = if count > 8 { 3 } else { 1 };
            for left in (0..count).step_by(step) {
                let known = circuit.constant(left);
                let half = circuit.binary(*operator, &known, &b);
                for right in (0..count).step_by(step) {
                    let assumptions = [is(&a, left), is(&b, right)].concat();
                    assert_eq!(circuit.solver.solve(&assumptions), Found::Model);
                    let expected = words.binary(*operator, left, right);
                    let place = format!("{left} {} {right}", operator.spelling());
                    assert_eq!(circuit.value(&output), expected, "{place}");
                    assert_eq!(circuit.value(&half), expected, "{place}, left known");
                    let other = circuit.constant(right);
                    let both = circuit.binary(*operator, &known, &other);
                    assert!(both.iter().all(|bit| bit.known().is_some()), "{place}, both known");
                    assert_eq!(both, circuit.constant(expected), "{place}, both known");
                }
            }
        }
    }
}

#[test]
fn unary_operators_are_those_of_words() {
    let meter = Meter::new(Budget::conflicts(u64::MAX));
    let words = Words::new(5);
    let mut circuit = Circuit::new(Solver::new(&meter), words);
    let a = circuit.variables();
    for operator in [Unary::Negate, Unary::Complement, Unary::Not] {
        let output = circuit.unary(operator, &a);
        for value in 0..32 {
            assert_eq!(circuit.solver.solve(&is(&a, value)), Found::Model);
            assert_eq!(circuit.value(&output), words.unary(operator, value));
        }
    }
}

#[test]
fn equal_gates_are_built_once() {
    let meter = Meter::new(Budget::conflicts(u64::MAX));
    let mut circuit = Circuit::new(Solver::new(&meter), Words::new(8));
    let (a, b) = (circuit.variables(), circuit.variables());
    for operator in [Binary::Add, Binary::Multiply, Binary::And, Binary::Xor] {
        assert_eq!(circuit.binary(operator, &a, &b), circuit.binary(operator, &b, &a));
    }
    assert_eq!(circuit.binary(Binary::Subtract, &a, &a), circuit.constant(0));
}

#[test]
fn a_budget_counts_the_conflicts_of_all_solvers() {
    let meter = Meter::new(Budget::conflicts(20));
    let words = Words::new(20);
    let mut unknown = false;
    for _ in 0..2 {
        let mut circuit = Circuit::new(Solver::new(&meter), words);
        let (a, b) = (circuit.variables(), circuit.variables());
        let product = circuit.binary(Binary::Multiply, &a, &b);
        let prime = circuit.constant(899_981);
        let equal = circuit.equal(&product, &prime);
        let small = [&a, &b].map(|word| circuit.any(&word[10..]));
        let one = circuit.constant(1);
        let ones = [&a, &b].map(|word| circuit.equal(word, &one));
        let assumptions = [equal, !small[0], !small[1], !ones[0], !ones[1]];
        unknown |= circuit.solver.solve(&assumptions) == Found::Unknown;
    }
    assert!(unknown && meter.is_exhausted());
    assert!((20..30).contains(&meter.spent()), "{}", meter.spent());
}

// SPDX-License-Identifier: Apache-2.0
//! Values for codelets: ends of ranges, numbers of the codelet and their neighbours, and random numbers. The same codelet
//! and setting give the same values.

use crate::codelet::{Codelet, Point};
use crate::setting::{Domain, Setting};
use arithmetic::random::SplitMix64;
use std::collections::BTreeSet;

/// All points are listed up to this count.
const MAX_LISTED: u64 = 4096;

/// Returns numbers of a range that comparisons and overflow depend on.
pub fn notable(setting: &Setting, codelet: &Codelet, domain: Domain) -> Vec<u32> {
    let words = setting.words;
    let mut numbers: BTreeSet<i64> = BTreeSet::from([-1, 0, 1, 2]);
    for end in [words.min(), words.max(), domain.low, domain.high] {
        numbers.extend([end - 1, end, end + 1]);
    }
    for literal in codelet.literals() {
        let number = words.signed(words.word(i64::from(literal)));
        numbers.extend([number - 1, number, number + 1, -number]);
    }
    let within = domain.intersect(Domain::full(words));
    numbers.retain(|number| (within.low..=within.high).contains(number));
    numbers.into_iter().map(|number| words.word(number)).collect()
}

/// Calls `visit` with values until it returns false: combinations of notable numbers, and `random` points that mix notable
/// and random numbers.
pub fn visit_samples(
    setting: &Setting,
    codelet: &Codelet,
    random: usize,
    mut visit: impl FnMut(Point) -> bool,
) {
    let numbers = notable(setting, codelet, setting.values);
    let (count, point) = points(setting, codelet);
    let combinations = (numbers.len() as u64).checked_pow(count as u32);
    if combinations.is_some_and(|combinations| combinations <= MAX_LISTED)
        && !visit_all(&vec![numbers.clone(); count], &mut |values| visit(point(values)))
    {
        return;
    }
    let mut numbers_of = SplitMix64::new(count as u64);
    let domain = setting.values.intersect(Domain::full(setting.words));
    for _ in 0..random {
        let values: Vec<u32> = (0..count)
            .map(|_| {
                let number = numbers_of.next_number();
                match number % 3 {
                    0 => setting.words.word(domain.low + (number / 3 % domain.count()) as i64),
                    _ => numbers[(number / 3) as usize % numbers.len()],
                }
            })
            .collect();
        if !visit(point(&values)) {
            return;
        }
    }
}

/// Returns how many numbers a point takes, one for each state variable and each input that is not computed, and a function
/// that makes the point of them.
pub fn points(setting: &Setting, codelet: &Codelet) -> (usize, impl Fn(&[u32]) -> Point) {
    let (words, states, free) = (setting.words, codelet.states.len(), codelet.free_inputs());
    let count = states + free.len();
    let point = move |values: &[u32]| {
        let mut inputs = vec![0; codelet.inputs.len()];
        free.iter().zip(&values[states..]).for_each(|(input, value)| inputs[*input] = *value);
        let mut point = Point { states: values[..states].to_vec(), inputs };
        codelet.compute_inputs(words, &mut point);
        point
    };
    (count, point)
}

/// Calls `visit` with every choice of one number from each list until it returns false; whether it never did.
pub fn visit_all(lists: &[Vec<u32>], visit: &mut impl FnMut(&[u32]) -> bool) -> bool {
    let mut places = vec![0; lists.len()];
    if lists.iter().any(Vec::is_empty) {
        return true;
    }
    loop {
        let values: Vec<u32> =
            lists.iter().zip(&places).map(|(list, place)| list[*place]).collect();
        if !visit(&values) {
            return false;
        }
        let Some(at) = (0..lists.len()).rev().find(|at| places[*at] + 1 < lists[*at].len()) else {
            return true;
        };
        places[at] += 1;
        places[at + 1..].fill(0);
    }
}

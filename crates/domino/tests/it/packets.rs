// SPDX-License-Identifier: Apache-2.0
//! Packets for programs, and what a run of them reaches.

use domino::interpreter::Observer;
use domino::program::{Expression, Program};
use source::Span;
use std::collections::{HashMap, HashSet};
use testing::choices::Choices;

/// How the values of a field are chosen for a while.
enum Plan {
    /// The same value mostly.
    Hot(u32),
    /// From 0 to a small number.
    Small(u32),
    /// Around numbers of the program.
    Near,
    /// Growing by up to this number.
    Growing(u32, u32),
    /// Any 32 bits.
    Any,
}

/// Returns packets. Each field follows a plan, which changes from time to time.
pub fn packets(program: &Program, text: &str, count: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut choices = Choices::from_seed(seed);
    let mut numbers: Vec<u32> = vec![0, 1, 2];
    numbers.extend(
        text.split(|one: char| !one.is_ascii_alphanumeric())
            .filter_map(|word| word.parse::<u32>().ok()),
    );
    let mut plans: Vec<Plan> = Vec::new();
    let mut all = Vec::new();
    let mut episode_end = 0;
    for number in 0..count {
        if number == episode_end {
            episode_end = number + if choices.one_in(3) { 2500 } else { 300 };
            plans = program
                .fields
                .iter()
                .map(|_| plan(&mut choices, &numbers, number > count / 2))
                .collect();
        }
        let packet = plans.iter_mut().map(|plan| match plan {
            Plan::Hot(value) if !choices.one_in(20) => *value,
            Plan::Hot(_) => choices.below(4) as u32,
            Plan::Small(bound) => choices.below(*bound as usize + 1) as u32,
            Plan::Near => {
                choices.pick(&numbers).wrapping_add(choices.below(5) as u32).wrapping_sub(2)
            }
            Plan::Growing(value, step) => {
                *value = value.wrapping_add(choices.below(*step as usize + 1) as u32);
                *value
            }
            Plan::Any => choices.word() as u32,
        });
        all.push(packet.collect());
    }
    all
}

fn plan(choices: &mut Choices, numbers: &[u32], is_wild: bool) -> Plan {
    match choices.below(if is_wild { 6 } else { 4 }) {
        0 => Plan::Hot(*choices.pick(numbers)),
        1 => Plan::Small(*choices.pick(&[1, 3, 7, 60])),
        2 => Plan::Near,
        3 => Plan::Growing(choices.below(100) as u32, *choices.pick(&[1, 3, 20, 2000])),
        4 => Plan::Near,
        _ => Plan::Any,
    }
}

/// What packets reach.
#[derive(Default)]
pub struct Reached {
    /// How often each condition held and did not hold.
    pub branches: HashMap<Span, [u64; 2]>,
    /// The cells that packets with different fields reached.
    pub colliding: HashSet<(usize, i64)>,
    /// Accesses outside of arrays.
    pub outside: u64,
    /// Operations that C leaves undefined.
    pub undefined: u64,
    /// The first packet that reached each cell.
    first: HashMap<(usize, i64), Vec<u32>>,
    sizes: Vec<i64>,
    packet: Vec<u32>,
}

impl Reached {
    pub fn of(program: &Program) -> Reached {
        Reached {
            sizes: program.globals.iter().map(|global| global.cells() as i64).collect(),
            ..Reached::default()
        }
    }

    /// Begins a packet.
    pub fn begin(&mut self, packet: &[u32]) {
        self.packet = packet.to_vec();
    }

    /// The conditions that held and did not hold, and all of them.
    pub fn both_ways(&self) -> (usize, usize) {
        let both =
            self.branches.values().filter(|ways| ways.iter().all(|count| *count > 0)).count();
        (both, self.branches.len())
    }
}

impl Observer for Reached {
    fn branch(&mut self, condition: &Expression, is_taken: bool) {
        self.branches.entry(condition.span).or_default()[usize::from(is_taken)] += 1;
    }

    fn cell(&mut self, global: usize, index: i64) {
        if !(0..self.sizes[global]).contains(&index) {
            self.outside += 1;
            return;
        }
        let cell = (global, index);
        if self.colliding.contains(&cell) {
            return;
        }
        let first = self.first.entry(cell).or_insert_with(|| self.packet.clone());
        if *first != self.packet {
            self.colliding.insert(cell);
        }
    }

    fn undefined(&mut self) {
        self.undefined += 1;
    }
}

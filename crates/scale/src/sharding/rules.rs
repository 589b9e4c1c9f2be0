// SPDX-License-Identifier: Apache-2.0
//! The verdicts on one codelet, before stages are looked at: which cells of which arrays a packet accesses, and whether the
//! packet alone tells (MP5 §3.3).

use super::rule::Rule;
use ir::analysis::{AccessedCell, ControlValues, Predicate};
use ir::effects::Location;
use std::collections::BTreeSet;

/// The accesses of a control with what the packet alone says of them.
#[derive(Debug)]
pub(super) struct Accesses<'p> {
    pub values: ControlValues<'p>,
    /// By access: when it may happen, as far as the packet alone tells.
    pub may: Vec<Predicate>,
}

/// A verdict, with accesses of other arrays that are part of the reason.
pub(super) type Verdict = (Rule, BTreeSet<usize>);

impl<'p> Accesses<'p> {
    pub fn new(mut values: ControlValues<'p>) -> Accesses<'p> {
        let predicates: Vec<Predicate> =
            values.accesses().iter().map(|access| access.predicate).collect();
        let may = predicates
            .into_iter()
            .map(|predicate| values.values_mut().whatever_state(predicate))
            .collect();
        Accesses { values, may }
    }

    pub fn object(&self, access: usize) -> Location {
        self.values.accesses()[access].object
    }

    fn cell(&self, access: usize) -> AccessedCell {
        self.values.accesses()[access].cell
    }

    /// Whether the packet alone tells that at most one of two accesses happens.
    pub fn excludes(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.may[one], self.may[other]);
        self.values.values_mut().excludes(one, other)
    }

    /// Whether two accesses are of one cell of their arrays whenever both happen.
    pub fn have_one_cell(&mut self, one: usize, other: usize) -> bool {
        self.cell(one) == self.cell(other)
    }

    /// Returns the accesses that the cell of an access depends on; nothing if the packet tells which it is.
    fn state_of_cell(&mut self, access: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for value in self.values.cell_values(self.cell(access)) {
            found.extend(self.values.values_mut().reads_of(value));
        }
        found
    }

    /// Returns the verdict on one array of a codelet with its accesses.
    pub fn array(&mut self, cells: u64, accesses: &[usize]) -> Verdict {
        let none = BTreeSet::new();
        if accesses.iter().any(|access| matches!(self.object(*access), Location::Extern(_))) {
            return (Rule::Extern, none);
        }
        if cells <= 1 {
            return (Rule::OneCell, none);
        }
        let state: BTreeSet<usize> =
            accesses.iter().flat_map(|access| self.state_of_cell(*access)).collect();
        if !state.is_empty() {
            return (Rule::StateIndex, state);
        }
        for access in accesses {
            let of_cell = self.values.cell_values(self.cell(*access));
            if of_cell.iter().any(|value| self.values.values().is_unknown(*value)) {
                return (Rule::UnresolvedIndex, none);
            }
        }
        let (mut several, mut by_state) = (false, false);
        for (at, one) in accesses.iter().enumerate() {
            for other in &accesses[at + 1..] {
                if self.have_one_cell(*one, *other) {
                    continue;
                }
                several = true;
                if self.excludes(*one, *other) {
                    continue;
                }
                let [one, other] =
                    [one, other].map(|access| self.values.accesses()[*access].predicate);
                if !self.values.values_mut().excludes(one, other) {
                    return (Rule::TwoCells, none);
                }
                by_state = true;
            }
        }
        match (several, by_state) {
            (_, true) => (Rule::StateBranches, none),
            (true, false) => (Rule::PacketBranches, none),
            (false, false) => match self.cell(accesses[0]) {
                AccessedCell::Entry(_) => (Rule::TableEntry, none),
                _ => (Rule::PacketIndex, none),
            },
        }
    }

    /// Whether a packet accesses all these arrays at one index, where it accesses several of them.
    pub fn have_equal_index(&mut self, arrays: &[&[usize]]) -> bool {
        for (at, one) in arrays.iter().enumerate() {
            for other in &arrays[at + 1..] {
                for one in one.iter() {
                    for other in other.iter() {
                        if !self.have_one_cell(*one, *other) && !self.excludes(*one, *other) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Whether the packet alone tells that a packet accesses at most one of two groups.
    pub fn groups_exclude(&mut self, one: &[usize], other: &[usize]) -> bool {
        one.iter().all(|one| other.iter().all(|other| self.excludes(*one, *other)))
    }
}

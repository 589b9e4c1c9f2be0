// SPDX-License-Identifier: Apache-2.0
//! The atoms of one half of the switch in an order in which the code could run them, and which of two comes first.

use super::atom::{Atom, AtomId, Cell};
use crate::problem::{DependencyKind, Gress};
use ir::analysis::RegionFacts;
use ir::effects::Location;
use ir::{OriginId, Program};
use source::Span;
use std::collections::HashMap;

/// One control with its atoms.
pub(super) struct Control<'a> {
    /// Which half of the switch.
    pub gress: Gress,
    /// Shape of its code.
    pub flow: &'a RegionFacts<'a>,
    /// What was found in it.
    pub atoms: Vec<Atom>,
}

/// All atoms of one half, in an order in which the code could run them.
pub(super) struct AtomOrder<'a, 'c> {
    pub controls: &'c [Control<'a>],
    /// Control and index there.
    pub all: Vec<(usize, usize)>,
    /// The reverse.
    numbers: HashMap<(usize, usize), usize>,
}

impl<'a, 'c> AtomOrder<'a, 'c> {
    /// Orders the atoms of one half.
    pub fn new(controls: &'c [Control<'a>], gress: Gress) -> AtomOrder<'a, 'c> {
        let mut all: Vec<(usize, usize)> = Vec::new();
        for (at, control) in controls.iter().enumerate() {
            if control.gress == gress {
                all.extend((0..control.atoms.len()).map(|index| (at, index)));
            }
        }
        let key = |&(control, index): &(usize, usize)| {
            let position = controls[control].atoms[index].position;
            let rank = controls[control].flow.rank[position.block];
            (control, rank, position.instruction, position.part)
        };
        all.sort_by_key(key);
        let numbers = all.iter().enumerate().map(|(number, place)| (*place, number)).collect();
        AtomOrder { controls, all, numbers }
    }

    /// How many atoms there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// An atom.
    pub fn atom(&self, number: usize) -> &'c Atom {
        let (control, index) = self.all[number];
        &self.controls[control].atoms[index]
    }

    /// The control that an atom stands in.
    pub fn control(&self, number: usize) -> usize {
        self.all[number].0
    }

    /// The number of an atom of a control.
    pub fn number(&self, control: usize, id: AtomId) -> usize {
        self.numbers[&(control, id.0)]
    }

    /// Whether code at one place runs before code at another, in some run of the program. Atoms of one
    /// instruction have explicit dependencies.
    pub fn comes_before(&self, from: (usize, usize, usize), to: (usize, usize, usize)) -> bool {
        let (control, block, at) = from;
        if control != to.0 {
            return control < to.0;
        }
        if block == to.1 { at < to.2 } else { self.controls[control].flow.reaches(block, to.1) }
    }

    /// Control, block and instruction.
    pub fn place(&self, number: usize) -> (usize, usize, usize) {
        let position = self.atom(number).position;
        (self.all[number].0, position.block, position.instruction)
    }
}

/// The one that asks for more.
pub(super) fn stronger(left: DependencyKind, right: DependencyKind) -> DependencyKind {
    let rank = |kind| match kind {
        DependencyKind::Match => 3,
        DependencyKind::Action => 2,
        DependencyKind::Successor => 1,
        DependencyKind::Anti => 0,
    };
    if rank(left) >= rank(right) { left } else { right }
}

/// Whether two writes of a cell must keep their order. Counters commute, draws are independent, and logs are for
/// people.
pub(super) fn is_order_kept(cell: &Cell) -> bool {
    !matches!(
        cell,
        Cell::Location(
            Location::Counter(_) | Location::Meter(_) | Location::Random | Location::Log
        )
    )
}

/// Where something stands in the source: the innermost origin that says.
pub(super) fn span(program: &Program, origin: OriginId) -> Span {
    let mut next = Some(origin);
    for _ in 0..=program.origins.len() {
        let Some(origin) = next.and_then(|id| program.origins.get(id.index())) else { break };
        if !origin.span.is_none() {
            return origin.span;
        }
        next = origin.parent;
    }
    Span::NONE
}

// SPDX-License-Identifier: Apache-2.0
//! [`ControlValues`]: what a control computes, as values of the packet that enters it: the cell and the predicate of each
//! access of state, and the lookups in front of them. Every path is followed at once, through branches, tables and
//! actions. Values are in `store`, the walk through the code is in `walk`.
//!
//! A value is from the packet alone if it depends on no state that packets change. Slots that the control finds when it
//! begins are the packet's, whatever blocks before have put there; registers that nothing writes are configuration.

mod places;
mod questions;
mod state;
mod store;
mod walk;

pub use store::{Value, ValueId, Values};

use super::Point;
use super::predicates::Predicate;
use crate::effects::Location;
use crate::{ActionId, Operation, OriginId, Program, RegisterId, TableId};
use std::collections::BTreeSet;

/// Which cell of its object an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessedCell {
    /// The cell of this number.
    Index(ValueId),
    /// The cell of the entry that an application found.
    Entry(usize),
    /// All of the object's state.
    Whole,
}

/// An access of state that packets share.
#[derive(Clone, Debug)]
pub struct ControlAccess {
    /// The instruction.
    pub at: Point,
    /// Of an access in an action: the application that runs it.
    pub application: Option<usize>,
    /// A register, a counter, a meter or an extern.
    pub object: Location,
    /// Which cell.
    pub cell: AccessedCell,
    /// When it happens: control reaches it and its guard holds.
    pub predicate: Predicate,
    /// The values that its results and its update are computed from, the cell's value left out.
    pub inputs: Vec<ValueId>,
    /// Whether the program uses what it reads.
    pub reads: bool,
    /// Whether it changes the state.
    pub writes: bool,
    /// Its origin.
    pub origin: OriginId,
}

/// An application of a table.
#[derive(Clone, Debug)]
pub struct Application {
    /// The instruction.
    pub at: Point,
    /// The table.
    pub table: TableId,
    /// The keys, in order.
    pub keys: Vec<ValueId>,
    /// When it happens.
    pub predicate: Predicate,
    /// The actions of the table, in order.
    pub actions: Vec<ActionId>,
}

/// Why values of a control are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It has a loop.
    Loop,
    /// Its conditions are too many.
    Conditions,
}

/// The values of a control.
#[derive(Debug)]
pub struct ControlValues<'p> {
    program: &'p Program,
    values: Values,
    accesses: Vec<ControlAccess>,
    applications: Vec<Application>,
}

impl<'p> ControlValues<'p> {
    /// Of a block of a verified program.
    ///
    /// # Errors
    ///
    /// Why they are not known.
    pub fn of(program: &'p Program, block: usize) -> Result<ControlValues<'p>, Unknown> {
        let mut written = BTreeSet::new();
        let blocks = program.regions.iter().flat_map(|region| &region.blocks);
        for instruction in blocks.flat_map(|block| &block.instructions) {
            if let Operation::RegisterAccess { register, update: Some(_), .. } =
                &instruction.operation
            {
                written.insert(*register);
            }
        }
        ControlValues::with_state(program, block, written)
    }

    /// The same with these registers as state; the others are configuration.
    ///
    /// # Errors
    ///
    /// Why they are not known.
    pub fn with_state(
        program: &'p Program,
        block: usize,
        state: BTreeSet<RegisterId>,
    ) -> Result<ControlValues<'p>, Unknown> {
        walk::values(program, program.blocks[block].region, state)
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The values and predicates.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The same, to make further ones.
    pub fn values_mut(&mut self) -> &mut Values {
        &mut self.values
    }

    /// All accesses, in an order in which a packet makes them.
    pub fn accesses(&self) -> &[ControlAccess] {
        &self.accesses
    }

    /// All applications, in an order in which a packet makes them.
    pub fn applications(&self) -> &[Application] {
        &self.applications
    }

    /// Returns the accesses of state that an access depends on: for its cell, for whether it happens, or for what it
    /// computes.
    pub fn reads_of_access(&mut self, access: usize) -> BTreeSet<usize> {
        let ControlAccess { cell, predicate, inputs, .. } = &self.accesses[access];
        let (predicate, inputs) = (*predicate, inputs.clone());
        let mut found = self.values.reads_of_predicate(predicate);
        let cell = self.cell_values(*cell);
        for value in inputs.into_iter().chain(cell) {
            found.extend(self.values.reads_of(value));
        }
        found
    }

    /// Returns the values that decide which cell it is: the index, or the keys of the lookup.
    pub fn cell_values(&self, cell: AccessedCell) -> Vec<ValueId> {
        match cell {
            AccessedCell::Index(index) => vec![index],
            AccessedCell::Entry(application) => self.applications[application].keys.clone(),
            AccessedCell::Whole => Vec::new(),
        }
    }
}

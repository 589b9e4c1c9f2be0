// SPDX-License-Identifier: Apache-2.0
//! The variables of the problem that is being made: one for each cell that something matches on.

use super::atom::Cell;
use crate::guard::VariableId;
use crate::problem::Variable;
use ir::Program;
use ir::effects::Location;
use std::collections::{BTreeSet, HashMap};

/// Variables by their cells.
#[derive(Default)]
pub(super) struct Variables {
    /// In the order of their creation.
    pub list: Vec<Variable>,
    /// Counters and meters whose ALU and memory have been counted: each has one for all its users.
    pub counted: BTreeSet<Location>,
    cells: Vec<Cell>,
    numbers: HashMap<Cell, VariableId>,
}

impl Variables {
    /// Returns the variable of a cell; creates it if necessary.
    pub fn of(&mut self, program: &Program, cell: Cell) -> VariableId {
        if let Some(known) = self.numbers.get(&cell) {
            return *known;
        }
        let (name, width_bits) = match cell {
            Cell::Location(Location::Slot(slot)) => match program.slots.get(slot.index()) {
                Some(slot) => (slot.name.to_string(), slot.ty.width_bits()),
                None => ("?".to_string(), 0),
            },
            Cell::Location(location) => (location.describe(program), 0),
            Cell::Flag(number) => (format!("$flag{number}"), 1),
            Cell::Computed(region, temp) => {
                let region = &program.regions[region.index()];
                let width_bits = region.temps.get(temp.index()).map_or(1, |ty| ty.width_bits());
                (format!("{}.$computed{}", region.name, temp.0), width_bits)
            }
        };
        let number = VariableId(self.list.len() as u32);
        self.list.push(Variable { name: name.into(), width_bits });
        self.cells.push(cell);
        self.numbers.insert(cell, number);
        number
    }

    /// The cell of a variable.
    pub fn cell(&self, variable: VariableId) -> Cell {
        self.cells[variable.0 as usize]
    }

    /// Its width.
    pub fn width_bits(&self, variable: VariableId) -> u32 {
        self.list[variable.0 as usize].width_bits
    }
}

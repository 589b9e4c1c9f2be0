// SPDX-License-Identifier: Apache-2.0
//! The state of a device read and written as the globals of its Lucid program.

use crate::compile::{Compiled, GlobalPlace};
use crate::core::GlobalId;
use crate::interpreter::State;
use control::target::Batch;
use device::Device;
use ir::{Bits, RegisterId};
use state::{CellRange, Update};

/// Where each global's cells are in a device.
#[derive(Clone, Debug)]
pub(super) struct CellPlaces {
    /// By global: register, width of one cell, whether it is a pair.
    places: Vec<Option<(RegisterId, u32, bool)>>,
}

impl CellPlaces {
    /// Looks the registers up by their names.
    pub(super) fn new(compiled: &Compiled, program: &ir::Program) -> CellPlaces {
        let mut places = Vec::new();
        for place in &compiled.globals {
            let GlobalPlace::Register { global, name, cell_bits, is_pair } = place else {
                continue;
            };
            let found = program.registers.iter().position(|register| register.name == *name);
            let at = global.0 as usize;
            places.resize(places.len().max(at + 1), None);
            places[at] = found.map(|found| (RegisterId(found as u32), *cell_bits, *is_pair));
        }
        CellPlaces { places }
    }

    /// The cell at an index, or the two of a pair; the second is 0 where there is one.
    pub(super) fn get(&self, device: &Device, global: GlobalId, index: u64) -> Option<[u128; 2]> {
        let (register, cell_bits, is_pair) = (*self.places.get(global.0 as usize)?)?;
        let value = device.cells().register(register)?.read(index)?;
        if !is_pair {
            return Some([value.to_u128()?, 0]);
        }
        let first = value.slice(2 * cell_bits - 1, cell_bits).to_u128()?;
        Some([first, value.slice(cell_bits - 1, 0).to_u128()?])
    }

    /// Sets a cell, or the two of a pair.
    pub(super) fn set(
        &self,
        device: &Device,
        global: GlobalId,
        index: u64,
        values: [u128; 2],
    ) -> Option<()> {
        let (register, cell_bits, is_pair) = (*self.places.get(global.0 as usize)?)?;
        let mut value = Bits::from_u128(cell_bits, values[0]);
        if is_pair {
            value = value.concat(&Bits::from_u128(cell_bits, values[1]));
        }
        let (cells, values) = (CellRange::one(index), value.into());
        let written = device.execute(Batch::one(Update::WriteRegister { register, cells, values }));
        written.is_ok().then_some(())
    }

    /// Copies all cells of a device into a state. Globals that nothing uses stay as they are.
    pub(super) fn read_all(&self, device: &Device, state: &mut State) {
        for (at, place) in self.places.iter().enumerate() {
            let global = GlobalId(at as u32);
            if place.is_none() {
                continue;
            }
            let length = state.cells(global).map_or(0, |cells| cells.length());
            for index in 0..length {
                if let (Some(values), Some(cells)) =
                    (self.get(device, global, index), state.cells_mut(global))
                {
                    cells.set(u128::from(index), values);
                }
            }
        }
    }
}

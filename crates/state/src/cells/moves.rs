// SPDX-License-Identifier: Apache-2.0
//! Cells that move between pipeline instances of one program: of registers, meters and externs.

use super::Cells;
use ir::effects::Location;

/// Which cells of an array move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedCells {
    /// The cell at this index.
    One(u64),
    /// All cells; those of a table's entries, and the state of an extern.
    All,
}

impl MovedCells {
    fn of(self, size: u64) -> std::ops::Range<u64> {
        match self {
            MovedCells::One(index) => index..index + 1,
            MovedCells::All => 0..size,
        }
    }
}

impl Cells {
    /// Takes the values of a register array, a meter or an extern from other cells of the same program. Other objects do not
    /// move.
    pub fn take_values(&mut self, object: Location, moved: MovedCells, from: &Cells) {
        match object {
            Location::Register(register) => {
                let cells = (from.register(register), self.register_mut(register));
                let (Some(from), Some(to)) = cells else { return };
                for index in moved.of(from.size()) {
                    if let Some(value) = from.read(index) {
                        to.write(index, value);
                    }
                }
            }
            Location::Meter(meter) => {
                let at = meter.index();
                if let (Some(from), Some(to)) = (from.meters.get(at), self.meters.get_mut(at)) {
                    match moved {
                        MovedCells::One(index) => to.set(index, from.cell(index)),
                        MovedCells::All => to.clone_from(from),
                    }
                }
                let entries = (from.direct_meters.get(at), self.direct_meters.get_mut(at));
                if let (Some(from), Some(to)) = entries {
                    to.clone_from(from);
                }
            }
            Location::Extern(id) => {
                if let Some(snapshot) = from.extern_snapshot(id) {
                    // The provider restores its own snapshots.
                    let _ = self.restore_extern(id, &snapshot);
                }
            }
            _ => {}
        }
    }

    /// Says whether a register array, a meter or an extern has the values of other cells of the same program.
    pub fn has_values_of(&self, object: Location, moved: MovedCells, other: &Cells) -> bool {
        match object {
            Location::Register(register) => {
                let cells = (self.register(register), other.register(register));
                let (Some(one), Some(other)) = cells else { return true };
                moved.of(one.size()).all(|index| one.read(index) == other.read(index))
            }
            Location::Meter(meter) => {
                let at = meter.index();
                let is_same_array = match (self.meters.get(at), other.meters.get(at)) {
                    (Some(one), Some(other)) => moved
                        .of(one.configured_size().max(other.configured_size()))
                        .all(|index| one.cell(index) == other.cell(index)),
                    _ => true,
                };
                let entries = (self.direct_meters.get(at), other.direct_meters.get(at));
                let is_same_entries = match entries {
                    (Some(one), Some(other)) => {
                        let covers = |one: &super::EntryCells<_>, other: &super::EntryCells<_>| {
                            one.cells().all(|(entry, cell)| other.read(entry) == cell)
                        };
                        covers(one, other) && covers(other, one)
                    }
                    _ => true,
                };
                is_same_array && is_same_entries
            }
            Location::Extern(id) => self.extern_snapshot(id) == other.extern_snapshot(id),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::{MeterConfiguration, TokenRate};
    use ir::{CountUnit, Meter, MeterId, OriginId, Program};

    #[test]
    fn meter_cells_move_with_their_tokens() {
        let meter =
            |size| Meter { name: "m".into(), unit: CountUnit::Packets, size, origin: OriginId(0) };
        let program = Program { meters: vec![meter(Some(4)), meter(None)], ..Program::default() };
        let [array, direct] = [0, 1].map(MeterId);
        let rate = TokenRate::per_second(1, 2);
        let configuration = Some(MeterConfiguration { committed: rate, peak: rate });
        let mut one = Cells::new(&program);
        for index in [1, 2] {
            one.configure_meter(array, index, configuration, 0);
        }
        one.configure_direct_meter(direct, None, configuration, 0);
        let mut other = one.clone();
        one.mark(array, 1, 64, 0);
        one.mark(array, 2, 64, 0);
        one.mark_direct(direct, None, 64, 0);
        let (array, direct) = (Location::Meter(array), Location::Meter(direct));
        let (cell, all) = (MovedCells::One(1), MovedCells::All);
        assert!(!other.has_values_of(array, cell, &one));
        other.take_values(array, cell, &one);
        assert!(other.has_values_of(array, cell, &one) && !other.has_values_of(array, all, &one));
        assert!(!other.has_values_of(direct, all, &one));
        other.take_values(direct, all, &one);
        assert!(other.has_values_of(direct, all, &one));
    }
}

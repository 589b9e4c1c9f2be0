// SPDX-License-Identifier: Apache-2.0
//! The globals of a Lucid program as a target: a register for each array and a table for each table, behind a
//! map from the program that was compiled. A pair is a register of twice the width, the first cell in the upper
//! half.

use control::map::{Handles, Mapped, Renamed};
use control::target::{Batch, Item, Reply, Target};
use device::DeviceTarget;
use ir::{ActionId, Bits, KeyPattern, Program, RegisterId, TableId};
use lucid::core::arithmetic::mask;
use lucid::core::{GlobalId, GlobalKind, Program as Core};
use lucid_compiler::{Compiled, GlobalPlace, TableCopy};
use lucid_reference::interpreter::{Entry, MatchTable, State};
use state::{Atomicity, BoundAction, CellRange, NewEntry, Read, Reply as StateReply, Update};
use std::sync::Arc;

/// What a global is in the program as written.
#[derive(Clone, Debug)]
enum Place {
    /// An array or counter. Above the program's width a cell may hold anything.
    Cells { register: RegisterId, cell_bits: u32, width_bits: u32, is_pair: bool },
    /// A table: its copies.
    Table(Vec<Copy>),
}

/// A table of the compiled program, with its actions in the order of the core program's.
#[derive(Clone, Debug)]
struct Copy {
    table: TableId,
    actions: Vec<ActionId>,
}

/// The globals of one switch.
pub(super) struct Globals {
    target: Mapped<Renamed>,
    /// By global; `None` for what nothing uses.
    places: Vec<Option<Place>>,
}

impl std::fmt::Debug for Globals {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Globals").field("places", &self.places).finish_non_exhaustive()
    }
}

/// The program as written, the objects of the compiled program that stand for its own, and where globals are.
fn written(
    compiled: &Compiled,
    core: &Core,
    pipeline: &Program,
) -> (Program, Handles, Vec<Option<Place>>) {
    let mut program = Program {
        architecture: "lucid".into(),
        slots: pipeline.slots.clone(),
        actions: pipeline.actions.clone(),
        ..Program::default()
    };
    let actions = (0..pipeline.actions.len() as u32).map(ActionId).collect();
    let mut handles = Handles { actions, ..Handles::default() };
    let mut places = vec![None; core.globals.len()];
    for place in &compiled.globals {
        match place {
            GlobalPlace::Register { global, name, cell_bits, is_pair } => {
                let found = pipeline.registers.iter().position(|array| array.name == *name);
                let Some(at) = found else { continue };
                let mut array = pipeline.registers[at].clone();
                array.name = core.globals[global.0 as usize].name.clone();
                let register = RegisterId(program.registers.len() as u32);
                program.registers.push(array);
                handles.registers.push(RegisterId(at as u32));
                let (cell_bits, is_pair) = (*cell_bits, *is_pair);
                let width_bits = match core.globals[global.0 as usize].kind {
                    GlobalKind::Array { width_bits, .. }
                    | GlobalKind::PairArray { width_bits, .. }
                    | GlobalKind::Counter { width_bits, .. } => width_bits,
                    GlobalKind::Table(_) => cell_bits,
                };
                places[global.0 as usize] =
                    Some(Place::Cells { register, cell_bits, width_bits, is_pair });
            }
            GlobalPlace::Table { global, copies } => {
                let mut found_copies = Vec::new();
                for TableCopy { name, actions } in copies {
                    let found = pipeline.tables.iter().position(|table| table.name == *name);
                    let Some(at) = found else { continue };
                    let table = pipeline.tables[at].clone();
                    let action = |name: &Arc<str>| {
                        let mut listed = table.actions.iter().map(|listed| listed.action);
                        listed.find(|id| pipeline.actions[id.index()].name == *name)
                    };
                    let actions = actions.iter().filter_map(action).collect();
                    let id = TableId(program.tables.len() as u32);
                    found_copies.push(Copy { table: id, actions });
                    program.tables.push(table);
                    handles.tables.push(TableId(at as u32));
                }
                places[global.0 as usize] = Some(Place::Table(found_copies));
            }
            GlobalPlace::Absent(_) => {}
        }
    }
    (program, handles, places)
}

impl Globals {
    /// The globals of a program on a device.
    pub(super) fn new(
        compiled: &Compiled,
        core: &Core,
        pipeline: &Program,
        device: DeviceTarget,
    ) -> Globals {
        let (program, handles, places) = written(compiled, core, pipeline);
        let map = Renamed::new(Arc::new(program), pipeline, handles);
        Globals { target: Mapped::new(map, vec![Box::new(device)]), places }
    }

    fn place(&self, global: GlobalId) -> Option<&Place> {
        self.places.get(global.0 as usize)?.as_ref()
    }

    /// The cells at the indexes of a range, each with the other one of a pair; that is 0 where there is none.
    /// `None` where the range is not in the array.
    pub(super) fn get(&mut self, global: GlobalId, cells: CellRange) -> Option<Vec<[u128; 2]>> {
        let place = self.place(global)?.clone();
        let Place::Cells { register, .. } = place else { return None };
        let outcome = self.target.execute(Batch::one(Read::Register { register, cells }));
        match outcome.into_reply() {
            Ok(StateReply::Registers(values)) => {
                values.iter().map(|value| place.split(value)).collect()
            }
            _ => None,
        }
    }

    /// Sets the cells of a range, or both cells of each pair.
    pub(super) fn set(
        &mut self,
        global: GlobalId,
        cells: CellRange,
        values: [u128; 2],
    ) -> Option<()> {
        let Place::Cells { register, cell_bits, is_pair, .. } = *self.place(global)? else {
            return None;
        };
        let mut value = Bits::from_u128(cell_bits, values[0]);
        if is_pair {
            value = value.concat(&Bits::from_u128(cell_bits, values[1]));
        }
        let update = Update::WriteRegister { register, cells, values: value.into() };
        self.target.execute(Batch::one(update)).is_ok().then_some(())
    }

    /// Copies all cells of one instant into a state. Globals that nothing uses stay as they are.
    pub(super) fn read_all(&mut self, state: &mut State) {
        let arrays = self.places.iter().enumerate().filter_map(|(at, place)| match place {
            Some(place @ Place::Cells { register, .. }) => {
                Some((GlobalId(at as u32), place.clone(), *register))
            }
            _ => None,
        });
        let arrays: Vec<_> = arrays.collect();
        let read = |(_, _, register): &(GlobalId, Place, RegisterId)| Read::Register {
            register: *register,
            cells: CellRange::all(),
        };
        let outcome = self.target.execute(Batch::of(arrays.iter().map(read)));
        for ((global, place, _), result) in arrays.iter().zip(outcome.results) {
            let (Ok(Reply::State(StateReply::Registers(values))), Some(cells)) =
                (result, state.cells_mut(*global))
            else {
                continue;
            };
            for (index, value) in values.iter().enumerate() {
                if let Some(values) = place.split(value) {
                    cells.set(index as u128, values);
                }
            }
        }
    }

    /// Makes all copies of a table hold what a state's table holds, in one batch that packets see whole.
    pub(super) fn write_table(
        &mut self,
        global: GlobalId,
        declared: &[lucid::core::ActionId],
        wanted: &MatchTable,
    ) -> Result<(), String> {
        let Some(Place::Table(copies)) = self.place(global).cloned() else { return Ok(()) };
        let program = self.target.program();
        let entries = wanted.entries();
        let mut items = Vec::new();
        for Copy { table, actions } in &copies {
            items.push(Item::from(Update::ClearEntries { table: *table }));
            let entry = |entry| new_entry(&program, (*table, actions), declared, entry);
            items.extend(entries.iter().enumerate().filter_map(entry));
        }
        let outcome = self.target.execute(Batch::of(items).with(Atomicity::DataplaneAtomic));
        match outcome.first_fault() {
            None => Ok(()),
            Some((_, fault)) => Err(fault.to_string()),
        }
    }
}

/// An entry of a table with these actions; of entries in their order, lower positions go first, and the state store takes
/// the largest priority.
fn new_entry(
    program: &Program,
    (table, actions): (TableId, &[ActionId]),
    declared: &[lucid::core::ActionId],
    (position, entry): (usize, &Entry),
) -> Option<Item> {
    let keys = &program.tables[table.index()].keys;
    let action = declared.iter().position(|known| *known == entry.action)?;
    let action = *actions.get(action)?;
    let pattern = |((value, mask), key): (&(u128, u128), &ir::Key)| KeyPattern::Ternary {
        value: Bits::from_u128(key.width_bits, *value),
        mask: Bits::from_u128(key.width_bits, *mask),
    };
    let parameters = &program.actions[action.index()].parameters;
    let arguments = parameters.iter().zip(entry.numbers()).map(|(parameter, value)| {
        let width_bits = program.slots[parameter.slot.index()].ty.width_bits();
        Bits::from_u128(width_bits, value)
    });
    let action = BoundAction { action, arguments: arguments.collect() };
    let keys = entry.key.iter().zip(keys).map(pattern).collect();
    let priority = i64::from(i32::MAX) - (position as i64 + 1);
    let entry = NewEntry::direct(keys, priority, action);
    Some(Item::from(Update::InsertEntry { table, entry }))
}

impl Place {
    /// The cells of a value.
    fn split(&self, value: &Bits) -> Option<[u128; 2]> {
        let Place::Cells { cell_bits, width_bits, is_pair, .. } = self else { return None };
        let all = mask(*width_bits);
        if !is_pair {
            return Some([value.to_u128()? & all, 0]);
        }
        let first = value.slice(2 * cell_bits - 1, *cell_bits).to_u128()?;
        Some([first & all, value.slice(cell_bits - 1, 0).to_u128()? & all])
    }
}

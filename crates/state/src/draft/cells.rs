// SPDX-License-Identifier: Apache-2.0
//! Updates of registers, counters and meters. Each records how to undo it.

use super::{Draft, Outcome, Undo};
use crate::read::{indexed_counter, indexed_meter, object};
use crate::validation::{check_rates, fit, number_text};
use crate::{CellRange, CellValues, Cells, Reply, Update, UpdateError};

fn remember(list: &mut Option<Vec<Undo>>, undo: impl FnOnce(&mut Cells) + 'static) {
    if let Some(list) = list {
        list.push(Box::new(undo));
    }
}

impl Draft<'_> {
    /// Applies an update of cells.
    pub(super) fn write_cells(&mut self, update: Update) -> Outcome {
        let Draft { configuration, cells, now_ps, undo, .. } = self;
        let (configuration, now_ps) = (&**configuration, *now_ps);
        let program = &configuration.program;
        let Some(all) = cells.as_deref_mut() else {
            return Err(UpdateError::CellsAreTheDevices);
        };
        match update {
            Update::WriteRegister { register, cells: range, values } => {
                let array = object(&program.registers, "register", register.0)?;
                let indexes = range.indexes(&array.name, array.size)?;
                values.check_count(&array.name, indexes.end - indexes.start)?;
                let values = values.try_map(|value| {
                    fit(&value, array.width_bits).ok_or_else(|| UpdateError::RegisterValueTooWide {
                        register: array.name.clone(),
                        width_bits: array.width_bits,
                        value: number_text(&value),
                    })
                })?;
                let Some(cells) = all.register_mut(register) else { return Ok(Reply::Done) };
                match &values {
                    CellValues::Same(value) if range == CellRange::all() => {
                        if undo.is_some() {
                            let before = cells.clone();
                            remember(undo, move |all| {
                                if let Some(cells) = all.register_mut(register) {
                                    cells.clone_from(&before);
                                }
                            });
                        }
                        cells.fill(value);
                    }
                    values => {
                        let indexes = range.few_indexes(&array.name, array.size)?;
                        if undo.is_some() {
                            let (first, before) = (indexes.start, indexes.clone());
                            let before: Vec<_> = before.filter_map(|at| cells.read(at)).collect();
                            remember(undo, move |all| {
                                let Some(cells) = all.register_mut(register) else { return };
                                for (at, value) in (first..).zip(before) {
                                    cells.write(at, value);
                                }
                            });
                        }
                        for (position, at) in indexes.enumerate() {
                            cells.write(at, values.at(position).clone());
                        }
                    }
                }
            }
            Update::WriteCounter { counter, cells: range, values } => {
                let size = indexed_counter(&program.counters, counter)?;
                let name = &program.counters[counter.index()].name;
                let indexes = range.few_indexes(name, size)?;
                values.check_count(name, indexes.end - indexes.start)?;
                for (position, at) in indexes.enumerate() {
                    let before = all.counter(counter, at).unwrap_or_default();
                    remember(undo, move |all| all.set_counter(counter, at, before));
                    all.set_counter(counter, at, *values.at(position));
                }
            }
            Update::WriteMeter { meter, cells: range, values } => {
                let size = indexed_meter(&program.meters, meter)?;
                let name = &program.meters[meter.index()].name;
                let indexes = range.few_indexes(name, size)?;
                values.check_count(name, indexes.end - indexes.start)?;
                let values = values.try_map(|rates| check_rates(name, &rates).map(|()| rates))?;
                for (position, at) in indexes.enumerate() {
                    let before = all.meter_cell(meter, at);
                    remember(undo, move |all| all.restore_meter(meter, at, before));
                    all.configure_meter(meter, at, *values.at(position), now_ps);
                }
            }
            Update::WriteDirectCounter { counter, entry, value } => {
                let table = configuration.table_of_counter(counter)?;
                let target = configuration.target(table, &entry)?;
                let before = all.direct_counter_snapshot(counter, target.entry());
                remember(undo, move |all| all.restore_direct_counter(counter, before));
                all.set_direct_counter(counter, target.entry(), value);
            }
            Update::WriteDirectMeter { meter, entry, configuration: rates } => {
                let table = configuration.table_of_meter(meter)?;
                check_rates(&program.meters[meter.index()].name, &rates)?;
                let target = configuration.target(table, &entry)?;
                let before = all.direct_meter_snapshot(meter, target.entry());
                remember(undo, move |all| all.restore_direct_meter(meter, before));
                all.configure_direct_meter(meter, target.entry(), rates, now_ps);
            }
            // `try_apply` handles the updates of configuration.
            _ => {}
        }
        Ok(Reply::Done)
    }
}

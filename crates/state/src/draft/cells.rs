// SPDX-License-Identifier: Apache-2.0
//! Updates of cells: registers, counters and meters. Each tells how it is undone.

use super::{Draft, Outcome};
use crate::read::{indexed_counter, indexed_meter, named_cells, object};
use crate::validation::{check_rates, fit, number_text};
use crate::{EntryReference, Reply, Update, UpdateError};
use ir::TableId;

impl Draft<'_> {
    /// The updates that change cells rather than configuration.
    pub(super) fn write_cells(&mut self, update: Update) -> Outcome {
        let program = self.configuration.program.clone();
        match update {
            Update::WriteRegister { register, index, value } => {
                let array = object(&program.registers, "register", register.0)?;
                let value = fit(&value, array.width_bits).ok_or_else(|| {
                    UpdateError::RegisterValueTooWide {
                        register: array.name.clone(),
                        width_bits: array.width_bits,
                        value: number_text(&value),
                    }
                })?;
                let Some(cells) = self.cells.register(register) else { return Ok(Reply::Done) };
                match index {
                    None => {
                        if self.undo.is_some() {
                            let before = cells.clone();
                            self.remember(move |cells| {
                                if let Some(cells) = cells.register_mut(register) {
                                    *cells = before;
                                }
                            });
                        }
                        if let Some(cells) = self.cells.register_mut(register) {
                            cells.fill(&value);
                        }
                    }
                    Some(at) => {
                        named_cells(&array.name, index, array.size)?;
                        if let Some(before) = cells.read(at) {
                            self.remember(move |cells| {
                                if let Some(cells) = cells.register_mut(register) {
                                    cells.write(at, before);
                                }
                            });
                        }
                        if let Some(cells) = self.cells.register_mut(register) {
                            cells.write(at, value);
                        }
                    }
                }
            }
            Update::WriteCounter { counter, index, value } => {
                let size = indexed_counter(&program.counters, counter)?;
                let name = &program.counters[counter.index()].name;
                for at in named_cells(name, index, size)? {
                    let before = self.cells.counter(counter, at).unwrap_or_default();
                    self.remember(move |cells| cells.set_counter(counter, at, before));
                    self.cells.set_counter(counter, at, value);
                }
            }
            Update::WriteMeter { meter, index, configuration } => {
                let size = indexed_meter(&program.meters, meter)?;
                let name = &program.meters[meter.index()].name;
                check_rates(name, &configuration)?;
                for at in named_cells(name, index, size)? {
                    let before = self.cells.meter_cell(meter, at);
                    self.remember(move |cells| cells.restore_meter(meter, at, before));
                    self.cells.configure_meter(meter, at, configuration, self.now_ps);
                }
            }
            Update::WriteDirectCounter { counter, entry, value } => {
                let table = self.configuration.table_of_counter(counter)?;
                let target = self.existing_target(table, &entry)?;
                let before = self.cells.direct_counter_snapshot(counter, target.entry());
                self.remember(move |cells| cells.restore_direct_counter(counter, before));
                self.cells.set_direct_counter(counter, target.entry(), value);
            }
            Update::WriteDirectMeter { meter, entry, configuration } => {
                let table = self.configuration.table_of_meter(meter)?;
                check_rates(&program.meters[meter.index()].name, &configuration)?;
                let target = self.existing_target(table, &entry)?;
                let before = self.cells.direct_meter_snapshot(meter, target.entry());
                self.remember(move |cells| cells.restore_direct_meter(meter, before));
                self.cells.configure_direct_meter(
                    meter,
                    target.entry(),
                    configuration,
                    self.now_ps,
                );
            }
            // Every other update changes the configuration and does not come here.
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn existing_target(
        &self,
        table: TableId,
        entry: &EntryReference,
    ) -> Result<crate::EntryTarget, UpdateError> {
        self.configuration.target(table, entry)
    }
}

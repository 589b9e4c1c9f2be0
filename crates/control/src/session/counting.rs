// SPDX-License-Identifier: Apache-2.0
//! Counters and meters in a session, indirect by index and direct by entry.

use super::{Answer, Applying};
use crate::command::MeterRate;
use crate::error::{ControlError, UNKNOWN_NAME, WRONG_COUNT};
use crate::lookup;
use ir::TableId;
use state::{
    CellRange, CellValues, CounterValue, EntryReference, MeterConfiguration, Read, Reply,
    TokenRate, Update,
};

impl Applying<'_> {
    /// For a direct counter, the entry whose cell has this index.
    pub(super) fn direct_counter_entry(
        &mut self,
        counter: ir::CounterId,
        index: u64,
    ) -> Result<Option<EntryReference>, ControlError> {
        let program = self.program.clone();
        if program.counters[counter.index()].size.is_some() {
            return Ok(None);
        }
        let table = program.tables.iter().position(|t| t.direct_counters.contains(&counter));
        let Some(table) = table else { return Ok(None) };
        let (keys, priority) = self.entry(TableId(table as u32), index)?;
        Ok(Some(EntryReference::Entry { keys, priority }))
    }

    pub(super) fn read_counter(
        &mut self,
        name: &str,
        index: u64,
    ) -> Result<CounterValue, ControlError> {
        let program = self.program.clone();
        let counter = lookup::counter(&program, name, self.origin)?;
        let read = match self.direct_counter_entry(counter, index)? {
            Some(entry) => Read::DirectCounter { counter, entry: Some(entry) },
            None => Read::Counter { counter, cells: CellRange::one(index) },
        };
        Ok(match self.item(read)? {
            Reply::Counters(values) => values.first().copied().unwrap_or_default(),
            Reply::DirectCounters(values) => {
                values.first().map(|(_, value)| *value).unwrap_or_default()
            }
            _ => CounterValue::default(),
        })
    }

    pub(super) fn meter_set_rates(
        &mut self,
        name: &str,
        index: Option<u64>,
        rates: &[MeterRate],
    ) -> Result<Answer, ControlError> {
        let program = self.program.clone();
        let meter = lookup::meter(&program, name, self.origin)?;
        let (committed, peak) = match rates {
            [committed, peak] => (committed, peak),
            _ => {
                let message =
                    format!("meter `{name}`: give two rates, committed and peak, as RATE:BURST");
                return Err(self.error(WRONG_COUNT, message));
            }
        };
        let rate = |rate: &MeterRate| TokenRate::per_microsecond(rate.per_microsecond, rate.burst);
        let configuration =
            Some(MeterConfiguration { committed: rate(committed), peak: rate(peak) });
        if program.meters[meter.index()].size.is_some() {
            let values = CellValues::Same(configuration);
            return self.update(Update::WriteMeter { meter, cells: index.into(), values });
        }
        let table = program.tables.iter().position(|table| table.direct_meters.contains(&meter));
        let Some(table) = table.map(|at| TableId(at as u32)) else {
            return Err(self.error(UNKNOWN_NAME, format!("no table uses meter `{name}`")));
        };
        let handles: Vec<u64> = match index {
            Some(index) => vec![index],
            None => {
                let entries = self.session.entries.get(&table);
                entries.map(|entries| entries.all().collect()).unwrap_or_default()
            }
        };
        for handle in handles {
            let (keys, priority) = self.entry(table, handle)?;
            let entry = EntryReference::Entry { keys, priority };
            self.update(Update::WriteDirectMeter { meter, entry, configuration })?;
        }
        Ok(Answer::Done)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Several instances of one program as one target: configuration goes to all of them, registers and meters have
//! owners, counters are summed, and an entry idles when it idles everywhere.

use super::{Absence, IdleEntries, Physical, TargetIndex, Translation};
use crate::target::{Batch, DeviceItem, Fault, Notification, Outcome, Visibility};
use ir::{Bits, Program};
use state::{
    CellRange, CellValues, Configuration, CounterValue, EntryWithCells, Read, Reply as StateReply,
    Update,
};
use std::fmt;
use std::sync::Arc;

/// An array whose cells have owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OwnedArray {
    /// A register.
    Register(ir::RegisterId),
    /// An indexed meter.
    Meter(ir::MeterId),
}

/// Which instance owns a cell.
#[derive(Clone)]
pub struct Owner(Arc<dyn Fn(OwnedArray, u64) -> usize + Send + Sync>);

impl Owner {
    /// The first instance owns everything.
    pub fn first() -> Owner {
        Owner(Arc::new(|_, _| 0))
    }

    /// Finds the owner of a cell by its array and its index.
    pub fn by(owner: impl Fn(OwnedArray, u64) -> usize + Send + Sync + 'static) -> Owner {
        Owner(Arc::new(owner))
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Owner")
    }
}

/// Instances of one program, for [`super::Virtual`].
#[derive(Debug)]
pub struct Instances {
    program: Arc<Program>,
    count: usize,
    owner: Owner,
    idle: IdleEntries,
    absence: Absence,
}

impl Instances {
    /// Creates a map of `count` instances of a program.
    pub fn new(program: Arc<Program>, count: usize, owner: Owner) -> Instances {
        let absence = Absence::default();
        Instances { program, count, owner, idle: IdleEntries::default(), absence }
    }

    /// Sets what the map does while an instance is detached.
    pub fn with_absence(self, absence: Absence) -> Instances {
        Instances { absence, ..self }
    }

    fn all(&self) -> impl Iterator<Item = TargetIndex> + use<> {
        (0..self.count).map(TargetIndex)
    }

    fn owner_of(&self, array: OwnedArray, index: u64) -> TargetIndex {
        TargetIndex((self.owner.0)(array, index) % self.count.max(1))
    }

    /// The cells of a range by owner: runs of consecutive cells, each with the place of its first in the range.
    fn runs(
        &self,
        array: OwnedArray,
        cells: CellRange,
        size: u64,
    ) -> Vec<(TargetIndex, CellRange, usize)> {
        let count = cells.count.unwrap_or(size.saturating_sub(cells.first));
        let mut runs: Vec<(TargetIndex, CellRange, usize)> = Vec::new();
        for place in 0..count {
            let index = cells.first + place;
            let owner = self.owner_of(array, index);
            match runs.last_mut() {
                Some((of, CellRange { count: Some(count), .. }, _)) if *of == owner => *count += 1,
                _ => runs.push((owner, CellRange::one(index), place as usize)),
            }
        }
        runs
    }

    fn size(&self, array: OwnedArray) -> u64 {
        match array {
            OwnedArray::Register(id) => self.program.registers[id.index()].size,
            OwnedArray::Meter(id) => self.program.meters[id.index()].size.unwrap_or(0),
        }
    }
}

fn part<T: Clone>(values: &CellValues<T>, place: usize, cells: CellRange) -> CellValues<T> {
    match values {
        CellValues::Same(value) => CellValues::Same(value.clone()),
        CellValues::Each(list) => {
            let count = cells.count.unwrap_or(0) as usize;
            CellValues::Each(list.iter().skip(place).take(count).cloned().collect())
        }
    }
}

impl Translation for Instances {
    fn program(&self) -> Arc<Program> {
        self.program.clone()
    }

    fn targets(&self) -> Vec<TargetIndex> {
        self.all().collect()
    }

    /// Instances change one after the other.
    fn visibility(&self, below: Visibility) -> Visibility {
        if self.count > 1 { Visibility::Items } else { below }
    }

    fn update(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        Ok(match update {
            Update::WriteRegister { register, cells, values } => {
                let array = OwnedArray::Register(*register);
                let runs = self.runs(array, *cells, self.size(array)).into_iter();
                let write = |(target, cells, place)| {
                    let values = part(values, place, cells);
                    let update = Update::WriteRegister { register: *register, cells, values };
                    Physical::at(target, update)
                };
                runs.map(write).collect()
            }
            Update::WriteMeter { meter, cells, values } => {
                let array = OwnedArray::Meter(*meter);
                let runs = self.runs(array, *cells, self.size(array)).into_iter();
                let write = |(target, cells, place)| {
                    let values = part(values, place, cells);
                    Physical::at(target, Update::WriteMeter { meter: *meter, cells, values })
                };
                runs.map(write).collect()
            }
            // The sum over instances is the written value: the first one gets it, the others zero.
            Update::WriteCounter { counter, cells, values } => {
                let write = |target: TargetIndex| {
                    let values = match target.0 {
                        0 => values.clone(),
                        _ => CellValues::Same(CounterValue::default()),
                    };
                    let (counter, cells) = (*counter, *cells);
                    Physical::at(target, Update::WriteCounter { counter, cells, values })
                };
                self.all().map(write).collect()
            }
            Update::WriteDirectCounter { counter, entry, value } => {
                let write = |target: TargetIndex| {
                    let value = if target.0 == 0 { *value } else { CounterValue::default() };
                    let (counter, entry) = (*counter, entry.clone());
                    Physical::at(target, Update::WriteDirectCounter { counter, entry, value })
                };
                self.all().map(write).collect()
            }
            Update::WriteDirectMeter { .. } => {
                vec![Physical::at(TargetIndex(0), update.clone())]
            }
            configuration => {
                self.all().map(|target| Physical::at(target, configuration.clone())).collect()
            }
        })
    }

    fn read(&mut self, read: &Read, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        Ok(match read {
            Read::Register { register, cells } => {
                let array = OwnedArray::Register(*register);
                let runs = self.runs(array, *cells, self.size(array)).into_iter();
                let read = |(target, cells, _)| {
                    Physical::at(target, Read::Register { register: *register, cells })
                };
                runs.map(read).collect()
            }
            Read::Meter { meter, cells } => {
                let array = OwnedArray::Meter(*meter);
                let runs = self.runs(array, *cells, self.size(array)).into_iter();
                let read =
                    |(target, cells, _)| Physical::at(target, Read::Meter { meter: *meter, cells });
                runs.map(read).collect()
            }
            Read::DirectMeter { .. } => vec![Physical::at(TargetIndex(0), read.clone())],
            summed => self.all().map(|target| Physical::at(target, summed.clone())).collect(),
        })
    }

    fn combine(&mut self, read: &Read, replies: Vec<StateReply>) -> Result<StateReply, Fault> {
        let add = |one: &mut CounterValue, other: &CounterValue| {
            one.packets = one.packets.wrapping_add(other.packets);
            one.bytes = one.bytes.wrapping_add(other.bytes);
        };
        let mut replies = replies.into_iter();
        let Some(mut whole) = replies.next() else {
            return Ok(match read {
                Read::Register { .. } => StateReply::Registers(Vec::<Bits>::new()),
                Read::Meter { .. } => StateReply::Meters(Vec::new()),
                _ => StateReply::Counters(Vec::new()),
            });
        };
        for reply in replies {
            match (&mut whole, reply) {
                (StateReply::Registers(all), StateReply::Registers(more)) => all.extend(more),
                (StateReply::Meters(all), StateReply::Meters(more)) => all.extend(more),
                (StateReply::Counters(sums), StateReply::Counters(more)) => {
                    sums.iter_mut().zip(&more).for_each(|(sum, value)| add(sum, value));
                }
                (StateReply::DirectCounters(sums), StateReply::DirectCounters(more)) => {
                    let pairs = sums.iter_mut().zip(&more);
                    pairs.for_each(|((_, sum), (_, value))| add(sum, value));
                }
                (StateReply::EntriesWithCells(all), StateReply::EntriesWithCells(more)) => {
                    for (cells, other) in all.iter_mut().zip(&more) {
                        let EntryWithCells { counters, last_hit_ps, .. } = cells;
                        let pairs = counters.iter_mut().zip(&other.counters);
                        pairs.for_each(|(sum, value)| add(sum, value));
                        *last_hit_ps = (*last_hit_ps).max(other.last_hit_ps);
                    }
                }
                _ => {}
            }
        }
        Ok(whole)
    }

    fn device(&mut self, item: &DeviceItem) -> Result<Vec<Physical>, Fault> {
        Ok(match item {
            DeviceItem::ReadQueue { .. } | DeviceItem::ReadSettings => {
                vec![Physical::at(TargetIndex(0), item.clone())]
            }
            item => self.all().map(|target| Physical::at(target, item.clone())).collect(),
        })
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        _: &Configuration,
    ) -> Vec<Notification> {
        let Notification::IdleTimeout { time_ps, table, entry } = &notification else {
            return vec![notification];
        };
        self.idle.suspect(*table, entry, *time_ps);
        Vec::new()
    }

    fn absence(&self) -> Absence {
        self.absence
    }

    fn background(&mut self) -> Option<Batch> {
        self.idle.question()
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        self.idle.answer(outcome)
    }
}

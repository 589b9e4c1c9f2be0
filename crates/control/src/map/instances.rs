// SPDX-License-Identifier: Apache-2.0
//! Several instances of one program as one target: configuration goes to all of them, registers and meters have
//! owners, counters are summed, and an entry idles when it idles everywhere.

use super::{Physical, TargetIndex, Translation};
use crate::target::{Batch, DeviceItem, Fault, Notification, Outcome, Reply, Visibility};
use ir::{Bits, KeyPattern, Program, TableId};
use state::{
    CellRange, CellValues, Configuration, CounterValue, EntryRecord, EntryReference, EntryTarget,
    EntryWithCells, Read, Reply as StateReply, Update,
};
use std::collections::{BTreeSet, HashMap};
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

    /// The owner of a cell is given by its array and its index.
    pub fn by(owner: impl Fn(OwnedArray, u64) -> usize + Send + Sync + 'static) -> Owner {
        Owner(Arc::new(owner))
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Owner")
    }
}

/// The name of an entry: table, keys, priority.
type EntryName = (TableId, Vec<KeyPattern>, i64);

/// Instances of one program, for [`super::Virtual`].
#[derive(Debug)]
pub struct Instances {
    program: Arc<Program>,
    count: usize,
    owner: Owner,
    /// Instances in which an entry has idled.
    idle: HashMap<EntryName, BTreeSet<usize>>,
    /// Entries that have idled everywhere, if they still do: with when that was noticed.
    suspects: Vec<(EntryName, u64)>,
    /// The suspects that are asked about.
    asked: Vec<(EntryName, u64)>,
}

impl Instances {
    /// So many instances of a program.
    pub fn new(program: Arc<Program>, count: usize, owner: Owner) -> Instances {
        Instances {
            program,
            count,
            owner,
            idle: HashMap::new(),
            suspects: Vec::new(),
            asked: Vec::new(),
        }
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
            // The sum is what was written: one instance has it, the others have nothing.
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
            DeviceItem::ReadQueue { .. } => vec![Physical::at(TargetIndex(0), item.clone())],
            item => self.all().map(|target| Physical::at(target, item.clone())).collect(),
        })
    }

    fn notify(
        &mut self,
        from: TargetIndex,
        notification: Notification,
        _: &Configuration,
    ) -> Vec<Notification> {
        let Notification::IdleTimeout { time_ps, table, entry } = &notification else {
            return vec![notification];
        };
        let name = (*table, entry.keys.clone(), entry.priority);
        let idle = self.idle.entry(name.clone()).or_default();
        idle.insert(from.0);
        if idle.len() == self.count {
            // Some may have been hit since they reported.
            self.suspects.push((name, *time_ps));
        }
        Vec::new()
    }

    fn background(&mut self) -> Option<Batch> {
        if self.suspects.is_empty() || !self.asked.is_empty() {
            return None;
        }
        self.asked = std::mem::take(&mut self.suspects);
        let read = |((table, keys, priority), _): &(EntryName, u64)| Read::EntriesWithCells {
            table: *table,
            entry: Some(EntryReference::Entry { keys: keys.clone(), priority: *priority }),
        };
        Some(Batch::of(self.asked.iter().map(read)))
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        let mut found = Vec::new();
        for ((name, time_ps), result) in
            std::mem::take(&mut self.asked).into_iter().zip(outcome.results)
        {
            let Ok(Reply::State(StateReply::EntriesWithCells(list))) = result else {
                // It is gone meanwhile.
                self.idle.remove(&name);
                continue;
            };
            let Some(EntryWithCells { target: EntryTarget::Entry(entry), last_hit_ps, .. }) =
                list.into_iter().next()
            else {
                continue;
            };
            let idle_ps = time_ps.saturating_sub(last_hit_ps.unwrap_or(0));
            if has_idled(&entry, idle_ps) {
                self.idle.remove(&name);
                found.push(Notification::IdleTimeout { time_ps, table: name.0, entry });
            } else if let Some(idle) = self.idle.get_mut(&name) {
                // The instances that were hit report again; which ones they are is not known.
                idle.clear();
            }
        }
        found
    }
}

fn has_idled(entry: &EntryRecord, idle_ps: u64) -> bool {
    u128::from(idle_ps) >= u128::from(entry.idle_timeout_ns) * 1_000
}

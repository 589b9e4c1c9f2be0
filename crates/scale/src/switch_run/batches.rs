// SPDX-License-Identifier: Apache-2.0
//! Batches of the control plane while packets are in flight: the cells that their items access, and their completion when the last
//! access has ended.

use crate::controlled_work::{CellAccess, CellValue};
use control::target::{Item, Reply};
use ir::Program;
use ir::effects::Location;
use state::{BatchItem, CellRange, CellValues, Read, Update};
use std::collections::BTreeMap;

/// A batch that has completed.
#[derive(Clone, Debug)]
pub struct CompletedBatch {
    /// When it arrived, in picoseconds.
    pub submitted_ps: u64,
    /// When its last item had completed, in picoseconds.
    pub completed_ps: u64,
    /// The items with their replies; reads of cells have what they found at the owner. `None` if a full ring lost an access of
    /// the item.
    pub items: Vec<(Item, Option<Reply>)>,
}

/// An access of a cell that an item asks for.
pub(super) struct CellRequest {
    pub object: Location,
    pub index: u64,
    /// What it writes; `None` of a read.
    pub written: Option<CellValue>,
}

/// An item with the cells that it has read.
struct OpenItem {
    item: Item,
    reply: Reply,
    /// The values that its accesses have read, as far as they have.
    values: Vec<Option<CellValue>>,
    is_read: bool,
    is_lost: bool,
}

struct OpenBatch {
    submitted_ps: u64,
    waiting: usize,
    items: Vec<OpenItem>,
}

/// Batches that have not completed, and those that have.
#[derive(Default)]
pub(super) struct Batches {
    next: u64,
    open: BTreeMap<u64, OpenBatch>,
    completed: Vec<CompletedBatch>,
}

impl Batches {
    /// Opens a batch whose items have these replies. Returns its number.
    pub fn open(&mut self, items: &[(Item, Reply)], submitted_ps: u64) -> u64 {
        let item = |(item, reply): &(Item, Reply)| OpenItem {
            is_read: item.is_read(),
            item: item.clone(),
            reply: reply.clone(),
            values: Vec::new(),
            is_lost: false,
        };
        let items = items.iter().map(item).collect();
        self.next += 1;
        self.open.insert(self.next, OpenBatch { submitted_ps, waiting: 0, items });
        self.next
    }

    /// Waits for an access of an item.
    pub fn wait(&mut self, batch: u64, item: usize) -> usize {
        let Some(open) = self.open.get_mut(&batch) else { return 0 };
        open.waiting += 1;
        let values = &mut open.items[item].values;
        values.push(None);
        values.len() - 1
    }

    /// Notes that all accesses of a batch are known. One without accesses has completed.
    pub fn close(&mut self, batch: u64, now_ps: u64) {
        if self.open.get(&batch).is_some_and(|open| open.waiting == 0) {
            self.complete(batch, now_ps);
        }
    }

    /// Takes an access that has ended.
    pub fn end(&mut self, access: CellAccess, now_ps: u64) {
        let (batch, item, cell) = access.place;
        let Some(open) = self.open.get_mut(&batch) else { return };
        let of_item = &mut open.items[item];
        of_item.is_lost |= access.is_lost;
        of_item.values[cell] = access.value;
        open.waiting -= 1;
        if open.waiting == 0 {
            self.complete(batch, now_ps);
        }
    }

    pub fn take_completed(&mut self) -> Vec<CompletedBatch> {
        std::mem::take(&mut self.completed)
    }

    fn complete(&mut self, batch: u64, completed_ps: u64) {
        let Some(OpenBatch { submitted_ps, items, .. }) = self.open.remove(&batch) else { return };
        let items = items.into_iter().map(|item| {
            let reply = (!item.is_lost).then(|| match item.is_read && !item.values.is_empty() {
                true => read_reply(&item.values).unwrap_or(item.reply),
                false => item.reply,
            });
            (item.item, reply)
        });
        let items = items.collect();
        self.completed.push(CompletedBatch { submitted_ps, completed_ps, items });
    }
}

/// Returns the reply to a read of cells with these values.
fn read_reply(values: &[Option<CellValue>]) -> Option<Reply> {
    let (mut registers, mut counters, mut meters) = (Vec::new(), Vec::new(), Vec::new());
    for value in values {
        match value.as_ref()? {
            CellValue::Register(value) => registers.push(value.clone()),
            CellValue::Counter(value) => counters.push(*value),
            CellValue::Meter(value) => meters.push(*value),
        }
    }
    let reply = match values[0].as_ref()? {
        CellValue::Register(_) => state::Reply::Registers(registers),
        CellValue::Counter(_) => state::Reply::Counters(counters),
        CellValue::Meter(_) => state::Reply::Meters(meters),
    };
    Some(Reply::State(reply))
}

/// Returns the cells that an item accesses; none of items about tables and the device.
///
/// # Errors
///
/// The item is about cells of entries, in words.
pub(super) fn cells_of(program: &Program, item: &Item) -> Result<Vec<CellRequest>, String> {
    let Item::State(item) = item else { return Ok(Vec::new()) };
    let (object, cells, values) = match item {
        BatchItem::Update(Update::WriteRegister { register, cells, values }) => {
            let values = written(values, |value| CellValue::Register(value.clone()));
            (Location::Register(*register), *cells, values)
        }
        BatchItem::Update(Update::WriteCounter { counter, cells, values }) => {
            let values = written(values, |value| CellValue::Counter(*value));
            (Location::Counter(*counter), *cells, values)
        }
        BatchItem::Update(Update::WriteMeter { meter, cells, values }) => {
            let values = written(values, |value| CellValue::Meter(*value));
            (Location::Meter(*meter), *cells, values)
        }
        BatchItem::Read(Read::Register { register, cells }) => {
            (Location::Register(*register), *cells, None)
        }
        BatchItem::Read(Read::Counter { counter, cells }) => {
            (Location::Counter(*counter), *cells, None)
        }
        BatchItem::Read(Read::Meter { meter, cells }) => (Location::Meter(*meter), *cells, None),
        BatchItem::Update(Update::WriteDirectCounter { counter, .. })
        | BatchItem::Read(Read::DirectCounter { counter, .. }) => {
            return Err(of_entries(program, Location::Counter(*counter)));
        }
        BatchItem::Update(Update::WriteDirectMeter { meter, .. })
        | BatchItem::Read(Read::DirectMeter { meter, .. }) => {
            return Err(of_entries(program, Location::Meter(*meter)));
        }
        _ => return Ok(Vec::new()),
    };
    let size = match object {
        Location::Register(register) => program.registers[register.index()].size,
        Location::Counter(counter) => program.counters[counter.index()].size.unwrap_or(0),
        Location::Meter(meter) => program.meters[meter.index()].size.unwrap_or(0),
        _ => 0,
    };
    let CellRange { first, count } = cells;
    let end = count.map_or(size, |count| first.saturating_add(count)).min(size);
    let request = |(at, index): (usize, u64)| CellRequest {
        object,
        index,
        written: values.as_ref().map(|values| values[at.min(values.len() - 1)].clone()),
    };
    Ok((first..end).enumerate().map(request).collect())
}

/// The values that an update writes: one for all cells, or one for each.
fn written<T>(values: &CellValues<T>, value: impl Fn(&T) -> CellValue) -> Option<Vec<CellValue>> {
    Some(match values {
        CellValues::Same(same) => vec![value(same)],
        CellValues::Each(each) => each.iter().map(value).collect(),
    })
}

fn of_entries(program: &Program, object: Location) -> String {
    let what = described(program, object);
    format!(
        "{what} belongs to the entries of a table: its cells cannot be read or written while packets are in flight; read \
         them when the run has ended"
    )
}

/// Returns a register, a counter or a meter in words.
pub(super) fn described(program: &Program, object: Location) -> String {
    match object {
        Location::Register(at) => format!("register `{}`", program.registers[at.index()].name),
        Location::Counter(at) => format!("counter `{}`", program.counters[at.index()].name),
        Location::Meter(at) => format!("meter `{}`", program.meters[at.index()].name),
        _ => "the object".to_string(),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `Job`: a batch under a latency model, divided into pieces (the whole batch, an item or a cell) with the time that each
//! takes. `run_jobs` applies the pieces.

use crate::control_request::Request;
use control::latency::{ItemKind, LatencyModel, cells_of};
use control::target::{Batch, Fault, Item, Reply};
use interpreter::random::{RandomKey, draw_number_between};
use ir::Program;
use state::{BatchItem, Read, Update};

/// A batch in the driver.
#[derive(Debug)]
pub(crate) struct Job {
    pub request: Request,
    pub batch: Batch,
    /// Whether it has updates.
    pub is_write: bool,
    pub number: u64,
    /// The item whose piece is next.
    pub item: usize,
    /// The cell within the range of that item.
    pub cell: u64,
    pub results: Vec<Result<Reply, Fault>>,
}

/// Cells that an item names: the first one's index, how many there are, and the bytes of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    pub first: u64,
    pub count: u64,
    pub bytes: u64,
}

impl Cells {
    /// Returns the cells of an item; `None` if it has no range, or one outside the program's arrays.
    pub fn of(program: &Program, item: &Item) -> Option<Cells> {
        let range = cells_of(item)?;
        let (size, bytes) = match item {
            Item::State(
                BatchItem::Update(Update::WriteRegister { register, .. })
                | BatchItem::Read(Read::Register { register, .. }),
            ) => {
                let array = program.registers.get(register.index())?;
                (array.size, u64::from(array.width_bits).div_ceil(8))
            }
            Item::State(
                BatchItem::Update(Update::WriteCounter { counter, .. })
                | BatchItem::Read(Read::Counter { counter, .. }),
            ) => (program.counters.get(counter.index())?.size?, 16),
            Item::State(
                BatchItem::Update(Update::WriteMeter { meter, .. })
                | BatchItem::Read(Read::Meter { meter, .. }),
            ) => (program.meters.get(meter.index())?.size?, 32),
            _ => return None,
        };
        let count = range.count.unwrap_or(size.saturating_sub(range.first));
        let end = range.first.checked_add(count)?;
        (end <= size).then_some(Cells { first: range.first, count, bytes })
    }
}

impl Job {
    /// Draws 64 random bits; `place` numbers the draws of this job.
    pub fn random(&self, seed: u64, place: u64) -> u64 {
        let key = RandomKey { seed, device: 0, packet: self.number, pass: 0 };
        draw_number_between(key, place, 0, 0, u64::MAX)
    }

    pub fn item_ps(&self, model: &LatencyModel, seed: u64, at: usize) -> u64 {
        let cost = model.cost(ItemKind::of(&self.batch.items[at]));
        cost.base.draw(self.random(seed, at as u64))
    }

    pub fn cell_ps(&self, model: &LatencyModel, at: usize, cells: Cells) -> u64 {
        let cost = model.cost(ItemKind::of(&self.batch.items[at]));
        cost.byte_ps.saturating_mul(cells.bytes)
    }

    /// Returns the time from the begin of an item to its last effect, in picoseconds.
    pub fn whole_item_ps(
        &self,
        model: &LatencyModel,
        seed: u64,
        program: &Program,
        at: usize,
    ) -> u64 {
        let cells = Cells::of(program, &self.batch.items[at]);
        let cells_ps =
            cells.map_or(0, |cells| self.cell_ps(model, at, cells).saturating_mul(cells.count));
        self.item_ps(model, seed, at).saturating_add(cells_ps)
    }

    /// Returns the time from the previous effect to that of the next piece, in picoseconds.
    pub fn piece_ps(&self, model: &LatencyModel, seed: u64, program: &Program) -> u64 {
        let cells = Cells::of(program, &self.batch.items[self.item]);
        let base_ps = if self.cell == 0 { self.item_ps(model, seed, self.item) } else { 0 };
        let cell_ps = cells.map_or(0, |cells| self.cell_ps(model, self.item, cells));
        base_ps.saturating_add(cell_ps)
    }
}

/// Appends the result of a cell to the results of the cells before it.
pub(super) fn join(whole: &mut Result<Reply, Fault>, part: Result<Reply, Fault>) {
    use state::Reply::{Counters, Meters, Registers};
    match (whole, part) {
        (Ok(Reply::State(Registers(all))), Ok(Reply::State(Registers(more)))) => all.extend(more),
        (Ok(Reply::State(Counters(all))), Ok(Reply::State(Counters(more)))) => all.extend(more),
        (Ok(Reply::State(Meters(all))), Ok(Reply::State(Meters(more)))) => all.extend(more),
        (whole @ Ok(_), Err(fault)) => *whole = Err(fault),
        _ => {}
    }
}

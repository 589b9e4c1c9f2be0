// SPDX-License-Identifier: Apache-2.0
//! A batch that takes time: its pieces and how long each takes by a latency model. When pieces take effect is in
//! `run_jobs`.

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
    /// Whether it changes something.
    pub is_write: bool,
    pub number: u64,
    /// The item whose piece comes next, and the cell within its range.
    pub item: usize,
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
    /// `None` for items that have no range of cells, or one that the program does not have.
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
    /// 64 random bits for a draw of this job.
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

    /// From the begin of an item to its last effect, in picoseconds.
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

    /// From the effect before it to the effect of the next piece, in picoseconds.
    pub fn piece_ps(&self, model: &LatencyModel, seed: u64, program: &Program) -> u64 {
        let cells = Cells::of(program, &self.batch.items[self.item]);
        let base_ps = if self.cell == 0 { self.item_ps(model, seed, self.item) } else { 0 };
        let cell_ps = cells.map_or(0, |cells| self.cell_ps(model, self.item, cells));
        base_ps.saturating_add(cell_ps)
    }
}

/// Adds the result of one more cell to those of the cells before it.
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

// SPDX-License-Identifier: Apache-2.0
//! Batches that take time: the pieces in which a latency model lets them take effect. One job after the other
//! has the driver, in the order in which their requests came; the next one begins when the one before has ended.

use super::{ControlWork, Served};
use crate::control_target::Request;
use crate::machine::Event;
use crate::switch::Switch;
use control::latency::{ItemKind, LatencyModel, cell_item, cells_of};
use control::target::{Batch, Fault, Item, Outcome, Reply};
use interpreter::random::{RandomKey, draw_number_between};
use ir::Program;
use state::{Atomicity, BatchItem, Read, Update};

/// A batch in the driver.
#[derive(Debug)]
pub(super) struct Job {
    pub request: Request,
    batch: Batch,
    /// Whether it changes something.
    is_write: bool,
    number: u64,
    /// The item whose piece comes next, and the cell within its range.
    item: usize,
    cell: u64,
    results: Vec<Result<Reply, Fault>>,
}

/// Cells that an item names: the first one's index, how many there are, and the bytes of each.
#[derive(Clone, Copy, Debug)]
struct Cells {
    first: u64,
    count: u64,
    bytes: u64,
}

impl Cells {
    /// `None` for items that have no range of cells, or one that the program does not have.
    fn of(program: &Program, item: &Item) -> Option<Cells> {
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
    fn random(&self, seed: u64, place: u64) -> u64 {
        let key = RandomKey { seed, device: 0, packet: self.number, pass: 0 };
        draw_number_between(key, place, 0, 0, u64::MAX)
    }

    fn item_ps(&self, model: &LatencyModel, seed: u64, at: usize) -> u64 {
        let cost = model.cost(ItemKind::of(&self.batch.items[at]));
        cost.base.draw(self.random(seed, at as u64))
    }

    fn cell_ps(&self, model: &LatencyModel, at: usize, cells: Cells) -> u64 {
        let cost = model.cost(ItemKind::of(&self.batch.items[at]));
        cost.byte_ps.saturating_mul(cells.bytes)
    }

    /// From the begin of an item to its last effect, in picoseconds.
    fn whole_item_ps(&self, model: &LatencyModel, seed: u64, program: &Program, at: usize) -> u64 {
        let cells = Cells::of(program, &self.batch.items[at]);
        let cells_ps =
            cells.map_or(0, |cells| self.cell_ps(model, at, cells).saturating_mul(cells.count));
        self.item_ps(model, seed, at).saturating_add(cells_ps)
    }

    /// From the effect before it to the effect of the next piece, in picoseconds.
    fn piece_ps(&self, model: &LatencyModel, seed: u64, program: &Program) -> u64 {
        let cells = Cells::of(program, &self.batch.items[self.item]);
        let base_ps = if self.cell == 0 { self.item_ps(model, seed, self.item) } else { 0 };
        let cell_ps = cells.map_or(0, |cells| self.cell_ps(model, self.item, cells));
        base_ps.saturating_add(cell_ps)
    }
}

impl Switch {
    /// Puts a batch into the driver's queue.
    pub(super) fn begin_job(&mut self, request: Request, batch: Batch) -> Served {
        let now_ps = self.machine.now_ps;
        let Some(model) = &self.driver.model else { return None };
        let program = &self.current.program;
        let count = batch.items.len();
        let is_one_moment = model.is_atomic
            || count <= 1
                && batch
                    .items
                    .iter()
                    .all(|item| Cells::of(program, item).is_none_or(|cells| cells.count <= 1));
        if batch.atomicity == Atomicity::DataplaneAtomic && !is_one_moment {
            let why = "this device applies the items of a batch one by one; it cannot make them \
                       visible to packets at one moment";
            let fault = Fault::Unsupported(why.to_string());
            return Some((request, Outcome::aborted(count, 0, fault, now_ps)));
        }
        let number = self.driver.next_job;
        self.driver.next_job += 1;
        let batch = batch.made_for(self.current.program.clone());
        let is_write = !batch.only_reads();
        let job = Job { request, batch, is_write, number, item: 0, cell: 0, results: Vec::new() };
        self.driver.jobs.push_back(job);
        if self.driver.jobs.len() == 1 {
            self.begin_first_job();
        }
        None
    }

    /// The driver is free for the first of its jobs.
    fn begin_first_job(&mut self) {
        let (Some(model), Some(job)) = (&self.driver.model, self.driver.jobs.front()) else {
            return;
        };
        let (seed, program) = (self.driver.seed, &self.current.program);
        let count = job.batch.items.len();
        let begin_ps =
            self.machine.now_ps.saturating_add(model.batch.draw(job.random(seed, u64::MAX)));
        let first_ps = match model.is_atomic || count == 0 {
            true => (0..count).fold(begin_ps, |end_ps, at| {
                end_ps.saturating_add(job.whole_item_ps(model, seed, program, at))
            }),
            false => begin_ps.saturating_add(job.piece_ps(model, seed, program)),
        };
        let number = job.number;
        self.machine.schedule(first_ps, Event::Control(ControlWork::Piece(number)));
    }

    /// Goes on with a job that pinned versions held up.
    pub(super) fn resume_jobs(&mut self) {
        if std::mem::take(&mut self.driver.is_job_held)
            && let Some(job) = self.driver.jobs.front()
        {
            let (now_ps, number) = (self.machine.now_ps, job.number);
            self.machine.schedule(now_ps, Event::Control(ControlWork::Piece(number)));
        }
    }

    /// Whether batches that write are in the driver's queue.
    pub(super) fn has_writing_jobs(&self) -> bool {
        self.driver.jobs.iter().any(|job| job.is_write)
    }

    /// Applies the piece of a job that is due: everything, an item, or a cell.
    pub(super) fn next_piece(&mut self, number: u64) -> Served {
        let mut job = self.driver.jobs.pop_front_if(|job| job.number == number)?;
        let is_atomic = self.driver.model.as_ref().is_none_or(|model| model.is_atomic);
        let now_ps = self.machine.now_ps;
        let count = job.batch.items.len();
        if let Some(fault) = self.misfit(&job.batch) {
            return self.end_job(job, Outcome::failed(count, fault, now_ps));
        }
        if is_atomic || count == 0 {
            let batch = std::mem::take(&mut job.batch);
            return match self.apply(batch) {
                Ok(outcome) => self.end_job(job, outcome),
                Err(batch) => self.hold_job(job, batch),
            };
        }
        if (job.item, job.cell) == (0, 0) && job.batch.stops_on_error() {
            // The driver has the device's state for itself, so what is possible now stays so.
            let checked = self.check(&job.batch);
            if !checked.is_ok() {
                return self.end_job(job, checked);
            }
        }
        let cells = Cells::of(&self.current.program, &job.batch.items[job.item]);
        let cells = cells.filter(|cells| cells.count > 0);
        let item = &job.batch.items[job.item];
        let piece = match cells {
            Some(cells) => cell_item(item, job.cell as usize, cells.first + job.cell),
            None => item.clone(),
        };
        let outcome = match self.apply(Batch::one(piece)) {
            Ok(outcome) => outcome,
            Err(_) => {
                let batch = std::mem::take(&mut job.batch);
                return self.hold_job(job, batch);
            }
        };
        let result = outcome.results.into_iter().next().unwrap_or(Ok(Reply::Done));
        match job.cell {
            0 => job.results.push(result),
            _ => {
                if let Some(last) = job.results.last_mut() {
                    join(last, result);
                }
            }
        }
        job.cell += 1;
        if cells.is_none_or(|cells| job.cell >= cells.count) {
            (job.item, job.cell) = (job.item + 1, 0);
        }
        if job.item == count {
            let results = std::mem::take(&mut job.results);
            return self.end_job(job, Outcome { results, ..Outcome::empty(now_ps) });
        }
        self.schedule_piece(job);
        None
    }

    fn schedule_piece(&mut self, job: Job) {
        let Some(model) = &self.driver.model else { return };
        let piece_ps = job.piece_ps(model, self.driver.seed, &self.current.program);
        let due_ps = self.machine.now_ps.saturating_add(piece_ps);
        self.machine.schedule(due_ps, Event::Control(ControlWork::Piece(job.number)));
        self.driver.jobs.push_front(job);
    }

    /// Tries a job again when a pinned version has gone.
    fn hold_job(&mut self, job: Job, batch: Batch) -> Served {
        self.driver.jobs.push_front(Job { batch, ..job });
        self.driver.is_job_held = true;
        None
    }

    fn end_job(&mut self, job: Job, mut outcome: Outcome) -> Served {
        if let Some(model) = &self.driver.model {
            let reply_ps = model.reply.draw(job.random(self.driver.seed, u64::MAX - 1));
            outcome.known_ps = outcome.applied_ps.saturating_add(reply_ps);
        }
        self.begin_first_job();
        if job.is_write && !self.has_writing_jobs() {
            // A reservation may wait for it.
            self.resume_held();
        }
        Some((job.request, outcome))
    }
}

/// Adds the result of one more cell to those of the cells before it.
fn join(whole: &mut Result<Reply, Fault>, part: Result<Reply, Fault>) {
    use state::Reply::{Counters, Meters, Registers};
    match (whole, part) {
        (Ok(Reply::State(Registers(all))), Ok(Reply::State(Registers(more)))) => all.extend(more),
        (Ok(Reply::State(Counters(all))), Ok(Reply::State(Counters(more)))) => all.extend(more),
        (Ok(Reply::State(Meters(all))), Ok(Reply::State(Meters(more)))) => all.extend(more),
        (whole @ Ok(_), Err(fault)) => *whole = Err(fault),
        _ => {}
    }
}

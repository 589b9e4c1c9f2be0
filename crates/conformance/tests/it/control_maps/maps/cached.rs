// SPDX-License-Identifier: Apache-2.0
//! A register that packets only overwrite, kept twice: packets write one copy and count each write in a sequence
//! cell; a read makes the other copy the working one, waits until packets have left the first, and reads it.
//! A cache keeps what was written last.

use super::ids::{register_named, table_named};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{
    Action, Operation, Register, Specification, Statement, Table, full_name,
};
use control::map::{ControlMap, Handles, Renamed, Step, TargetIndex};
use control::state_target::StateTarget;
use control::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target};
use ir::{ActionId, Bits, Program, RegisterId, TableId};
use state::{BatchItem, BoundAction, CellRange, CellValues, Read, Reply as StateReply, Update};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "a register kept twice, with a cache",
    mistake: "the copy just read is taken without the cache",
    transform,
};

struct Cached {
    /// Everything else, and the copies in place of the register.
    rest: Renamed,
    /// Finds mistakes in the program's own words.
    checks: StateTarget,
    register: RegisterId,
    size: u64,
    copies: RegisterId,
    sequences: RegisterId,
    init: TableId,
    set_working: ActionId,
    working: u64,
    cache: Vec<Bits>,
    /// By copy and cell.
    seen: Vec<Bits>,
    form: Form,
}

enum Stage {
    Begin,
    Wait,
    Ask,
    Merge,
    Done,
}

struct Plan {
    batch: Batch,
    stage: Stage,
}

fn target(items: Batch) -> Vec<(TargetIndex, Batch)> {
    vec![(TargetIndex(0), items)]
}

impl Cached {
    /// The part of a batch item that is about the register: its range, and what it writes.
    fn own<'i>(&self, item: &'i Item) -> Option<(CellRange, Option<&'i CellValues<Bits>>)> {
        match item {
            Item::State(BatchItem::Read(Read::Register { register, cells })) => {
                (*register == self.register).then_some((*cells, None))
            }
            Item::State(BatchItem::Update(Update::WriteRegister { register, cells, values })) => {
                (*register == self.register).then_some((*cells, Some(values)))
            }
            _ => None,
        }
    }

    fn mistake(&mut self, item: &Item) -> Option<Fault> {
        let outcome = self.checks.execute(Batch { items: vec![item.clone()], ..Batch::default() });
        outcome.results.into_iter().find_map(Result::err)
    }

    fn cells(&self, range: CellRange) -> (usize, usize) {
        let count = range.count.unwrap_or(self.size.saturating_sub(range.first));
        (range.first as usize, (range.first + count) as usize)
    }

    /// The batch below: an item for each, two for each write of the register.
    fn below(&mut self, batch: &Batch) -> Batch {
        let mut items = Vec::new();
        for item in &batch.items {
            let Some((range, values)) = self.own(item) else {
                let mut one = Batch { items: vec![item.clone()], ..Batch::default() };
                self.rest.pass(&mut one);
                items.append(&mut one.items);
                continue;
            };
            let (first, end) = self.cells(range);
            // What is wrong as written fails below too.
            let range = match self.mistake(item) {
                Some(_) => CellRange::one(u64::MAX),
                None => CellRange::range(first as u64, (end - first) as u64),
            };
            let register = self.copies;
            let Some(values) = values else {
                items.push(Read::Register { register, cells: range }.into());
                continue;
            };
            for offset in [0, self.size] {
                let first = range.first.saturating_add(offset);
                let (cells, values) = (CellRange { first, ..range }, values.clone());
                items.push(Update::WriteRegister { register, cells, values }.into());
            }
        }
        Batch { items, atomicity: batch.atomicity, program: None }
    }

    /// The outcome as written of the outcome below.
    fn above(&mut self, batch: &Batch, below: Outcome) -> Outcome {
        let mut results = Vec::with_capacity(batch.items.len());
        let mut replies = below.results.into_iter();
        let mut next = || replies.next().unwrap_or(Err(Fault::Gone));
        for item in &batch.items {
            let result = next();
            let own = self.own(item).map(|(range, values)| (range, values.cloned()));
            let Some((range, values)) = own else {
                let mut one = Outcome { results: vec![result], ..Outcome::empty(0) };
                self.rest.passed(&mut one);
                results.append(&mut one.results);
                continue;
            };
            if values.is_some() {
                let _ = next();
            }
            let is_ok = result.is_ok();
            results.push(match (result, self.mistake(item)) {
                (Err(fault), Some(mistake)) if fault != Fault::ABORTED => Err(mistake),
                (Ok(_), None) if values.is_none() => {
                    let (first, end) = self.cells(range);
                    let cells = self.cache[first..end].to_vec();
                    Ok(Reply::State(StateReply::Registers(cells)))
                }
                (result, _) => result,
            });
            if let (Some(values), true) = (values, is_ok) {
                let (first, end) = self.cells(range);
                for (at, cell) in self.cache[first..end].iter_mut().enumerate() {
                    let value = match &values {
                        CellValues::Same(value) => value,
                        CellValues::Each(list) => &list[at],
                    };
                    *cell = Bits::from_u64(cell.width_bits(), value.low_u64());
                }
            }
        }
        // One item may be two below, and of one item there is nothing to undo.
        let rolled_back = below.rolled_back && batch.stops_on_error();
        Outcome { results, rolled_back, ..below }
    }

    /// Takes the copy that packets have left to the cache.
    fn merge(&mut self, outcome: &Outcome) {
        let cells = |at: usize| match outcome.results.get(at) {
            Some(Ok(Reply::State(StateReply::Registers(cells)))) => cells.clone(),
            other => panic!("the copy cannot be read: {other:?}"),
        };
        let base = ((self.working ^ 1) * self.size) as usize;
        for (at, (value, sequence)) in cells(0).into_iter().zip(cells(1)).enumerate() {
            let seen = &mut self.seen[base + at];
            if *seen != sequence || self.form == Form::Broken {
                self.cache[at] = value;
                *seen = sequence;
            }
        }
    }
}

impl ControlMap for Cached {
    type Plan = Plan;

    fn program(&self) -> Arc<Program> {
        self.rest.program()
    }

    fn begin(&mut self, batch: Batch) -> Plan {
        Plan { batch, stage: Stage::Begin }
    }

    fn step(&mut self, plan: &mut Plan, mut seen: Vec<Outcome>) -> Step {
        match plan.stage {
            Stage::Begin => {
                let reads = |item: &Item| matches!(self.own(item), Some((_, None)));
                if !plan.batch.items.iter().any(reads) {
                    plan.stage = Stage::Done;
                    return Step::Submit(target(self.below(&plan.batch)));
                }
                plan.stage = Stage::Wait;
                self.working ^= 1;
                let arguments = vec![Bits::from_u64(1, self.working)];
                let action = Some(BoundAction { action: self.set_working, arguments });
                let flip = Update::SetDefaultAction { table: self.init, action };
                Step::Submit(target(Batch::one(flip)))
            }
            Stage::Wait => {
                plan.stage = Stage::Ask;
                Step::Barrier(vec![TargetIndex(0)])
            }
            Stage::Ask => {
                plan.stage = Stage::Merge;
                let cells = CellRange::range((self.working ^ 1) * self.size, self.size);
                let read = |register| Read::Register { register, cells };
                Step::Submit(target(Batch::of([read(self.copies), read(self.sequences)])))
            }
            Stage::Merge => {
                self.merge(&seen.pop().unwrap_or_else(|| Outcome::empty(0)));
                plan.stage = Stage::Done;
                Step::Submit(target(self.below(&plan.batch)))
            }
            Stage::Done => match seen.pop() {
                Some(outcome) => Step::Answer(self.above(&plan.batch, outcome)),
                None => Step::End,
            },
        }
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        self.rest.check(batch)
    }

    fn notify(&mut self, from: TargetIndex, notification: Notification) -> Vec<Notification> {
        self.rest.notify(from, notification)
    }
}

fn transform(_: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    // Packets must not look at it.
    let mut looked_at = Vec::new();
    let mut overwritten = Vec::new();
    run.rewrite(&mut |statement| {
        if let Statement::Access { register, operation, .. } = &statement {
            match operation {
                Operation::Set => overwritten.push(register.clone()),
                _ => looked_at.push(register.clone()),
            }
        }
        vec![statement]
    });
    overwritten.retain(|name| !looked_at.contains(name));
    let register = written.register(overwritten.first()?)?.clone();
    let (copies, sequences) = (run.fresh("copies"), run.fresh("sequences"));
    let (working, init) = (run.fresh("working"), run.fresh("init"));
    let set_working = run.fresh("set_working");
    let (size, name) = (register.size, register.name.clone());
    run.metadata.push((working.clone(), 1));
    run.actions.push(Action {
        name: set_working.clone(),
        parameters: vec![("value".to_string(), 1)],
        body: format!("meta.{working} = value;"),
    });
    run.tables.push(Table {
        name: init.clone(),
        keys: Vec::new(),
        actions: vec![set_working.clone()],
        default: (set_working, vec![0]),
        size: 1,
        counter: None,
        idle_timeout: false,
    });
    run.statements.insert(0, Statement::Apply(init.clone()));
    run.registers.retain(|other| other.name != name);
    let both =
        |name: &String, width_bits| Register { name: name.clone(), width_bits, size: 2 * size };
    run.registers.push(both(&copies, register.width_bits));
    run.registers.push(both(&sequences, 32));
    run.rewrite(&mut |statement| match statement {
        Statement::Access { register: other, index, value, operation: Operation::Set }
            if other == name =>
        {
            let index = format!("({index}) + (bit<32>)meta.{working} * {size}");
            let access = |register: &String, operation| Statement::Access {
                register: register.clone(),
                index: index.clone(),
                value: value.clone(),
                operation,
            };
            vec![access(&copies, Operation::Set), access(&sequences, Operation::Count)]
        }
        other => vec![other],
    });
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let below = |own: &str| match own == full_name(&name) {
            true => full_name(&copies),
            false => own.to_string(),
        };
        let handles = Handles::by_name(written, run, below).expect("every object is carried");
        let init = table_named(run, &init);
        Erased::new(Cached {
            rest: Renamed::new(written.clone(), run, handles),
            checks: StateTarget::new(written.clone()).expect("the program is sound"),
            register: register_named(written, &name),
            size,
            copies: register_named(run, &copies),
            sequences: register_named(run, &sequences),
            init,
            set_working: run.tables[init.index()].actions[0].action,
            working: 0,
            cache: vec![Bits::zero(register.width_bits); size as usize],
            seen: vec![Bits::zero(32); 2 * size as usize],
            form,
        })
    };
    Some(Transformed { run, map: Box::new(map) })
}

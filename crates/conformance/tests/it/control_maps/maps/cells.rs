// SPDX-License-Identifier: Apache-2.0
//! Registers whose cells lie elsewhere: at an offset in a larger register, or the even and the odd ones in two.

use super::ids::{Ids, physical, register_named};
use super::rows::{ByRows, NoRows};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{Register, Specification, Statement};
use control::map::{Physical, TargetIndex, Translation, Virtual};
use control::target::{Batch, Fault, Notification, Outcome};
use ir::{Program, RegisterId};
use state::{CellRange, CellValues, Configuration, Read, Reply, Update};
use std::sync::Arc;
use testing::Choices;

pub const MOVED: Kind = Kind {
    name: "a register moved into a larger one",
    mistake: "the offset is one too small",
    transform: transform_moved,
};

pub const SHARDED: Kind = Kind {
    name: "a register sharded",
    mistake: "even and odd are exchanged",
    transform: transform_sharded,
};

type Place = Arc<dyn Fn(u64) -> (RegisterId, u64) + Send + Sync>;

struct Placed {
    /// Everything else is carried.
    rest: ByRows<NoRows>,
    register: RegisterId,
    size: u64,
    place: Place,
}

impl Placed {
    /// The cells below of a range: runs of consecutive cells, each with the place of its first in the range.
    fn runs(&self, cells: CellRange) -> Vec<(RegisterId, CellRange, usize)> {
        let count = cells.count.unwrap_or(self.size.saturating_sub(cells.first));
        let mut runs: Vec<(RegisterId, CellRange, usize)> = Vec::new();
        for at in 0..count {
            let (register, index) = (self.place)(cells.first + at);
            match runs.last_mut() {
                Some((of, CellRange { first, count: Some(count) }, _))
                    if *of == register && *first + *count == index =>
                {
                    *count += 1;
                }
                _ => runs.push((register, CellRange::one(index), at as usize)),
            }
        }
        runs
    }
}

impl Translation for Placed {
    fn program(&self) -> Arc<Program> {
        self.rest.program()
    }

    fn update(&mut self, update: &Update, before: &Configuration) -> Result<Vec<Physical>, Fault> {
        let Update::WriteRegister { register, cells, values } = update else {
            return self.rest.update(update, before);
        };
        if *register != self.register {
            return self.rest.update(update, before);
        }
        let write = |(register, cells, at): (RegisterId, CellRange, usize)| {
            let count = cells.count.unwrap_or(0) as usize;
            let values = match values {
                CellValues::Same(value) => CellValues::Same(value.clone()),
                CellValues::Each(list) => CellValues::Each(list[at..at + count].to_vec()),
            };
            physical(Update::WriteRegister { register, cells, values })
        };
        Ok(self.runs(*cells).into_iter().map(write).collect())
    }

    fn read(&mut self, read: &Read, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        match read {
            Read::Register { register, cells } if *register == self.register => {
                let read = |(register, cells, _)| physical(Read::Register { register, cells });
                Ok(self.runs(*cells).into_iter().map(read).collect())
            }
            other => self.rest.read(other, state),
        }
    }

    fn combine(&mut self, read: &Read, replies: Vec<Reply>) -> Result<Reply, Fault> {
        match read {
            Read::Register { register, .. } if *register == self.register => {
                let cells = |reply| match reply {
                    Reply::Registers(cells) => cells,
                    _ => Vec::new(),
                };
                Ok(Reply::Registers(replies.into_iter().flat_map(cells).collect()))
            }
            other => self.rest.combine(other, replies),
        }
    }

    fn notify(
        &mut self,
        from: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification> {
        self.rest.notify(from, notification, state)
    }

    fn background(&mut self) -> Option<Batch> {
        self.rest.background()
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        self.rest.background_answer(outcome)
    }
}

fn placed(
    written: &Arc<Program>,
    run: &Arc<Program>,
    register: &Register,
    place: impl Fn(u64) -> (RegisterId, u64) + Send + Sync + 'static,
) -> Erased {
    let ids = Ids { written: written.clone(), run: run.clone() };
    let placed = Placed {
        rest: ByRows::new(ids, NoRows),
        register: register_named(written, &register.name),
        size: register.size,
        place: Arc::new(place),
    };
    Erased::new(Virtual::new(placed).expect("the program is sound"))
}

fn transform_moved(
    choices: &mut Choices,
    written: &Specification,
    form: Form,
) -> Option<Transformed> {
    let mut run = written.clone();
    if written.registers.is_empty() {
        return None;
    }
    let register = choices.pick(&written.registers).clone();
    let offset = u64::from(choices.between(1, 9));
    let name = run.fresh("larger");
    let size = offset + register.size + u64::from(choices.between(0, 3));
    for other in run.registers.iter_mut().filter(|other| other.name == register.name) {
        *other = Register { name: name.clone(), size, ..register.clone() };
    }
    run.rewrite(&mut |statement| match statement {
        Statement::Access { register: other, index, value, operation }
            if other == register.name =>
        {
            let index = format!("({index}) + {offset}");
            vec![Statement::Access { register: name.clone(), index, value, operation }]
        }
        other => vec![other],
    });
    let offset = if form == Form::Broken { offset - 1 } else { offset };
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let below = register_named(run, &name);
        placed(written, run, &register, move |index| (below, index + offset))
    };
    Some(Transformed { run, map: Box::new(map) })
}

fn transform_sharded(
    choices: &mut Choices,
    written: &Specification,
    form: Form,
) -> Option<Transformed> {
    let mut run = written.clone();
    let candidates: Vec<_> = written.registers.iter().filter(|one| one.size > 1).collect();
    if candidates.is_empty() {
        return None;
    }
    let register = (*choices.pick(&candidates)).clone();
    let names = [run.fresh("even"), run.fresh("odd")];
    run.registers.retain(|other| other.name != register.name);
    for name in &names {
        let size = register.size.div_ceil(2);
        run.registers.push(Register { name: name.clone(), size, ..register.clone() });
    }
    run.rewrite(&mut |statement| match statement {
        Statement::Access { register: other, index, value, operation }
            if other == register.name =>
        {
            let access = |name: &String| Statement::Access {
                register: name.clone(),
                index: format!("({index}) >> 1"),
                value: value.clone(),
                operation,
            };
            vec![Statement::If {
                condition: format!("(({index}) & 1) == 1"),
                yes: vec![access(&names[1])],
                no: vec![access(&names[0])],
            }]
        }
        other => vec![other],
    });
    let odd = u64::from(form == Form::Right);
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let below = [register_named(run, &names[0]), register_named(run, &names[1])];
        let shard = move |index: u64| (below[(index & 1 == odd) as usize], index >> 1);
        placed(written, run, &register, shard)
    };
    Some(Transformed { run, map: Box::new(map) })
}

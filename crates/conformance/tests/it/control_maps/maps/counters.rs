// SPDX-License-Identifier: Apache-2.0
//! A counter in two arrays: the packet decides which one counts it, so reads add both values.

use super::ids::{Ids, counter_named, physical};
use super::rows::{ByRows, NoRows, add};
use super::{Erased, Form, Kind, Transformed};
use crate::control_maps::specification::{Counter, Specification, Statement};
use control::map::{Physical, TargetIndex, Translation, Virtual};
use control::target::{Batch, Fault, Notification, Outcome};
use ir::{CounterId, Program};
use state::{CellValues, Configuration, CounterValue, Read, Reply, Update};
use std::sync::Arc;
use testing::Choices;

pub const KIND: Kind = Kind {
    name: "counters summed over rows",
    mistake: "a write leaves the second array as it was",
    transform,
};

struct Summed {
    /// Everything else is carried.
    rest: ByRows<NoRows>,
    counter: CounterId,
    below: [CounterId; 2],
    form: Form,
}

impl Translation for Summed {
    fn program(&self) -> Arc<Program> {
        self.rest.program()
    }

    fn update(&mut self, update: &Update, before: &Configuration) -> Result<Vec<Physical>, Fault> {
        match update {
            Update::WriteCounter { counter, cells, values } if *counter == self.counter => {
                let [first, second] = self.below;
                let nothing = CellValues::Same(CounterValue::default());
                let write = |counter, values| {
                    physical(Update::WriteCounter { counter, cells: *cells, values })
                };
                let mut writes = vec![write(first, values.clone()), write(second, nothing)];
                writes.truncate(if self.form == Form::Broken { 1 } else { 2 });
                Ok(writes)
            }
            other => self.rest.update(other, before),
        }
    }

    fn read(&mut self, read: &Read, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        match read {
            Read::Counter { counter, cells } if *counter == self.counter => {
                let read = |counter| physical(Read::Counter { counter, cells: *cells });
                Ok(self.below.into_iter().map(read).collect())
            }
            other => self.rest.read(other, state),
        }
    }

    fn combine(&mut self, _: &Read, replies: Vec<Reply>) -> Result<Reply, Fault> {
        // Everything else has one answer.
        let mut replies = replies.into_iter();
        let mut whole = replies.next().ok_or(Fault::Gone)?;
        for reply in replies {
            if let (Reply::Counters(sums), Reply::Counters(more)) = (&mut whole, reply) {
                sums.iter_mut().zip(more).for_each(|(sum, value)| add(sum, value));
            }
        }
        Ok(whole)
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

fn transform(choices: &mut Choices, written: &Specification, form: Form) -> Option<Transformed> {
    let mut run = written.clone();
    if written.counters.is_empty() {
        return None;
    }
    let counter = choices.pick(&written.counters).clone();
    let names = [run.fresh(&counter.name), run.fresh(&counter.name)];
    run.counters.retain(|other| other.name != counter.name);
    let arrays = names.iter().map(|name| Counter { name: name.clone(), size: counter.size });
    run.counters.extend(arrays);
    run.rewrite(&mut |statement| match statement {
        Statement::Count { counter: other, index } if other == counter.name => {
            let count =
                |name: &String| Statement::Count { counter: name.clone(), index: index.clone() };
            vec![Statement::If {
                condition: "hdr.h.a[0:0] == 1".to_string(),
                yes: vec![count(&names[1])],
                no: vec![count(&names[0])],
            }]
        }
        other => vec![other],
    });
    let map = move |written: &Arc<Program>, run: &Arc<Program>| {
        let summed = Summed {
            rest: ByRows::new(Ids { written: written.clone(), run: run.clone() }, NoRows),
            counter: counter_named(written, &counter.name),
            below: [counter_named(run, &names[0]), counter_named(run, &names[1])],
            form,
        };
        Erased::new(Virtual::new(summed).expect("the program is sound"))
    };
    Some(Transformed { run, map: Box::new(map) })
}

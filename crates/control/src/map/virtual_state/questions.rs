// SPDX-License-Identifier: Apache-2.0
//! Questions about cells: a question about many entries as reads of one each, and its answer from their answers.

use super::plan::{Part, VirtualPlan};
use super::{Translation, Virtual};
use crate::target::{Fault, Reply};
use state::{EntryReference, EntryTarget, EntryWithCells, Read, Reply as StateReply};

impl<T: Translation> Virtual<T> {
    /// Combines the answer to a question about cells.
    pub(super) fn combined(
        &mut self,
        plan: &VirtualPlan,
        number: usize,
        part: &Part,
    ) -> Result<StateReply, Fault> {
        let mut answers = Vec::with_capacity(part.questions.len());
        for (question, (read, target)) in part.questions.iter().enumerate() {
            let of_it =
                plan.sent.iter().filter(|sent| (sent.part, sent.question) == (number, question));
            let replies = of_it.filter_map(|sent| sent.reply.clone()).collect();
            answers.push((target, self.translation.combine(read, replies)?));
        }
        match &part.result {
            Ok(Reply::State(StateReply::DirectCounters(_))) => {
                let value = |(target, reply): (&EntryTarget, StateReply)| match reply {
                    StateReply::DirectCounters(list) => {
                        list.first().map(|(_, value)| (target.clone(), *value))
                    }
                    _ => None,
                };
                Ok(StateReply::DirectCounters(answers.into_iter().filter_map(value).collect()))
            }
            Ok(Reply::State(StateReply::DirectMeters(_))) => {
                let value = |(target, reply): (&EntryTarget, StateReply)| match reply {
                    StateReply::DirectMeters(list) => {
                        list.first().map(|(_, value)| (target.clone(), *value))
                    }
                    _ => None,
                };
                Ok(StateReply::DirectMeters(answers.into_iter().filter_map(value).collect()))
            }
            Ok(Reply::State(StateReply::EntriesWithCells(_))) => {
                let value = |(target, reply): (&EntryTarget, StateReply)| match reply {
                    StateReply::EntriesWithCells(list) => list
                        .into_iter()
                        .next()
                        .map(|cells| EntryWithCells { target: target.clone(), ..cells }),
                    _ => None,
                };
                Ok(StateReply::EntriesWithCells(answers.into_iter().filter_map(value).collect()))
            }
            _ => answers.into_iter().next().map(|(_, reply)| reply).ok_or(Fault::Gone),
        }
    }
}

/// Splits a read about many entries into reads of one each.
pub(super) fn single_reads(read: &Read, known: &Result<Reply, Fault>) -> Vec<(Read, EntryTarget)> {
    let reference = |target: &EntryTarget| match target {
        EntryTarget::Default => EntryReference::Default,
        EntryTarget::Entry(record) => {
            EntryReference::Entry { keys: record.keys.clone(), priority: record.priority }
        }
    };
    let known = match known {
        Ok(Reply::State(reply)) => reply,
        _ => return Vec::new(),
    };
    match (read, known) {
        (Read::DirectCounter { counter, .. }, StateReply::DirectCounters(list)) => {
            let single = |(target, _): &(EntryTarget, _)| {
                let entry = Some(reference(target));
                (Read::DirectCounter { counter: *counter, entry }, target.clone())
            };
            list.iter().map(single).collect()
        }
        (Read::DirectMeter { meter, .. }, StateReply::DirectMeters(list)) => {
            let single = |(target, _): &(EntryTarget, _)| {
                let entry = Some(reference(target));
                (Read::DirectMeter { meter: *meter, entry }, target.clone())
            };
            list.iter().map(single).collect()
        }
        (Read::EntriesWithCells { table, .. }, StateReply::EntriesWithCells(list)) => {
            let single = |cells: &EntryWithCells| {
                let entry = Some(reference(&cells.target));
                (Read::EntriesWithCells { table: *table, entry }, cells.target.clone())
            };
            list.iter().map(single).collect()
        }
        _ => vec![(read.clone(), EntryTarget::Default)],
    }
}

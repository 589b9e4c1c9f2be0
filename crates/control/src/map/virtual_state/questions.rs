// SPDX-License-Identifier: Apache-2.0
//! Answers to questions about cells, combined from the replies of the reads below.

use super::plan::{Part, VirtualPlan};
use super::{Translation, Virtual};
use crate::target::{Fault, Reply};
use state::{EntryTarget, EntryWithCells, Reply as StateReply};

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

// SPDX-License-Identifier: Apache-2.0
//! [`Calls`]: what a reaction asks of the agent while it runs. Operations on tables become updates, which take effect with
//! the commit.

use super::tables::Tables;
use crate::interface::{Host, TableOperation};
use state::Update;

/// What the reactions of a dialogue decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided {
    pub(super) malleables: Vec<u64>,
    pub(super) updates: Vec<Update>,
}

/// Collects the calls of one reaction.
pub(super) struct Calls<'a> {
    pub(super) tables: &'a mut Tables,
    pub(super) now_ps: u64,
    pub(super) log: &'a mut Vec<String>,
    pub(super) failed_commits: u64,
    pub(super) updates: &'a mut Vec<Update>,
}

impl Calls<'_> {
    fn done(&mut self, update: Option<Update>) -> u64 {
        let is_done = update.is_some();
        self.updates.extend(update);
        u64::from(is_done)
    }
}

impl Host for Calls<'_> {
    fn table(
        &mut self,
        operation: TableOperation,
        table: usize,
        action: usize,
        words: &[u64],
    ) -> u64 {
        match operation {
            TableOperation::Add => match self.tables.add(table, action, words) {
                Some((handle, update)) => {
                    self.updates.push(update);
                    handle
                }
                None => 0,
            },
            TableOperation::Modify => {
                let update = self.tables.modify(table, action, words);
                self.done(update)
            }
            TableOperation::Delete => {
                let update = self.tables.delete(table, words);
                self.done(update)
            }
            TableOperation::Find => self.tables.find(table, words).unwrap_or(0),
            TableOperation::SetDefault => {
                let update = self.tables.set_default(table, Some(action), words);
                self.done(update)
            }
            TableOperation::ResetDefault => {
                let update = self.tables.set_default(table, None, words);
                self.done(update)
            }
        }
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ps / 1000
    }

    fn log(&mut self, line: &str) {
        self.log.push(line.to_string());
    }

    fn failed_commits(&mut self) -> u64 {
        self.failed_commits
    }
}

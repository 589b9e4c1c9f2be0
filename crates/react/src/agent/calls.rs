// SPDX-License-Identifier: Apache-2.0
//! The calls of reactions and of `init`, and the exchange of the reactions between two dialogues.

use super::host::{Calls, Decided};
use super::{Agent, Reload};
use crate::language::DEFAULT_COST_PS;
use crate::module::StateAfterReload;

impl Agent {
    /// Hands new reactions over. The agent takes them when no dialogue is under way; if they do not load, it keeps those
    /// that it has, and logs why.
    pub fn reload(&mut self, reload: Reload) {
        self.reloads.push_back(reload);
    }

    /// Takes the new reactions that wait. Returns whether any were loaded.
    pub(super) fn take_reloads(&mut self, now_ps: u64) -> bool {
        let mut is_loaded = false;
        while let Some(reload) = self.reloads.pop_front() {
            let Reload { interface, code, state, runs_init } = reload;
            let note = match self.reactions.reload(&code, state) {
                Ok(()) => {
                    is_loaded = true;
                    self.statistics.reloads += 1;
                    self.init_is_due = runs_init && interface.init.is_some();
                    for (due_ps, reaction) in self.due_ps.iter_mut().zip(&interface.reactions) {
                        *due_ps = (*due_ps).min(now_ps + reaction.rate_ps.unwrap_or(0));
                    }
                    self.interface = interface;
                    let state = match state {
                        StateAfterReload::Carried => "state is carried",
                        StateAfterReload::Fresh => "state is fresh",
                    };
                    let init = if self.init_is_due { "`init` runs" } else { "`init` does not run" };
                    format!("reloaded: {state}, {init}")
                }
                Err(error) => {
                    self.statistics.failed_reloads += 1;
                    format!("not reloaded: {error}; the reactions before go on")
                }
            };
            self.log.push(note.clone());
            self.current.notes.push(note);
        }
        is_loaded
    }

    /// Calls the reactions that are due; returns what they decided and the time that they take.
    ///
    /// # Errors
    ///
    /// A reaction is dead.
    pub(super) fn call_due(&mut self, now_ps: u64) -> Result<(Decided, u64), String> {
        let mut malleables = self.committed.clone();
        let mut updates = Vec::new();
        let mut cost_ps = 0u64;
        let interface = self.interface.clone();
        for (index, reaction) in interface.reactions.iter().enumerate() {
            if self.due_ps[index] > now_ps {
                continue;
            }
            self.due_ps[index] = match reaction.rate_ps {
                Some(rate_ps) => (self.due_ps[index] + rate_ps).max(now_ps + 1),
                None => 0,
            };
            cost_ps += reaction.cost_ps;
            let input = self.measurements.input(index);
            if self.options.is_traced {
                self.current.note_call(reaction, &input);
            }
            let failed = self.statistics.failed_commits;
            let mut calls = Calls::new(&mut self.tables, now_ps, &mut self.log, failed);
            let called = self.reactions.call(index, &input, &mut malleables, &mut calls);
            updates.extend(calls.finish());
            called.map_err(|stopped| format!("reaction `{}`: {stopped}", reaction.name))?;
        }
        Ok(self.decided(malleables, updates, cost_ps))
    }

    /// Calls `init`.
    ///
    /// # Errors
    ///
    /// It is dead.
    pub(super) fn call_init(&mut self, now_ps: u64) -> Result<(Decided, u64), String> {
        let mut malleables = self.committed.clone();
        let failed = self.statistics.failed_commits;
        let mut calls = Calls::new(&mut self.tables, now_ps, &mut self.log, failed);
        let called = self.reactions.call_init(&mut malleables, &mut calls);
        let updates = calls.finish();
        called.map_err(|stopped| stopped.to_string())?;
        Ok(self.decided(malleables, updates, DEFAULT_COST_PS))
    }

    /// What was decided, and the time that it took: as declared, or as measured.
    fn decided(
        &mut self,
        mut malleables: Vec<u64>,
        updates: Vec<state::Update>,
        cost_ps: u64,
    ) -> (Decided, u64) {
        self.mask(&mut malleables);
        let decided = Decided { malleables, updates };
        if self.options.is_traced {
            self.current.note_decisions(&self.interface, &self.written, &self.committed, &decided);
        }
        let cost_ps = match self.options.pace {
            Some(pace) if pace.measures => self.worked_ps(),
            _ => cost_ps,
        };
        (decided, cost_ps)
    }

    /// Cuts values to their widths, and keeps the alternative of a field that got none of its own.
    fn mask(&self, malleables: &mut [u64]) {
        for (value, word) in self.interface.values.iter().zip(malleables.iter_mut()) {
            if value.ty.width_bits < 64 {
                *word &= (1 << value.ty.width_bits) - 1;
            }
        }
        let first = self.interface.values.len();
        for (at, field) in self.interface.fields.iter().enumerate() {
            let word = &mut malleables[first + at];
            if *word >= field.alternatives.len() as u64 {
                *word = self.committed[first + at];
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The calls of reactions and of `init`, and the exchange of the reactions between two dialogues.

use super::host::Calls;
use super::{Agent, Reload};
use crate::interface::Stopped;
use crate::language::DEFAULT_COST_PS;
use crate::module::{Called, StateAfterReload};

/// The calls of a dialogue under way: `init` alone, or the reactions that are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calling {
    /// The number of calls that are done.
    done: usize,
    /// Whether the next one has begun.
    is_begun: bool,
    cost_ps: u64,
    /// Time to the next look at a call that runs beside the agent.
    look_ps: u64,
}

/// Time to the first look after the begin of a call; it doubles from look to look, so that looks at a long call cost
/// little.
const FIRST_LOOK_PS: u64 = 20_000_000;
/// The longest time between two looks.
const LONGEST_LOOK_PS: u64 = 2_000_000_000;

impl Calling {
    /// Returns the time to the next look.
    pub(super) fn next_look_ps(&mut self) -> u64 {
        let next_ps = (self.look_ps * 2).min(LONGEST_LOOK_PS);
        std::mem::replace(&mut self.look_ps, next_ps)
    }
}

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

    /// Finds the reactions that are due.
    pub(super) fn find_due(&mut self, now_ps: u64) {
        let all = self.due_ps.iter().enumerate();
        let due = all.filter(|(_, due_ps)| **due_ps <= now_ps).map(|(index, _)| index);
        self.due.clear();
        self.due.extend(due);
    }

    /// Begins the calls of a dialogue. They decide from what is committed.
    pub(super) fn begin_calls(&mut self) -> Calling {
        self.decided.malleables.clone_from(&self.committed);
        self.decided.updates.clear();
        Calling { done: 0, is_begun: false, cost_ps: 0, look_ps: FIRST_LOOK_PS }
    }

    /// The call behind so many others of this dialogue.
    fn call_behind(&self, done: usize) -> Option<Called> {
        match self.current.is_init {
            true => (done == 0).then_some(Called::Init),
            false => self.due.get(done).copied().map(Called::Reaction),
        }
    }

    /// Goes on with the calls. Returns the time that they take, in picoseconds, once all are done.
    ///
    /// # Errors
    ///
    /// A reaction is dead.
    pub(super) fn advance(
        &mut self,
        calling: &mut Calling,
        now_ps: u64,
    ) -> Result<Option<u64>, String> {
        while let Some(call) = self.call_behind(calling.done) {
            let interface = &self.interface;
            let died = |stopped: Stopped| match call {
                Called::Reaction(index) => {
                    format!("reaction `{}`: {stopped}", interface.reactions[index].name)
                }
                Called::Init => format!("`init`: {stopped}"),
            };
            if !std::mem::replace(&mut calling.is_begun, true) {
                self.input.clear();
                calling.cost_ps += match call {
                    Called::Reaction(index) => {
                        let reaction = &interface.reactions[index];
                        self.due_ps[index] = match reaction.rate_ps {
                            Some(rate_ps) => (self.due_ps[index] + rate_ps).max(now_ps + 1),
                            None => 0,
                        };
                        self.measurements.input(index, &mut self.input);
                        if self.options.is_traced {
                            self.current.note_call(reaction, &self.input);
                        }
                        reaction.cost_ps
                    }
                    Called::Init => DEFAULT_COST_PS,
                };
                if self.options.polls_calls {
                    let malleables = &self.decided.malleables;
                    self.reactions.begin(call, &self.input, malleables).map_err(died)?;
                }
            }
            let malleables = &mut self.decided.malleables;
            let mut host = Calls {
                tables: &mut self.tables,
                now_ps,
                log: &mut self.log,
                failed_commits: self.statistics.failed_commits,
                updates: &mut self.decided.updates,
            };
            let called = match call {
                _ if self.options.polls_calls => self.reactions.poll(malleables, &mut host),
                Called::Init => Some(self.reactions.call_init(malleables, &mut host)),
                Called::Reaction(index) => {
                    Some(self.reactions.call(index, &self.input, malleables, &mut host))
                }
            };
            let Some(called) = called else { return Ok(None) };
            called.map_err(died)?;
            *calling = Calling {
                done: calling.done + 1,
                is_begun: false,
                look_ps: FIRST_LOOK_PS,
                ..*calling
            };
        }
        self.mask();
        if self.options.is_traced {
            let (before, decided) = (&self.committed, &self.decided);
            self.current.note_decisions(&self.interface, &self.written, before, decided);
        }
        Ok(Some(match self.options.pace {
            Some(pace) if pace.measures => self.worked_ps(),
            _ => calling.cost_ps,
        }))
    }

    /// Cuts decided values to their widths, and keeps the alternative of a field that got none of its own.
    fn mask(&mut self) {
        let malleables = &mut self.decided.malleables;
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

// SPDX-License-Identifier: Apache-2.0
//! The calls of reactions and of `init`, and the exchange of the reactions between two dialogues.

use super::host::{Calls, Decided};
use super::{Agent, Reload};
use crate::interface::Stopped;
use crate::language::DEFAULT_COST_PS;
use crate::module::{Called, StateAfterReload};
use state::Update;
use std::collections::VecDeque;

/// The calls of a dialogue under way.
#[derive(Debug)]
pub(super) struct Calling {
    /// The calls that are not done.
    left: VecDeque<Called>,
    /// Whether the first of them has begun.
    is_begun: bool,
    malleables: Vec<u64>,
    updates: Vec<Update>,
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

    /// The reactions that are due.
    pub(super) fn due_reactions(&self, now_ps: u64) -> Vec<usize> {
        let all = 0..self.interface.reactions.len();
        all.filter(|index| self.due_ps[*index] <= now_ps).collect()
    }

    /// The calls of a dialogue.
    pub(super) fn due_calls(&self) -> Calling {
        self.calls_of(self.due.iter().copied().map(Called::Reaction).collect())
    }

    /// The calls of a dialogue in which only `init` is called.
    pub(super) fn init_call(&self) -> Calling {
        self.calls_of(VecDeque::from([Called::Init]))
    }

    fn calls_of(&self, left: VecDeque<Called>) -> Calling {
        let malleables = self.committed.clone();
        let (updates, look_ps) = (Vec::new(), FIRST_LOOK_PS);
        Calling { left, is_begun: false, malleables, updates, cost_ps: 0, look_ps }
    }

    /// Goes on with the calls. Returns what they decided and the time that they take, once all are done.
    ///
    /// # Errors
    ///
    /// A reaction is dead.
    pub(super) fn advance(
        &mut self,
        calling: &mut Calling,
        now_ps: u64,
    ) -> Result<Option<(Decided, u64)>, String> {
        let interface = self.interface.clone();
        while let Some(call) = calling.left.front().copied() {
            let died = |stopped: Stopped| match call {
                Called::Reaction(index) => {
                    format!("reaction `{}`: {stopped}", interface.reactions[index].name)
                }
                Called::Init => format!("`init`: {stopped}"),
            };
            let mut input = Vec::new();
            if !calling.is_begun {
                calling.cost_ps += self.prepare_call(call, now_ps, &mut input);
            }
            if self.options.polls_calls && !std::mem::replace(&mut calling.is_begun, true) {
                self.reactions.begin(call, &input, &calling.malleables).map_err(died)?;
            }
            let failed = self.statistics.failed_commits;
            let mut host = Calls::new(&mut self.tables, now_ps, &mut self.log, failed);
            let malleables = &mut calling.malleables;
            let called = match call {
                _ if self.options.polls_calls => self.reactions.poll(malleables, &mut host),
                Called::Init => Some(self.reactions.call_init(malleables, &mut host)),
                Called::Reaction(index) => {
                    Some(self.reactions.call(index, &input, malleables, &mut host))
                }
            };
            calling.updates.extend(host.finish());
            let Some(called) = called else { return Ok(None) };
            called.map_err(died)?;
            calling.left.pop_front();
            calling.is_begun = false;
            calling.look_ps = FIRST_LOOK_PS;
        }
        let (malleables, updates) =
            (std::mem::take(&mut calling.malleables), std::mem::take(&mut calling.updates));
        Ok(Some(self.decided(malleables, updates, calling.cost_ps)))
    }

    /// Says when a reaction is due next, and fills its input. Returns its cost.
    fn prepare_call(&mut self, call: Called, now_ps: u64, input: &mut Vec<u64>) -> u64 {
        let Called::Reaction(index) = call else { return DEFAULT_COST_PS };
        let interface = self.interface.clone();
        let reaction = &interface.reactions[index];
        self.due_ps[index] = match reaction.rate_ps {
            Some(rate_ps) => (self.due_ps[index] + rate_ps).max(now_ps + 1),
            None => 0,
        };
        *input = self.measurements.input(index);
        if self.options.is_traced {
            self.current.note_call(reaction, input);
        }
        reaction.cost_ps
    }

    /// What was decided, and the time that it took: as declared, or as measured.
    fn decided(
        &mut self,
        mut malleables: Vec<u64>,
        updates: Vec<Update>,
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

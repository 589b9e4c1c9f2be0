// SPDX-License-Identifier: Apache-2.0
//! [`Agent`]: the control loop of a reacting program (Mantis §6). A dialogue flips the working copy, waits until packets of
//! the other copy have left, reads it, calls the reactions and commits what they did. The agent speaks of the program as
//! written; the control map behind its target has versions and copies of rows. `measurements` holds what was read,
//! `host` collects what a reaction does.

mod host;
mod init_tables;
mod measurements;
mod tables;
mod trace;

use crate::compiler::CompiledProgram;
use crate::interface::{Interface, Reactions};
use crate::map::LegacyWrites;
use control::target::{Batch, Fault, Item, Outcome, Target, Ticket};
use host::{Calls, Decided};
use init_tables::{Init, inits};
use ir::TableId;
use measurements::Measurements;
use state::{Atomicity, Subscription, Update};
use std::sync::Arc;
use tables::Tables;
pub use trace::Dialogue;

/// Time between two looks at an answer, if the target does not say when it may come.
const POLL_PS: u64 = 100_000;

/// Where a dialogue is.
#[derive(Debug)]
enum Phase {
    /// The next one begins at this time.
    Idle(u64),
    /// The working copy is being flipped.
    Flipping(Ticket),
    /// Packets of the old copy leave.
    Leaving(Ticket),
    /// The copy is being read.
    Reading(Ticket),
    /// The reactions' time passes; then this is committed.
    Computing(u64, Decided),
    /// The decisions are being committed.
    Committing(Ticket, Decided),
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentStatistics {
    /// Dialogues that ended.
    pub dialogues: u64,
    /// Commits that took effect.
    pub commits: u64,
    /// Commits that failed.
    pub failed_commits: u64,
    /// The sum of the times of dialogues, in picoseconds.
    pub busy_ps: u64,
    /// The longest dialogue, in picoseconds.
    pub longest_ps: u64,
}

/// A mistake that an agent makes on purpose, so that tests of isolation can catch it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// None.
    #[default]
    None,
    /// The copy that packets write is read.
    NoFlip,
    /// The copy that packets write is read, and flipped afterwards.
    LateFlip,
    /// A copy is read while packets may still write it.
    NoWait,
    /// Cells are taken that no packet has written since they were read last.
    NoTimestamps,
    /// The write counts that were seen are those of either copy.
    SharedTimestamps,
    /// Write counts have two bits.
    ShortTimestamps,
    /// Now and then the cache is lost, but not the write counts that were seen.
    LostCache,
    /// Registers are not read before the first packet.
    NoOriginals,
    /// Fields are taken that no packet has written since they were read last.
    NoSequence,
    /// Every other flip, registers are not read.
    SkippedArrays,
}

/// The agent of one switch.
pub struct Agent {
    name: String,
    interface: Arc<Interface>,
    reactions: Box<dyn Reactions>,
    inits: Vec<Init>,
    measurements: Measurements,
    tables: Tables,
    subscription: Option<Subscription>,
    legacy: LegacyWrites,
    /// The copy that packets write.
    working_copy: u64,
    /// The malleables that are committed.
    committed: Vec<u64>,
    /// When each reaction is due.
    due_ps: Vec<u64>,
    /// Whether the last commit flipped the working copy too.
    is_flipped: bool,
    phase: Phase,
    began_ps: u64,
    current: Dialogue,
    traced: Vec<Dialogue>,
    log: Vec<String>,
    failures: Vec<String>,
    statistics: AgentStatistics,
    is_traced: bool,
    is_stopped: Option<String>,
    mistake: Mistake,
}

impl Agent {
    /// The agent of a compiled program.
    ///
    /// # Errors
    ///
    /// The name of an object that the program as written lacks.
    pub fn new(
        compiled: &CompiledProgram,
        reactions: Box<dyn Reactions>,
        legacy: LegacyWrites,
    ) -> Result<Agent, String> {
        let written = compiled.written.program().clone();
        let interface = Arc::new(compiled.interface.clone());
        let inits = inits(&compiled.plan, &interface, &written)?;
        let values = interface.values.iter().map(|value| value.initial);
        let fields = interface.fields.iter().map(|field| field.initial as u64);
        Ok(Agent {
            name: "reactions".to_string(),
            measurements: Measurements::new(&compiled.plan, interface.clone(), &written)?,
            tables: Tables::new(&interface, &written)?,
            committed: values.chain(fields).collect(),
            due_ps: vec![0; interface.reactions.len()],
            interface,
            reactions,
            inits,
            subscription: None,
            legacy,
            working_copy: 0,
            is_flipped: false,
            phase: Phase::Idle(0),
            began_ps: 0,
            current: Dialogue::default(),
            traced: Vec::new(),
            log: Vec::new(),
            failures: Vec::new(),
            statistics: AgentStatistics::default(),
            is_traced: false,
            is_stopped: None,
            mistake: Mistake::None,
        })
    }

    /// The same agent with a mistake.
    pub fn with_mistake(mut self, mistake: Mistake) -> Agent {
        self.mistake = mistake;
        self.measurements.set_mistake(mistake);
        self
    }

    /// Keeps a record of each dialogue for [`Agent::take_trace`].
    pub fn with_trace(self) -> Agent {
        Agent { is_traced: true, ..self }
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What happened so far.
    pub fn statistics(&self) -> AgentStatistics {
        self.statistics
    }

    /// The dialogues since the last call.
    pub fn take_trace(&mut self) -> Vec<Dialogue> {
        std::mem::take(&mut self.traced)
    }

    /// Lines that reactions logged, and causes of failed commits, each once.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// The malleables that are committed: values, then the indexes of fields' alternatives.
    pub fn committed(&self) -> &[u64] {
        &self.committed
    }

    /// Runs `init` before the first packet, and commits what it did. The target answers without simulated time.
    ///
    /// # Errors
    ///
    /// Why the program cannot react.
    pub fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        self.subscription = switch.subscribe(&self.tables.handles());
        self.read_tables(switch)?;
        let initial = switch.execute(self.measurements.originals());
        self.measurements.take_originals(&initial);
        if self.interface.init.is_some() {
            let mut malleables = self.committed.clone();
            let now_ps = switch.now_ps();
            let mut calls = Calls::new(&mut self.tables, now_ps, &mut self.log, 0);
            let called = self.reactions.call_init(&mut malleables, &mut calls);
            let updates = calls.finish();
            if let Err(stopped) = called {
                return Err(format!("`init`: {stopped}"));
            }
            let decided = Decided { malleables, updates };
            if let Some(batch) = self.commit_batch(&decided, false) {
                let outcome = switch.execute(batch);
                self.record_commit(&decided, &outcome);
                if let Some((_, fault)) = outcome.first_fault() {
                    return Err(format!("`init` could not be committed: {fault}"));
                }
            }
        }
        if self.interface.reactions.is_empty() {
            return Ok(None);
        }
        let now_ps = switch.now_ps();
        self.due_ps.iter_mut().for_each(|due_ps| *due_ps = now_ps);
        self.phase = Phase::Idle(now_ps);
        Ok(Some(now_ps))
    }

    /// Goes on with the dialogue. Returns the time of the next call.
    ///
    /// # Errors
    ///
    /// Why the program can react no more.
    pub fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        loop {
            if let Some(why) = &self.is_stopped {
                return Err(why.clone());
            }
            let now_ps = switch.now_ps();
            let phase = std::mem::replace(&mut self.phase, Phase::Idle(now_ps));
            match phase {
                Phase::Idle(due_ps) if due_ps > now_ps => {
                    self.phase = Phase::Idle(due_ps);
                    return Ok(Some(due_ps));
                }
                Phase::Idle(_) => {
                    self.began_ps = now_ps;
                    self.current = Dialogue { began_ps: now_ps, ..Dialogue::default() };
                    let flip = if self.mistake == Mistake::LateFlip { None } else { self.flip() };
                    self.phase = match flip {
                        Some(batch) => Phase::Flipping(switch.submit(batch, now_ps)),
                        None => Phase::Leaving(self.wait(switch, now_ps)),
                    };
                    self.is_flipped = false;
                }
                Phase::Flipping(ticket) => match switch.poll(ticket) {
                    None => {
                        self.phase = Phase::Flipping(ticket);
                        return Ok(Some(next_look_ps(switch, now_ps)));
                    }
                    Some(outcome) => {
                        self.check(&outcome)?;
                        self.current.flipped_ps = outcome.known_ps;
                        self.phase = Phase::Leaving(self.wait(switch, now_ps));
                    }
                },
                Phase::Leaving(ticket) => match switch.poll(ticket) {
                    None => {
                        self.phase = Phase::Leaving(ticket);
                        return Ok(Some(next_look_ps(switch, now_ps)));
                    }
                    Some(outcome) => {
                        self.current.left_ps = outcome.known_ps.max(now_ps);
                        let batch = self.read_batch();
                        self.phase = Phase::Reading(switch.submit(batch, now_ps));
                        if self.mistake == Mistake::LateFlip
                            && let Some(batch) = self.flip()
                        {
                            switch.submit(batch, now_ps);
                        }
                    }
                },
                Phase::Reading(ticket) => match switch.poll(ticket) {
                    None => {
                        self.phase = Phase::Reading(ticket);
                        return Ok(Some(next_look_ps(switch, now_ps)));
                    }
                    Some(outcome) => {
                        self.current.read_ps = outcome.known_ps.max(now_ps);
                        self.take_reads(&outcome)?;
                        let (decided, cost_ps) = self.call_due(now_ps)?;
                        self.phase = Phase::Computing(now_ps + cost_ps, decided);
                    }
                },
                Phase::Computing(until_ps, decided) if until_ps > now_ps => {
                    self.phase = Phase::Computing(until_ps, decided);
                    return Ok(Some(until_ps));
                }
                Phase::Computing(_, decided) => {
                    self.current.computed_ps = now_ps;
                    let flips = self.next_due_ps() <= now_ps && self.measurements.is_needed();
                    match self.commit_batch(&decided, flips) {
                        Some(batch) => {
                            self.is_flipped = flips;
                            let ticket = switch.submit(batch, now_ps);
                            self.phase = Phase::Committing(ticket, decided);
                        }
                        None => self.end(now_ps),
                    }
                }
                Phase::Committing(ticket, decided) => match switch.poll(ticket) {
                    None => {
                        self.phase = Phase::Committing(ticket, decided);
                        return Ok(Some(next_look_ps(switch, now_ps)));
                    }
                    Some(outcome) => {
                        self.record_commit(&decided, &outcome);
                        self.end(now_ps.max(outcome.known_ps));
                        // A dialogue without time would never let packets run.
                        if let Phase::Idle(due_ps) = &mut self.phase {
                            *due_ps = (*due_ps).max(now_ps + 1);
                        }
                    }
                },
            }
        }
    }

    /// Asks for the end of all passes that may write the copy that is read next.
    fn wait(&self, switch: &mut dyn Target, now_ps: u64) -> Ticket {
        match self.mistake {
            Mistake::NoWait => switch.submit(Batch::default(), now_ps),
            _ => switch.barrier(now_ps),
        }
    }

    /// The copy that is read.
    fn read_copy(&self) -> u64 {
        match self.mistake {
            Mistake::NoFlip => self.working_copy,
            _ => self.working_copy ^ 1,
        }
    }

    /// The batch that flips the working copy of measuring pipelines; `None` if there is none, or the last commit flipped it.
    fn flip(&mut self) -> Option<Batch> {
        if !self.measurements.is_needed() || self.is_flipped {
            return None;
        }
        self.begin_copy();
        let flips = self.inits.iter().filter(|init| init.is_measuring);
        let items: Vec<Update> =
            flips.map(|init| init.update(&self.committed, self.working_copy)).collect();
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Makes the other copy the one that packets write next. Legacy writes so far take effect before it.
    fn begin_copy(&mut self) {
        self.working_copy ^= 1;
        for (register, cells) in self.legacy.take() {
            self.measurements.note_legacy(register, cells);
        }
    }

    /// The batch of a commit; `None` if nothing changed.
    fn commit_batch(&mut self, decided: &Decided, flips: bool) -> Option<Batch> {
        let has_changed = decided.malleables != self.committed;
        if !has_changed && decided.updates.is_empty() {
            return None;
        }
        if flips {
            self.begin_copy();
        }
        let mut items: Vec<Update> = decided.updates.clone();
        for init in &self.inits {
            let is_changed = init.parameters.iter().any(|(malleable, _)| {
                malleable.is_some_and(|index| decided.malleables[index] != self.committed[index])
            });
            if is_changed || (flips && init.is_measuring) {
                items.push(init.update(&decided.malleables, self.working_copy));
            }
        }
        Some(Batch::of(items).with(Atomicity::RollbackOnError))
    }

    /// Records the outcome of a commit.
    fn record_commit(&mut self, decided: &Decided, outcome: &Outcome) {
        match outcome.first_fault() {
            None => {
                self.statistics.commits += 1;
                if self.is_traced {
                    self.current.note_commit(
                        &self.interface,
                        &self.committed,
                        decided,
                        outcome.known_ps,
                    );
                }
                self.committed.clone_from(&decided.malleables);
                self.tables.settle();
            }
            Some((_, fault)) => {
                self.statistics.failed_commits += 1;
                if std::mem::take(&mut self.is_flipped) {
                    self.working_copy ^= 1;
                }
                self.tables.forget();
                let cause = fault.to_string();
                self.current.failure = Some(cause.clone());
                if !self.failures.contains(&cause) {
                    self.log.push(format!("a commit failed: {cause}"));
                    self.failures.push(cause);
                }
            }
        }
    }

    /// Reads of all measurements, and of tables that others changed.
    fn read_batch(&mut self) -> Batch {
        let changed = self.subscription.as_ref().map(Subscription::take).unwrap_or_default();
        let tables: Vec<TableId> = changed.iter().map(|change| change.table).collect();
        let mut items: Vec<Item> = self.tables.reads(&tables);
        items.extend(self.measurements.reads(self.read_copy()));
        Batch { items, ..Batch::default() }
    }

    fn take_reads(&mut self, outcome: &Outcome) -> Result<(), String> {
        self.check(outcome)?;
        let mut replies = outcome.results.iter();
        self.tables.take_reads(&mut replies);
        self.measurements.take_reads(self.read_copy(), &mut replies);
        Ok(())
    }

    fn read_tables(&mut self, switch: &mut dyn Target) -> Result<(), String> {
        let handles = self.tables.handles();
        let items = self.tables.reads(&handles);
        let outcome = switch.execute(Batch { items, ..Batch::default() });
        self.check(&outcome)?;
        self.tables.take_reads(&mut outcome.results.iter());
        Ok(())
    }

    /// Calls the reactions that are due; returns what they decided and the time that they take.
    fn call_due(&mut self, now_ps: u64) -> Result<(Decided, u64), String> {
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
            if self.is_traced {
                self.current.note_call(&reaction.name, &input);
            }
            let failed = self.statistics.failed_commits;
            let mut calls = Calls::new(&mut self.tables, now_ps, &mut self.log, failed);
            let called = self.reactions.call(index, &input, &mut malleables, &mut calls);
            updates.extend(calls.finish());
            if let Err(stopped) = called {
                // Nothing that a dead reaction set is ever written.
                self.tables.forget();
                let why = format!("reaction `{}`: {stopped}", reaction.name);
                self.is_stopped = Some(why.clone());
                return Err(why);
            }
        }
        self.mask(&mut malleables);
        Ok((Decided { malleables, updates }, cost_ps))
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

    fn next_due_ps(&self) -> u64 {
        self.due_ps.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// Ends a dialogue.
    fn end(&mut self, now_ps: u64) {
        let took_ps = now_ps - self.began_ps;
        self.statistics.dialogues += 1;
        self.statistics.busy_ps += took_ps;
        self.statistics.longest_ps = self.statistics.longest_ps.max(took_ps);
        self.current.ended_ps = now_ps;
        self.current.number = self.statistics.dialogues;
        let ended = std::mem::take(&mut self.current);
        if self.is_traced {
            self.traced.push(ended);
        }
        // Without a model of latency a dialogue takes no time; the next one still comes later.
        let earliest_ps = now_ps.max(self.began_ps + 1);
        self.phase = Phase::Idle(self.next_due_ps().max(earliest_ps));
    }

    fn check(&self, outcome: &Outcome) -> Result<(), String> {
        match outcome.first_fault() {
            Some((_, Fault::Gone)) => Err("the switch is gone".to_string()),
            Some((_, fault)) => Err(fault.to_string()),
            None => Ok(()),
        }
    }
}

/// When an answer that takes simulated time may be there.
fn next_look_ps(switch: &dyn Target, now_ps: u64) -> u64 {
    let next_ps = switch.next_event_ps().filter(|next_ps| *next_ps > now_ps);
    next_ps.unwrap_or(now_ps + POLL_PS)
}

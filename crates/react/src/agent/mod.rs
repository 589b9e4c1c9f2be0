// SPDX-License-Identifier: Apache-2.0
//! [`Agent`]: the control loop of a reacting program (Mantis §6). A dialogue flips the working copy, waits until packets of
//! the other copy have left, reads it, calls the reactions and commits what they did. The agent speaks of the program as
//! written; the control map behind its target has versions and copies of rows. `dialogue` has the steps, `commits` the
//! writes, `calls` the calls of reactions and their exchange; `measurements` holds what was read, `host` collects what a
//! reaction does.

mod calls;
mod commits;
mod dialogue;
mod difference;
mod host;
mod init_tables;
mod measurements;
mod options;
mod reload;
mod tables;
mod trace;

use crate::compiler::CompiledProgram;
use crate::interface::Interface;
use crate::map::LegacyWrites;
use crate::module::Module;
use control::target::{Batch, Fault, Outcome, Target};
use dialogue::Phase;
use host::Decided;
use init_tables::{Init, inits};
use ir::Program;
use measurements::Measurements;
pub use options::{AgentOptions, AgentStatistics, Mistake, Pace, StopEnds};
pub use reload::Reload;
use state::Subscription;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tables::Tables;
pub use trace::{Call, Dialogue};

/// Why a program can react no more whose device was dropped.
const GONE: &str = "the switch is gone";

/// The agent of one switch.
pub struct Agent {
    name: String,
    written: Arc<Program>,
    interface: Arc<Interface>,
    reactions: Box<dyn Module>,
    options: AgentOptions,
    inits: Vec<Init>,
    measurements: Measurements,
    tables: Tables,
    subscription: Option<Subscription>,
    legacy: LegacyWrites,
    /// The copy of each group of measurements that packets write.
    working_copies: Vec<u64>,
    /// The malleables that are committed.
    committed: Vec<u64>,
    /// When each reaction is due.
    due_ps: Vec<u64>,
    /// The reactions of this dialogue: those that were due when the working copies of what they take were flipped. Behind a
    /// commit, those of the next one.
    due: Vec<usize>,
    /// What the reactions of this dialogue decided.
    decided: Decided,
    /// The input of the reaction that is called.
    input: Vec<u64>,
    /// Whether the last commit flipped working copies for the next dialogue too.
    is_flipped: bool,
    /// Whether `init` runs before the next dialogue.
    init_is_due: bool,
    /// New reactions that wait for the end of the dialogue.
    reloads: VecDeque<Reload>,
    phase: Phase,
    /// The reads of the current dialogue, if they are known and not submitted.
    unread: Option<Batch>,
    began_ps: u64,
    /// The work of the current dialogue before this round, by the clock.
    worked: Duration,
    /// When this round began, by the clock.
    round_began: Duration,
    current: Dialogue,
    traced: Vec<Dialogue>,
    log: Vec<String>,
    failures: Vec<String>,
    statistics: AgentStatistics,
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
        reactions: Box<dyn Module>,
        legacy: LegacyWrites,
        options: AgentOptions,
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
            written,
            interface,
            reactions,
            options,
            inits,
            subscription: None,
            legacy,
            working_copies: vec![0; compiled.plan.groups.len()],
            due: Vec::new(),
            decided: Decided::default(),
            input: Vec::new(),
            is_flipped: false,
            init_is_due: false,
            reloads: VecDeque::new(),
            phase: Phase::Idle(0),
            unread: None,
            began_ps: 0,
            worked: Duration::ZERO,
            round_began: Duration::ZERO,
            current: Dialogue::default(),
            traced: Vec::new(),
            log: Vec::new(),
            failures: Vec::new(),
            statistics: AgentStatistics::default(),
            mistake: Mistake::None,
        })
    }

    /// The same agent with a mistake.
    pub fn with_mistake(mut self, mistake: Mistake) -> Agent {
        self.mistake = mistake;
        self.measurements.set_mistake(mistake);
        self
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What happened so far.
    pub fn statistics(&self) -> AgentStatistics {
        self.statistics
    }

    /// The dialogues since the last call, if they are recorded.
    pub fn take_trace(&mut self) -> Vec<Dialogue> {
        std::mem::take(&mut self.traced)
    }

    /// Lines that reactions logged, reloads, and causes of failed commits, each once.
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
        if self.options.boot_ps > 0 {
            self.init_is_due = self.interface.init.is_some();
        } else if self.interface.init.is_some() {
            let now_ps = switch.now_ps();
            self.current.is_init = true;
            let mut calling = self.begin_calls();
            while self.advance(&mut calling, now_ps)?.is_none() {}
            if let Some(batch) = self.commit_batch(now_ps) {
                let outcome = switch.execute(batch);
                self.record_commit(&outcome);
                if let Some((_, fault)) = outcome.first_fault() {
                    return Err(format!("`init` could not be committed: {fault}"));
                }
            }
            self.current = Dialogue::default();
        }
        if self.interface.reactions.is_empty() && !self.init_is_due {
            return Ok(None);
        }
        let begins_ps = switch.now_ps() + self.options.boot_ps;
        self.due_ps.iter_mut().for_each(|due_ps| *due_ps = begins_ps);
        self.phase = Phase::Idle(begins_ps);
        Ok(Some(begins_ps))
    }

    fn read_tables(&mut self, switch: &mut dyn Target) -> Result<(), String> {
        let handles = self.tables.handles();
        let items = self.tables.reads(&handles);
        let outcome = switch.execute(Batch { items, ..Batch::default() });
        self.check(&outcome)?;
        self.tables.take_reads(&mut outcome.results.iter());
        Ok(())
    }

    fn check(&self, outcome: &Outcome) -> Result<(), String> {
        match outcome.first_fault() {
            Some((_, Fault::Gone)) => Err(GONE.to_string()),
            Some((_, fault)) => Err(fault.to_string()),
            None => Ok(()),
        }
    }
}

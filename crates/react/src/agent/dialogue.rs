// SPDX-License-Identifier: Apache-2.0
//! The steps of a dialogue as a state machine on the target: each submits a batch and ends when its outcome is known.
//! Between two dialogues the agent exchanges its reactions.

use super::calls::Calling;
use super::{Agent, Dialogue, GONE, Mistake, StopEnds};
use control::target::{Batch, Fault, Item, Outcome, Target, Ticket};
use ir::TableId;
use state::Subscription;
use std::time::Duration;

/// Time between two looks at an answer, if the target does not say when it may come.
const POLL_PS: u64 = 100_000;

/// Time between two looks for new reactions after the end of the old ones.
const RELOAD_POLL_PS: u64 = 10_000_000_000;

/// Where a dialogue is.
#[derive(Debug)]
pub(super) enum Phase {
    /// The next one begins at this time.
    Idle(u64),
    /// The working copy is being flipped.
    Flipping(Ticket),
    /// Packets of the old copy leave.
    Leaving(Ticket),
    /// The copy is being read.
    Reading(Ticket),
    /// Reactions run.
    Calling(Calling),
    /// The reactions' time passes until this moment; then what they decided is committed.
    Computing(u64),
    /// The decisions are being committed.
    Committing(Ticket),
    /// A reaction crashed or did not return, for this reason.
    Dead(String),
}

impl Phase {
    /// The request whose answer ends it.
    fn ticket(&self) -> Option<Ticket> {
        match self {
            Phase::Flipping(ticket)
            | Phase::Leaving(ticket)
            | Phase::Reading(ticket)
            | Phase::Committing(ticket) => Some(*ticket),
            Phase::Idle(_) | Phase::Calling(_) | Phase::Computing(_) | Phase::Dead(_) => None,
        }
    }
}

impl Agent {
    /// Goes on with the dialogue. Returns the time of the next call.
    ///
    /// # Errors
    ///
    /// Why the program can react no more.
    pub fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        let Some(pace) = self.options.pace else { return self.proceed(switch) };
        self.round_began = (pace.clock)();
        let next = self.proceed(switch);
        self.worked += (pace.clock)().saturating_sub(self.round_began);
        next
    }

    fn proceed(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        // The switch's time is read once: a thread that forwards pays for each read.
        let is_served_beside = switch.is_served_beside();
        let mut known_ps = None;
        loop {
            let phase = std::mem::replace(&mut self.phase, Phase::Idle(0));
            let outcome = match phase.ticket() {
                None => Outcome::empty(0),
                Some(ticket) => match switch.poll(ticket) {
                    Some(outcome) => {
                        known_ps = known_ps.max(Some(outcome.known_ps));
                        outcome
                    }
                    None => {
                        self.phase = phase;
                        return Ok(Some(next_look_ps(switch)));
                    }
                },
            };
            let now_ps = match is_served_beside {
                true => (*known_ps.get_or_insert_with(|| switch.now_ps())).max(self.began_ps),
                false => switch.now_ps(),
            };
            match phase {
                Phase::Idle(due_ps) if !self.reloads.is_empty() => {
                    self.take_reloads(now_ps);
                    let next_ps = if self.init_is_due { 0 } else { self.next_due_ps() };
                    self.phase = Phase::Idle(due_ps.min(next_ps.max(now_ps)));
                }
                Phase::Dead(why) => {
                    let is_alive = self.take_reloads(now_ps);
                    self.phase = match is_alive {
                        true => Phase::Idle(now_ps),
                        false => Phase::Dead(why.clone()),
                    };
                    match self.options.stop_ends {
                        _ if is_alive => {}
                        StopEnds::Run => return Err(why),
                        StopEnds::Dialogues => return Ok(Some(now_ps + RELOAD_POLL_PS)),
                    }
                }
                Phase::Idle(due_ps) if due_ps > now_ps => {
                    self.phase = Phase::Idle(due_ps);
                    return Ok(Some(due_ps));
                }
                Phase::Idle(_) => {
                    self.begin(now_ps);
                    if std::mem::take(&mut self.init_is_due) {
                        self.current.is_init = true;
                        self.phase = Phase::Calling(self.begin_calls());
                        continue;
                    }
                    if self.interface.reactions.is_empty() {
                        return Ok(None);
                    }
                    if !self.is_flipped {
                        self.find_due(now_ps);
                    }
                    let flip = if self.mistake == Mistake::LateFlip { None } else { self.flip() };
                    self.phase = match flip {
                        Some(batch) => Phase::Flipping(switch.submit(batch, now_ps)),
                        None => self.leave(switch, now_ps),
                    };
                    self.is_flipped = false;
                }
                Phase::Flipping(_) => match outcome.first_fault() {
                    None => {
                        self.current.flipped_ps = outcome.known_ps;
                        self.phase = self.leave(switch, now_ps);
                    }
                    Some((_, Fault::Gone)) => return Err(GONE.to_string()),
                    Some((_, fault)) => self.fail_flip(fault, outcome.known_ps, now_ps),
                },
                Phase::Leaving(_) => {
                    self.current.left_ps = outcome.known_ps.max(now_ps);
                    let batch = self.unread.take().unwrap_or_else(|| self.read_batch());
                    self.phase = Phase::Reading(switch.submit(batch, now_ps));
                    if self.mistake == Mistake::LateFlip
                        && let Some(batch) = self.flip()
                    {
                        switch.submit(batch, now_ps);
                    }
                }
                Phase::Reading(_) => {
                    self.current.read_ps = outcome.known_ps.max(now_ps);
                    if self.current.left_ps == 0 {
                        self.current.left_ps = self.current.read_ps;
                    }
                    self.take_reads(&outcome)?;
                    switch.recycle(outcome);
                    self.phase = Phase::Calling(self.begin_calls());
                }
                Phase::Calling(mut calling) => match self.advance(&mut calling, now_ps) {
                    Ok(None) => {
                        let look_ps = now_ps + calling.next_look_ps();
                        self.phase = Phase::Calling(calling);
                        return Ok(Some(look_ps));
                    }
                    // By the clock, the calls have taken their time.
                    Ok(Some(_)) if is_served_beside => self.phase = Phase::Computing(now_ps),
                    Ok(Some(cost_ps)) => self.phase = Phase::Computing(now_ps + cost_ps),
                    Err(why) => self.phase = self.stop(now_ps, why),
                },
                Phase::Computing(until_ps) if until_ps > now_ps => {
                    self.phase = Phase::Computing(until_ps);
                    return Ok(Some(until_ps));
                }
                Phase::Computing(_) => {
                    self.current.computed_ps = now_ps;
                    match self.commit_batch(now_ps) {
                        Some(batch) => {
                            self.phase = Phase::Committing(switch.submit(batch, now_ps));
                        }
                        None => self.end(now_ps),
                    }
                }
                Phase::Committing(_) => {
                    self.record_commit(&outcome);
                    match is_served_beside {
                        true => self.end(now_ps),
                        false => self.end_later(now_ps.max(outcome.known_ps), now_ps),
                    }
                }
            }
        }
    }

    /// Asks for the end of the passes that may write the copy that is read next, and for the reads in the same request where
    /// the switch takes both in one.
    fn leave(&mut self, switch: &mut dyn Target, now_ps: u64) -> Phase {
        if self.mistake == Mistake::None && switch.joins_barriers() {
            let batch = self.read_batch();
            match switch.submit_after_passes(batch, now_ps) {
                Ok(ticket) => return Phase::Reading(ticket),
                Err(batch) => self.unread = Some(batch),
            }
        }
        Phase::Leaving(self.wait(switch, now_ps))
    }

    /// Ends a dialogue whose flip the switch refused: nothing was measured, and the reactions stay due.
    fn fail_flip(&mut self, fault: &Fault, known_ps: u64, now_ps: u64) {
        self.exchange_copies();
        self.note_failure("a measurement failed", fault);
        self.end_later(now_ps.max(known_ps), now_ps);
    }

    /// Ends a dialogue; the next one begins after `now_ps`. A dialogue without time would never let packets run.
    fn end_later(&mut self, end_ps: u64, now_ps: u64) {
        self.end(end_ps);
        if let Phase::Idle(due_ps) = &mut self.phase {
            *due_ps = (*due_ps).max(now_ps + 1);
        }
    }

    fn begin(&mut self, now_ps: u64) {
        self.began_ps = now_ps;
        let notes = std::mem::take(&mut self.current.notes);
        self.current = Dialogue { began_ps: now_ps, notes, ..Dialogue::default() };
        self.worked = Duration::ZERO;
        if let Some(pace) = self.options.pace {
            self.round_began = (pace.clock)();
        }
    }

    /// The work of this dialogue so far, by the clock, in picoseconds; 0 without one.
    pub(super) fn worked_ps(&self) -> u64 {
        let Some(pace) = self.options.pace else { return 0 };
        let worked = self.worked + (pace.clock)().saturating_sub(self.round_began);
        u64::try_from(worked.as_nanos() * 1000).unwrap_or(u64::MAX / 2)
    }

    /// Reads of all measurements, and of tables that others changed.
    fn read_batch(&mut self) -> Batch {
        let changed = self.subscription.as_ref().map(Subscription::take).unwrap_or_default();
        let tables: Vec<TableId> = changed.iter().map(|change| change.table).collect();
        let mut items: Vec<Item> = self.tables.reads(&tables);
        self.measurements.reads(&self.working_copies, &self.due, &mut items);
        Batch { items, ..Batch::default() }
    }

    fn take_reads(&mut self, outcome: &Outcome) -> Result<(), String> {
        self.check(outcome)?;
        let mut replies = outcome.results.iter();
        self.tables.take_reads(&mut replies);
        self.measurements.take_reads(&self.working_copies, &self.due, replies);
        Ok(())
    }

    fn next_due_ps(&self) -> u64 {
        self.due_ps.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// A reaction is dead. Nothing that it set is ever written.
    fn stop(&mut self, now_ps: u64, why: String) -> Phase {
        self.tables.forget();
        self.statistics.stops += 1;
        self.current.failure = Some(why.clone());
        self.record(now_ps);
        if self.options.stop_ends == StopEnds::Dialogues {
            let effect =
                "the switch forwards with the configuration of the last commit, until a reload";
            self.log.push(format!("{why}; {effect}"));
        }
        Phase::Dead(why)
    }

    /// Ends a dialogue.
    fn end(&mut self, now_ps: u64) {
        if !self.current.is_init {
            let took_ps = now_ps - self.began_ps;
            self.statistics.dialogues += 1;
            self.statistics.busy_ps += took_ps;
            self.statistics.longest_ps = self.statistics.longest_ps.max(took_ps);
        }
        self.record(now_ps);
        // Without a model of latency a dialogue takes no time; the next one still comes later.
        let mut earliest_ps = now_ps.max(self.began_ps + 1);
        if let Some(pace) = self.options.pace {
            let share_ps = (self.worked_ps() as f64 / pace.share) as u64;
            earliest_ps = earliest_ps.max(self.began_ps.saturating_add(share_ps));
        }
        self.phase = Phase::Idle(self.next_due_ps().max(earliest_ps));
    }

    /// Keeps the record of a dialogue that ends.
    fn record(&mut self, now_ps: u64) {
        self.current.ended_ps = now_ps;
        self.current.number = self.statistics.dialogues;
        let ended = std::mem::take(&mut self.current);
        if self.options.is_traced {
            self.traced.push(ended);
        }
    }
}

/// When an answer that takes simulated time may be there; 0 if it comes by the clock.
fn next_look_ps(switch: &dyn Target) -> u64 {
    if switch.is_served_beside() {
        return 0;
    }
    let now_ps = switch.now_ps();
    let next_ps = switch.next_event_ps().filter(|next_ps| *next_ps > now_ps);
    next_ps.unwrap_or(now_ps + POLL_PS)
}

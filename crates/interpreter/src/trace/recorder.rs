// SPDX-License-Identifier: Apache-2.0
//! `Recorder`: makes a trace of the events of a block, with a limit of steps. The device adds its own steps.

use super::TraceNode;
use super::decision::decision_node;
use super::naming::is_internal;
use super::node::NodeMaker;
use crate::{Event, Observer};
use ir::{OriginId, Program, SlotId};
use std::sync::Arc;

/// Limit of steps of one run of a block.
pub const STEPS_KEPT_PER_BLOCK: usize = 2_000;

/// The place of the last store to a watched slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSite {
    /// The table and the action that stored; `None` for the block itself.
    pub table_and_action: Option<(Arc<str>, Arc<str>)>,
    /// The statement.
    pub origin: Option<OriginId>,
}

/// An observer that makes a tree of events.
#[derive(Clone, Debug)]
pub struct Recorder {
    program: Arc<Program>,
    /// Finished trees: one a block.
    finished: Vec<TraceNode>,
    /// Steps that are not finished, each inside the one before.
    open: Vec<TraceNode>,
    /// Steps kept of this run of the block, and how many were not.
    kept: usize,
    further: u64,
    /// The last decision, which another of the same statement replaces.
    decision: Option<TraceNode>,
    /// Stores into the action's parameters that are still to come.
    parameters_left: usize,
    /// The table whose action runs, and the action.
    applied: Option<(Arc<str>, Arc<str>)>,
    watched: Option<SlotId>,
    last_store: Option<StoreSite>,
    time_ps: Option<u64>,
}

impl Recorder {
    /// A recorder for a program.
    pub fn new(program: Arc<Program>) -> Recorder {
        Recorder {
            program,
            finished: Vec::new(),
            open: Vec::new(),
            kept: 0,
            further: 0,
            decision: None,
            parameters_left: 0,
            applied: None,
            watched: None,
            last_store: None,
            time_ps: None,
        }
    }

    /// Remembers the last store to a slot, for [`Recorder::take_last_store`].
    pub fn watching(mut self, slot: Option<SlotId>) -> Recorder {
        self.watched = slot;
        self
    }

    /// Sets the time of the following accesses to state, in a block that takes time.
    pub fn set_time_ps(&mut self, time_ps: Option<u64>) {
        self.time_ps = time_ps;
    }

    /// The trees of the blocks that ran since the last call.
    pub fn take(&mut self) -> Vec<TraceNode> {
        self.close_to(0);
        std::mem::take(&mut self.finished)
    }

    /// The last store to the watched slot since the last call.
    pub fn take_last_store(&mut self) -> Option<StoreSite> {
        self.last_store.take()
    }

    fn add(&mut self, node: TraceNode) {
        match self.open.last_mut() {
            Some(open) => open.steps.push(node),
            None => self.finished.push(node),
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            if let Some(node) = self.open.pop() {
                self.add(node);
            }
        }
    }

    /// Closes the innermost step of this kind, and what is open inside it.
    fn close(&mut self, step: &str) {
        if let Some(depth) = self.open.iter().rposition(|node| node.step == step) {
            self.close_to(depth);
        }
    }

    /// Whether one more step of the block is kept.
    fn keeps_another(&mut self) -> bool {
        let keeps = self.kept < STEPS_KEPT_PER_BLOCK;
        match keeps {
            true => self.kept += 1,
            false => self.further += 1,
        }
        keeps
    }

    /// Records a decision. Terms of one condition decide one after the other at the same place; only the last
    /// one is the condition's result.
    fn decided(&mut self, origin: Option<OriginId>, node: Option<TraceNode>) {
        let Some(node) = node else { return };
        if self.decision.as_ref().is_some_and(|before| !self.is_same_place(before.origin, origin)) {
            self.keep_decision();
        }
        self.decision = Some(node.at(origin));
    }

    fn keep_decision(&mut self) {
        if let Some(node) = self.decision.take()
            && self.keeps_another()
        {
            self.add(node);
        }
    }

    fn is_same_place(&self, one: Option<OriginId>, other: Option<OriginId>) -> bool {
        let span = |origin: Option<OriginId>| {
            self.program.origins.get(origin?.index()).map(|origin| (origin.span, origin.parent))
        };
        one == other || span(one).is_some_and(|known| Some(known) == span(other))
    }

    /// Records a store. Returns whether it is a step.
    fn stored(&mut self, origin: Option<OriginId>, slot: SlotId, is_changed: bool) -> bool {
        if self.watched == Some(slot) {
            let table_and_action = self.applied.clone();
            self.last_store = Some(StoreSite { table_and_action, origin });
        }
        // The table's line has the arguments.
        if self.parameters_left > 0 {
            self.parameters_left -= 1;
            return false;
        }
        is_changed
    }

    fn applied(&mut self, table: ir::TableId, action: Option<&state::BoundAction>) {
        self.parameters_left = 0;
        self.applied = None;
        let declared = action.and_then(|bound| self.program.actions.get(bound.action.index()));
        if let (Some(bound), Some(action)) = (action, declared) {
            self.parameters_left = action.parameters.len().min(bound.arguments.len());
            let table = self.program.tables[table.index()].name.clone();
            self.applied = Some((table, action.name.clone()));
        }
    }
}

/// Whether an event is an access to state that packets share.
fn is_moment(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::TableApplied { .. }
            | Event::RegisterAccessed { .. }
            | Event::Counted { .. }
            | Event::Metered { .. }
            | Event::ValueSetAsked { .. }
            | Event::ExternCalled { .. }
    )
}

impl Observer for Recorder {
    fn observe(&mut self, origin: Option<OriginId>, event: Event<'_>) {
        match event {
            Event::Decided { region, block, taken, value } => {
                let node = decision_node(&self.program, region, block, taken, value);
                return self.decided(origin, node);
            }
            // A basic block without a name is a part of the state before it.
            Event::ParserState { name: "", .. } => return,
            // A transition to `reject`; the outcome says so.
            Event::ParserError { error: 0 } => return,
            // The error says why.
            Event::ParserError { .. }
                if self
                    .decision
                    .as_ref()
                    .is_some_and(|node| self.is_same_place(node.origin, origin)) =>
            {
                self.decision = None;
            }
            _ => {}
        }
        // Terms of a condition keep their values in slots of their own.
        let is_between_terms = match event {
            Event::SlotStored { slot, .. } => is_internal(&self.program.slots[slot.index()].name),
            _ => false,
        };
        if !is_between_terms {
            self.keep_decision();
        }
        match event {
            Event::ParserState { .. } => self.close("parser_state"),
            Event::SlotStored { slot, before, after }
                if !self.stored(origin, slot, before != after) =>
            {
                return;
            }
            Event::TableApplied { table, action, .. } => self.applied(table, action),
            Event::ActionEnded { .. } => {
                self.applied = None;
                self.parameters_left = 0;
                return self.close("table");
            }
            Event::BlockEntered { .. } => {
                self.close_to(0);
                (self.kept, self.further) = (0, 0);
            }
            Event::BlockEnded { .. } => {
                // The outcome belongs to the block, not to an open step in it.
                self.close_to(1);
                if self.further > 0 {
                    self.add(TraceNode::new("not_shown", "steps").with("count", self.further));
                }
            }
            _ => {}
        }
        let is_frame = matches!(event, Event::BlockEntered { .. } | Event::BlockEnded { .. });
        if !is_frame && !self.keeps_another() {
            return;
        }
        let Some(node) = NodeMaker(&self.program).node(event) else { return };
        let node = match self.time_ps.filter(|_| is_moment(&event)) {
            Some(time_ps) => node.with("time_ps", time_ps),
            None => node,
        }
        .at(origin);
        match event {
            Event::BlockEntered { .. } | Event::ParserState { .. } | Event::TableApplied { .. } => {
                self.open.push(node)
            }
            Event::BlockEnded { .. } => {
                self.add(node);
                self.close_to(0);
            }
            _ => self.add(node),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! [`Checker`]: reads the events of a run, as a trace or while they happen, and proves that the run kept the rules of a
//! multi-pipelined machine. It shares no code with the machine and simulates nothing; each rule is a property of the
//! events.

use crate::trace::{Kind, Recorder, Shape, Trace};
use crate::work::Access;
use std::collections::{BTreeMap, BTreeSet};

/// A rule of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A stage of a pipeline processes one packet a cycle (MP5 §2.1).
    OnePacketPerStage,
    /// A packet passes all stages once, in order, at most one a cycle (MP5 §2.1, feed-forward).
    FeedForward,
    /// A crossbar takes one packet from each pipeline a cycle and gives each pipeline's slot one; a packet is where the crossbar brought it.
    OneCrossbarOutput,
    /// A packet that accesses no cell in a stage never waits there (MP5 §3.4, Invariant 2).
    StatelessNeverWaits,
    /// A cell is active in one pipeline, and is accessed only there (MP5 §3.1 D2).
    OneActivePipeline,
    /// Packets access a cell in the order of arrival (C1, MP5 §3).
    AccessOrder,
    /// A packet makes exactly its planned accesses that are not cancelled, in their stage.
    EveryAccess,
}

/// A rule that a run broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The cycle.
    pub cycle: u64,
    /// What happened.
    pub message: String,
}

/// What the checker knows of a packet.
#[derive(Default)]
struct Packet {
    /// The pipeline in which it is.
    pipeline: usize,
    /// The next stage.
    next: usize,
    /// The cycle of its last step.
    last_cycle: Option<u64>,
    /// Where the crossbar brought it: stage, cycle, queued.
    crossed: Option<(usize, u64, bool)>,
    /// Accesses that it still has to make.
    planned: BTreeSet<Access>,
    /// The program or the machine dropped it. Cancellations of its accesses follow.
    is_dropped: bool,
}

/// Checks a trace. Returns all violations in the order of events; none if the run kept all rules.
pub fn check(trace: &Trace) -> Vec<Violation> {
    let mut checker = Checker::default();
    checker.begin(trace.shape.clone());
    for event in &trace.events {
        checker.record(event.cycle, event.kind);
    }
    checker.finish()
}

/// The state of a check.
#[derive(Default)]
pub struct Checker {
    shape: Shape,
    violations: Vec<Violation>,
    cycle: u64,
    /// The packets in the machine.
    packets: BTreeMap<u64, Packet>,
    /// The number above those of all packets that have entered.
    entered: u64,
    /// Packets below that number that have not entered.
    awaited: BTreeSet<u64>,
    /// The pipeline of each cell.
    map: Vec<Vec<u8>>,
    /// The last packet of each cell.
    last: BTreeMap<Access, u64>,
    /// Stages and pipelines that did something in this cycle.
    busy: BTreeSet<(usize, usize)>,
    /// Pipelines from which a packet went to a stage in this cycle.
    sources: BTreeSet<(usize, usize)>,
    /// Slots of pipelines that a packet went to in this cycle.
    slots: BTreeSet<(usize, usize)>,
}

impl Recorder for Checker {
    fn begin(&mut self, shape: Shape) {
        let map = shape.first_map.clone();
        *self = Checker { shape, map, ..Checker::default() };
    }

    fn record(&mut self, cycle: u64, kind: Kind) {
        self.event(cycle, kind);
    }
}

impl Checker {
    /// Ends the check. Returns all violations in the order of events.
    pub fn finish(mut self) -> Vec<Violation> {
        for (number, packet) in std::mem::take(&mut self.packets) {
            if !packet.is_dropped {
                self.report(Rule::FeedForward, format!("packet {number} never left"));
            }
        }
        self.violations
    }

    fn report(&mut self, rule: Rule, message: String) {
        self.violations.push(Violation { rule, cycle: self.cycle, message });
    }

    fn event(&mut self, cycle: u64, kind: Kind) {
        if cycle < self.cycle {
            self.report(Rule::FeedForward, format!("cycle {cycle} comes after {}", self.cycle));
        }
        if cycle != self.cycle {
            self.cycle = cycle;
            self.busy.clear();
            self.sources.clear();
            self.slots.clear();
        }
        match kind {
            Kind::Resolved { packet, pipeline } => {
                if !self.enters(packet) {
                    self.report(Rule::FeedForward, format!("packet {packet} entered twice"));
                }
                self.packets.insert(packet, Packet { pipeline, ..Packet::default() });
            }
            Kind::Planned { packet: number, access } => {
                let Some(packet) = self.packet(number) else { return };
                packet.planned.insert(access);
            }
            Kind::Crossed { packet, stage, from, to, is_queued } => {
                self.cross(packet, stage, from, to, is_queued);
            }
            Kind::PhantomQueued { .. } => {}
            Kind::Processed { packet, stage, pipeline, access } => {
                self.process(packet, stage, pipeline, access);
            }
            Kind::MovedWithCell { packet: number, stage, from, to } => {
                let Some(packet) = self.packet(number) else { return };
                let waits = packet.crossed.is_some_and(|(at, _, queued)| at == stage && queued);
                let was_there = packet.pipeline == from;
                packet.pipeline = to;
                if !waits || !was_there {
                    let message = format!("packet {number} moves from {from} in stage {stage}");
                    self.report(Rule::OneCrossbarOutput, message);
                }
            }
            Kind::Wasted { stage, pipeline } => self.occupy(stage, pipeline),
            Kind::Cancelled { packet: number, access } => {
                let packet = self.packets.get_mut(&number);
                if !packet.is_some_and(|packet| packet.planned.remove(&access)) {
                    let message =
                        format!("packet {number} cancels {access:?}, which it does not have");
                    self.report(Rule::EveryAccess, message);
                }
                self.forget(number);
            }
            Kind::Dropped { packet: number } => {
                let Some(packet) = self.packet(number) else { return };
                packet.is_dropped = true;
                self.forget(number);
            }
            Kind::Departed { packet } => self.depart(packet),
            Kind::Remapped { access, from, to } => {
                let place = &mut self.map[access.group as usize][access.cell as usize];
                if usize::from(*place) != from || !self.busy.is_empty() {
                    let message =
                        format!("{access:?} moves from {from} to {to}, is active in {place}");
                    *place = to as u8;
                    self.report(Rule::OneActivePipeline, message);
                } else {
                    *place = to as u8;
                }
            }
        }
    }

    /// Notes that a packet enters. Returns whether it does for the first time.
    fn enters(&mut self, number: u64) -> bool {
        if number < self.entered {
            return self.awaited.remove(&number);
        }
        self.awaited.extend(self.entered..number);
        self.entered = number + 1;
        true
    }

    /// Returns a packet in the machine. It is a violation if there is none.
    fn packet(&mut self, number: u64) -> Option<&mut Packet> {
        if self.packets.get(&number).is_none_or(|packet| packet.is_dropped) {
            self.report(Rule::FeedForward, format!("packet {number} is not in the machine"));
            return None;
        }
        self.packets.get_mut(&number)
    }

    /// Forgets a dropped packet if no cancellation follows.
    fn forget(&mut self, number: u64) {
        let is_over = |packet: &Packet| packet.is_dropped && packet.planned.is_empty();
        if self.packets.get(&number).is_some_and(is_over) {
            self.packets.remove(&number);
        }
    }

    /// A stage of a pipeline does something.
    fn occupy(&mut self, stage: usize, pipeline: usize) {
        let is_there = stage < self.shape.stages && pipeline < self.shape.pipelines;
        if !is_there || !self.busy.insert((stage, pipeline)) {
            let message = format!("stage {stage} of pipeline {pipeline} is used twice, or is none");
            self.report(Rule::OnePacketPerStage, message);
        }
    }

    fn cross(&mut self, number: u64, stage: usize, from: usize, to: usize, is_queued: bool) {
        if !self.sources.insert((stage, from)) || (!is_queued && !self.slots.insert((stage, to))) {
            let message =
                format!("two packets cross from {from} or to {to} in front of stage {stage}");
            self.report(Rule::OneCrossbarOutput, message);
        }
        let cycle = self.cycle;
        let Some(packet) = self.packet(number) else { return };
        let is_next = packet.next == stage && packet.pipeline == from;
        let follows = packet.last_cycle.is_none_or(|last| last + 1 == cycle);
        packet.pipeline = to;
        packet.crossed = Some((stage, cycle, is_queued));
        if !is_next || !follows {
            let message = format!("packet {number} crosses to stage {stage} from {from}");
            self.report(Rule::FeedForward, message);
        }
    }

    fn process(&mut self, number: u64, stage: usize, pipeline: usize, access: Option<Access>) {
        self.occupy(stage, pipeline);
        let cycle = self.cycle;
        if self.packet(number).is_none() {
            return;
        }
        let group_stages = &self.shape.group_stages;
        let Some(packet) = self.packets.get_mut(&number) else { return };
        let is_next = packet.next == stage && packet.last_cycle.is_none_or(|last| last < cycle);
        packet.next = stage + 1;
        packet.last_cycle = Some(cycle);
        let crossed = packet.crossed.take();
        let is_placed = packet.pipeline == pipeline && crossed.is_some_and(|(at, ..)| at == stage);
        let waits = crossed.is_some_and(|(_, since, _)| since != cycle);
        let is_queued = crossed.is_some_and(|(_, _, is_queued)| is_queued);
        packet.pipeline = pipeline;
        let planned = packet.planned.iter().copied();
        let here = planned.filter(|access| group_stages[access.group as usize] == stage);
        let is_expected = here.collect::<Vec<_>>().as_slice() == access.as_slice();
        if let Some(access) = access {
            packet.planned.remove(&access);
        }
        if !is_next {
            let message = format!("packet {number} in stage {stage} is not in its next stage");
            self.report(Rule::FeedForward, message);
        }
        if !is_placed {
            let message = format!("packet {number} in pipeline {pipeline}, where it did not go");
            self.report(Rule::OneCrossbarOutput, message);
        }
        if access.is_none() && (waits || is_queued) {
            let message = format!("packet {number} waits in stage {stage} without an access");
            self.report(Rule::StatelessNeverWaits, message);
        }
        if !is_expected {
            let message = format!("packet {number} makes {access:?} in stage {stage}");
            self.report(Rule::EveryAccess, message);
        }
        let Some(access) = access else { return };
        let active = usize::from(self.map[access.group as usize][access.cell as usize]);
        if active != pipeline {
            let message = format!("{access:?} is active in {active}, accessed in {pipeline}");
            self.report(Rule::OneActivePipeline, message);
        }
        if self.last.insert(access, number).is_some_and(|last| last >= number) {
            let message = format!("packet {number} accesses {access:?} after a later packet");
            self.report(Rule::AccessOrder, message);
        }
    }

    fn depart(&mut self, number: u64) {
        let stages = self.shape.stages;
        let Some(packet) = self.packet(number) else { return };
        let is_done = packet.next == stages;
        let is_complete = packet.planned.is_empty();
        self.packets.remove(&number);
        if !is_done {
            self.report(Rule::FeedForward, format!("packet {number} leaves before the last stage"));
        }
        if !is_complete {
            self.report(Rule::EveryAccess, format!("packet {number} leaves without its accesses"));
        }
    }
}

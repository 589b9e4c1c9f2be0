// SPDX-License-Identifier: Apache-2.0
//! The event scheduler's own tables as units of the layout (Lucid §3.2), so that the stages that are
//! counted are those of the printed program. What the tables say is in `scheduler_tables`.
//!
//! The parser does most of the dispatching: it knows an event that is to be handled here and now, so
//! that handlers can begin in the first stage. The table `dispatch` sends the others on their way;
//! `forward` knows the ports to other switches; `serialise` comes after the handlers and sends what they
//! generated. In egress the parser leaves of each copy its own event, `wait` counts the time of the
//! queue, and `leave` comes after the egress handlers.

use super::parts::{FORWARD_ENTRIES, MEMBER_ENTRIES, Part, SchedulerPart};
use super::slots::{SlotShape, may_be_several, serialise_rules, slot_shapes, spreads, written};
use crate::atomic::program::{
    AtomicProgram, Given, Operation, SlotField, StatementId, VariableKind,
};
use crate::options::Options;
use pisa::{
    Dependency, DependencyKind, Gress, Guard, MatchKind, Problem, ProgramKey, ProgramTable,
    Resource, Unit, UnitId, Variable, VariableId,
};
use source::Span;

/// Adds the scheduler's units to the problem of a program, whose units are its statements in order.
/// What comes back says for each unit of the new problem what it is.
pub fn add_scheduler(
    atomic: &AtomicProgram,
    options: &Options,
    problem: &mut Problem,
) -> Vec<Part> {
    let mut adder = Adder { atomic, problem, parts: Vec::new() };
    adder.parts =
        (0..adder.problem.units.len()).map(|at| Part::Statement(StatementId(at as u32))).collect();
    let slots = slot_shapes(atomic);
    adder.serialise(&slots);
    for slot in 0..slots.len() as u32 {
        adder.keep(slot);
    }
    adder.egress(&slots);
    // Units in front come last here, since they move all others.
    adder.forward();
    adder.dispatch();
    let own_ports = options.has_own_recirculation_ports();
    adder.switch_values(Gress::Egress, own_ports);
    adder.switch_values(Gress::Ingress, own_ports);
    adder.parts
}

struct Adder<'a> {
    atomic: &'a AtomicProgram,
    problem: &'a mut Problem,
    parts: Vec<Part>,
}

impl Adder<'_> {
    fn variable(&mut self, name: &str, width_bits: u32) -> VariableId {
        self.problem.variables.push(Variable { name: name.into(), width_bits });
        VariableId(self.problem.variables.len() as u32 - 1)
    }

    fn unit(&self, name: &str, gress: Gress, table: ProgramTable, statements: u64) -> Unit {
        Unit {
            name: name.into(),
            span: self.span(),
            gress,
            guard: Guard::always(),
            mergeable: false,
            table: Some(table),
            array: None,
            register_action: 0,
            demand: [(Resource::Instructions, statements), (Resource::Statements, statements)]
                .into_iter()
                .collect(),
        }
    }

    /// What a message about the scheduler points at: the last event that is generated, or any statement.
    fn span(&self) -> Span {
        let statements = &self.atomic.statements;
        let last = statements.iter().max_by_key(|statement| match statement.operation {
            Operation::Generate { slot, .. } => Some(slot),
            _ => None,
        });
        last.map_or(Span::NONE, |statement| statement.span)
    }

    fn in_front(&mut self, part: SchedulerPart, unit: Unit) {
        self.problem.units.insert(0, unit);
        self.parts.insert(0, Part::Scheduler(part));
        for dependency in &mut self.problem.dependencies {
            dependency.before.0 += 1;
            dependency.after.0 += 1;
        }
    }

    fn behind(&mut self, part: SchedulerPart, unit: Unit) -> UnitId {
        self.problem.units.push(unit);
        self.parts.push(Part::Scheduler(part));
        UnitId(self.problem.units.len() as u32 - 1)
    }

    fn depends(&mut self, before: UnitId, after: UnitId, kind: DependencyKind) {
        self.problem.dependencies.push(Dependency { before, after, kind });
    }

    /// The program's statements with their units as they are now.
    fn statements(&self) -> Vec<(UnitId, StatementId)> {
        let statement = |(at, part): (usize, &Part)| match part {
            Part::Statement(id) => Some((UnitId(at as u32), *id)),
            Part::Scheduler(_) => None,
        };
        self.parts.iter().enumerate().filter_map(statement).collect()
    }

    fn serialise(&mut self, slots: &[SlotShape]) {
        if slots.is_empty() {
            return;
        }
        let mut keys = Vec::new();
        let ternary =
            |variable, width_bits| ProgramKey { variable, kind: MatchKind::Ternary, width_bits };
        for (at, shape) in slots.iter().enumerate() {
            let is_there = self.variable(&format!("slot{at} is there"), 1);
            keys.push(ternary(is_there, 1));
            if !shape.direct.is_empty() {
                let kind = self.variable(&format!("kind of slot{at}"), 3);
                keys.push(ternary(kind, 3));
            }
            if shape.asks_delay {
                let delay = self.variable(&format!("delay of slot{at}"), 32);
                keys.push(ternary(delay, 32));
            }
            if shape.asks_cut() {
                let cut = self.variable(&format!("payload of slot{at} is cut off"), 1);
                keys.push(ternary(cut, 1));
            }
        }
        let entries = serialise_rules(slots).len() as u64;
        let table = ProgramTable { keys, entries, actions: 6, action_data_bits: 16 };
        let unit =
            self.behind(SchedulerPart::Serialise, self.unit("serialise", Gress::Ingress, table, 4));
        for (before, id) in self.statements() {
            let statement = &self.atomic.statements[id.0 as usize];
            if statement.gress != Gress::Ingress {
                continue;
            }
            if let Operation::Generate { .. } = statement.operation {
                self.depends(before, unit, DependencyKind::Match);
            }
            for (to, _) in written(&statement.operation) {
                match self.atomic.variable(to).kind {
                    VariableKind::Slot { field: SlotField::Place, .. } => {
                        self.depends(before, unit, DependencyKind::Action);
                    }
                    VariableKind::Slot { .. } => {
                        self.depends(before, unit, DependencyKind::Match);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Behind everything that touches the headers of a slot: it asks which event was generated.
    fn keep(&mut self, slot: u32) {
        let exact =
            |variable, width_bits| ProgramKey { variable, kind: MatchKind::Exact, width_bits };
        let is_there = self.variable(&format!("slot{slot} is there"), 1);
        let number = self.variable(&format!("number of slot{slot}"), 16);
        let keys = vec![exact(is_there, 1), exact(number, 16)];
        let events = self.atomic.slots.get(slot as usize).map_or(0, |slot| slot.events.len());
        let table = ProgramTable {
            keys,
            entries: events as u64,
            actions: 1 + events as u32,
            action_data_bits: 0,
        };
        let unit = self.unit("keep", Gress::Ingress, table, 1 + events as u64);
        let unit = self.behind(SchedulerPart::Keep(slot), unit);
        let is_of_slot = |id: &VariableId| match self.atomic.variable(*id).kind {
            VariableKind::Slot { gress: Gress::Ingress, slot: of, .. }
            | VariableKind::Argument { gress: Gress::Ingress, slot: of, .. } => of == slot,
            _ => false,
        };
        let mut found = Vec::new();
        for (before, id) in self.statements() {
            let statement = &self.atomic.statements[id.0 as usize];
            if statement.gress != Gress::Ingress {
                continue;
            }
            match statement.operation {
                Operation::Generate { slot: of, .. } if of == slot => {
                    found.push((before, DependencyKind::Match));
                }
                _ => {
                    let mut touched = self.atomic.reads(statement);
                    touched.extend(statement.guard.variables());
                    touched.extend(statement.operation.writes());
                    if touched.iter().any(is_of_slot) {
                        found.push((before, DependencyKind::Anti));
                    }
                }
            }
        }
        for (before, kind) in found {
            self.depends(before, unit, kind);
        }
        // It takes the mark of what goes alone.
        let serialise = Part::Scheduler(SchedulerPart::Serialise);
        if let Some(at) = self.parts.iter().position(|part| *part == serialise) {
            self.depends(unit, UnitId(at as u32), DependencyKind::Anti);
        }
    }

    fn egress(&mut self, slots: &[SlotShape]) {
        let exact =
            |variable, width_bits| ProgramKey { variable, kind: MatchKind::Exact, width_bits };
        let ternary =
            |variable, width_bits| ProgramKey { variable, kind: MatchKind::Ternary, width_bits };
        let task = self.variable("task", 8);
        let has_egress = self.has_egress();
        let has_cuts = slots.iter().any(|shape| shape.cuts);
        if has_egress || has_cuts || may_be_several(slots) {
            self.leave(task, has_egress, has_cuts);
        }
        if spreads(self.atomic) {
            let rid = self.variable("replica", 16);
            let keys = vec![exact(rid, 16)];
            let table =
                ProgramTable { keys, entries: MEMBER_ENTRIES, actions: 2, action_data_bits: 32 };
            let unit = self.unit("member", Gress::Egress, table, 2);
            self.behind(SchedulerPart::Member, unit);
        }
        // The time of this pass first, then what is left; no other table runs for what waits.
        let own = |keys, entries| ProgramTable { keys, entries, actions: 2, action_data_bits: 0 };
        let unit = self.unit("wait", Gress::Egress, own(Vec::new(), 1), 2);
        let elapsed = self.behind(SchedulerPart::Wait, unit);
        let unit = self.unit("mask", Gress::Egress, own(Vec::new(), 1), 1);
        let masked = self.behind(SchedulerPart::MaskWait, unit);
        self.depends(elapsed, masked, DependencyKind::Action);
        let stamp = self.variable("time stamp of the frame", 16);
        let mut keys = vec![ternary(stamp, 16)];
        if has_egress {
            // What waited is to meet its egress handler, and says so.
            let kind = self.variable("kind of the frame", 16);
            keys.push(ternary(kind, 16));
        }
        let unit = self.unit("count_down", Gress::Egress, own(keys, 3), 3);
        let last = self.behind(SchedulerPart::CountDown, unit);
        self.depends(masked, last, DependencyKind::Match);
    }

    fn has_egress(&self) -> bool {
        self.atomic.handlers.iter().any(|handler| handler.gress == Gress::Egress)
    }

    /// Behind the egress handlers: it asks whether they generated an event, and which.
    fn leave(&mut self, task: VariableId, has_egress: bool, has_cuts: bool) {
        let mut keys: Vec<(&str, u32)> =
            vec![("kept", 1), ("leaves", 1), ("number of the frame", 16)];
        if has_cuts {
            keys.push(("source of the frame", 16));
        }
        if has_egress {
            keys.extend([("egress handler", 16), ("generated in egress", 1)]);
        }
        let ternary =
            |variable, width_bits| ProgramKey { variable, kind: MatchKind::Ternary, width_bits };
        let mut own = vec![ternary(task, 8)];
        for (name, width_bits) in keys {
            own.push(ternary(self.variable(name, width_bits), width_bits));
        }
        let entries = 2 + self.atomic.handlers.len() as u64;
        let (actions, action_data_bits) = if has_cuts { (4, 10) } else { (3, 0) };
        let table = ProgramTable { keys: own, entries, actions, action_data_bits };
        // Besides its own: the headers of events in whose place others were generated go.
        let statements = 4 + u64::from(has_egress) + if has_cuts { 5 } else { 0 };
        let unit = self.unit("leave", Gress::Egress, table, statements);
        let unit = self.behind(SchedulerPart::Leave, unit);
        for (before, id) in self.statements() {
            let statement = &self.atomic.statements[id.0 as usize];
            if statement.gress == Gress::Egress {
                let kind = match statement.operation {
                    Operation::Generate { .. } => DependencyKind::Match,
                    _ => DependencyKind::Anti,
                };
                self.depends(before, unit, kind);
            }
        }
    }

    fn dispatch(&mut self) {
        let route = self.variable("route", 5);
        let keys = vec![ProgramKey { variable: route, kind: MatchKind::Exact, width_bits: 5 }];
        let table = ProgramTable { keys, entries: 13, actions: 9, action_data_bits: 0 };
        let unit = self.unit("dispatch", Gress::Ingress, table, 4);
        self.in_front(SchedulerPart::Dispatch, unit);
    }

    fn forward(&mut self) {
        let place = self.variable("place of the frame", 32);
        let keys = vec![ProgramKey { variable: place, kind: MatchKind::Exact, width_bits: 32 }];
        let table =
            ProgramTable { keys, entries: FORWARD_ENTRIES, actions: 2, action_data_bits: 9 };
        let unit = self.unit("forward", Gress::Ingress, table, 2);
        self.in_front(SchedulerPart::Forward, unit);
    }

    /// `self` and externs: in ingress the program's parts ask for them as well, in egress only handlers.
    fn switch_values(&mut self, gress: Gress, own_ports: bool) {
        let is_port = |id: &VariableId| {
            let variable = self.atomic.variables.get(id.0 as usize);
            variable.is_some_and(|one| one.kind == VariableKind::Given(Given::RecirculationPort))
        };
        let is_value = |id: &VariableId| {
            matches!(
                self.atomic.variables.get(id.0 as usize).map(|one| one.kind),
                Some(VariableKind::Given(Given::SelfSwitch | Given::Extern(_)))
            ) || own_ports && is_port(id)
        };
        let mut found = Vec::new();
        for (unit, id) in self.statements() {
            let statement = &self.atomic.statements[id.0 as usize];
            if statement.gress != gress {
                continue;
            }
            if statement.guard.variables().iter().any(is_value) {
                found.push((unit, DependencyKind::Match));
            } else if self.atomic.reads(statement).iter().any(is_value) {
                found.push((unit, DependencyKind::Action));
            }
        }
        if own_ports && gress == Gress::Ingress {
            // Their actions send packets round.
            let senders = [SchedulerPart::Dispatch, SchedulerPart::Serialise].map(Part::Scheduler);
            let sends = |(at, part): (usize, &Part)| {
                senders.contains(part).then_some((UnitId(at as u32), DependencyKind::Action))
            };
            found.extend(self.parts.iter().enumerate().filter_map(sends));
        }
        let (name, part) = match gress {
            Gress::Ingress => ("switch_values", SchedulerPart::SwitchValues),
            Gress::Egress if found.is_empty() => return,
            Gress::Egress => ("egress_values", SchedulerPart::EgressValues),
        };
        let table = ProgramTable { keys: Vec::new(), entries: 1, actions: 1, action_data_bits: 32 };
        let unit = self.unit(name, gress, table, 1);
        self.in_front(part, unit);
        for (unit, kind) in found {
            self.depends(UnitId(0), UnitId(unit.0 + 1), kind);
        }
    }
}

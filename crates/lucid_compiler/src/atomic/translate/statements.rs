// SPDX-License-Identifier: Apache-2.0
//! Statements of handlers as atomic tables; generated events as writes of their slot's fields.

use super::super::codes;
use super::super::program::{
    Index, MemoryAccess, MemoryUse, Operand, Operation, Payload, SlotField,
};
use super::super::tree::{Branch, Node};
use super::builder::Translator;
use crate::wire::{FIRST_GROUP, PlaceKind};
use lucid::core::arithmetic::mask;
use lucid::core::walk::{each_statement, written};
use lucid::core::{
    Access, Destination, Expression, ExpressionKind, Pattern, Statement, StatementKind, Type, Use,
};
use pisa::{Condition, Gress, VariableId};
use std::collections::{BTreeMap, BTreeSet};

impl Translator<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.span = statement.span;
            self.inlined_at = statement.inlined_at.clone();
            stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.statement(statement));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { local, value, .. } => {
                if matches!(value.ty, Type::Payload | Type::Event | Type::Group) {
                    return self.no_stage(statement);
                }
                let to = self.local(*local);
                self.assign(to, value);
            }
            StatementKind::Access { global, index, access, result } => {
                let index = Index::Operand(self.operand(index));
                let array = self.array(*global);
                let access = self.access(access);
                let result = result.map(|result| self.local(result));
                let register_action = self.register_action(array, access, result.is_some());
                self.emit(Operation::Memory { array, register_action, index, result });
            }
            StatementKind::Lookup { table, key, arguments, results } => {
                let key = key.iter().map(|part| self.operand(part)).collect();
                let arguments = arguments.iter().map(|argument| self.operand(argument)).collect();
                let results = results.iter().map(|result| Some(self.local(*result))).collect();
                self.emit(Operation::Lookup { table: *table, key, arguments, results });
            }
            StatementKind::Random { local } => {
                let to = self.local(*local);
                self.emit(Operation::Random { to });
            }
            StatementKind::If { condition, then, otherwise } => {
                let formula = self.condition(condition);
                let written = self.written_in(&[then, otherwise]);
                let arms = [then, otherwise]
                    .map(|block| self.arm(|translator| translator.statements(block)));
                self.span = statement.span;
                self.inlined_at = statement.inlined_at.clone();
                self.branch(formula, arms.into(), &written, condition.span);
            }
            StatementKind::Match { subjects, branches } => {
                let blocks: Vec<&Vec<Statement>> =
                    branches.iter().map(|branch| &branch.statements).collect();
                let written = self.written_in(&blocks);
                let operands: Vec<Operand> =
                    subjects.iter().map(|subject| self.operand(subject)).collect();
                let operands: Vec<Operand> = (operands.into_iter())
                    .map(|operand| match operand {
                        Operand::Variable(id) => Operand::Variable(self.subject(id, &written)),
                        constant => constant,
                    })
                    .collect();
                let rules = (branches.iter().enumerate())
                    .filter_map(|(at, branch)| Some((self.rule(&operands, &branch.patterns)?, at)))
                    .collect();
                let arms = blocks
                    .into_iter()
                    .map(|block| self.arm(|translator| translator.statements(block)))
                    .collect();
                self.push(Node::Branch(Branch { rules, arms, span: statement.span }));
            }
            StatementKind::Generate { event, destination } => {
                self.generate(statement, event, destination)
            }
            // Nothing prints or calls in hardware; `support` has said so.
            StatementKind::Print { .. } | StatementKind::CallExtern { .. } => {}
            StatementKind::Install { .. }
            | StatementKind::IfEvent { .. }
            | StatementKind::Return => self.no_stage(statement),
        }
    }

    fn no_stage(&mut self, statement: &Statement) {
        self.error(codes::STATEMENT, statement.span, "no stage of a pipeline can do this");
    }

    /// What statements write, those inside them included. Locals that have no variable yet get one.
    fn written_in(&mut self, blocks: &[&Vec<Statement>]) -> BTreeSet<VariableId> {
        let mut locals = BTreeSet::new();
        for block in blocks {
            each_statement(block, &mut |statement| locals.extend(written(statement)));
        }
        let locals = locals.into_iter().filter(|local| {
            let ty = self.body_locals[local.0 as usize].ty;
            matches!(ty, Type::Int(_) | Type::Bool)
        });
        let locals: Vec<_> = locals.collect();
        locals.into_iter().map(|local| self.local(local)).collect()
    }

    /// The conditions of patterns, or `None` if a constant subject does not match.
    fn rule(
        &self,
        subjects: &[Operand],
        patterns: &[Pattern],
    ) -> Option<BTreeMap<VariableId, Condition>> {
        let mut conditions: BTreeMap<VariableId, Condition> = BTreeMap::new();
        for (subject, pattern) in subjects.iter().zip(patterns) {
            match subject {
                Operand::Constant(value) => {
                    if value & pattern.mask != pattern.value {
                        return None;
                    }
                }
                Operand::Variable(_) if pattern.mask == 0 => {}
                Operand::Variable(id) => {
                    let width = mask(self.graph.program.variable(*id).width_bits);
                    if pattern.value & !width != 0 {
                        return None;
                    }
                    let new = (pattern.value, pattern.mask & width);
                    let (value, mask) = match conditions.get(id) {
                        Some(Condition::Ternary { value, mask }) => {
                            if (value ^ new.0) & mask & new.1 != 0 {
                                return None;
                            }
                            (value | new.0, mask | new.1)
                        }
                        _ => new,
                    };
                    conditions.insert(*id, Condition::Ternary { value, mask });
                }
            }
        }
        Some(conditions)
    }

    fn access(&mut self, access: &Access) -> MemoryAccess {
        match access {
            Access::Simple { get, set } => {
                let mut side = |side: &Option<Use>| {
                    Some(match side.as_ref()? {
                        Use::Old => MemoryUse::Old,
                        Use::Value(value) => MemoryUse::Value(self.operand(value)),
                        Use::Add(value) => MemoryUse::Add(self.operand(value)),
                        Use::Memop(memop, value) => MemoryUse::Memop(*memop, self.operand(value)),
                    })
                };
                MemoryAccess::Simple { get: side(get), set: side(set) }
            }
            Access::Complex { memop, arguments: [first, second], default } => {
                MemoryAccess::Complex {
                    memop: *memop,
                    arguments: [self.operand(first), self.operand(second)],
                    default: self.operand(default),
                }
            }
        }
    }

    fn generate(&mut self, statement: &Statement, event: &Expression, destination: &Destination) {
        let Some(slot) = self.slots.next() else { return self.no_stage(statement) };
        let (event, delay) = match &event.kind {
            ExpressionKind::Delay { event, nanoseconds } => (&**event, Some(&**nanoseconds)),
            _ => (event, None),
        };
        let ExpressionKind::Event { event: id, arguments } = &event.kind else {
            return self.no_stage(statement);
        };
        let mut payload = if self.may_trail { Payload::Cut } else { Payload::Absent };
        for (at, argument) in arguments.iter().enumerate() {
            if argument.ty == Type::Payload {
                if matches!(argument.kind, ExpressionKind::Local(_)) {
                    payload = Payload::Kept;
                }
                continue;
            }
            let Some(to) = self.argument(slot, *id, at as u32) else {
                return self.no_stage(statement);
            };
            self.assign(to, argument);
        }
        if self.gress == Gress::Egress {
            // It leaves at once by the port of the packet, whatever it says of place and time.
            self.slot_holds(slot, *id);
            return self.emit(Operation::Generate { slot, event: *id, payload });
        }
        let (kind, place) = match destination {
            Destination::Event => (PlaceKind::Here, None),
            Destination::Switch(switch) => (PlaceKind::Switch, Some(self.operand(switch))),
            Destination::Port(port) => (PlaceKind::Port, Some(self.operand(port))),
            Destination::Ports(Expression { kind: ExpressionKind::Flood(port), .. }) => {
                (PlaceKind::Flood, Some(self.operand(port)))
            }
            Destination::Ports(group) => {
                let Some(number) = self.groups.ports(group) else {
                    return self.no_stage(statement);
                };
                let group = u128::from(FIRST_GROUP + number);
                (PlaceKind::Group, Some(Operand::Constant(group)))
            }
            Destination::Switches(group) => {
                let Some(number) = self.groups.switches(group) else {
                    return self.no_stage(statement);
                };
                (PlaceKind::Switches, Some(Operand::Constant(u128::from(number))))
            }
        };
        let to = self.slot_field(slot, SlotField::PlaceKind);
        let field = match kind {
            PlaceKind::Here => 0,
            kind => u128::from(kind.field()),
        };
        self.emit(Operation::Move { to, from: Operand::Constant(field) });
        if let Some(from) = place {
            let to = self.slot_field(slot, SlotField::Place);
            self.emit(Operation::Move { to, from });
        }
        let to = self.slot_field(slot, SlotField::DelayNs);
        match delay {
            Some(delay) => self.assign(to, delay),
            None => self.emit(Operation::Move { to, from: Operand::Constant(0) }),
        }
        self.slot_holds(slot, *id);
        self.emit(Operation::Generate { slot, event: *id, payload });
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Runs a handler's atomic graph on values instead of numbers: what each variable holds at its end,
//! and which effects happen when, as formulas over values.

use super::super::branches::arm_formulas;
use super::super::formula::Formula;
use super::super::program::{
    ArrayId, AtomicProgram, Index, MemoryAccess, Operand, Operation, Payload, StatementId,
    VariableKind,
};
use super::super::tree::{AtomicGraph, Node};
use super::values::{ValueId, Values};
use lucid::core::{EventId, GlobalId};
use pisa::VariableId;
use std::collections::{BTreeMap, HashMap};

/// Something that happens besides computing.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) kind: EffectKind,
    /// When.
    pub(super) path: Formula,
    /// The statement it comes from.
    pub(super) statement: StatementId,
}

/// Kinds of effects. What they return is [`super::values::Value::Result`].
#[derive(Clone, Debug)]
pub(super) enum EffectKind {
    /// Operands of the access are by position in `operands`.
    Memory {
        array: ArrayId,
        access: MemoryAccess,
        operands: Vec<ValueId>,
        index: ValueId,
    },
    Lookup {
        table: GlobalId,
        key: Vec<ValueId>,
        arguments: Vec<ValueId>,
        results: u32,
    },
    Random,
    Generate {
        slot: u32,
        event: EventId,
        payload: Payload,
    },
}

/// A handler as values and effects.
pub(super) struct Walked {
    pub(super) values: Values,
    /// In the order of the source.
    pub(super) effects: Vec<Effect>,
    /// What fields of generated events hold at the end.
    pub(super) fields: BTreeMap<VariableId, (ValueId, StatementId)>,
    /// The variable and the statement that first held a value, for names and spans.
    pub(super) origins: HashMap<ValueId, (VariableId, StatementId)>,
}

/// Walks one body.
pub(super) fn walk(graph: &AtomicGraph, body: &[Node]) -> Walked {
    let mut walker = Walker {
        program: &graph.program,
        walked: Walked {
            values: Values::default(),
            effects: Vec::new(),
            fields: BTreeMap::new(),
            origins: HashMap::new(),
        },
        held: BTreeMap::new(),
        writers: HashMap::new(),
    };
    walker.nodes(body, Formula::ALWAYS);
    let Walker { mut walked, held, writers, program } = walker;
    for (id, value) in held {
        let kind = program.variable(id).kind;
        if matches!(kind, VariableKind::Slot { .. } | VariableKind::Argument { .. }) {
            let statement = writers.get(&id).copied().unwrap_or(StatementId(0));
            walked.fields.insert(id, (value, statement));
        }
    }
    walked
}

struct Walker<'a> {
    program: &'a AtomicProgram,
    walked: Walked,
    held: BTreeMap<VariableId, ValueId>,
    writers: HashMap<VariableId, StatementId>,
}

impl Walker<'_> {
    fn nodes(&mut self, nodes: &[Node], path: Formula) {
        for node in nodes {
            match node {
                Node::Statement(id) => self.statement(*id, path),
                Node::Branch(branch) => {
                    stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.branch(branch, path));
                }
            }
        }
    }

    fn branch(&mut self, branch: &super::super::tree::Branch, path: Formula) {
        let mut formulas = std::mem::take(&mut self.walked.values.formulas);
        // The conditions are of values; formulas of both are in one place.
        let arms = arm_formulas(&mut formulas, branch, &mut |formulas, id, condition| {
            std::mem::swap(formulas, &mut self.walked.values.formulas);
            let value = self.read(id);
            let found = self.walked.values.holds(value, condition);
            std::mem::swap(formulas, &mut self.walked.values.formulas);
            found
        });
        self.walked.values.formulas = formulas;
        let before = self.held.clone();
        let mut after: Vec<(Formula, BTreeMap<VariableId, ValueId>)> = Vec::new();
        for (nodes, arm) in branch.arms.iter().zip(&arms) {
            let inner = self.walked.values.formulas.and(path, *arm);
            if inner != Formula::NEVER {
                self.nodes(nodes, inner);
            }
            after.push((*arm, std::mem::replace(&mut self.held, before.clone())));
        }
        let mut changed: Vec<VariableId> = Vec::new();
        for (_, held) in &after {
            changed.extend(
                held.iter().filter(|(id, value)| before.get(id) != Some(value)).map(|it| *it.0),
            );
        }
        changed.sort();
        changed.dedup();
        for id in changed {
            let mut value = self.read_in(&before, id);
            for (arm, held) in after.iter().rev() {
                let inside = self.read_in(held, id);
                value = self.walked.values.select(*arm, inside, value);
            }
            if let Some(statement) = self.writers.get(&id) {
                self.walked.origins.entry(value).or_insert((id, *statement));
            }
            self.held.insert(id, value);
        }
    }

    fn read(&mut self, id: VariableId) -> ValueId {
        match self.held.get(&id) {
            Some(value) => *value,
            None => self.initial(id),
        }
    }

    fn read_in(&mut self, held: &BTreeMap<VariableId, ValueId>, id: VariableId) -> ValueId {
        match held.get(&id) {
            Some(value) => *value,
            None => self.initial(id),
        }
    }

    fn initial(&mut self, id: VariableId) -> ValueId {
        let variable = self.program.variable(id);
        match variable.kind {
            VariableKind::Temporary | VariableKind::Slot { .. } | VariableKind::Argument { .. } => {
                self.walked.values.undefined(variable.width_bits)
            }
            _ => self.walked.values.input(id, variable.width_bits),
        }
    }

    /// An operand at a width.
    fn operand(&mut self, operand: Operand, width_bits: u32) -> ValueId {
        match operand {
            Operand::Constant(value) => self.walked.values.constant(value, width_bits),
            Operand::Variable(id) => {
                let value = self.read(id);
                self.walked.values.fit(value, width_bits)
            }
        }
    }

    /// An operand at its own width, or at most this one.
    fn narrow(&mut self, operand: Operand, width_bits: u32) -> ValueId {
        match operand {
            Operand::Constant(value) => self.walked.values.constant(value, width_bits),
            Operand::Variable(id) => {
                let value = self.read(id);
                let own = self.walked.values.width(value).min(width_bits);
                self.walked.values.fit(value, own)
            }
        }
    }

    fn write(&mut self, statement: StatementId, to: VariableId, value: ValueId) {
        let width = self.program.variable(to).width_bits;
        let value = self.walked.values.fit(value, width);
        self.walked.origins.entry(value).or_insert((to, statement));
        self.writers.insert(to, statement);
        self.held.insert(to, value);
    }

    fn statement(&mut self, id: StatementId, path: Formula) {
        let program = self.program;
        let operation = &program.statements[id.0 as usize].operation;
        match operation {
            Operation::Move { to, from } => {
                let width = program.variable(*to).width_bits;
                let value = self.operand(*from, width);
                self.write(id, *to, value);
            }
            Operation::Compute { to, operator, left, right } => {
                let width = program.variable(*to).width_bits;
                let left = self.operand(*left, width);
                let right = self.operand(*right, width);
                let value = self.walked.values.compute(*operator, left, right, width);
                self.write(id, *to, value);
            }
            Operation::Slice { to, from, low, width_bits } => {
                let value = self.read(*from);
                let value = self.walked.values.slice(value, *low, *width_bits);
                self.write(id, *to, value);
            }
            Operation::Concatenate { to, left, right } => {
                let left = self.operand(left.0, left.1);
                let right = self.operand(right.0, right.1);
                let value = self.walked.values.concatenate(left, right);
                self.write(id, *to, value);
            }
            Operation::Hash { to, hash } => {
                let arguments = (hash.arguments.iter())
                    .map(|(operand, width)| self.operand(*operand, *width))
                    .collect();
                let value = self.walked.values.hash(hash.seed, arguments, hash.width_bits);
                self.write(id, *to, value);
            }
            Operation::Checksum { to, arguments } => {
                let arguments = (arguments.iter())
                    .map(|(operand, width)| self.operand(*operand, *width))
                    .collect();
                let value = self.walked.values.checksum(arguments);
                self.write(id, *to, value);
            }
            Operation::Random { to } => {
                let width = program.variable(*to).width_bits;
                let effect = self.effect(id, path, EffectKind::Random);
                let value = self.walked.values.result(effect, 0, width);
                self.write(id, *to, value);
            }
            Operation::Memory { array, register_action, index, result } => {
                let action =
                    &program.arrays[array.0 as usize].register_actions[*register_action as usize];
                let operands = (action.access.operands().into_iter())
                    .map(|operand| self.narrow(operand, 128))
                    .collect();
                let index = match index {
                    Index::Operand(operand) => self.narrow(*operand, 32),
                    Index::Hash(hash) => {
                        let arguments = (hash.arguments.iter())
                            .map(|(operand, width)| self.operand(*operand, *width))
                            .collect();
                        self.walked.values.hash(hash.seed, arguments, hash.width_bits)
                    }
                };
                let access = action.access.clone();
                let kind = EffectKind::Memory { array: *array, access, operands, index };
                let effect = self.effect(id, path, kind);
                if let Some(to) = result {
                    let width = program.variable(*to).width_bits;
                    let value = self.walked.values.result(effect, 0, width);
                    self.write(id, *to, value);
                }
            }
            Operation::Lookup { table, key, arguments, results } => {
                let key = key.iter().map(|part| self.narrow(*part, 128)).collect();
                let arguments = arguments.iter().map(|part| self.narrow(*part, 128)).collect();
                let kind = EffectKind::Lookup {
                    table: *table,
                    key,
                    arguments,
                    results: results.len() as u32,
                };
                let effect = self.effect(id, path, kind);
                for (at, result) in results.iter().enumerate() {
                    let Some(to) = result else { continue };
                    let width = program.variable(*to).width_bits;
                    let value = self.walked.values.result(effect, at as u32, width);
                    self.write(id, *to, value);
                }
            }
            Operation::Generate { slot, event, payload } => {
                let kind = EffectKind::Generate { slot: *slot, event: *event, payload: *payload };
                self.effect(id, path, kind);
            }
        }
    }

    fn effect(&mut self, statement: StatementId, path: Formula, kind: EffectKind) -> u32 {
        self.walked.effects.push(Effect { kind, path, statement });
        self.walked.effects.len() as u32 - 1
    }
}

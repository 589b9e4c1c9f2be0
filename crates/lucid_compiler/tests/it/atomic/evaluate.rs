// SPDX-License-Identifier: Apache-2.0
//! Runs atomic programs stage by stage (`lucid_compiler::atomic::program` says what they mean), to compare them
//! with the handlers that they were made of.

use lucid::core::arithmetic::mask;
use lucid::core::bits::BitWriter;
use lucid::core::hash::{hash, internet_checksum};
use lucid::core::{
    CONDITION_1, CONDITION_2, EventId, Expression, GlobalId, GlobalKind, LocalId, Memop, MemopBody,
    MemopId, NEW_CELL_1, NEW_CELL_2, Program, Type,
};
use lucid_compiler::atomic::program::{
    AtomicProgram, Given, Hash, Index, MemoryAccess, MemoryUse, Operand, Operation, Payload,
    SlotField, Statement, StatementId, Variable, VariableKind,
};
use lucid_compiler::atomic::stateful::memop_value;
use pisa::{Gress, VariableId};

/// What a pass through the pipeline touches besides variables.
pub trait Surroundings {
    /// What the switch says, not cut to a width.
    fn given(&mut self, given: Given) -> u128;
    /// The cell (or the two), `None` beyond the end.
    fn cell(&mut self, global: GlobalId, index: u128) -> Option<[u128; 2]>;
    /// Writes what [`Self::cell`] gave; values are cut to the width.
    fn set_cell(&mut self, global: GlobalId, index: u128, cells: [u128; 2]);
    /// A random number for this statement.
    fn random(&mut self, statement: StatementId, width_bits: u32) -> u128;
    /// What a table gives for a key and arguments.
    fn lookup(&mut self, table: GlobalId, key: &[u128], arguments: &[u128]) -> Vec<u128>;
}

/// What is in a slot at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedEvent {
    /// The slot.
    pub slot: u32,
    /// The event.
    pub event: EventId,
    /// One a parameter; `None` for a payload.
    pub arguments: Vec<Option<u128>>,
    /// Whether the packet's payload goes with it.
    pub payload: bool,
    /// As in the frame; 0 is `Here`.
    pub place_kind: u128,
    /// As in the frame.
    pub place: u128,
    /// In nanoseconds.
    pub delay_ns: u128,
}

/// Runs the handler of an event with these parameters; payloads are zeros. The statements of a stage all read
/// what variables hold before it. Checksums come after all stages, with the deparser.
pub fn run_in_stages(
    core: &Program,
    program: &AtomicProgram,
    stages: &[Vec<StatementId>],
    (event, gress): (EventId, Gress),
    parameters: &[u128],
    around: &mut dyn Surroundings,
) -> Vec<GeneratedEvent> {
    let initial = |variable: &Variable, around: &mut dyn Surroundings| {
        let value = match variable.kind {
            VariableKind::Dispatched(of) if of == gress => {
                u128::from(core.events[event.0 as usize].wire_number)
            }
            VariableKind::Parameter { event: of, parameter } if of == event => {
                parameters.get(parameter as usize).copied().unwrap_or(0)
            }
            VariableKind::Given(given) => around.given(given),
            _ => 0,
        };
        value & mask(variable.width_bits)
    };
    let values = program.variables.iter().map(|variable| initial(variable, around)).collect();
    let mut pass =
        Pass { core, program, values, written: Vec::new(), around, generated: Vec::new() };
    let is_checksum = |statement: &Statement| match statement.operation {
        Operation::Checksum { to, .. } => {
            matches!(program.variable(to).kind, VariableKind::Argument { .. })
        }
        _ => false,
    };
    for stage in stages {
        let statements = stage.iter().map(|id| (*id, &program.statements[id.0 as usize]));
        pass.stage(statements.filter(|(_, it)| it.gress == gress && !is_checksum(it)));
    }
    let last = (0..).map(StatementId).zip(&program.statements);
    pass.stage(last.filter(|(_, it)| it.gress == gress && is_checksum(it)));
    pass.finish(gress)
}

struct Pass<'a> {
    core: &'a Program,
    program: &'a AtomicProgram,
    values: Vec<u128>,
    /// What the stage at hand writes.
    written: Vec<(VariableId, u128)>,
    around: &'a mut dyn Surroundings,
    generated: Vec<GeneratedEvent>,
}

impl Pass<'_> {
    fn operand(&self, operand: Operand) -> u128 {
        match operand {
            Operand::Variable(id) => self.values[id.0 as usize],
            Operand::Constant(value) => value,
        }
    }

    fn stage<'s>(&mut self, statements: impl Iterator<Item = (StatementId, &'s Statement)>) {
        for (id, statement) in statements {
            let value = |id: VariableId| self.values[id.0 as usize];
            if statement.guard.runs(&value) {
                self.statement(id, statement);
            }
        }
        for (to, value) in self.written.drain(..) {
            self.values[to.0 as usize] = value;
        }
    }

    fn write(&mut self, to: VariableId, value: u128) {
        self.written.push((to, value & mask(self.program.variable(to).width_bits)));
    }

    fn hash(&self, of: &Hash) -> u128 {
        let mut bits = BitWriter::default();
        hash(&mut bits, of.width_bits, u128::from(of.seed), &mut |bits| {
            for (operand, width) in &of.arguments {
                bits.write(self.operand(*operand) & mask(*width), *width);
            }
        })
    }

    fn statement(&mut self, id: StatementId, statement: &Statement) {
        match &statement.operation {
            Operation::Move { to, from } => self.write(*to, self.operand(*from)),
            Operation::Compute { to, operator, left, right } => {
                let width = self.program.variable(*to).width_bits;
                let cut = mask(width);
                let (left, right) = (self.operand(*left) & cut, self.operand(*right) & cut);
                self.write(*to, operator.apply(left, right, width));
            }
            Operation::Slice { to, from, low, width_bits } => {
                let from = self.values[from.0 as usize];
                self.write(*to, from.checked_shr(*low).unwrap_or(0) & mask(*width_bits));
            }
            Operation::Concatenate { to, left, right } => {
                let upper = self.operand(left.0) & mask(left.1);
                let lower = self.operand(right.0) & mask(right.1);
                self.write(*to, upper.checked_shl(right.1).unwrap_or(0) | lower);
            }
            Operation::Hash { to, hash } => self.write(*to, self.hash(hash)),
            Operation::Checksum { to, arguments } => {
                let mut bits = BitWriter::default();
                let sum = internet_checksum(&mut bits, &mut |bits| {
                    for (operand, width) in arguments {
                        bits.write(self.operand(*operand) & mask(*width), *width);
                    }
                });
                self.write(*to, sum);
            }
            Operation::Random { to } => {
                let value = self.around.random(id, self.program.variable(*to).width_bits);
                self.write(*to, value);
            }
            Operation::Memory { array, register_action, index, result } => {
                let array = &self.program.arrays[array.0 as usize];
                let action = &array.register_actions[*register_action as usize];
                let index = match index {
                    Index::Operand(operand) => self.operand(*operand),
                    Index::Hash(hash) => self.hash(hash),
                };
                let returned = self.memory(array.global, &action.access, index);
                if let Some(to) = result {
                    self.write(*to, returned);
                }
            }
            Operation::Lookup { table, key, arguments, results } => {
                let key: Vec<u128> = key.iter().map(|part| self.operand(*part)).collect();
                let arguments: Vec<u128> =
                    arguments.iter().map(|part| self.operand(*part)).collect();
                let found = self.around.lookup(*table, &key, &arguments);
                for (to, value) in results.iter().zip(found) {
                    if let Some(to) = to {
                        self.write(*to, value);
                    }
                }
            }
            Operation::Generate { slot, event, payload } => self.generated.push(GeneratedEvent {
                slot: *slot,
                event: *event,
                arguments: Vec::new(),
                payload: *payload == Payload::Kept,
                place_kind: 0,
                place: 0,
                delay_ns: 0,
            }),
        }
    }

    fn finish(mut self, of: Gress) -> Vec<GeneratedEvent> {
        let mut generated = std::mem::take(&mut self.generated);
        generated.sort_by_key(|one| one.slot);
        for one in &mut generated {
            let parameters = &self.core.events[one.event.0 as usize].parameters;
            one.arguments = (parameters.iter())
                .map(|parameter| (parameter.ty != Type::Payload).then_some(0))
                .collect();
        }
        for (variable, value) in self.program.variables.iter().zip(&self.values) {
            match variable.kind {
                VariableKind::Argument { gress, slot, event, parameter } if gress == of => {
                    for one in
                        generated.iter_mut().filter(|it| it.slot == slot && it.event == event)
                    {
                        one.arguments[parameter as usize] = Some(*value);
                    }
                }
                VariableKind::Slot { gress, slot, field } if gress == of => {
                    for one in generated.iter_mut().filter(|it| it.slot == slot) {
                        match field {
                            SlotField::PlaceKind => one.place_kind = *value,
                            SlotField::Place => one.place = *value,
                            SlotField::DelayNs => one.delay_ns = *value,
                            SlotField::Number => {}
                        }
                    }
                }
                _ => {}
            }
        }
        generated
    }

    fn memory(&mut self, global: GlobalId, access: &MemoryAccess, index: u128) -> u128 {
        let width = match self.core.globals[global.0 as usize].kind {
            GlobalKind::Array { width_bits, .. }
            | GlobalKind::PairArray { width_bits, .. }
            | GlobalKind::Counter { width_bits, .. } => width_bits,
            GlobalKind::Table(_) => return 0,
        };
        let found = self.around.cell(global, index);
        let old = found.unwrap_or([0, 0]);
        let (new, returned) = match access {
            MemoryAccess::Simple { get, set } => {
                let new = set.map(|side| self.used(side, old[0], width));
                let returned = get.map(|side| self.used(side, old[0], width));
                ([new.unwrap_or(old[0]), old[1]], returned.unwrap_or(0))
            }
            MemoryAccess::Complex { memop, arguments, default } => {
                let arguments = arguments.map(|argument| self.operand(argument) & mask(width));
                let default = self.operand(*default);
                complex(self.memop(*memop), old, arguments, default)
            }
        };
        if found.is_some() {
            self.around.set_cell(global, index, new);
        }
        returned & mask(width)
    }

    fn memop(&self, id: MemopId) -> &Memop {
        &self.core.memops[id.0 as usize]
    }

    fn used(&self, side: MemoryUse, old: u128, width: u32) -> u128 {
        match side {
            MemoryUse::Old => old,
            MemoryUse::Value(value) => self.operand(value) & mask(width),
            MemoryUse::Add(value) => old.wrapping_add(self.operand(value)) & mask(width),
            MemoryUse::Memop(id, value) => {
                simple(self.memop(id), old, self.operand(value) & mask(width))
            }
        }
    }
}

/// A memop of two arguments.
pub(super) fn simple(memop: &Memop, cell: u128, argument: u128) -> u128 {
    let local = |local: LocalId| if local.0 == 0 { cell } else { argument };
    match &memop.body {
        MemopBody::Return(value) => memop_value(value, &local),
        MemopBody::If(condition, then, otherwise) => match memop_value(condition, &local) {
            0 => memop_value(otherwise, &local),
            _ => memop_value(then, &local),
        },
        MemopBody::Complex { .. } => 0,
    }
}

/// A memop of three or four arguments: the cells afterwards, and what it returns.
pub(super) fn complex(
    memop: &Memop,
    old: [u128; 2],
    arguments: [u128; 2],
    default: u128,
) -> ([u128; 2], u128) {
    let MemopBody::Complex { conditions, cell1, cell2, returned } = &memop.body else {
        return (old, default);
    };
    let has_pair = memop.argument_count == 4;
    let plain = |local: LocalId| match (local.0, has_pair) {
        (0, _) => old[0],
        (1, true) => old[1],
        (1, false) | (2, true) => arguments[0],
        (2, false) | (3, true) => arguments[1],
        _ => 0,
    };
    let holds = [0, 1]
        .map(|at| conditions[at].as_ref().map_or(0, |condition| memop_value(condition, &plain)));
    let guarded = |local: LocalId| match local {
        CONDITION_1 => holds[0],
        CONDITION_2 => holds[1],
        _ => plain(local),
    };
    let update = |updates: &[(Expression, Expression)], old: u128| {
        let first = updates.iter().find(|(guard, _)| memop_value(guard, &guarded) != 0);
        first.map_or(old, |(_, value)| memop_value(value, &plain))
    };
    // The second cell of a memop of one is a scratch value that starts as zero.
    let scratch = if has_pair { old[1] } else { 0 };
    let new = [update(cell1, old[0]), update(cell2, scratch)];
    let after = |local: LocalId| match local {
        NEW_CELL_1 => new[0],
        NEW_CELL_2 => new[1],
        _ => guarded(local),
    };
    let result = match returned {
        Some((guard, value)) if memop_value(guard, &guarded) != 0 => memop_value(value, &after),
        Some(_) | None => default,
    };
    (if has_pair { new } else { [new[0], old[1]] }, result)
}

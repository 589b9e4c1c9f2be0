// SPDX-License-Identifier: Apache-2.0
//! Functions on a register's cell, such as the `apply` of TNA's `RegisterAction`: from a body with
//! statements, branches and variables to one transaction (`Operation::RegisterAccess`). The body is lowered
//! as any other, then taken apart: what does not depend on the cell is computed before, the new value inside
//! the transaction, results from the old value behind it. Branches become selections.

use super::builder::TakenBlock;
use super::{Binding, Location, Lowered, Lowering, Shape, Value, constant, number};
use crate::{
    BinaryOperation, Bits, BlockId, Instruction, Operand, Operation, Place, RegisterId,
    RegisterUpdate, SlotId, Temp, Terminator, UnaryOperation, ValueType,
};
use p4::ast::{Declaration, DeclarationKind};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The path condition of a piece of code: each of these bits has its value.
type PathCondition = Vec<(Operand, bool)>;

/// The values of slots.
type State = BTreeMap<SlotId, Operand>;

impl<'a> Lowering<'a> {
    /// Applies a function to a cell. Its first parameter is the value, the others are results, which are
    /// returned in order.
    pub(crate) fn register_function(
        &mut self,
        (register, shape): (RegisterId, &Shape),
        function: &'a Declaration,
        index: Operand,
    ) -> Lowered<Vec<Value>> {
        let DeclarationKind::Function { signature, body } = &function.kind else {
            return Err(self.missing_fact("the function of a register"));
        };
        let home = self.current_block();
        let first_own_slot = SlotId(self.program.slots.len() as u32);
        let entry = self.new_block("");
        self.start_block(entry);
        self.enter(function)?;
        let lowered = self.inside(|this| {
            this.expand(function, |this| {
                let mut locations = Vec::new();
                for parameter in &signature.parameters {
                    let ty = this.declared_type(parameter.id)?;
                    let location = this.variable(parameter.id, &ty, &parameter.name.text)?;
                    this.bindings.insert(parameter.id, Binding::Location(location.clone()));
                    locations.push(location);
                }
                this.void_body(body)?;
                Ok(locations)
            })
        });
        self.active.pop();
        let exit = self.current_block();
        let blocks = self.take_blocks(entry);
        self.start_block(home);
        let locations = lowered?;
        let width_bits = self.packed_width(shape);
        let old = self.temp(ValueType::Bits(width_bits));
        let value_slots = locations.first().map(|value| self.slots_of(value)).unwrap_or_default();
        let mut function = RegisterFunction {
            lowering: self,
            entry,
            first_own_slot,
            old,
            old_width_bits: width_bits,
            value_slots,
            first_values: HashMap::new(),
            loaded: HashMap::new(),
            dependent: HashSet::from([old]),
            inside: Vec::new(),
        };
        let state = function.run(&blocks, exit)?;
        let update = function.update(&state)?;
        let mut results = Vec::new();
        for location in locations.iter().skip(1) {
            results.push(function.result(location, &state)?);
        }
        let inside = function.inside;
        let update = update.map(|value| {
            let body = needed(&inside, std::slice::from_ref(&value));
            RegisterUpdate { body, value }
        });
        self.emit(Operation::RegisterAccess {
            register,
            index,
            guard: None,
            old: Some(old),
            update,
        });
        let flat: Vec<Operand> = results.iter().flat_map(|value| self.flatten(value)).collect();
        let copies = self.computed_behind(&needed(&inside, &flat));
        Ok(results.into_iter().map(|value| replaced(value, &copies)).collect())
    }

    /// Repeats instructions of a transaction after it.
    fn computed_behind(&mut self, instructions: &[Instruction]) -> HashMap<Temp, Operand> {
        let mut copies: HashMap<Temp, Operand> = HashMap::new();
        for instruction in instructions {
            let mut operation = instruction.operation.clone();
            for operand in operation.operands_mut() {
                *operand = replacement(operand, &copies);
            }
            for result in operation.results_mut() {
                let copy = self.temp(self.operand_type(&Operand::Temp(*result)));
                copies.insert(*result, Operand::Temp(copy));
                *result = copy;
            }
            self.emit(operation);
        }
        copies
    }
}

/// Instructions, in order, that the operands are computed by.
fn needed(instructions: &[Instruction], wanted: &[Operand]) -> Vec<Instruction> {
    let mut used: HashSet<Temp> = HashSet::new();
    let mut note = |operand: &Operand| {
        if let Operand::Temp(temp) = operand {
            used.insert(*temp);
        }
    };
    wanted.iter().for_each(&mut note);
    let mut kept = Vec::new();
    for instruction in instructions.iter().rev() {
        if instruction.operation.results().iter().any(|result| used.contains(result)) {
            for operand in instruction.operation.operands() {
                if let Operand::Temp(temp) = operand {
                    used.insert(*temp);
                }
            }
            kept.push(instruction.clone());
        }
    }
    kept.reverse();
    kept
}

fn replacement(operand: &Operand, copies: &HashMap<Temp, Operand>) -> Operand {
    match operand {
        Operand::Temp(temp) => copies.get(temp).cloned().unwrap_or_else(|| operand.clone()),
        Operand::Constant(_) => operand.clone(),
    }
}

fn replaced(value: Value, copies: &HashMap<Temp, Operand>) -> Value {
    match value {
        Value::Scalar(operand) => Value::Scalar(replacement(&operand, copies)),
        Value::Struct(fields) => Value::Struct(
            fields.into_iter().map(|(name, value)| (name, replaced(value, copies))).collect(),
        ),
        other => other,
    }
}

/// Converts the body of a register function to a transaction.
struct RegisterFunction<'l, 'a> {
    lowering: &'l mut Lowering<'a>,
    /// The body's first block; blocks of its own have no smaller number.
    entry: BlockId,
    /// Slots of the body's own have no smaller number.
    first_own_slot: SlotId,
    /// The cell's value before.
    old: Temp,
    old_width_bits: u32,
    /// Slots of the value, the first one in the cell's highest bits.
    value_slots: Vec<SlotId>,
    /// Parts of the old value that the body reads.
    first_values: HashMap<SlotId, Operand>,
    /// Values loaded from other storage.
    loaded: HashMap<SlotId, Operand>,
    /// What depends on the old value.
    dependent: HashSet<Temp>,
    /// How that is computed.
    inside: Vec<Instruction>,
}

impl RegisterFunction<'_, '_> {
    /// What slots hold at the end of the body.
    fn run(&mut self, blocks: &[TakenBlock], exit: BlockId) -> Lowered<State> {
        let mut incoming: HashMap<usize, Vec<(PathCondition, State)>> = HashMap::new();
        incoming.insert(self.entry.index(), vec![(Vec::new(), State::new())]);
        for at in self.order(blocks)? {
            let block = &blocks[at - self.entry.index()];
            let (condition, mut state) = match incoming.remove(&at) {
                Some(paths) => self.merge(paths)?,
                None => continue,
            };
            let mut copies: HashMap<Temp, Operand> = HashMap::new();
            for instruction in &block.instructions {
                self.instruction(instruction, &mut copies, &mut state)?;
            }
            if at == exit.index() {
                return Ok(state);
            }
            let edges = match &block.terminator {
                Some(Terminator::Goto(next)) => vec![(*next, condition)],
                Some(Terminator::Branch { condition: bit, then, otherwise }) => {
                    let bit = replacement(bit, &copies);
                    match constant(&bit) {
                        Some(known) => {
                            let next = if known.is_true() { then } else { otherwise };
                            vec![(*next, condition)]
                        }
                        None => {
                            let taken = |value| {
                                let mut longer = condition.clone();
                                longer.push((bit.clone(), value));
                                longer
                            };
                            vec![(*then, taken(true)), (*otherwise, taken(false))]
                        }
                    }
                }
                Some(Terminator::Switch { value, cases, default }) => {
                    let value = replacement(value, &copies);
                    let mut edges = Vec::new();
                    let mut rest = condition.clone();
                    for (case, next) in cases {
                        let case = Operand::Constant(case.clone());
                        let bit = self.binary(BinaryOperation::Equal, value.clone(), case)?;
                        let mut longer = condition.clone();
                        longer.push((bit.clone(), true));
                        edges.push((*next, longer));
                        rest.push((bit, false));
                    }
                    edges.push((*default, rest));
                    edges
                }
                Some(Terminator::Return | Terminator::Exit | Terminator::Reject(_)) | None => {
                    return Err(self.refuse("an `exit`"));
                }
            };
            for (next, condition) in edges {
                incoming.entry(next.index()).or_default().push((condition, state.clone()));
            }
        }
        Err(self.refuse("a body without an end"))
    }

    /// The body's blocks, each behind all that lead to it.
    fn order(&mut self, blocks: &[TakenBlock]) -> Lowered<Vec<usize>> {
        let first = self.entry.index();
        let mut order = Vec::new();
        // 0 not seen, 1 on the stack, 2 done
        let mut marks = vec![0u8; blocks.len()];
        let mut stack = vec![(first, 0usize)];
        marks[0] = 1;
        while let Some((at, next)) = stack.pop() {
            let targets = match &blocks[at - first].terminator {
                Some(terminator) => terminator.successors(),
                None => Vec::new(),
            };
            match targets.get(next).map(|target| target.index()) {
                Some(target) => {
                    stack.push((at, next + 1));
                    match marks.get(target - first) {
                        Some(1) => return Err(self.refuse("a loop")),
                        Some(0) => {
                            marks[target - first] = 1;
                            stack.push((target, 0));
                        }
                        _ => {}
                    }
                }
                None => {
                    marks[at - first] = 2;
                    order.push(at);
                }
            }
        }
        order.reverse();
        Ok(order)
    }

    fn refuse(&mut self, what: &str) -> super::Reported {
        self.lowering.not_expressible(format!(
            "{what} in the function of a register, which is one step of a stateful unit: it computes a \
             new value and results from the old value and from what was computed before"
        ))
    }

    /// Merges the states of several paths into one.
    fn merge(&mut self, mut paths: Vec<(PathCondition, State)>) -> Lowered<(PathCondition, State)> {
        while paths.len() > 1 {
            let siblings = (0..paths.len()).find_map(|one| {
                let other = (one + 1..paths.len()).find(|other| {
                    let (one, other) = (&paths[one].0, &paths[*other].0);
                    match (one.split_last(), other.split_last()) {
                        (Some((last, before)), Some((other_last, other_before))) => {
                            before == other_before
                                && last.0 == other_last.0
                                && last.1 != other_last.1
                        }
                        _ => false,
                    }
                })?;
                Some((one, other))
            });
            let (one, other) = siblings.unwrap_or((0, 1));
            let (other_condition, other_state) = paths.remove(other);
            let (condition, state) = paths.remove(one);
            let (bit, joined, state, other_state) = match (siblings, condition.split_last()) {
                (Some(_), Some(((bit, true), before))) => {
                    (bit.clone(), before.to_vec(), state, other_state)
                }
                (Some(_), Some(((bit, false), before))) => {
                    (bit.clone(), before.to_vec(), other_state, state)
                }
                _ => {
                    let bit = self.all_of(&condition)?;
                    let other = self.all_of(&other_condition)?;
                    let either = self.binary(BinaryOperation::Or, bit.clone(), other)?;
                    (bit, vec![(either, true)], state, other_state)
                }
            };
            let mut slots: Vec<SlotId> = state.keys().chain(other_state.keys()).copied().collect();
            slots.sort_unstable();
            slots.dedup();
            let mut merged = State::new();
            for slot in slots {
                let value = self.read(slot, &state)?;
                let other = self.read(slot, &other_state)?;
                merged.insert(slot, self.select(bit.clone(), value, other)?);
            }
            paths.insert(one.min(paths.len()), (joined, merged));
        }
        match paths.pop() {
            Some(path) => Ok(path),
            None => Err(self.refuse("a body without an end")),
        }
    }

    fn all_of(&mut self, condition: &PathCondition) -> Lowered<Operand> {
        let mut all = super::bit(true);
        for (bit, value) in condition {
            let bit = if *value { bit.clone() } else { self.not(bit.clone())? };
            all = match constant(&all) {
                Some(_) => bit,
                None => self.binary(BinaryOperation::And, all, bit)?,
            };
        }
        Ok(all)
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        copies: &mut HashMap<Temp, Operand>,
        state: &mut State,
    ) -> Lowered<()> {
        let mut operation = instruction.operation.clone();
        for operand in operation.operands_mut() {
            *operand = replacement(operand, copies);
        }
        self.lowering.origin = instruction.origin;
        match operation {
            Operation::Load { result, place: Place::Slot(slot) } => {
                let value = self.read(slot, state)?;
                copies.insert(result, value);
            }
            Operation::Load { result, place: Place::Element { ref index, .. } } => {
                if self.is_dependent(index) {
                    return Err(self.refuse("an index that depends on the cell"));
                }
                let value = self.compute(operation)?;
                copies.insert(result, value);
            }
            Operation::Store { place: Place::Slot(slot), value } if self.is_own(slot) => {
                state.insert(slot, value);
            }
            Operation::Store { .. } => {
                return Err(self.refuse("an assignment to something else than value and results"));
            }
            operation if operation.is_pure() => {
                let result = operation.results().first().copied();
                let value = self.compute(operation)?;
                if let Some(result) = result {
                    copies.insert(result, value);
                }
            }
            _ => return Err(self.refuse("a call that a stateful unit cannot make")),
        }
        Ok(())
    }

    /// Whether the body alone knows the slot.
    fn is_own(&self, slot: SlotId) -> bool {
        slot >= self.first_own_slot
    }

    fn is_dependent(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Temp(temp) if self.dependent.contains(temp))
    }

    /// What a slot holds.
    fn read(&mut self, slot: SlotId, state: &State) -> Lowered<Operand> {
        if let Some(value) = state.get(&slot) {
            return Ok(value.clone());
        }
        if let Some(known) = self.first_values.get(&slot).or_else(|| self.loaded.get(&slot)) {
            return Ok(known.clone());
        }
        if let Some(at) = self.value_slots.iter().position(|known| *known == slot) {
            let width = |slot: &SlotId| self.lowering.program.slots[slot.index()].ty.width_bits();
            let low: u32 = self.value_slots[at + 1..].iter().map(width).sum();
            let width_bits = width(&slot);
            let operand = Operand::Temp(self.old);
            let value = match width_bits {
                0 => number(0, 0),
                width if width == self.old_width_bits => operand,
                width => self.compute(Operation::Slice {
                    result: self.old,
                    operand,
                    high: low + width - 1,
                    low,
                })?,
            };
            self.first_values.insert(slot, value.clone());
            return Ok(value);
        }
        let value = match self.lowering.carried_by(slot, self.entry) {
            Some(temp) => Operand::Temp(temp),
            None if self.is_own(slot) => match self.lowering.program.slots[slot.index()].ty {
                ValueType::Bits(width_bits) => Operand::Constant(Bits::zero(width_bits)),
                ValueType::Varbit(_) => return Err(self.refuse("a varbit")),
            },
            None => self.lowering.load_slot(slot),
        };
        self.loaded.insert(slot, value.clone());
        Ok(value)
    }

    /// An operation, before the transaction if it does not depend on the cell, else inside. The type of
    /// its result is that of an equal operation of the body.
    fn compute(&mut self, mut operation: Operation) -> Lowered<Operand> {
        let ty = match &operation {
            Operation::Slice { high, low, .. } => ValueType::Bits(high - low + 1),
            other => match other.results().first() {
                Some(result) => self.lowering.operand_type(&Operand::Temp(*result)),
                None => return Err(self.refuse("a statement without a value")),
            },
        };
        self.compute_as(&mut operation, ty)
    }

    fn compute_as(&mut self, operation: &mut Operation, ty: ValueType) -> Lowered<Operand> {
        for operand in operation.operands_mut() {
            self.lowering.reach(operand);
        }
        let result = self.lowering.temp(ty);
        for place in operation.results_mut() {
            *place = result;
        }
        if operation.operands().into_iter().any(|operand| self.is_dependent(operand)) {
            self.dependent.insert(result);
            let origin = self.lowering.origin;
            self.inside.push(Instruction { operation: operation.clone(), origin });
        } else {
            self.lowering.emit(operation.clone());
        }
        Ok(Operand::Temp(result))
    }

    fn binary(
        &mut self,
        operation: BinaryOperation,
        left: Operand,
        right: Operand,
    ) -> Lowered<Operand> {
        let width_bits = match operation {
            BinaryOperation::Concat => self.lowering.width(&left) + self.lowering.width(&right),
            _ => 1,
        };
        let mut operation = Operation::Binary { result: self.old, operation, left, right };
        self.compute_as(&mut operation, ValueType::Bits(width_bits))
    }

    fn not(&mut self, operand: Operand) -> Lowered<Operand> {
        if let Some(known) = constant(&operand) {
            return Ok(Operand::Constant(known.unary(UnaryOperation::Not)));
        }
        let operation = UnaryOperation::Not;
        let mut operation = Operation::Unary { result: self.old, operation, operand };
        self.compute_as(&mut operation, ValueType::Bits(1))
    }

    fn select(
        &mut self,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Lowered<Operand> {
        if then == otherwise {
            return Ok(then);
        }
        if let Some(known) = constant(&condition) {
            return Ok(if known.is_true() { then } else { otherwise });
        }
        let ty = self.lowering.operand_type(&then);
        let mut operation = Operation::Select { result: self.old, condition, then, otherwise };
        self.compute_as(&mut operation, ty)
    }

    /// The cell's new value, if there may be another.
    fn update(&mut self, state: &State) -> Lowered<Option<Operand>> {
        let slots = self.value_slots.clone();
        if slots.iter().all(|slot| !state.contains_key(slot)) {
            return Ok(None);
        }
        let mut packed = None;
        for slot in slots {
            let value = self.read(slot, state)?;
            packed = Some(match packed {
                None => value,
                Some(before) => self.binary(BinaryOperation::Concat, before, value)?,
            });
        }
        Ok(packed)
    }

    /// A result of the function.
    fn result(&mut self, location: &Location, state: &State) -> Lowered<Value> {
        match location {
            Location::Scalar(Place::Slot(slot), _) => Ok(Value::Scalar(self.read(*slot, state)?)),
            Location::Struct(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (name, field) in fields.iter() {
                    values.push((name.clone(), self.result(field, state)?));
                }
                Ok(Value::Struct(values))
            }
            _ => Err(self.refuse("a result that is no number or struct of numbers")),
        }
    }
}

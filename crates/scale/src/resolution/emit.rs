// SPDX-License-Identifier: Apache-2.0
//! [`Emitter`]: values as instructions of one basic block. Each value is computed once, after those that it is made of.
//! Slots that the control finds at its beginning are loaded first, because lookups store arguments of actions in slots.

use ir::analysis::{AccessedCell, ControlValues, Predicate, Value, ValueId};
use ir::effects::Location;
use ir::{
    BasicBlock, BinaryOperation, Bits, CallEffects, Display, ExternAccess, Instruction, Operand,
    Operation, Origin, OriginId, Place, Program, Region, RegionKind, Slot, SlotId, Temp,
    Terminator, UnaryOperation, ValueType,
};
use source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) struct Emitter<'v, 'p> {
    values: &'v mut ControlValues<'p>,
    program: Program,
    temps: Vec<ValueType>,
    /// Loads of what slots hold at the beginning.
    loads: Vec<Instruction>,
    code: Vec<Instruction>,
    known: HashMap<ValueId, Operand>,
    truths: HashMap<Predicate, Operand>,
    /// All values that are computed.
    needed: BTreeSet<ValueId>,
    origin: OriginId,
}

impl<'v, 'p> Emitter<'v, 'p> {
    /// Computes values and bits of predicates. Those of `slots` are there already.
    pub fn new(
        values: &'v mut ControlValues<'p>,
        mut program: Program,
        wanted: &[ValueId],
        slots: &BTreeMap<ValueId, SlotId>,
    ) -> Emitter<'v, 'p> {
        let origin = OriginId(program.origins.len() as u32);
        program.origins.push(Origin::at(Span::NONE));
        let mut emitter = Emitter {
            values,
            program,
            temps: Vec::new(),
            loads: Vec::new(),
            code: Vec::new(),
            known: HashMap::new(),
            truths: HashMap::new(),
            needed: BTreeSet::new(),
            origin,
        };
        for (value, slot) in slots {
            let result = emitter.temp(emitter.values.values().ty(*value));
            emitter.put(Operation::Load { result, place: Place::Slot(*slot) });
            emitter.known.insert(*value, Operand::Temp(result));
        }
        emitter.compute_all(wanted);
        emitter
    }

    fn temp(&mut self, ty: ValueType) -> Temp {
        self.temps.push(ty);
        Temp(self.temps.len() as u32 - 1)
    }

    fn put(&mut self, operation: Operation) {
        self.code.push(Instruction { operation, origin: self.origin });
    }

    /// Stores a predicate in a slot of its own.
    pub fn answer_bit(&mut self, name: &str, predicate: Predicate) -> SlotId {
        let value = self.truth(predicate);
        self.store(name, 1, value)
    }

    /// Stores a value in a slot of its own.
    pub fn answer(&mut self, name: &str, value: ValueId) -> SlotId {
        let width_bits = self.values.values().ty(value).width_bits();
        let value = self.known[&value].clone();
        self.store(name, width_bits, value)
    }

    fn store(&mut self, name: &str, width_bits: u32, value: Operand) -> SlotId {
        let slot = SlotId(self.program.slots.len() as u32);
        self.program.slots.push(Slot {
            name: name.into(),
            ty: ValueType::Bits(width_bits),
            display: if width_bits == 1 { Display::Bool } else { Display::Unsigned },
            origin: self.origin,
        });
        self.put(Operation::Store { place: Place::Slot(slot), value });
        slot
    }

    /// Computes values and all that they are made of. Values are numbered after those that they are made of.
    fn compute_all(&mut self, wanted: &[ValueId]) {
        let mut open = wanted.to_vec();
        while let Some(value) = open.pop() {
            if self.known.contains_key(&value) || !self.needed.insert(value) {
                continue;
            }
            open.extend(crate::sharding::operands(self.values, value));
            if let Value::Read(access, ..) = self.values.values().value(value) {
                open.extend(self.values.cell_values(self.values.accesses()[*access].cell));
            }
        }
        for value in self.needed.clone() {
            if !self.known.contains_key(&value) {
                self.compute(value);
            }
        }
    }

    fn operand(&self, value: ValueId) -> Operand {
        self.known[&value].clone()
    }

    fn compute(&mut self, id: ValueId) {
        let ty = self.values.values().ty(id);
        let value = self.values.values().value(id).clone();
        let operand = match value {
            Value::Constant(bits) => Operand::Constant(bits),
            Value::Truth(predicate) => self.truth(predicate),
            Value::Start(slot) => {
                let result = self.temp(ty);
                let operation = Operation::Load { result, place: Place::Slot(slot) };
                self.loads.push(Instruction { operation, origin: self.origin });
                Operand::Temp(result)
            }
            Value::Hit(application)
            | Value::Action(application)
            | Value::Argument(application, ..) => {
                self.look_up(application);
                return;
            }
            other => {
                let condition = match &other {
                    Value::Choice(condition, ..) => Some(self.truth(*condition)),
                    Value::Read(access, ..) => {
                        let predicate = self.values.accesses()[*access].predicate;
                        Some(self.truth(predicate))
                    }
                    _ => None,
                };
                let result = self.temp(ty);
                match self.operation(other, result, condition) {
                    Some(operation) => {
                        self.put(operation);
                        Operand::Temp(result)
                    }
                    None => zero(ty),
                }
            }
        };
        self.known.insert(id, operand);
    }

    fn operation(
        &mut self,
        value: Value,
        result: Temp,
        condition: Option<Operand>,
    ) -> Option<Operation> {
        Some(match value {
            Value::Unary(operation, operand) => {
                Operation::Unary { result, operation, operand: self.operand(operand) }
            }
            Value::Binary(operation, left, right) => Operation::Binary {
                result,
                operation,
                left: self.operand(left),
                right: self.operand(right),
            },
            Value::Resize(kind, operand, _) => {
                Operation::Resize { result, kind, operand: self.operand(operand) }
            }
            Value::Slice(operand, high, low) => {
                Operation::Slice { result, operand: self.operand(operand), high, low }
            }
            Value::Choice(_, then, otherwise) => Operation::Select {
                result,
                condition: condition?,
                then: self.operand(then),
                otherwise: self.operand(otherwise),
            },
            Value::Hash { algorithm, inputs, payload, .. } => Operation::Hash {
                result,
                algorithm,
                inputs: inputs.into_iter().map(|input| self.operand(input)).collect(),
                payload,
            },
            Value::Random { low, high, site } => {
                Operation::Random { result, low: self.operand(low), high: self.operand(high), site }
            }
            Value::Read(access, ..) => {
                let access = &self.values.accesses()[access];
                let (Location::Register(register), AccessedCell::Index(index)) =
                    (access.object, access.cell)
                else {
                    return None;
                };
                Operation::RegisterAccess {
                    register,
                    index: self.operand(index),
                    guard: condition,
                    old: Some(result),
                    update: None,
                }
            }
            Value::Call { target, method, arguments, result: number, .. } => {
                let types = self.results_of(target, &method);
                let results: Vec<Temp> = (0..types.len())
                    .map(|at| match at == number as usize {
                        true => result,
                        false => self.temp(types[at]),
                    })
                    .collect();
                let arguments = arguments.into_iter().map(|one| self.operand(one)).collect();
                let effects = CallEffects { access: ExternAccess::Pure, random: None };
                Operation::CallExtern { target, method, arguments, results, effects }
            }
            _ => return None,
        })
    }

    /// The types of the results of a call, as the program has it somewhere.
    fn results_of(&self, target: ir::ExternId, method: &str) -> Vec<ValueType> {
        for region in &self.values.program().regions {
            for instruction in region.blocks.iter().flat_map(|block| &block.instructions) {
                if let Operation::CallExtern { target: one, method: name, results, .. } =
                    &instruction.operation
                    && *one == target
                    && **name == *method
                {
                    return results.iter().map(|temp| region.temps[temp.index()]).collect();
                }
            }
        }
        Vec::new()
    }

    /// Applies a table, and loads the arguments of the action that was found.
    fn look_up(&mut self, application: usize) {
        let found = self.values.applications()[application].clone();
        let keys = found.keys.iter().map(|key| self.operand(*key)).collect();
        let (hit, action) = (self.temp(ValueType::Bits(1)), self.temp(ValueType::Bits(32)));
        self.put(Operation::Apply { table: found.table, keys, hit, action });
        for (value, result) in self.values.values().results_of_application(application) {
            if !self.needed.contains(&value) {
                continue;
            }
            match result {
                Value::Hit(_) => {
                    self.known.insert(value, Operand::Temp(hit));
                }
                Value::Action(_) => {
                    self.known.insert(value, Operand::Temp(action));
                }
                Value::Argument(_, place, parameter, ty) => {
                    let declared = &self.program.actions[found.actions[place].index()];
                    let slot = declared.parameters[parameter].slot;
                    let result = self.temp(ty);
                    self.put(Operation::Load { result, place: Place::Slot(slot) });
                    self.known.insert(value, Operand::Temp(result));
                }
                _ => {}
            }
        }
    }

    /// Computes a predicate whose bits are known.
    fn truth(&mut self, predicate: Predicate) -> Operand {
        if let Some(known) = self.truths.get(&predicate) {
            return known.clone();
        }
        let operand = match self.values.values().predicates().decision(predicate) {
            None => Operand::Constant(Bits::from_bit(predicate == Predicate::TRUE)),
            Some((variable, low, high)) => {
                let bit = self.operand(self.values.values().atom(variable));
                match (low, high) {
                    (Predicate::FALSE, Predicate::TRUE) => bit,
                    (Predicate::TRUE, Predicate::FALSE) => self.not(bit),
                    (Predicate::FALSE, high) => {
                        let high = self.truth(high);
                        self.bit_operation(BinaryOperation::And, bit, high)
                    }
                    (low, Predicate::TRUE) => {
                        let low = self.truth(low);
                        self.bit_operation(BinaryOperation::Or, bit, low)
                    }
                    (low, Predicate::FALSE) => {
                        let (low, not) = (self.truth(low), self.not(bit));
                        self.bit_operation(BinaryOperation::And, not, low)
                    }
                    (low, high) => {
                        let (low, high) = (self.truth(low), self.truth(high));
                        let result = self.temp(ValueType::Bits(1));
                        self.put(Operation::Select {
                            result,
                            condition: bit,
                            then: high,
                            otherwise: low,
                        });
                        Operand::Temp(result)
                    }
                }
            }
        };
        self.truths.insert(predicate, operand.clone());
        operand
    }

    fn not(&mut self, operand: Operand) -> Operand {
        let result = self.temp(ValueType::Bits(1));
        self.put(Operation::Unary { result, operation: UnaryOperation::Not, operand });
        Operand::Temp(result)
    }

    fn bit_operation(
        &mut self,
        operation: BinaryOperation,
        left: Operand,
        right: Operand,
    ) -> Operand {
        let result = self.temp(ValueType::Bits(1));
        self.put(Operation::Binary { result, operation, left, right });
        Operand::Temp(result)
    }

    /// Returns the program and the region of the code.
    pub fn finish(self, name: &str) -> (Program, Region) {
        let mut instructions = self.loads;
        instructions.extend(self.code);
        let block = BasicBlock {
            name: "".into(),
            instructions,
            terminator: Terminator::Return,
            origin: self.origin,
        };
        let region = Region {
            name: name.into(),
            kind: RegionKind::Control,
            temps: self.temps,
            blocks: vec![block],
        };
        (self.program, region)
    }
}

fn zero(ty: ValueType) -> Operand {
    Operand::Constant(Bits::zero(match ty {
        ValueType::Bits(width_bits) => width_bits,
        ValueType::Varbit(_) => 0,
    }))
}

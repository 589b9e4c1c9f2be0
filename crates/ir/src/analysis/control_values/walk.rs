// SPDX-License-Identifier: Apache-2.0
//! The walk through a control: basic blocks in the order in which they run, actions where their tables are applied. Where
//! paths meet, slots that differ become choices by the predicates of the paths.

use super::super::Point;
use super::super::predicates::Predicate;
use super::store::{Value, ValueId, Values};
use super::{AccessedCell, Application, ControlAccess, ControlValues, Unknown};
use crate::control_flow::reverse_postorder;
use crate::effects::Location;
use crate::{
    BinaryOperation, Bits, ExternAccess, Instruction, Operand, Operation, Place, Program, Region,
    RegionId, RegisterId, SlotId, StackId, Temp, Terminator, ValueType,
};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What slots hold.
type Storage = Rc<Vec<ValueId>>;

/// A path that has reached a place: when it is taken, and what slots hold on it.
#[derive(Clone)]
struct Path {
    predicate: Predicate,
    storage: Storage,
}

struct Walk<'p> {
    program: &'p Program,
    values: Values,
    accesses: Vec<ControlAccess>,
    applications: Vec<Application>,
    /// Registers that are state.
    state: BTreeSet<RegisterId>,
    /// How often the code of the program draws at each site of random numbers.
    draws: HashMap<u64, usize>,
}

/// The application in whose action code stands, with the place of the action in its table.
type Within = Option<(usize, usize)>;

pub(super) fn values(
    program: &Program,
    region: RegionId,
    state: BTreeSet<RegisterId>,
) -> Result<ControlValues<'_>, Unknown> {
    let mut draws: HashMap<u64, usize> = HashMap::new();
    let blocks = program.regions.iter().flat_map(|region| &region.blocks);
    for instruction in blocks.flat_map(|block| &block.instructions) {
        if let Operation::Random { site, .. } = &instruction.operation {
            *draws.entry(site.number()).or_default() += 1;
        }
    }
    let mut walk = Walk {
        program,
        values: Values::default(),
        accesses: Vec::new(),
        applications: Vec::new(),
        state,
        draws,
    };
    let start = (0..program.slots.len()).map(|at| {
        let ty = program.slots[at].ty;
        walk.values.start(SlotId(at as u32), ty)
    });
    let storage = Rc::new(start.collect());
    walk.region(region, Path { predicate: Predicate::TRUE, storage }, None)?;
    let Walk { values, accesses, applications, .. } = walk;
    match values.predicates().is_full() {
        true => Err(Unknown::Conditions),
        false => Ok(ControlValues { program, values, accesses, applications }),
    }
}

impl<'p> Walk<'p> {
    /// Walks through a region. Returns the path on which the code behind it runs; `None` if there is none.
    fn region(
        &mut self,
        id: RegionId,
        path: Path,
        within: Within,
    ) -> Result<Option<Path>, Unknown> {
        let program = self.program;
        let region = &program.regions[id.index()];
        let mut arriving: Vec<Vec<Path>> = vec![Vec::new(); region.blocks.len()];
        let mut left: Vec<Path> = Vec::new();
        arriving[0].push(path);
        let order = reverse_postorder(region);
        let mut done = vec![false; region.blocks.len()];
        for block in order {
            done[block] = true;
            let Some(mut path) = self.meet(std::mem::take(&mut arriving[block])) else { continue };
            if self.values.predicates().is_full() {
                return Err(Unknown::Conditions);
            }
            let mut temps: HashMap<Temp, ValueId> = HashMap::new();
            let code = &region.blocks[block];
            let mut is_ended = false;
            for (at, instruction) in code.instructions.iter().enumerate() {
                let at = Point::new(id, block, at);
                is_ended =
                    self.instruction(region, (at, instruction, within), &mut path, &mut temps)?;
                if is_ended {
                    break;
                }
            }
            if is_ended {
                continue;
            }
            let mut leave = |to: usize, path: Path| match done[to] {
                true => Err(Unknown::Loop),
                false => {
                    if path.predicate != Predicate::FALSE {
                        arriving[to].push(path);
                    }
                    Ok(())
                }
            };
            match &code.terminator {
                Terminator::Goto(next) => leave(next.index(), path)?,
                Terminator::Branch { condition, then, otherwise } => {
                    let condition = self.operand(condition, &temps);
                    let condition = self.values.predicate(condition);
                    let (yes, no) = self.split(&path, condition);
                    leave(then.index(), yes)?;
                    leave(otherwise.index(), no)?;
                }
                Terminator::Switch { value, cases, default } => {
                    let value = self.operand(value, &temps);
                    for (number, next) in cases {
                        let number = self.values.constant(number.clone());
                        let is = self.values.equal(value, number);
                        let (yes, no) = self.split(&path, is);
                        leave(next.index(), yes)?;
                        path = no;
                    }
                    leave(default.index(), path)?;
                }
                Terminator::Return => left.push(path),
                Terminator::Exit | Terminator::Reject(_) => {}
            }
        }
        Ok(self.meet(left))
    }

    /// The path on which a predicate holds, and the one on which it does not.
    fn split(&mut self, path: &Path, condition: Predicate) -> (Path, Path) {
        let predicates = self.values.predicates_mut();
        let yes = predicates.and(path.predicate, condition);
        let not = predicates.not(condition);
        let no = predicates.and(path.predicate, not);
        let with = |predicate| Path { predicate, storage: path.storage.clone() };
        (with(yes), with(no))
    }

    /// Makes one path of those that meet. At most one of them is taken.
    fn meet(&mut self, mut paths: Vec<Path>) -> Option<Path> {
        paths.retain(|path| path.predicate != Predicate::FALSE);
        let mut met = paths.pop()?;
        while let Some(path) = paths.pop() {
            let predicates = self.values.predicates_mut();
            let either = predicates.or(path.predicate, met.predicate);
            let first = predicates.restrict(path.predicate, either);
            if !Rc::ptr_eq(&path.storage, &met.storage) {
                let mut storage = met.storage.as_ref().clone();
                for (slot, other) in storage.iter_mut().zip(path.storage.iter()) {
                    if slot != other {
                        *slot = self.values.choice(first, *other, *slot);
                    }
                }
                met.storage = Rc::new(storage);
            }
            met.predicate = either;
        }
        Some(met)
    }

    /// The value of an operand. What the body of an update defines is not known.
    fn operand(&mut self, operand: &Operand, temps: &HashMap<Temp, ValueId>) -> ValueId {
        match operand {
            Operand::Constant(bits) => self.values.constant(bits.clone()),
            Operand::Temp(temp) => match temps.get(temp) {
                Some(value) => *value,
                None => self.values.unknown(ValueType::Bits(1)),
            },
        }
    }

    /// Walks through an instruction. Returns whether no path leads behind it.
    fn instruction(
        &mut self,
        region: &'p Region,
        (at, instruction, within): (Point, &'p Instruction, Within),
        path: &mut Path,
        temps: &mut HashMap<Temp, ValueId>,
    ) -> Result<bool, Unknown> {
        let type_of = |temp: &Temp| region.temps[temp.index()];
        let defined = match &instruction.operation {
            Operation::Unary { result, operation, operand } => {
                let operand = self.operand(operand, temps);
                Some((*result, self.values.unary(*operation, operand)))
            }
            Operation::Binary { result, operation, left, right } => {
                let (left, right) = (self.operand(left, temps), self.operand(right, temps));
                let width_bits = type_of(result).width_bits();
                Some((*result, self.values.binary(*operation, left, right, width_bits)))
            }
            Operation::Resize { result, kind, operand } => {
                let operand = self.operand(operand, temps);
                Some((*result, self.values.resize(*kind, operand, type_of(result).width_bits())))
            }
            Operation::Slice { result, operand, high, low } => {
                let operand = self.operand(operand, temps);
                Some((*result, self.values.slice(operand, *high, *low)))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let condition = self.operand(condition, temps);
                let condition = self.values.predicate(condition);
                let (then, other) = (self.operand(then, temps), self.operand(otherwise, temps));
                Some((*result, self.values.choice(condition, then, other)))
            }
            Operation::Load { result, place } => {
                Some((*result, self.load(place, type_of(result), path, temps)))
            }
            Operation::Store { place, value } => {
                let value = self.operand(value, temps);
                self.store(place, value, path, temps);
                None
            }
            Operation::ShiftStack { stack, by } => {
                self.shift_stack(*stack, *by, path);
                None
            }
            Operation::Hash { result, algorithm, inputs, payload } => {
                let inputs = inputs.iter().map(|input| self.operand(input, temps)).collect();
                let (ty, algorithm) = (type_of(result), algorithm.clone());
                let width_bits = ty.width_bits();
                let hash = Value::Hash { algorithm, inputs, payload: *payload, width_bits };
                Some((*result, self.values.other(hash, ty)))
            }
            Operation::Random { result, low, high, site } => {
                let (low, high) = (self.operand(low, temps), self.operand(high, temps));
                let is_only = self.draws.get(&site.number()) == Some(&1) && within.is_none();
                let ty = type_of(result);
                let value = match is_only {
                    true => self.values.other(Value::Random { low, high, site: site.clone() }, ty),
                    false => self.values.unknown(ty),
                };
                Some((*result, value))
            }
            Operation::Apply { .. } => return self.apply((at, instruction), path, temps),
            Operation::Assert { condition, is_assume: false } => {
                let condition = self.operand(condition, temps);
                let condition = self.values.predicate(condition);
                *path = self.split(path, condition).0;
                return Ok(path.predicate == Predicate::FALSE);
            }
            Operation::CallExtern { target, method, arguments, results, effects }
                if effects.access == ExternAccess::Pure && effects.random.is_none() =>
            {
                let arguments: Vec<ValueId> =
                    arguments.iter().map(|argument| self.operand(argument, temps)).collect();
                for (number, result) in (0..).zip(results) {
                    let (ty, method) = (type_of(result), method.clone());
                    let (target, arguments) = (*target, arguments.clone());
                    let call = Value::Call { target, method, arguments, result: number, ty };
                    temps.insert(*result, self.values.other(call, ty));
                }
                None
            }
            operation => {
                self.access((at, instruction, within), path, temps);
                for result in operation.results() {
                    if !temps.contains_key(&result) {
                        temps.insert(result, self.values.unknown(type_of(&result)));
                    }
                }
                return Ok(false);
            }
        };
        temps.extend(defined);
        Ok(false)
    }

    /// The slots of a field of all elements of a stack.
    fn element_slots(&self, stack: StackId, member: u32, field: u32) -> Vec<SlotId> {
        let declared = &self.program.stacks[stack.index()];
        let header = |element: u32| {
            let at = declared.first_header.0 + element * declared.headers_per_element + member;
            &self.program.headers[at as usize]
        };
        (0..declared.size).map(|element| SlotId(header(element).first_slot.0 + field)).collect()
    }

    /// The slots that a place may be, each with the predicate that it is the one.
    fn slots_of(
        &mut self,
        place: &Place,
        temps: &HashMap<Temp, ValueId>,
    ) -> Vec<(Predicate, SlotId)> {
        match place {
            Place::Slot(slot) => vec![(Predicate::TRUE, *slot)],
            Place::Element { stack, member, field, index } => {
                let index = self.operand(index, temps);
                let width_bits = self.values.ty(index).width_bits();
                let slots = self.element_slots(*stack, *member, *field);
                let fits = |number: usize| width_bits >= 32 || (number as u64) >> width_bits == 0;
                let slots = slots.into_iter().enumerate().filter(|(number, _)| fits(*number));
                let mut all = Vec::new();
                for (number, slot) in slots {
                    let number = self.values.constant(Bits::from_u64(width_bits, number as u64));
                    all.push((self.values.equal(index, number), slot));
                }
                all
            }
        }
    }

    fn load(
        &mut self,
        place: &Place,
        ty: ValueType,
        path: &Path,
        temps: &HashMap<Temp, ValueId>,
    ) -> ValueId {
        if let Place::Slot(slot) = place {
            return path.storage[slot.index()];
        }
        let mut value = match ty {
            ValueType::Bits(width_bits) => self.values.constant(Bits::zero(width_bits)),
            ValueType::Varbit(_) => return self.values.unknown(ty),
        };
        for (is_it, slot) in self.slots_of(place, temps) {
            value = self.values.choice(is_it, path.storage[slot.index()], value);
        }
        value
    }

    fn store(
        &mut self,
        place: &Place,
        value: ValueId,
        path: &mut Path,
        temps: &HashMap<Temp, ValueId>,
    ) {
        for (is_it, slot) in self.slots_of(place, temps) {
            let before = path.storage[slot.index()];
            let after = self.values.choice(is_it, value, before);
            Rc::make_mut(&mut path.storage)[slot.index()] = after;
        }
    }

    fn shift_stack(&mut self, stack: StackId, by: i32, path: &mut Path) {
        let declared = &self.program.stacks[stack.index()];
        let (size, distance) = (declared.size, by.unsigned_abs().min(declared.size));
        let first = declared.first_header.0;
        for member in 0..declared.headers_per_element {
            let header = &self.program.headers[(first + member) as usize];
            let fields = self.program.header_types[header.ty.index()].fields.len() as u32;
            for field in 0..=fields {
                let slots = self.element_slots(stack, member, field);
                let before: Vec<ValueId> =
                    slots.iter().map(|slot| path.storage[slot.index()]).collect();
                for (to, slot) in (0..size).zip(&slots) {
                    let from = match by > 0 {
                        true => to.checked_sub(distance),
                        false => Some(to + distance).filter(|from| *from < size),
                    };
                    let after = match from {
                        Some(from) => before[from as usize],
                        // An invalid header's fields keep what was last stored.
                        None if field > 0 => continue,
                        None => self.values.constant(Bits::zero(1)),
                    };
                    Rc::make_mut(&mut path.storage)[slot.index()] = after;
                }
            }
        }
        let next = declared.next;
        let width_bits = self.program.slots[next.index()].ty.width_bits();
        let number = |values: &mut Values, number: u32| {
            values.constant(Bits::from_u64(width_bits, u64::from(number)))
        };
        let (most, distance) = (number(&mut self.values, size), number(&mut self.values, distance));
        let clamped = |values: &mut Values, value: ValueId| {
            let above = values.binary(BinaryOperation::LessUnsigned, most, value, 1);
            let above = values.predicate(above);
            values.choice(above, most, value)
        };
        let index = clamped(&mut self.values, path.storage[next.index()]);
        let operation = match by > 0 {
            true => BinaryOperation::AddSaturatingUnsigned,
            false => BinaryOperation::SubtractSaturatingUnsigned,
        };
        let moved = self.values.binary(operation, index, distance, width_bits);
        let moved = clamped(&mut self.values, moved);
        Rc::make_mut(&mut path.storage)[next.index()] = moved;
    }

    /// Follows all actions of a table.
    fn apply(
        &mut self,
        (at, instruction): (Point, &'p Instruction),
        path: &mut Path,
        temps: &mut HashMap<Temp, ValueId>,
    ) -> Result<bool, Unknown> {
        let Operation::Apply { table, keys, hit, action } = &instruction.operation else {
            return Ok(false);
        };
        let program = self.program;
        let declared = &program.tables[table.index()];
        let keys: Vec<ValueId> = keys.iter().map(|key| self.operand(key, temps)).collect();
        let mut reads = BTreeSet::new();
        keys.iter().for_each(|key| reads.extend(self.values.reads_of(*key)));
        let number = self.applications.len();
        self.applications.push(Application {
            at,
            table: *table,
            keys,
            predicate: path.predicate,
            actions: declared.actions.iter().map(|listed| listed.action).collect(),
        });
        let found = self.values.other(Value::Hit(number), ValueType::Bits(1));
        let ran = self.values.other(Value::Action(number), ValueType::Bits(32));
        self.values.set_reads(found, reads.clone());
        self.values.set_reads(ran, reads.clone());
        temps.insert(*hit, found);
        temps.insert(*action, ran);
        for counter in program.automatic_counters(*table) {
            let predicate = self.values.predicate(found);
            let predicate = self.values.predicates_mut().and(path.predicate, predicate);
            self.accesses.push(ControlAccess {
                at,
                application: None,
                object: Location::Counter(counter),
                cell: AccessedCell::Entry(number),
                predicate,
                inputs: Vec::new(),
                reads: false,
                writes: true,
                origin: instruction.origin,
            });
        }
        let mut behind: Vec<Path> = Vec::new();
        // Without an action profile some action runs.
        let may_be_none = declared.implementation.is_some();
        let mut rest = path.clone();
        for (place, listed) in declared.actions.iter().enumerate() {
            let is_last = place + 1 == declared.actions.len() && !may_be_none;
            let mut this = if is_last {
                rest.clone()
            } else {
                let constant = self.values.constant(Bits::from_u64(32, place as u64));
                let is = self.values.equal(ran, constant);
                let (yes, no) = self.split(&rest, is);
                rest = no;
                yes
            };
            if this.predicate == Predicate::FALSE {
                continue;
            }
            let action = &program.actions[listed.action.index()];
            for (parameter, declared) in action.parameters.iter().enumerate() {
                let ty = program.slots[declared.slot.index()].ty;
                let argument = Value::Argument(number, place, parameter, ty);
                let argument = self.values.other(argument, ty);
                self.values.set_reads(argument, reads.clone());
                Rc::make_mut(&mut this.storage)[declared.slot.index()] = argument;
            }
            behind.extend(self.region(action.region, this, Some((number, place)))?);
        }
        if may_be_none || declared.actions.is_empty() {
            behind.push(rest);
        }
        match self.meet(behind) {
            Some(met) => {
                *path = met;
                Ok(false)
            }
            None => Ok(true),
        }
    }

    /// Notes an access of state, and gives its results values.
    fn access(
        &mut self,
        (at, instruction, within): (Point, &'p Instruction, Within),
        path: &Path,
        temps: &mut HashMap<Temp, ValueId>,
    ) {
        let mut predicate = path.predicate;
        let entry = within.map(|(application, _)| AccessedCell::Entry(application));
        let (object, cell, results, effects) = match &instruction.operation {
            Operation::RegisterAccess { register, index, guard, old, update } => {
                if let Some(guard) = guard {
                    let guard = self.operand(guard, temps);
                    let guard = self.values.predicate(guard);
                    predicate = self.values.predicates_mut().and(predicate, guard);
                }
                let cell = AccessedCell::Index(self.operand(index, temps));
                let effects = (old.is_some(), update.is_some());
                (Location::Register(*register), cell, Vec::from_iter(*old), effects)
            }
            Operation::Count { counter, index } => {
                let cell = AccessedCell::Index(self.operand(index, temps));
                (Location::Counter(*counter), cell, Vec::new(), (false, true))
            }
            Operation::Meter { meter, index, result } => {
                let cell = AccessedCell::Index(self.operand(index, temps));
                (Location::Meter(*meter), cell, vec![*result], (true, true))
            }
            Operation::CountDirect { counter } => {
                let Some(cell) = entry else { return };
                (Location::Counter(*counter), cell, Vec::new(), (false, true))
            }
            Operation::MeterDirect { meter, result } => {
                let Some(cell) = entry else { return };
                (Location::Meter(*meter), cell, vec![*result], (true, true))
            }
            Operation::CallExtern { target, results, effects, .. } => {
                let writes = effects.access == ExternAccess::Any;
                let object = Location::Extern(*target);
                (object, AccessedCell::Whole, results.clone(), (true, writes))
            }
            _ => return,
        };
        if predicate == Predicate::FALSE {
            return;
        }
        let inside: BTreeSet<Temp> = match &instruction.operation {
            Operation::RegisterAccess { old, update: Some(update), .. } => {
                let body = update.body.iter().flat_map(|one| one.operation.results());
                body.chain(*old).collect()
            }
            _ => BTreeSet::new(),
        };
        let mut inputs = Vec::new();
        for operand in instruction.operation.operands() {
            if matches!(operand, Operand::Temp(temp) if !inside.contains(temp)) {
                inputs.push(self.operand(operand, temps));
            }
        }
        let number = self.accesses.len();
        let is_state = match object {
            Location::Register(register) => self.state.contains(&register),
            _ => true,
        };
        if !is_state {
            self.values.configuration.insert(number);
        }
        self.accesses.push(ControlAccess {
            at,
            application: within.map(|(application, _)| application),
            object,
            cell,
            predicate,
            inputs: inputs.clone(),
            reads: effects.0,
            writes: effects.1,
            origin: instruction.origin,
        });
        let mut reads = BTreeSet::new();
        inputs.iter().for_each(|input| reads.extend(self.values.reads_of(*input)));
        reads.extend(self.values.reads_of_predicate(predicate));
        if is_state {
            reads.insert(number);
        }
        for (place, result) in (0..).zip(results) {
            let ty = self.program.regions[at.region.index()].temps[result.index()];
            let value = self.values.other(Value::Read(number, place, ty), ty);
            self.values.set_reads(value, reads.clone());
            temps.insert(result, value);
        }
    }
}
